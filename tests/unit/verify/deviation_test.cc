// SPDX-License-Identifier: Apache-2.0
// One party deviates in one message: over many random secrets each fixed
// deviation is always caught or never matters, and no wrong output is released.
// TKDC_DEVIATIONS=n samples n deviations for each protocol (default 30; `make
// deviations` takes many), each over TKDC_SECRETS secrets (default 6).
#include <cstdlib>

#include "cipher/gcm.h"
#include "cipher/rfc3962.h"
#include "trial.h"

namespace tkdc {
namespace {

using test::Deviation;
using test::MessageSize;
using test::Outcome;
using test::Trial;
using Protocol = test::CheckedProtocol;

std::size_t setting(const char* name, std::size_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : static_cast<std::size_t>(std::atoll(value));
}

// How many of the secrets' runs were aborted.
std::size_t aborts(const Protocol& protocol, const Deviation& deviation, std::size_t secrets) {
  std::size_t aborted = 0;
  for (std::size_t k = 0; k < secrets; ++k) {
    Trial honest(protocol, 1000 + k), cheated(protocol, 1000 + k);
    EXPECT_EQ(honest.run(std::nullopt), Outcome::kRight);
    cheated.expect(honest);
    const Outcome outcome = cheated.run(deviation);
    EXPECT_NE(outcome, Outcome::kWrong) << protocol.name << ": " << deviation;
    aborted += outcome == Outcome::kAborted ? 1 : 0;
  }
  return aborted;
}

Deviation random_deviation(std::mt19937_64& rng, const std::vector<MessageSize>& sizes) {
  Deviation d;
  for (;;) {
    d.party = static_cast<int>(rng() % 3);
    d.to_prev = rng() % 4 != 0;
    d.tick = rng() % sizes.size();
    const std::size_t bytes = d.to_prev ? sizes[d.tick].to_prev : sizes[d.tick].to_next;
    if (bytes == 0) continue;
    d.offset = rng() % bytes;
    d.mask = static_cast<std::uint8_t>(1u << rng() % 8);
    return d;
  }
}

Task<SharedBytes> encrypt_one(Ciphers& c, SharedBytes secret) {
  std::vector<SharedBytes> keys;
  keys.push_back(secret.slice(0, 16));
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(c.rep3, std::move(keys));
  SharedBytes out = co_await c.aes.encrypt(expanded.front(), secret.slice(16, 16));
  co_return out;
}

Task<SharedBytes> decrypt_one(Ciphers& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 240);
  SharedBytes out = co_await c.aes.decrypt(round_keys, secret.slice(240, 32));
  co_return out;
}

Task<SharedBytes> compress_one(Ciphers& c, SharedBytes secret) {
  SharedBytes out = co_await c.sha1.compress(secret.slice(0, kSha1StateBytes),
                                             secret.slice(kSha1StateBytes, kSha1BlockBytes));
  co_return out;
}

// In the shape of the fewest bits, three columns: messages of 12 to 96 bits.
Task<SharedBytes> compress_bits(Ciphers& c, SharedBytes secret) {
  c.sha1.set_ripple_from(3);
  SharedBytes state = secret.slice(0, kSha1StateBytes), block[3], out[3];
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < 3; ++k) {
    block[k] = secret.slice(kSha1StateBytes + k, kSha1BlockBytes);
    tasks.push_back(store(c.sha1.compress(state, block[k], Sha1Work::kBulk), out[k]));
  }
  co_await all(c.rep3, std::move(tasks));
  out[0].append(out[1]);
  out[0].append(out[2]);
  co_return out[0];
}

template <Sha2 Ciphers::*kHash>
Task<SharedBytes> compress_sha2(Ciphers& c, SharedBytes secret) {
  Sha2& sha2 = c.*kHash;
  const std::size_t state = sha2.variant().state_bytes, block = sha2.variant().block_bytes;
  SharedBytes out = co_await sha2.compress(secret.slice(0, state), secret.slice(state, block));
  co_return out;
}

// The tag's key is part of the secret, so that GF(2^128) claims are in it too.
Task<SharedBytes> seal_one(Ciphers& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 176);
  SharedBytes powers = co_await ghash_powers(c.rep3, secret.slice(176, 16));
  GcmKey key = {round_keys, powers};
  GcmNonce nonce = {1};
  SharedBytes out = co_await gcm_seal(c, key, nonce, Bytes(), secret.slice(192, 20));
  co_return out;
}

// Octet claims of two shapes in one batch.
Task<void> keep(Task<SharedBytes> task, SharedBytes& out) { out = co_await task; }

Task<SharedBytes> encrypt_and_hash(Ciphers& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 176);
  SharedBytes block, hash;
  co_await both(
      c.rep3, keep(c.aes.encrypt(round_keys, secret.slice(176, 16)), block),
      keep(c.sha1.compress(secret.slice(0, kSha1StateBytes), secret.slice(64, kSha1BlockBytes)),
           hash));
  block.append(hash);
  co_return block;
}

// A block by masks that were made before: masked_deviation_test.cc has what is particular.
Task<SharedBytes> encrypt_masked(Ciphers& c, SharedBytes secret) {
  auto pool = std::make_unique<MaskPool>(c.rep3, MaskPool::needed(1, 10));
  co_await pool->fill(pool->capacity());
  c.aes.use_masks(*pool, 1);
  SharedBytes round_keys = secret.slice(0, 176);
  SharedBytes out = co_await c.aes.encrypt(round_keys, secret.slice(176, 16));
  c.aes.use_masks(*pool, 0);
  co_return out;
}

