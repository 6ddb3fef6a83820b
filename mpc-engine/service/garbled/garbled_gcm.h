// SPDX-License-Identifier: Apache-2.0
// What AES computes under a key of the GCM form (docs/protocols/08-own-realm-tickets.md), by
// garbled circuits; GHASH stays with the lane's protocol, where it is linear or one layer.
//
//   SEAL, OPEN    one circuit for the whole keystream, of as many blocks as the next of
//   kBlocksStep.
//                 OPEN's compares the tag's mask, and gates the keystream by it
//   MAC, VERIFY   one block; VERIFY's compares. The layer before it is verified while m1 to m3
//                 travel, and before anything of the result is opened or leaves
//
// What enters m1 beside the record's fields is public and named in D_pub (the nonce), linear in
// fields and public octets (the tag's mask, up to 64 blocks of GHASH), or a layer's result, of
// which sender and receiver hold one copy: docs/protocols/20-three-servers.md, "Krbtgt's own form".
//
// Where no instance stands ready each of these is computed by the protocol's layers.
#pragma once

#include "cipher/gcm.h"
#include "service/garbled/garbled_lane.h"
#include "service/operation/plain.h"

namespace tkdc {

// Streams are made for so many blocks: tickets of a realm differ by the lengths of names.
inline constexpr std::size_t kBlocksStep = 8, kMostStreamBlocks = 128;

// Of a record in that form, for an operation with an input of a length that check_input() takes.
// Nothing: a ticket that is too long, and no operation under such a key.
std::optional<std::string> gcm_circuit_of(const KeyRecord& record, tkdc_wire_op op,
                                          std::uint32_t usage, std::size_t input_bytes);

// Of one job, by one instance at most.
class GarbledGcm final : public GcmCipher {
 public:
  // `about`: of all that is public of the job but for what is opened while it runs.
  GarbledGcm(const JobContext& context, GarbledLane lane, threegarble::JobTag tag);
  Task<SharedBytes> stream(const SharedBytes& round_keys, GcmNonce nonce,
                           std::size_t bytes) override;
  Task<std::optional<SharedBytes>> stream_if(const SharedBytes& round_keys, GcmNonce nonce,
                                             Task<SharedBytes> mask, std::size_t bytes) override;
  Task<SharedBytes> block(const SharedBytes& round_keys, SharedBytes in) override;
  Task<bool> block_is(const SharedBytes& round_keys, SharedBytes in, SharedBytes expected) override;

 private:
  SharedBytes key_of(const SharedBytes& round_keys) const;
  threegarble::JobTag tag_with(const GcmNonce& nonce) const;
  Task<std::optional<SharedBytes>> run_verified(TakenInstance& taken, SharedBytes input);

  Protocol& protocol_;
  const std::unique_ptr<GcmCipher> layered_;  // where no instance stands ready
  const std::size_t key_bytes_;
  const GarbledLane lane_;
  const threegarble::JobTag tag_;
};

}  // namespace tkdc
