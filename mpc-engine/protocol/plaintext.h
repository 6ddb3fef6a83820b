// SPDX-License-Identifier: Apache-2.0
// The protocol that hides nothing: for each unit the parties tell each other the components that
// they lack, and each computes the value with libcrypto. What other protocols are compared with, in
// whole realms too; no installed program has it.
//
// What a party may see: everything. Results are replicated shares again, of components that all
// parties draw alike from a seed they all know.
#pragma once

#include <array>

#include "lane/lane.h"
#include "protocol/offer.h"
#include "protocol/replicated.h"

namespace tkdc {

class Plaintext final : public Protocol {
 public:
  static constexpr std::string_view kName = "plaintext";

  // `seed`: the same at all parties, and of one lane of one session.
  Plaintext(Lane& lane, const std::array<std::uint8_t, 32>& seed) : lane_(lane), seed_(seed) {
    lane_.add_progress([this](Writer& to) { to.u64(drawn_); });
  }

  ProtocolInfo info() const override {
    return {kName, 3, Security::kSemiHonest, kReplicatedSharing, false, "libcrypto"};
  }
  Scheduler& scheduler() override { return lane_; }
  SharedBytes random(std::size_t bytes) override;
  Task<SharedBytes> inner_products(std::vector<InnerProduct> pairs) override;
  Task<void> verified() override;
  Task<Bytes> open(SharedBytes x) override;
  Task<Bytes> open_input(SharedBytes x) override;
  std::size_t message_bytes(Unit unit, std::size_t held_bytes,
                            std::size_t data_bytes) const override;
  std::size_t product_bytes() const override { return 0; }
  ProtocolCounts counts() const override { return counts_; }

 protected:
  void add_constant(SharedBytes& x, ByteSpan value, std::size_t offset) const override;
  Task<SharedBytes> compute(Unit unit, const SharedBytes& held, SharedBytes data,
                            Work work) override;

 private:
  Task<SecretVector> value_of(SharedBytes x);
  SharedBytes share(SecretVector value);
  SecretVector draw(std::size_t bytes);
  void count(Unit unit, std::size_t data_bytes);

  Lane& lane_;
  const std::array<std::uint8_t, 32> seed_;
  std::uint64_t drawn_ = 0;
  ProtocolCounts counts_;
};

// For programs of tests.
class PlaintextOffer final : public ProtocolOffer {
 public:
  std::string_view name() const override { return Plaintext::kName; }
  std::uint64_t wire_format() const override { return 1; }
  bool of_tests() const override { return true; }
  Result<std::unique_ptr<Protocol>> join(Lane& lane, const LaneSeat& seat) const override;
};

}  // namespace tkdc
