// SPDX-License-Identifier: Apache-2.0
// Golden wire traces: from fixed seeds, the hash of every octet that each party
// sends in each protocol and mode. A refactoring that changes one changes the
// protocol, and must say so: `make golden` writes wire-format.txt anew.
#include "golden.h"

#include "protocols.h"
#include "rep3/unit/aes/plane_cohort.h"
#include "support/parties_with_ciphers.h"
#include "support/rep3_backends.h"

namespace tkdc {
namespace {

using test::PartiesWithCiphers;
using test::TracedProtocol;

struct Mode {
  const char* name;
  Representation representation;
  Security security;
  ZeroGenerator zero_shares = ZeroGenerator::kAesCtr;
};
constexpr Mode kModes[] = {
    {"bytes", Representation::kBytes, Security::kSemiHonest},
    {"planes", Representation::kPlanes, Security::kSemiHonest},
    {"malicious", Representation::kBytes, Security::kMalicious},
    {"bytes-chacha20", Representation::kBytes, Security::kSemiHonest, ZeroGenerator::kChaCha20},
    {"malicious-chacha20", Representation::kBytes, Security::kMalicious, ZeroGenerator::kChaCha20},
};

// The three parties' hashes; sizes are part of what is hashed.
std::array<std::string, 3> trace(const TracedProtocol& protocol, const Rep3Backend& backend,
                                 Security security,
                                 ZeroGenerator zero_shares = ZeroGenerator::kAesCtr) {
  PartiesWithCiphers s(4711, backend, security, zero_shares);
  test::TraceHash hash[3];
  s.net.record = [&](int p, const SecretVector& to_prev, const SecretVector& to_next) {
    hash[p].add(to_prev);
    hash[p].add(to_next);
  };
  auto secret = s.net.share(test::random_bytes(s.net.rng(), protocol.secret_bytes));
  auto ran = s.net.shares_of([&](int p) -> Task<SharedBytes> {
    return [](Task<SharedBytes> task, Rep3& rep3) -> Task<SharedBytes> {
      SharedBytes out = co_await task;
      co_await rep3.verified();
      co_return out;
    }(protocol.run(*s.ciphers[p], secret[p]), *s.net.party[p]);
  });
  EXPECT_TRUE(ran.ok());
  std::array<std::string, 3> out;
  for (int p = 0; p < 3; ++p) {
    EXPECT_FALSE(s.net.party[p]->lane.deviation()) << protocol.name;
    EXPECT_EQ(s.net.party[p]->lane.tasks(), 0u) << protocol.name;
    out[static_cast<std::size_t>(p)] = hash[p].hex();
  }
  return out;
}

class Golden : public testing::TestWithParam<TracedProtocol> {};

TEST_P(Golden, WireTraceIsAsCommitted) {
  for (const Mode& mode : kModes) {
    if (mode.security == Security::kMalicious && !GetParam().verified) continue;
    const Rep3Backend& backend = mode.representation == Representation::kBytes
                                     ? rep3_backend_scalar()
                                     : rep3_backend_planes();
    test::Traces now;
    test::add_trace(now, GetParam().name, mode.name,
                    trace(GetParam(), backend, mode.security, mode.zero_shares));
    test::expect_golden(mode.name, now);
  }
}

// Whatever the CPU: servers with different ones talk to each other.
TEST(GoldenBackends, SendTheSame) {
  for (const TracedProtocol& protocol : test::protocols()) {
    if (protocol.name.find("aes") != 0 && protocol.name != "gcm-seal-open") continue;
    for (const Rep3Backend* backend : test::rep3_backends()) {
      const bool bytes = backend->representation() == Representation::kBytes;
      const Rep3Backend& reference = bytes ? rep3_backend_scalar() : rep3_backend_planes();
      EXPECT_EQ(trace(protocol, *backend, Security::kSemiHonest),
                trace(protocol, reference, Security::kSemiHonest))
          << protocol.name << " " << backend->name();
      if (!bytes) continue;
      EXPECT_EQ(trace(protocol, *backend, Security::kMalicious),
                trace(protocol, reference, Security::kMalicious))
          << protocol.name << " " << backend->name();
    }
  }
}

TEST(GoldenControl, AnotherSecretShows) {
  TracedProtocol longer = test::protocols()[0];
  ++longer.secret_bytes;
  longer.run = [](Rep3Protocol& c, SharedBytes secret) {
    return test::protocols()[0].run(c, secret.slice(1, secret.size() - 1));
  };
  EXPECT_NE(trace(longer, rep3_backend_scalar(), Security::kSemiHonest)[0],
            trace(test::protocols()[0], rep3_backend_scalar(), Security::kSemiHonest)[0]);
}

std::string name_of(const testing::TestParamInfo<TracedProtocol>& one) {
  std::string name = one.param.name;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Protocols, Golden, testing::ValuesIn(test::protocols()), name_of);
INSTANTIATE_TEST_SUITE_P(Interface, Golden, testing::ValuesIn(test::api_protocols()), name_of);

}  // namespace
}  // namespace tkdc
