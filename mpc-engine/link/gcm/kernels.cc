// SPDX-License-Identifier: Apache-2.0
#include "link/gcm/kernels.h"

#include <memory>
#include <optional>

namespace tkdc {
namespace {

constexpr std::uint64_t kNeeded =
    IMB_FEATURE_AVX512_SKX | IMB_FEATURE_VAES | IMB_FEATURE_VPCLMULQDQ | IMB_FEATURE_SELF_TEST_PASS;

struct ManagerFree {
  void operator()(IMB_MGR* manager) const { free_mb_mgr(manager); }
};

struct BothSizes {
  GcmKernels aes128, aes256;
};

// The manager tells what the CPU has and which functions fit it; its queues of
// jobs are not used.
std::optional<BothSizes> find() {
  std::unique_ptr<IMB_MGR, ManagerFree> manager(alloc_mb_mgr(0));
  if (!manager) return std::nullopt;
  init_mb_mgr_auto(manager.get(), nullptr);
  const IMB_MGR& m = *manager;
  if ((m.features & kNeeded) != kNeeded || m.used_arch != IMB_ARCH_AVX512) return std::nullopt;
  return BothSizes{{m.gcm128_pre, m.gcm128_init, m.gcm128_enc_update, m.gcm128_dec_update,
                    m.gcm128_enc_finalize, m.gcm128_dec_finalize},
                   {m.gcm256_pre, m.gcm256_init, m.gcm256_enc_update, m.gcm256_dec_update,
                    m.gcm256_enc_finalize, m.gcm256_dec_finalize}};
}

}  // namespace

const GcmKernels* gcm_kernels(std::size_t key_bytes) {
  static const std::optional<BothSizes> kernels = find();
  if (!kernels) return nullptr;
  if (key_bytes == 16) return &kernels->aes128;
  return key_bytes == 32 ? &kernels->aes256 : nullptr;
}

}  // namespace tkdc