const Protocol kProtocols[] = {
    {"aes", 32, encrypt_one},
    {"aes-decrypt", 272, decrypt_one},
    {"aes-masked", 192, encrypt_masked},
    {"sha1", kSha1StateBytes + kSha1BlockBytes, compress_one},
    {"sha1-bits", kSha1StateBytes + kSha1BlockBytes + 2, compress_bits},
    {"sha256", 96, compress_sha2<&Ciphers::sha256>},
    {"sha384", 192, compress_sha2<&Ciphers::sha384>},
    {"gcm", 212, seal_one},
    {"aes-and-sha1", 192, encrypt_and_hash},
};

class Deviations : public testing::TestWithParam<Protocol> {};

TEST_P(Deviations, AreAlwaysCaughtOrNeverMatter) {
  const Protocol& protocol = GetParam();
  const std::vector<MessageSize> sizes = sizes_of(protocol);
  const std::size_t secrets = setting("TKDC_SECRETS", 6);
  std::mt19937_64 rng(9);
  std::size_t caught = 0, harmless = 0;
  for (std::size_t k = 0; k < setting("TKDC_DEVIATIONS", 30); ++k) {
    const Deviation deviation = random_deviation(rng, sizes);
    const std::size_t aborted = aborts(protocol, deviation, secrets);
    EXPECT_TRUE(aborted == 0 || aborted == secrets)
        << protocol.name << ": " << deviation << ": " << aborted << " of " << secrets;
    (aborted == 0 ? harmless : caught)++;
  }
  RecordProperty("caught", static_cast<int>(caught));
  RecordProperty("harmless", static_cast<int>(harmless));
  EXPECT_GT(caught, harmless);
}

INSTANTIATE_TEST_SUITE_P(Protocols, Deviations, testing::ValuesIn(kProtocols), [](const auto& one) {
  std::string name = one.param.name;
  std::erase(name, '-');
  return name;
});

// All message bits of an AES block's layers are claimed: none is harmless.
TEST(DeviationsOfAes, NoLayerBitIsHarmless) {
  const Protocol protocol = {"aes-block", 192, [](Ciphers& c, SharedBytes secret) {
                               return [](Ciphers& cc, SharedBytes s) -> Task<SharedBytes> {
                                 SharedBytes round_keys = s.slice(0, 176);
                                 SharedBytes out =
                                     co_await cc.aes.encrypt(round_keys, s.slice(176, 16));
                                 co_return out;
                               }(c, std::move(secret));
                             }};
  const std::vector<MessageSize> sizes = sizes_of(protocol);
  ASSERT_GT(sizes.size(), 40u);
  for (std::size_t tick : {0u, 1u, 2u, 3u, 37u, 38u, 39u})  // 4 layers, first and last rounds
    for (std::size_t bit = 0; bit < 8 * sizes[tick].to_prev; bit += 3) {
      Deviation d{1, true, tick, bit / 8, static_cast<std::uint8_t>(1u << bit % 8)};
      EXPECT_EQ(aborts(protocol, d, 1), 1u) << d;
    }
}

// Nor of a compression of the fewest bits, the filling of its octets included: of step 0's f,
// of steps with Ch, Parity and Maj, of a step's last bits, of the state's sums.
TEST(DeviationsOfSha1Bits, NoLayerBitIsHarmless) {
  const Protocol protocol = {"sha1-bits", kSha1StateBytes + kSha1BlockBytes + 2, compress_bits};
  const std::vector<MessageSize> sizes = sizes_of(protocol);
  ASSERT_GE(sizes.size(), Sha1::kRippleRounds);
  for (std::size_t tick : {0u, 1u, 30u, 600u, 1200u, 2134u, 2160u, 2164u}) {
    ASSERT_GT(sizes[tick].to_prev, 0u);
    for (std::size_t bit = 0; bit < 8 * sizes[tick].to_prev; ++bit) {
      Deviation d{static_cast<int>(bit % 3), true, tick, bit / 8,
                  static_cast<std::uint8_t>(1u << bit % 8)};
      EXPECT_EQ(aborts(protocol, d, 1), 1u) << d;
    }
  }
}

// The selective failure of a check of the S-box's input and output alone: an
// error in e shows exactly when the S-box's input is not 0. Here it always shows.
TEST(DeviationsOfAes, AnErrorInTheInverseShowsWhateverTheInput) {
  for (const std::uint8_t input : {0, 1, 77}) {
    const Protocol protocol = {
        "aes-chosen", 176, [input](Ciphers& c, SharedBytes secret) {
          return [](Ciphers& cc, SharedBytes keys, std::uint8_t value) -> Task<SharedBytes> {
            // S-box inputs of the first round are `value`: the block is it + round key 0.
            SharedBytes block = keys.slice(0, 16);
            xor_public(block, cc.rep3.party(), Bytes(16, value));
            SharedBytes out = co_await cc.aes.encrypt(keys, std::move(block));
            co_return out;
          }(c, std::move(secret), input);
        }};
    EXPECT_EQ(aborts(protocol, Deviation{0, true, 2, 3, 0x10}, 20), 20u) << int{input};
  }
}

}  // namespace
}  // namespace tkdc
