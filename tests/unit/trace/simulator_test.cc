// SPDX-License-Identifier: Apache-2.0
// Real protocols with verification on a network that reorders, delays, loses,
// doubles and changes packets: every party either has the shares of the
// undisturbed run or an error; nothing hangs, whatever the seed.
#include "support/simulated_network.h"

#include <cstdlib>

#include "lane/ticker.h"
#include "protocols.h"
#include "rep3/unit/aes/byte_cohort.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using test::Faults;
using test::SimulatedNetwork;
using test::TracedProtocol;

struct Party {
  std::optional<SharedBytes> released;
  std::string error;
};
using Outcome = std::array<Party, 3>;

Task<void> release(Rep3Protocol& c, Task<SharedBytes> task, std::optional<SharedBytes>& out) {
  SharedBytes result = co_await task;
  co_await c.rep3.verified();
  out = std::move(result);
}

// Every fourth tick is full, as in a busy lane.
class EveryFourth : public Ticker::Owner {
  std::optional<Ticker::OwnControl> say() override {
    if (tick_++ % 4 != 0) return std::nullopt;
    return Ticker::OwnControl();
  }
  int tick_ = 0;
};

// One party, as a lane runs it, on the simulated links.
Party run_party(const TracedProtocol& protocol, Rep3& rep3, Link& link, SharedBytes secret) {
  Party party;
  Rep3Protocol ciphers(rep3, rep3_backend_scalar());
  Ticker ticker(rep3.lane, link);
  rep3.lane.spawn(release(ciphers, protocol.run(ciphers, std::move(secret)), party.released));
  EveryFourth owner;
  if (auto ran = ticker.run(owner); !ran) party.error = ran.error().message;
  return party;
}

Outcome run(const TracedProtocol& protocol, Security security, SimulatedNetwork& network) {
  test::ThreeParties seeded(Representation::kBytes, 17, security);  // keys and shares
  auto shares = seeded.share(test::random_bytes(seeded.rng(), protocol.secret_bytes));
  Outcome out;
  network.run([&](int p, Link& link) {
    const auto at = static_cast<std::size_t>(p);
    out[at] = run_party(protocol, *seeded.party[p], link, shares[at]);
  });
  return out;
}

bool equal(const SharedBytes& a, const SharedBytes& b) {
  return a.component[0] == b.component[0] && a.component[1] == b.component[1];
}

std::uint64_t seeds() {
  const char* value = std::getenv("TKDC_SEEDS");
  return value == nullptr ? 12 : static_cast<std::uint64_t>(std::atoll(value));
}

class Simulated : public testing::TestWithParam<std::string> {
 protected:
  Simulated() {
    for (const TracedProtocol& each : test::protocols())
      if (each.name == GetParam()) protocol = each;
    SimulatedNetwork calm(0);
    right = run(protocol, Security::kMalicious, calm);
    for (const Party& party : right) EXPECT_EQ(party.error, "");
  }
  // Runs under the faults; how many parties released.
  int released(std::uint64_t seed, Faults faults, std::size_t* made) {
    SimulatedNetwork network(seed, faults);
    Outcome out = run(protocol, Security::kMalicious, network);
    *made = network.faults_made();
    int count = 0;
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_NE(out[p].released.has_value(), !out[p].error.empty()) << seed;
      if (!out[p].released) continue;
      ++count;
      EXPECT_TRUE(equal(*out[p].released, *right[p].released)) << "seed " << seed << " party " << p;
    }
    return count;
  }
  TracedProtocol protocol;
  Outcome right;
};

TEST_P(Simulated, AnyOrderOfArrivalGivesTheSameShares) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    std::size_t made = 0;
    EXPECT_EQ(released(seed, {}, &made), 3) << seed;
  }
}

TEST_P(Simulated, LostDoubledAndOvertakingPacketsEndInErrors) {
  std::size_t failed = 0;
  const Faults kinds[] = {{.drop = 40},
                          {.twice = 40},
                          {.overtake = 3},
                          {.flip = 40},
                          {.drop = 200, .twice = 200, .overtake = 10, .flip = 200}};
  for (const Faults& faults : kinds)
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
      std::size_t made = 0;
      const int count = released(seed, faults, &made);
      EXPECT_TRUE(made > 0 || count == 3);
      failed += count < 3 ? 1 : 0;
    }
  EXPECT_GT(failed, seeds());  // the faults did happen
}

INSTANTIATE_TEST_SUITE_P(Protocols, Simulated,
                         testing::Values("aes128-ctr", "aes128-masked", "gcm-seal-open", "sha1",
                                         "zero-test"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(SimulatedNetworkItself, ReplaysASeed) {
  const TracedProtocol& protocol = test::protocols()[0];
  std::string first[3];
  for (int again = 0; again < 2; ++again) {
    SimulatedNetwork network(99, {.drop = 50, .overtake = 5});
    Outcome out = run(protocol, Security::kMalicious, network);
    for (std::size_t p = 0; p < 3; ++p) {
      if (again == 0) first[p] = out[p].error;
      EXPECT_EQ(out[p].error, first[p]);
    }
  }
}

}  // namespace
}  // namespace tkdc
