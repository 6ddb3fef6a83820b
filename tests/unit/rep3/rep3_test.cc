// SPDX-License-Identifier: Apache-2.0
// Rounds, zero-shares and openings: the algebra, the refusals, the bytes on the
// wire, and what one party's view may show.
#include "rep3/rep3.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "support/three_parties.h"

namespace tkdc {
namespace {

using test::ThreeParties;

PairwiseKeys keys_of(std::uint8_t mine, std::uint8_t next) {
  PairwiseKeys keys;
  sodium_memzero(keys.mine.data(), 32);
  keys.mine.data()[0] = mine;
  keys.next.data()[0] = next;
  return keys;
}

// AND of octet strings by one layer: terms x_i y_i ^ x_i y_{i+1} ^ x_{i+1} y_i.
Task<SharedBytes> and_layer(Rep3& rep3, SharedBytes x, SharedBytes y) {
  Layer layer = rep3.layer(x.size());
  std::uint8_t* out = layer.mine();
  for (std::size_t k = 0; k < x.size(); ++k) {
    unsigned x0 = x.component[0][k], x1 = x.component[1][k];
    unsigned y0 = y.component[0][k], y1 = y.component[1][k];
    out[k] = static_cast<std::uint8_t>((x0 & y0) ^ (x0 & y1) ^ (x1 & y0));
  }
  co_await layer;
  SharedBytes z;
  z.component[0].assign(layer.mine(), layer.mine() + layer.size());
  z.component[1].assign(layer.theirs(), layer.theirs() + layer.size());
  co_return z;
}

TEST(Prss, ZeroSharesAddUpToZeroAndRandomSharesAreConsistent) {
  Prss party[3] = {Prss(keys_of(1, 2)), Prss(keys_of(2, 3)), Prss(keys_of(3, 1))};
  for (std::size_t bytes : {1u, 15u, 16u, 1000u, 70000u}) {
    Bytes sum(bytes);
    for (Prss& p : party) p.add_zero_share(sum.data(), bytes);
    EXPECT_EQ(sum, Bytes(bytes)) << bytes;
    Bytes mine[3], next[3];
    for (int p = 0; p < 3; ++p) {
      mine[p].resize(bytes);
      next[p].resize(bytes);
      party[p].random(mine[p].data(), next[p].data(), bytes);
    }
    for (int p = 0; p < 3; ++p) EXPECT_EQ(next[p], mine[(p + 1) % 3]);
  }
}

TEST(Prss, PrefetchDoesNotChangeTheStream) {
  Prss a(keys_of(1, 2)), b(keys_of(1, 2));
  Bytes x(50000), y(50000);
  a.add_zero_share(x.data(), x.size());
  for (std::size_t at = 0; at < y.size(); at += 5000) {
    b.prefetch(777 + at);
    b.add_zero_share(y.data() + at, 5000);
  }
  EXPECT_EQ(x, y);
}

TEST(Prss, SkippedOctetsAreThoseThatMaskWouldHaveAdded) {
  Prss a(keys_of(1, 2)), b(keys_of(1, 2));
  Bytes x(90000), y(90000);
  a.add_zero_share(x.data(), x.size());
  std::size_t at = 0;
  for (std::size_t piece : {5u, 1024u, 3000u, 16384u, 40000u, 1u, 7u}) {
    b.skip(piece);
    at += piece;
    b.add_zero_share(y.data() + at, 100);
    EXPECT_TRUE(std::equal(y.begin() + static_cast<long>(at),
                           y.begin() + static_cast<long>(at + 100),
                           x.begin() + static_cast<long>(at)))
        << piece;
    at += 100;
    if (piece == 3000) b.prefetch(2000);
  }
}

// What verification draws and opens must not move or show the stream that keys are drawn from.
TEST(Prss, ChallengesAreAStreamOfTheirOwn) {
  Prss plain(keys_of(1, 2)), checking(keys_of(1, 2));
  Bytes challenge[2] = {Bytes(64), Bytes(64)}, a[2] = {Bytes(64), Bytes(64)}, b[2] = {a[0], a[1]};
  checking.random(challenge[0].data(), challenge[1].data(), 64, Prss::Purpose::kChallenge);
  plain.random(a[0].data(), a[1].data(), 64);
  checking.random(b[0].data(), b[1].data(), 64);
  for (int c = 0; c < 2; ++c) {
    EXPECT_EQ(a[c], b[c]);
    EXPECT_NE(challenge[c], a[c]);
  }
}

TEST(Prss, PurposesAndKeysGiveUnrelatedStreams) {
  SecretBuffer key(32), other(32);
  other.data()[31] = 1;
  Bytes a(64), b(64), c(64);
  Stream(key.span(), "tkdc zero").next(a.data(), 64);
  Stream(key.span(), "tkdc random").next(b.data(), 64);
  Stream(other.span(), "tkdc zero").next(c.data(), 64);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
}

TEST(Rep3, AndOfSharesIsAndOfSecrets) {
  ThreeParties net(Representation::kBytes, 5);
  auto x = test::random_bytes(net.rng(), 999), y = test::random_bytes(net.rng(), 999);
  auto xs = net.share(x), ys = net.share(y);
  auto z = net.shares_of([&](int p) { return and_layer(*net.party[p], xs[p], ys[p]); });
  ASSERT_TRUE(z.ok());
  EXPECT_TRUE(ThreeParties::consistent(*z));
  Bytes expected(999);
  for (std::size_t k = 0; k < 999; ++k) expected[k] = x[k] & y[k];
  EXPECT_EQ(ThreeParties::rebuild(*z), expected);
  EXPECT_EQ(net.party[0]->layer_bytes(), 999u);  // one message bit per output bit
}

// What party 1 receives must not depend on secrets: over runs with fresh keys,
// each received bit is as often 0 as 1, for all-zero and all-one secrets alike.
TEST(Rep3, ReceivedLayerMessagesAreUniformWhateverTheSecrets) {
  constexpr int kRuns = 400, kBytes = 16;
  for (std::uint8_t secret : {0x00, 0xff}) {
    std::vector<int> ones(8 * kBytes);
    for (int run = 0; run < kRuns; ++run) {
      ThreeParties net(Representation::kBytes, 1000 + static_cast<std::uint64_t>(run));
      auto xs = net.share(Bytes(kBytes, secret)), ys = net.share(Bytes(kBytes, secret));
      net.record = [&](int p, const SecretVector& to_prev, const SecretVector&) {
        if (p != 2) return;  // party 2 sends to party 1
        for (int bit = 0; bit < 8 * kBytes; ++bit)
          ones[static_cast<std::size_t>(bit)] +=
              to_prev[static_cast<std::size_t>(bit / 8)] >> bit % 8 & 1;
      };
      ASSERT_TRUE(
          net.shares_of([&](int p) { return and_layer(*net.party[p], xs[p], ys[p]); }).ok());
    }
    // 6 standard deviations (10 each) around 200.
    for (int count : ones) EXPECT_NEAR(count, kRuns / 2, 60) << int{secret};
  }
}

Task<void> open_one(Rep3& rep3, SharedBytes x, Bytes& out) { out = co_await rep3.open(x); }

TEST(Rep3, OpensToAllThree) {
  ThreeParties net(Representation::kBytes, 6);
  auto x = test::random_bytes(net.rng(), 40);
  auto shares = net.share(x);
  Bytes out[3];
  ASSERT_TRUE(net.run([&](int p) { return open_one(*net.party[p], shares[p], out[p]); }).ok());
  for (const Bytes& opened : out) EXPECT_EQ(opened, Bytes(x.begin(), x.end()));
}

// The two holders of a component must send the same: a changed component, or a
// changed digest, ends the session before the value is used.
TEST(Rep3, OpeningsThatDifferAreRefused) {
  for (bool change_digest : {false, true}) {
    ThreeParties net(Representation::kBytes, 7);
    auto shares = net.share(Bytes(8, 1));
    Bytes out[3];
    net.tamper = [&](int p, SecretVector& to_prev, SecretVector& to_next) {
      if (p == 0) (change_digest ? to_prev : to_next)[0] ^= 1;
    };
    auto ran = net.run([&](int p) { return open_one(*net.party[p], shares[p], out[p]); });
    ASSERT_FALSE(ran.ok());
    EXPECT_NE(ran.error().message.find("different values"), std::string::npos);
    for (const Bytes& opened : out) EXPECT_TRUE(opened.empty());
  }
}

TEST(Rep3, PacketsOfAnotherLengthAreRefused) {
  for (int change : {-1, 1}) {
    ThreeParties net(Representation::kBytes, 8);
    auto xs = net.share(Bytes(4)), ys = net.share(Bytes(4));
    net.tamper = [&](int p, SecretVector& to_prev, SecretVector&) {
      if (p == 1) to_prev.resize(to_prev.size() + static_cast<std::size_t>(change));
    };
    EXPECT_FALSE(net.shares_of([&](int p) { return and_layer(*net.party[p], xs[p], ys[p]); }).ok());
  }
}

TEST(Rep3, ExchangeGivesEachBothNeighboursWords) {
  ThreeParties net(Representation::kBytes, 9);
  FromBoth got[3];
  auto one = [&](int p) -> Task<void> {
    const std::uint8_t mine = static_cast<std::uint8_t>(10 + p);
    got[p] = co_await net.party[p]->lane.exchange(ByteSpan(&mine, 1));
  };
  ASSERT_TRUE(net.run(one).ok());
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(got[p].prev, Bytes(1, static_cast<std::uint8_t>(10 + (p + 2) % 3)));
    EXPECT_EQ(got[p].next, Bytes(1, static_cast<std::uint8_t>(10 + (p + 1) % 3)));
  }
}

// The bytes on the wire are part of the protocol: a change here is a new
// protocol version.
TEST(Rep3, GoldenWireTrace) {
  ThreeParties net(Representation::kBytes, 10);
  crypto_generichash_state hash;
  crypto_generichash_init(&hash, nullptr, 0, 32);
  net.record = [&](int, const SecretVector& to_prev, const SecretVector& to_next) {
    for (const SecretVector* packet : {&to_prev, &to_next})
      crypto_generichash_update(&hash, packet->data(), packet->size());
  };
  auto xs = net.share(Bytes(100, 0x5a)), ys = net.share(Bytes(100, 0xc3));
  Bytes out[3];
  auto one = [&](int p) -> Task<void> {
    SharedBytes z = co_await and_layer(*net.party[p], xs[p], ys[p]);
    out[p] = co_await net.party[p]->open(z);
  };
  ASSERT_TRUE(net.run(one).ok());
  std::uint8_t digest[32];
  crypto_generichash_final(&hash, digest, sizeof digest);
  EXPECT_EQ(to_hex(digest), "2330bea2431d79cf59cdb133d6a10b441277e7e24190dbf6a66a55a49a30dc9f");
}

}  // namespace
}  // namespace tkdc
