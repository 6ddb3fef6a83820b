// SPDX-License-Identifier: Apache-2.0
// The protocol that hides nothing: each party holds every value whole and computes it with
// libcrypto. What other protocols are compared with; no installed program has it.
//
// A party's two components are copies of the value, so that what holds for shares holds for them.
#pragma once

#include <array>

#include "protocol/protocol.h"

namespace tkdc {

class Plaintext final : public Protocol {
 public:
  static constexpr std::string_view kName = "plaintext";

  // `seed`: of what the parties draw together; the same at all of them.
  Plaintext(Scheduler& scheduler, int parties, const std::array<std::uint8_t, 32>& seed);

  static SharedBytes share(ByteSpan value);

  ProtocolInfo info() const override { return {kName, parties_, Security::kSemiHonest}; }
  Scheduler& scheduler() override { return scheduler_; }
  SharedBytes random(std::size_t bytes) override;
  Task<SharedBytes> inner_products(std::vector<InnerProduct> pairs) override;
  Task<void> verified() override;
  Task<Bytes> open(SharedBytes x) override;
  Task<Bytes> open_input(SharedBytes x) override;
  std::size_t message_bytes(Unit, std::size_t, std::size_t) const override { return 0; }
  std::size_t product_bytes() const override { return 0; }
  ProtocolCounts counts() const override { return counts_; }

 protected:
  void add_constant(SharedBytes& x, ByteSpan value, std::size_t offset) const override;
  Task<SharedBytes> compute(Unit unit, const SharedBytes& held, SharedBytes data,
                            Work work) override;

 private:
  Scheduler& scheduler_;
  const int parties_;
  const std::array<std::uint8_t, 32> seed_;
  std::uint64_t drawn_ = 0;
  ProtocolCounts counts_;
};

}  // namespace tkdc
