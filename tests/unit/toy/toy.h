// SPDX-License-Identifier: Apache-2.0
// A protocol as somebody adds one, from docs/ARCHITECTURE.md alone: this folder and a line in
// tests/support/protocol_list.cc; tests/integration/test_house_rules.py finds it in no other file.
// It hides nothing: each party passes on the component that the previous one lacks, and a result's
// sharing is that of a public value.
#pragma once

#include "lane/lane.h"
#include "protocol/offer.h"
#include "protocol/replicated.h"

namespace tkdc::test {

class Toy final : public Protocol {
 public:
  static constexpr std::string_view kName = "toy";

  explicit Toy(Lane& lane) : lane_(lane) {
    lane_.add_progress([this](Writer& to) { to.u8(drawn_); });
  }

  ProtocolInfo info() const override {
    return {kName, 3, Security::kSemiHonest, kReplicatedSharing, false, "toy"};
  }
  Scheduler& scheduler() override { return lane_; }
  SharedBytes random(std::size_t bytes) override;
  Task<SharedBytes> inner_products(std::vector<InnerProduct> pairs) override;
  Task<void> verified() override;
  Task<Bytes> open(SharedBytes x) override;
  Task<Bytes> open_input(SharedBytes x) override { return open(std::move(x)); }
  std::size_t message_bytes(Unit, std::size_t held_bytes, std::size_t data_bytes) const override {
    return held_bytes + data_bytes;
  }
  std::size_t product_bytes() const override { return 0; }
  ProtocolCounts counts() const override { return {}; }

 protected:
  void add_constant(SharedBytes& x, ByteSpan value, std::size_t offset) const override {
    xor_public(x, lane_.party(), value, offset);
  }
  Task<SharedBytes> compute(Unit unit, const SharedBytes& held, SharedBytes data,
                            Work work) override;

 private:
  SharedBytes known(ByteSpan value) const { return tkdc::share_public(lane_.party(), value); }

  Lane& lane_;
  std::uint8_t drawn_ = 0;
};

class ToyOffer final : public ProtocolOffer {
 public:
  std::string_view name() const override { return Toy::kName; }
  std::uint64_t wire_format() const override { return 1; }
  bool of_tests() const override { return true; }
  Result<std::unique_ptr<Protocol>> join(Lane& lane, const LaneSeat&) const override {
    return std::unique_ptr<Protocol>(std::make_unique<Toy>(lane));
  }
};

}  // namespace tkdc::test
