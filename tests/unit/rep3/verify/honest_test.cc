// SPDX-License-Identifier: Apache-2.0
// With three honest servers malicious mode gives the results of semi-honest
// mode: everything is verified, nothing is refused, and what it costs is counted.
#include "cipher/gcm.h"
#include "cipher/rfc3962.h"
#include "support/parties_with_ciphers.h"
#include "support/rep3_backends.h"

namespace tkdc {
namespace {

using test::PartiesWithCiphers;
using test::random_bytes;
using test::ThreeParties;
using Shares = PartiesWithCiphers::Shares;

std::vector<const Rep3Backend*> byte_backends() {
  std::vector<const Rep3Backend*> out;
  for (const Rep3Backend* backend : test::rep3_backends())
    if (backend->representation() == Representation::kBytes) out.push_back(backend);
  return out;
}

Task<SharedBytes> encrypt_verified(Rep3Protocol& c, SharedBytes keys, SharedBytes in) {
  SharedBytes out = co_await c.aes.encrypt(keys, std::move(in));
  co_await c.rep3.verified();
  co_return out;
}

class Honest : public testing::TestWithParam<const Rep3Backend*> {};

TEST_P(Honest, AesGivesTheSameAndIsVerified) {
  PartiesWithCiphers plain(5, *GetParam());
  PartiesWithCiphers checked(5, *GetParam(), Security::kMalicious);
  for (std::size_t blocks : {1u, 5u, 37u}) {
    Bytes result[2];
    int which = 0;
    for (PartiesWithCiphers* s : {&plain, &checked}) {
      std::mt19937_64 rng(blocks);
      Shares keys = s->expand(random_bytes(rng, 32));
      Shares in = s->net.share(random_bytes(rng, 16 * blocks));
      result[which++] =
          s->value_of([&](Rep3Protocol& c, int p) { return encrypt_verified(c, keys[p], in[p]); });
    }
    EXPECT_EQ(result[0], result[1]);
    EXPECT_EQ(result[0].size(), 16 * blocks);
  }
  EXPECT_EQ(checked.ciphers[0]->verifier.batches(), 3u);
  EXPECT_TRUE(checked.net.party[0]->claims()->clean());
  EXPECT_EQ(plain.ciphers[0]->verifier.batches(), 0u);
}

// An AES-256 block is 14 times 16 S-boxes of three claims each, its key 13 layers of as many;
// nobody is told more often.
TEST(HonestAes, EachCheckSaysItsClaimsOnce) {
  PartiesWithCiphers checked(5, rep3_backend_scalar(), Security::kMalicious);
  std::array<std::vector<std::uint64_t>, 3> told;
  for (std::size_t p = 0; p < told.size(); ++p)
    checked.ciphers[p]->on_checked([&told, p](std::uint64_t claims, std::chrono::nanoseconds took) {
      told[p].push_back(claims);
      EXPECT_GT(took.count(), 0);
    });
  std::mt19937_64 rng(5);
  Shares keys = checked.expand(random_bytes(rng, 32));
  for (std::size_t blocks : {1u, 4u}) {
    Shares in = checked.net.share(random_bytes(rng, 16 * blocks));
    checked.value_of([&](Rep3Protocol& c, int p) { return encrypt_verified(c, keys[p], in[p]); });
  }
  const std::vector<std::uint64_t> expected = {(14 + 13) * 16 * 3, 4 * 14 * 16 * 3};
  for (const auto& one : told) EXPECT_EQ(one, expected);
}

INSTANTIATE_TEST_SUITE_P(Backends, Honest, testing::ValuesIn(byte_backends()),
                         [](const auto& one) { return one.param->name(); });

Task<SharedBytes> hmac_verified(Rep3Protocol& c, SharedBytes key, SharedBytes data) {
  const SharedBytes pads = co_await hmac_pad_states(c, kSha1, std::move(key));
  SharedBytes mac = co_await hmac_sha1_96(c, pads, std::move(data));
  co_await c.rep3.verified();
  co_return mac;
}

TEST(HonestSha1, GivesTheSameAndIsVerified) {
  PartiesWithCiphers checked(6, rep3_backend_scalar(), Security::kMalicious);
  PartiesWithCiphers plain(6);
  std::mt19937_64 rng(6);
  const SecretVector key = random_bytes(rng, 32), data = random_bytes(rng, 100);
  Bytes result[2];
  int which = 0;
  for (PartiesWithCiphers* s : {&plain, &checked}) {
    Shares keys = s->net.share(key), in = s->net.share(data);
    result[which++] =
        s->value_of([&](Rep3Protocol& c, int p) { return hmac_verified(c, keys[p], in[p]); });
  }
  EXPECT_EQ(result[0], result[1]);
  EXPECT_GE(checked.ciphers[0]->verifier.batches(), 1u);
}

TEST(HonestGcm, SealsAndOpens) {
  PartiesWithCiphers s(7, rep3_backend_scalar(), Security::kMalicious);
  std::mt19937_64 rng(7);
  Shares keys = s.expand(random_bytes(rng, 32));
  Shares powers = s.shares_of([&](Rep3Protocol& c, int p) { return gcm_powers(c, keys[p]); });
  const SecretVector plain = random_bytes(rng, 45);
  const GcmNonce nonce = {1, 2, 3};
  const Bytes aad = {7, 8};
  Shares in = s.net.share(plain);
  Bytes sealed = s.value_of([&](Rep3Protocol& c, int p) {
    return gcm_seal(c, {keys[p], powers[p]}, nonce, aad, in[p]);
  });
  struct Opener {
    static Task<SharedBytes> open(Rep3Protocol& c, GcmKey key, GcmNonce n, Bytes a, Bytes box) {
      auto out = co_await gcm_open(c, key, n, a, box);
      co_return out ? std::move(*out) : SharedBytes();
    }
  };
  Bytes opened = s.value_of([&](Rep3Protocol& c, int p) {
    return Opener::open(c, {keys[p], powers[p]}, nonce, aad, sealed);
  });
  EXPECT_EQ(opened, Bytes(plain.begin(), plain.end()));
  sealed[3] ^= 1;
  Bytes refused = s.value_of([&](Rep3Protocol& c, int p) {
    return Opener::open(c, {keys[p], powers[p]}, nonce, aad, sealed);
  });
  EXPECT_TRUE(refused.empty());
  EXPECT_FALSE(s.net.party[0]->lane.deviation());  // a forged ticket is no deviation
}

}  // namespace
}  // namespace tkdc
