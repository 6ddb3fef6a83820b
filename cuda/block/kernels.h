// SPDX-License-Identifier: Apache-2.0
// The list of kernels, and which body each runs: the host's loops and the GPU's launches are
// made from it.
#pragma once

#include "cuda/block/bit_planes.h"
#include "cuda/block/check_folds.h"
#include "cuda/block/check_points.h"
#include "cuda/block/mask.h"
#include "cuda/block/octet_layers.h"
#include "cuda/block/octet_rounds.h"
#include "cuda/block/plane_layers.h"
#include "cuda/block/plane_rounds.h"

namespace tkdc::cuda {

// Layers 0..3 stand one after the other, so that kernel + layer names a layer's.
enum class Kernel : std::uint8_t {
  kOctetNorm,
  kOctetPairs,
  kOctetInvert,
  kOctetProduct,
  kOctetAddRoundKey,
  kOctetEncryptRound,
  kOctetEncryptLast,
  kOctetInvShiftSub,
  kOctetTakeInverse,
  kOctetInvMix,
  kPlaneNorm,
  kPlanePairs,
  kPlaneInvert,
  kPlaneProduct,
  kPlaneAddRoundKey,
  kPlaneEncryptRound,
  kPlaneEncryptLast,
  kPlaneInvShiftSub,
  kPlaneTakeInverse,
  kPlaneInvMix,
  kPlaneSlice,
  kPlaneUnslice,
  kBitsSlice,
  kBitsRound,
  kBitsPack,
  kBitsUnslice,
  kMaskAes0,
  kMaskAes1,
  kMaskAes2,
  kMaskAes3,
  kMaskChaCha0,
  kMaskChaCha1,
  kMaskChaCha2,
  kMaskChaCha3,
  kCheckExtendX,
  kCheckExtendY,
  kCheckBitPoints,
  kCheckSums,
  kCheckLaneSums,
  kCheckReduce,
  kCheckLiftX,
  kCheckLiftY,
  kCheckLiftZ,
  kCheckLiftBitsX,
  kCheckLiftBitsY,
  kCheckFoldPoints,
  kCheckFold,
  kCheckProduct,
  kCheckProductOfPlanes,
  kCount
};

constexpr Kernel operator+(Kernel first, int layer) {
  return static_cast<Kernel>(static_cast<int>(first) + layer);
}

// Calls use.template run<Body>() with the kernel's body.
template <class Use>
void with_body(Kernel kernel, Use use) {
  switch (kernel) {
    case Kernel::kOctetNorm: return use.template run<octets::Norm>();
    case Kernel::kOctetPairs: return use.template run<octets::Pairs>();
    case Kernel::kOctetInvert: return use.template run<octets::Invert>();
    case Kernel::kOctetProduct: return use.template run<octets::Product>();
    case Kernel::kOctetAddRoundKey: return use.template run<octets::AddRoundKey>();
    case Kernel::kOctetEncryptRound: return use.template run<octets::EncryptRound<false>>();
    case Kernel::kOctetEncryptLast: return use.template run<octets::EncryptRound<true>>();
    case Kernel::kOctetInvShiftSub: return use.template run<octets::InvShiftSub>();
    case Kernel::kOctetTakeInverse: return use.template run<octets::TakeInverse>();
    case Kernel::kOctetInvMix: return use.template run<octets::InvMix>();
    case Kernel::kPlaneNorm: return use.template run<planes::Norm>();
    case Kernel::kPlanePairs: return use.template run<planes::Pairs>();
    case Kernel::kPlaneInvert: return use.template run<planes::Invert>();
    case Kernel::kPlaneProduct: return use.template run<planes::Product>();
    case Kernel::kPlaneAddRoundKey: return use.template run<planes::AddRoundKey>();
    case Kernel::kPlaneEncryptRound: return use.template run<planes::EncryptRound<false>>();
    case Kernel::kPlaneEncryptLast: return use.template run<planes::EncryptRound<true>>();
    case Kernel::kPlaneInvShiftSub: return use.template run<planes::InvShiftSub>();
    case Kernel::kPlaneTakeInverse: return use.template run<planes::TakeInverse>();
    case Kernel::kPlaneInvMix: return use.template run<planes::InvMix>();
    case Kernel::kPlaneSlice: return use.template run<planes::Slice>();
    case Kernel::kPlaneUnslice: return use.template run<planes::Unslice>();
    case Kernel::kBitsSlice: return use.template run<bits::Slice>();
    case Kernel::kBitsRound: return use.template run<bits::Round>();
    case Kernel::kBitsPack: return use.template run<bits::Pack>();
    case Kernel::kBitsUnslice: return use.template run<bits::Unslice>();
    case Kernel::kMaskAes0: return use.template run<MaskByAes<0>>();
    case Kernel::kMaskAes1: return use.template run<MaskByAes<1>>();
    case Kernel::kMaskAes2: return use.template run<MaskByAes<2>>();
    case Kernel::kMaskAes3: return use.template run<MaskByAes<3>>();
    case Kernel::kMaskChaCha0: return use.template run<MaskByChaCha<0>>();
    case Kernel::kMaskChaCha1: return use.template run<MaskByChaCha<1>>();
    case Kernel::kMaskChaCha2: return use.template run<MaskByChaCha<2>>();
    case Kernel::kMaskChaCha3: return use.template run<MaskByChaCha<3>>();
    case Kernel::kCheckExtendX: return use.template run<check::Extend<false>>();
    case Kernel::kCheckExtendY: return use.template run<check::Extend<true>>();
    case Kernel::kCheckBitPoints: return use.template run<check::BitPoints>();
    case Kernel::kCheckSums: return use.template run<check::Sums>();
    case Kernel::kCheckLaneSums: return use.template run<check::LaneSums>();
    case Kernel::kCheckReduce: return use.template run<check::Reduce>();
    case Kernel::kCheckLiftX: return use.template run<check::Lift<check::Side::kX>>();
    case Kernel::kCheckLiftY: return use.template run<check::Lift<check::Side::kY>>();
    case Kernel::kCheckLiftZ: return use.template run<check::Lift<check::Side::kZ>>();
    case Kernel::kCheckLiftBitsX: return use.template run<check::LiftBits<check::Side::kX>>();
    case Kernel::kCheckLiftBitsY: return use.template run<check::LiftBits<check::Side::kY>>();
    case Kernel::kCheckFoldPoints: return use.template run<check::FoldPoints>();
    case Kernel::kCheckFold: return use.template run<check::Fold>();
    case Kernel::kCheckProduct: return use.template run<check::Product>();
    case Kernel::kCheckProductOfPlanes: return use.template run<check::ProductOfPlanes>();
    case Kernel::kCount: return;
  }
}

}  // namespace tkdc::cuda
