// SPDX-License-Identifier: Apache-2.0
// Whole operations as circuits against libkrb5, in the clear: every length around the borders of
// blocks, and long ones up to 4 KB. tests/unit/threegarble garbles them.
#include "cipher/derived_keys.h"
#include "circuit_values.h"
#include "support/krb5_client.h"

namespace tkdc::circuit {
namespace {

using test::DerivedKeys;
using test::Krb5Client;

constexpr std::uint32_t kUsage = 3;

class EnctypeCircuit : public testing::TestWithParam<std::uint32_t> {
 protected:
  EnctypeCircuit()
      : number(std::to_string(GetParam())), hash(GetParam() <= 18   ? "sha1"
                                                 : GetParam() == 19 ? "sha256"
                                                                    : "sha384"),
        mac_bytes(GetParam() <= 18   ? 12
                  : GetParam() == 19 ? 16
                                     : 24),
        key(random_octets(GetParam() % 2 == 1 ? 16 : 32)), whole(GetParam(), key),
        keys(test::derive_all(GetParam(), 1, key, kUsage)) {
    ke = keys->rebuild(keys->ke), ki = keys->rebuild(keys->ki), kc = keys->rebuild(keys->kc);
    ke.resize(key.size());  // a key's schedule begins with the key (FIPS 197, section 5.2)
  }
  static std::vector<std::size_t> lengths() {
    std::vector<std::size_t> all;
    for (std::size_t n = 0; n <= 66; ++n) all.push_back(n);
    for (std::size_t n : {79, 80, 95, 96, 97, 111, 112, 113, 127, 128, 129, 249, 511, 1'000, 2'047})
      all.push_back(n);
    all.push_back(4096 - 40);
    return all;
  }
  std::string named(const std::string& what, std::size_t size) const {
    return what + ":" + std::to_string(size);
  }

  const std::string number, hash;
  const std::size_t mac_bytes;
  const Bytes key;
  Krb5Client whole;
  std::unique_ptr<DerivedKeys> keys;
  Bytes ke, ki, kc;
};

TEST_P(EnctypeCircuit, OpensWhatLibkrb5Seals) {
  for (const std::size_t n : lengths()) {
    const Bytes plain = random_octets(n), sealed = whole.seal(kUsage, plain);
    const auto out = run_body(named("open" + number, sealed.size()), {ke, ki, sealed});
    ASSERT_EQ(out[0], Bytes{1}) << n;
    ASSERT_EQ(out[1], plain) << n;
  }
}

TEST_P(EnctypeCircuit, LetsNothingThroughWhereTheMacDoesNotHold) {
  const Bytes plain = random_octets(33), sealed = whole.seal(kUsage, plain);
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    Bytes changed = sealed;
    changed[at] ^= static_cast<std::uint8_t>(1u << at % 8);
    const auto out = run_body(named("open" + number, sealed.size()), {ke, ki, changed});
    ASSERT_EQ(out[0], Bytes{0}) << at;
    ASSERT_EQ(out[1], Bytes(plain.size(), 0)) << at;
  }
}

TEST_P(EnctypeCircuit, SealsWhatLibkrb5Opens) {
  for (const std::size_t n : lengths()) {
    const Bytes plain = random_octets(n), confounder = random_octets(16);
    const auto out = run_body(named("seal" + number, n), {ke, ki, confounder, plain});
    ASSERT_EQ(out[0].size(), whole.seal(kUsage, plain).size());
    ASSERT_EQ(whole.open(kUsage, out[0]), plain) << n;
  }
}

TEST_P(EnctypeCircuit, ChecksumsAsLibkrb5) {
  for (const std::size_t n : lengths()) {
    const Bytes data = random_octets(n), sum = whole.checksum(kUsage, data);
    ASSERT_EQ(run_body(named("mac-" + hash, n), {kc, data})[0], sum) << n;
    ASSERT_EQ(run_body(named("verify-" + hash, n), {kc, data, sum})[0], Bytes{1}) << n;
  }
  const Bytes data = random_octets(70), sum = whole.checksum(kUsage, data);
  for (std::size_t bit = 0; bit < 8 * sum.size(); ++bit) {
    Bytes other = sum;
    other[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    ASSERT_EQ(run_body(named("verify-" + hash, 70), {kc, data, other})[0], Bytes{0}) << bit;
  }
}

TEST_P(EnctypeCircuit, PrfAsLibkrb5) {
  const Bytes base = keys->rebuild(keys->base());
  for (const std::size_t n : {0, 1, 16, 55, 56, 64, 111, 112, 200, 1500}) {
    const Bytes in = random_octets(n);
    ASSERT_EQ(run_body(named("prf" + number, n), {base, in})[0], whole.prf(in)) << n;
  }
}

// The agent's middle is libkrb5's SHA-1, begun at the head and ended before the tail.
TEST_P(EnctypeCircuit, SealsInTwoParts) {
  if (GetParam() > 18) GTEST_SKIP() << "RFC 8009 has no two parts";
  for (const std::size_t n : {48, 49, 63, 64, 100, 249, 1000, 4000}) {
    const Bytes plain = random_octets(n), confounder = random_octets(16);
    Bytes sealed = run_body(named("seal-head" + number, n), {ke, ki, confounder, plain})[0];
    const Bytes state(sealed.end() - 20, sealed.end());
    sealed.resize(sealed.size() - 20);
    Bytes rest(confounder);
    rest.insert(rest.end(), plain.begin(), plain.end());
    rest.erase(rest.begin(), rest.begin() + 64);
    const Bytes padding = kSha1.padding(rest.size(), 128);
    rest.insert(rest.end(), padding.begin(), padding.end());
    const Bytes mac = run_body("mac-tail-sha1", {ki, in_clear(Unit::kSha1Blocks, state, rest)})[0];
    sealed.insert(sealed.end(), mac.begin(), mac.end());
    ASSERT_EQ(whole.open(kUsage, sealed), plain) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EnctypeCircuit, testing::Values(17u, 18u, 19u, 20u));

}  // namespace
}  // namespace tkdc::circuit
