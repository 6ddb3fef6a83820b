// SPDX-License-Identifier: Apache-2.0
// Whole operations of enctypes 17 to 20, garbled between three servers, against libkrb5: lengths on
// both sides of each border, up to 4 KB. tests/unit/circuit/enctype_test.cc has every length, in
// the clear.
#include "cipher/derived_keys.h"
#include "circuits/catalogue.h"
#include "support/krb5_client.h"
#include "trio.h"

namespace tkdc::threegarble {
namespace {

constexpr std::uint32_t kUsage = 3;

class Garbled : public testing::TestWithParam<std::uint32_t> {
 protected:
  Garbled()
      : number(std::to_string(GetParam())), hash(GetParam() <= 18   ? "sha1"
                                                 : GetParam() == 19 ? "sha256"
                                                                    : "sha384"),
        key(random_octets(GetParam() % 2 == 1 ? 16 : 32)), whole(GetParam(), key),
        trio(GetParam()) {
    const auto keys = test::derive_all(GetParam(), 1, key, kUsage);
    ke = keys->rebuild(keys->ke), ki = keys->rebuild(keys->ki), kc = keys->rebuild(keys->kc);
    ke.resize(key.size());  // a key's schedule begins with the key (FIPS 197, section 5.2)
    base = keys->rebuild(keys->base());
  }
  Bytes run(const std::string& what, std::size_t size, std::initializer_list<Bytes> inputs) {
    const auto chosen = circuits::find_named(what + ":" + std::to_string(size));
    EXPECT_TRUE(chosen.ok()) << what;
    const Shape shape = shape_for(circuits::record(*chosen));
    Bytes all;
    for (const Bytes& one : inputs) all.insert(all.end(), one.begin(), one.end());
    const auto result = trio.compute(shape, n++, all);
    EXPECT_TRUE(result.has_value()) << what;
    return result ? *result : Bytes();
  }

  const std::string number, hash;
  const Bytes key;
  test::Krb5Client whole;
  Trio trio;
  std::uint64_t n = 0;
  Bytes ke, ki, kc, base;
};

constexpr std::size_t kLengths[] = {0, 1, 16, 17, 31, 48, 100, 249};
constexpr std::size_t kLongest = 4096 - 40;

TEST_P(Garbled, OpensWhatLibkrb5SealsAndRefusesChanges) {
  for (const std::size_t bytes : kLengths) {
    const Bytes plain = random_octets(bytes);
    Bytes sealed = whole.seal(kUsage, plain), expected{1};
    expected.insert(expected.end(), plain.begin(), plain.end());
    ASSERT_EQ(run("open" + number, sealed.size(), {ke, ki, sealed}), expected) << bytes;
    if (bytes > 48) continue;
    sealed[randombytes_uniform(static_cast<std::uint32_t>(sealed.size()))] ^= 1;
    ASSERT_EQ(run("open" + number, sealed.size(), {ke, ki, sealed}), Bytes(1 + bytes, 0)) << bytes;
  }
}

TEST_P(Garbled, SealsWhatLibkrb5Opens) {
  for (const std::size_t bytes : kLengths) {
    const Bytes plain = random_octets(bytes), confounder = random_octets(16);
    const Bytes sealed = run("seal" + number, bytes, {ke, ki, confounder, plain});
    ASSERT_EQ(whole.open(kUsage, sealed), plain) << bytes;
  }
}

TEST_P(Garbled, ChecksumsAndPrf) {
  for (const std::size_t bytes : {0, 1, 56, 112, 300}) {
    const Bytes data = random_octets(bytes), sum = whole.checksum(kUsage, data);
    ASSERT_EQ(run("mac-" + hash, bytes, {kc, data}), sum) << bytes;
    ASSERT_EQ(run("verify-" + hash, bytes, {kc, data, sum}), Bytes{1}) << bytes;
    Bytes other = sum;
    other[bytes % other.size()] ^= 0x10;
    ASSERT_EQ(run("verify-" + hash, bytes, {kc, data, other}), Bytes{0}) << bytes;
    ASSERT_EQ(run("prf" + number, bytes, {base, data}), whole.prf(data)) << bytes;
  }
}

TEST_P(Garbled, FourKilobytes) {
  const Bytes plain = random_octets(kLongest), sealed = whole.seal(kUsage, plain);
  Bytes expected{1};
  expected.insert(expected.end(), plain.begin(), plain.end());
  ASSERT_EQ(run("open" + number, sealed.size(), {ke, ki, sealed}), expected);
}

INSTANTIATE_TEST_SUITE_P(Enctypes, Garbled, testing::Values(17u, 18u, 19u, 20u));

}  // namespace
}  // namespace tkdc::threegarble
