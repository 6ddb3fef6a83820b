// SPDX-License-Identifier: Apache-2.0
#include "support/protocol_parties.h"

#include <cstdlib>

#include "protocol/plaintext.h"
#include "support/parties_with_ciphers.h"

namespace tkdc::test {
namespace {

class Rep3Parties final : public Parties {
 public:
  explicit Rep3Parties(std::uint64_t seed) : parties_(seed) {}
  int count() const override { return 3; }
  Protocol& at(int party) override { return *parties_.ciphers[party]; }
  Shares share(ByteSpan value) override { return parties_.net.share(value); }
  Bytes rebuild(const Shares& shares) const override {
    EXPECT_TRUE(ThreeParties::consistent(shares));
    return ThreeParties::rebuild(shares);
  }
  Result<void> run(const std::function<Task<void>(int)>& make) override {
    return parties_.net.run(make);
  }

 private:
  PartiesWithCiphers parties_;
};

class PlaintextParties final : public Parties {
 public:
  explicit PlaintextParties(std::uint64_t seed) {
    std::array<std::uint8_t, 32> drawn{};
    for (std::size_t k = 0; k < sizeof seed; ++k)
      drawn[k] = static_cast<std::uint8_t>(seed >> 8 * k);
    for (Party& party : parties_)
      party.protocol = std::make_unique<Plaintext>(party.scheduler, count(), drawn);
  }
  int count() const override { return 3; }
  Protocol& at(int party) override { return *parties_[static_cast<std::size_t>(party)].protocol; }
  Shares share(ByteSpan value) override {
    Shares out;
    out.fill(Plaintext::share(value));
    return out;
  }
  Bytes rebuild(const Shares& shares) const override {
    for (const SharedBytes& held : shares)
      for (const SecretVector& copy : held.component) EXPECT_EQ(copy, shares[0].component[0]);
    return Bytes(shares[0].component[0].begin(), shares[0].component[0].end());
  }
  Result<void> run(const std::function<Task<void>(int)>& make) override {
    for (int p = 0; p < count(); ++p) {
      Scheduler& scheduler = at(p).scheduler();
      scheduler.spawn(make(p));
      scheduler.run();
      if (scheduler.tasks() != 0) return fail("a task waits for a message that never comes");
    }
    return {};
  }

 private:
  struct Party {
    Scheduler scheduler;
    std::unique_ptr<Plaintext> protocol;
  };
  std::array<Party, 3> parties_;
};

}  // namespace

std::unique_ptr<Parties> make_parties(std::uint64_t seed) {
  const char* set = std::getenv("TKDC_TEST_PROTOCOL");
  const std::string name = set == nullptr ? std::string(Rep3Protocol::kName) : set;
  if (name == Rep3Protocol::kName) return std::make_unique<Rep3Parties>(seed);
  if (name == Plaintext::kName) return std::make_unique<PlaintextParties>(seed);
  ADD_FAILURE() << "no protocol is called " << name;
  std::abort();
}

}  // namespace tkdc::test
