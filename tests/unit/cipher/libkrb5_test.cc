// SPDX-License-Identifier: Apache-2.0
// RFC 3962 and RFC 8009 on shares against libkrb5, at every length from 0 to 600 octets.
#include "derived_keys.h"
#include "support/krb5_client.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using Shares = test::ProtocolParties::Shares;
using Party = std::size_t;

const std::size_t kLongest = test::longest_message();

// One key, here in shares and there whole.
class AgainstLibkrb5 : public testing::TestWithParam<std::uint32_t> {
 protected:
  void derive(std::uint64_t seed, std::uint32_t usage) {
    const SecretVector key = test::random_bytes(rng, GetParam() % 2 == 1 ? 16 : 32);
    d = test::derive_all(GetParam(), seed, key, usage);
    whole.emplace(GetParam(), key);
  }
  // The parties open each: whether all did, and what, or none.
  struct Opened {
    std::array<bool, 3> by;
    Shares plain;
  };
  std::vector<Opened> opened(const std::vector<Bytes>& sealed) {
    std::vector<Shares> in;
    for (const Bytes& one : sealed) in.push_back(d->share(one));
    std::vector<Opened> out(sealed.size());
    d->run_all(sealed.size(), [&](Protocol& c, int p, std::size_t n) -> Task<void> {
      const auto at = static_cast<Party>(p);
      auto plain = co_await d->open(c, at, in[n][at]);
      out[n].by[at] = plain.has_value();
      if (plain) out[n].plain[at] = std::move(*plain);
    });
    return out;
  }
  // Of 0, 1, 2 ... octets.
  std::vector<Bytes> messages() {
    std::vector<Bytes> out;
    for (std::size_t n = 0; n <= kLongest; ++n) {
      const SecretVector drawn = test::random_bytes(rng, n);
      out.emplace_back(drawn.begin(), drawn.end());
    }
    return out;
  }

  std::mt19937_64 rng{GetParam()};
  std::unique_ptr<test::DerivedKeys> d;
  std::optional<test::Krb5Client> whole;
};

TEST_P(AgainstLibkrb5, ItOpensWhatWeSeal) {
  constexpr krb5_keyusage kUsage = 3;
  derive(11, kUsage);
  const std::vector<Bytes> plain = messages();
  std::vector<Shares> in, out(plain.size());
  for (const Bytes& one : plain) in.push_back(d->share(one));
  d->run_all(plain.size(), [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    const auto at = static_cast<Party>(p);
    out[n][at] = co_await d->seal(c, at, in[n][at]);
  });
  for (std::size_t n = 0; n < plain.size(); ++n) {
    const Bytes sealed = d->rebuild(out[n]);
    ASSERT_EQ(sealed.size(), whole->seal(kUsage, plain[n]).size());
    ASSERT_EQ(whole->open(kUsage, sealed), plain[n]) << n;
  }
}

TEST_P(AgainstLibkrb5, WeOpenWhatItSealsAndRefuseChanges) {
  constexpr krb5_keyusage kUsage = 1;
  derive(12, kUsage);
  const std::vector<Bytes> plain = messages();
  std::vector<Bytes> sealed;
  for (std::size_t n = 0; n < plain.size(); ++n) {
    Bytes one = whole->seal(kUsage, plain[n]);
    if (n % 3 == 2) one[rng() % one.size()] ^= static_cast<std::uint8_t>(1u << rng() % 8);
    sealed.push_back(std::move(one));
  }
  const std::vector<Opened> out = opened(sealed);
  for (std::size_t n = 0; n < plain.size(); ++n) {
    const bool genuine = n % 3 != 2;
    for (bool party_opened : out[n].by) EXPECT_EQ(party_opened, genuine) << n;
    if (genuine) {
      EXPECT_EQ(d->rebuild(out[n].plain), plain[n]);
    }
  }
}

// RFC 8009's tags are longer than what is_zero() takes in one block.
TEST_P(AgainstLibkrb5, EachOctetOfTheTagCounts) {
  derive(15, 3);
  const Bytes plain(9, 0x5a), sealed = whole->seal(3, plain);
  const std::size_t tag_bytes = sealed.size() - plain.size() - kConfounderBytes;
  std::vector<Bytes> forged(tag_bytes, sealed);
  for (std::size_t k = 0; k < tag_bytes; ++k)
    forged[k][sealed.size() - 1 - k] ^= static_cast<std::uint8_t>(1u << k % 8);
  for (const Opened& one : opened(forged))
    for (bool party_opened : one.by) EXPECT_FALSE(party_opened);
}

TEST_P(AgainstLibkrb5, ChecksumAndPrfAgree) {
  constexpr krb5_keyusage kUsage = 56;
  derive(13, kUsage);
  const std::vector<Bytes> data = messages();
  std::vector<Shares> in, mac(data.size()), prf(data.size());
  for (const Bytes& one : data) in.push_back(d->share(one));
  d->run_all(data.size(), [&](Protocol& c, int p, std::size_t n) -> Task<void> {
    const auto at = static_cast<Party>(p);
    mac[n][at] = co_await d->mac(c, at, in[n][at]);
    if (n % 20 == 0) prf[n][at] = co_await d->prf(c, at, in[n][at]);
  });
  for (std::size_t n = 0; n < data.size(); ++n) {
    EXPECT_EQ(d->rebuild(mac[n]), whole->checksum(kUsage, data[n])) << n;
    if (n % 20 == 0) {
      EXPECT_EQ(d->rebuild(prf[n]), whole->prf(data[n])) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Enctypes, AgainstLibkrb5, testing::Values(17u, 18u, 19u, 20u));

}  // namespace
}  // namespace tkdc
