// SPDX-License-Identifier: Apache-2.0
// Replicated sharing among three parties (Araki et al. 2016) as a protocol: each unit by layers of
// its own, verified where the session is malicious.
#pragma once

#include "protocol/protocol.h"
#include "rep3/unit/aes/aes.h"
#include "rep3/unit/aes/mask_pool.h"
#include "rep3/unit/sha1/sha1.h"
#include "rep3/unit/sha2/sha2.h"
#include "rep3/verify/verifier.h"

namespace tkdc {

class Rep3Protocol : public Protocol {
 public:
  static constexpr std::string_view kName = "rep3";

  // `masked_blocks`: masks are kept ahead for so many AES-256 blocks (rep3/unit/rep3_offer.h).
  Rep3Protocol(Rep3& lane, const Rep3Backend& backend, std::size_t masked_blocks = 0);

  ProtocolInfo info() const override;
  Scheduler& scheduler() override { return rep3.lane; }
  SharedBytes random(std::size_t bytes) override { return rep3.random(bytes); }
  Task<SharedBytes> inner_products(std::vector<InnerProduct> pairs) override;
  Task<void> verified() override;
  std::optional<Check> checking() const override;
  void on_checked(Checked call) override { verifier.on_checked(std::move(call)); }
  void prepare() override;
  bool preparing() const override { return making_masks_; }
  Task<Bytes> open(SharedBytes x) override;
  Task<Bytes> open_input(SharedBytes x) override;
  std::size_t message_bytes(Unit unit, std::size_t held_bytes,
                            std::size_t data_bytes) const override;
  std::size_t product_bytes() const override;
  ProtocolCounts counts() const override;

  // For what is measured and tested of each alone.
  Rep3& rep3;
  Verifier verifier;
  MaskPool masks;
  Aes aes;
  Sha1 sha1;
  Sha2 sha256, sha384;

 protected:
  void add_constant(SharedBytes& x, ByteSpan value, std::size_t offset) const override;
  Task<SharedBytes> compute(Unit unit, const SharedBytes& held, SharedBytes data,
                            Work work) override;

 private:
  Task<void> make_masks();

  const Rep3Backend& backend_;
  bool making_masks_ = false;
};

}  // namespace tkdc
