// SPDX-License-Identifier: Apache-2.0
// AES by tables against FIPS 197 and OpenSSL; each online message changed.
#include "lut/aes.h"
#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

Bytes openssl_aes(const Bytes& key, const Bytes& blocks) {
  return openssl_encrypted(key.size() == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb(), key, blocks);
}

struct Job {
  Bytes key, blocks;
  bool expanded = true;
};

struct Done {
  Bytes out[2];
  std::uint64_t online_at[2] = {0, 0};
  std::size_t left[2] = {0, 0};
};

Result<void> run_party(Dealer& dealer, int p, const Job& job, const Bytes (&shares)[2],
                       Done& done) {
  const std::size_t key = job.key.size(), blocks = job.blocks.size() / kBlockOctets;
  auto tables =
      Tables::make(dealer, aes_sbox(), schedule_lookups(key) + blocks * block_lookups(key));
  if (!tables) return tables.error();
  if (job.expanded) tables->expand();
  auto masks = InputMasks::make(dealer, key + job.blocks.size());
  if (!masks) return masks.error();
  done.online_at[p] = dealer.session().channel().sent();
  auto labels = masks->input(dealer, shares[p]);
  if (!labels) return labels.error();
  const Substitute substitute = [&](std::span<Label> octets) {
    return tables->look_up(dealer, octets);
  };
  auto keys = expand_key(dealer, substitute, std::span(*labels).first(key));
  if (!keys) return keys.error();
  const auto states = std::span(*labels).subspan(key);
  if (auto ran = encrypt(substitute, *keys, states); !ran) return ran;
  done.left[p] = tables->left();
  auto out = output(dealer, states);
  if (!out) return out.error();
  done.out[p] = std::move(*out);
  return {};
}

// `fixed`: from fixed random numbers.
Outcome run_job(const Job& job, std::uint64_t seed, Done& done, int cheat = 0, Change change = {},
                bool fixed = false) {
  std::mt19937_64 generator(seed);
  Bytes all = job.key;
  all.insert(all.end(), job.blocks.begin(), job.blocks.end());
  Bytes shares[2] = {random_octets(generator, all.size()), all};
  for (std::size_t k = 0; k < all.size(); ++k) shares[1][k] ^= shares[0][k];
  return with_many_bits(
      [&](Dealer& dealer, int p) { return run_party(dealer, p, job, shares, done); }, cheat, change,
      fixed);
}

void expect_right(const Job& job, const Bytes& expected) {
  Done done;
  const Outcome outcome = run_job(job, 1, done);
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  for (const int p : {0, 1}) {
    EXPECT_EQ(done.out[p], expected);
    EXPECT_EQ(done.left[p], 0u);
  }
}

Bytes counting(std::size_t count, unsigned step) {
  Bytes out;
  for (unsigned k = 0; k < count; ++k) out.push_back(static_cast<std::uint8_t>(step * k));
  return out;
}

// FIPS 197, appendices C.1 and C.3.
TEST(LutAes, KnownAnswers) {
  expect_right({counting(16, 1), counting(16, 0x11)},
               octets_of("69c4e0d86a7b0430d8cdb78070b4c55a"));
  expect_right({counting(32, 1), counting(16, 0x11), false},
               octets_of("8ea2b7ca516745bfeafc49904b496089"));
}

TEST(LutAes, AsOpenssl) {
  std::mt19937_64 generator(7);
  const Job job{random_octets(generator, 16), random_octets(generator, 32)};
  expect_right(job, openssl_aes(job.key, job.blocks));
}

// A small job whose online messages are changed, an octet each: inputs, which are a party's share
// by its choice; openings of lookups; the first check; outputs; the second check.
class OnlineMessages {
 public:
  OnlineMessages() {
    std::mt19937_64 generator(5);
    job_.key = random_octets(generator, 16);
    job_.blocks = random_octets(generator, 16);
    Done done;
    const Outcome outcome = run_job(job_, 2, done);
    EXPECT_TRUE(outcome.ok());
    for (const int p : {0, 1}) {
      input_at[p] = done.online_at[p];
      end[p] = outcome.sent[p];
    }
  }
  // Whether the honest party ends; if not, its outputs are right.
  bool ends(std::uint64_t seed, int cheat, Change change) {
    Done done;
    const Outcome outcome = run_job(job_, seed, done, cheat, change);
    sent = outcome.sent[1 - cheat];
    if (outcome.error[1 - cheat]) return done.out[1 - cheat].empty();
    EXPECT_EQ(done.out[1 - cheat], openssl_aes(job_.key, job_.blocks));
    return false;
  }
  std::uint64_t input_at[2], end[2];
  std::uint64_t sent = 0;  // by the honest party, last

 private:
  Job job_;
};

TEST(LutAes, EveryOnlineMessageChangedEndsWhateverTheInputs) {
  OnlineMessages messages;
  constexpr std::uint64_t kInput = 32, kLookups = 200;
  for (const int cheat : {0, 1}) {
    const std::uint64_t lookups = messages.input_at[cheat] + kInput;
    const std::uint64_t rest = lookups + kLookups, end = messages.end[cheat];
    // The evaluator commits and opens, 32 and 64 octets; the garbler tells 32.
    ASSERT_EQ(end - rest, 16u + 2 * (cheat == 0 ? 32 : 96));
    // A wrong opened index, in the key schedule and in the first and last rounds.
    for (const std::uint64_t at : {lookups, lookups + 39, lookups + 40, rest - 1}) {
      EXPECT_TRUE(messages.ends(at, cheat, {at, 0x10})) << cheat;
      // Of outputs nothing has left the honest party: no more than its half of the equality.
      EXPECT_LE(messages.sent, messages.input_at[1 - cheat] + kInput + kLookups + 32);
    }
    for (std::uint64_t at = rest; at < end; at += 37)
      EXPECT_TRUE(messages.ends(at, cheat, {at, 1})) << cheat << " " << at - rest;
  }
}

// Nothing is sent or changed: there is no dealer.
TEST(LutAes, OtherRoundKeysAndHalvesOfBlocksAreRefused) {
  const Substitute never = [](std::span<Label>) -> Result<void> { return fail("was called"); };
  for (const std::size_t keys : {192, 0, 15, 16, 175, 177, 208, 256}) {
    const Labels round_keys(keys, {1, 1});
    Labels blocks(16);
    auto refused = encrypt(never, round_keys, blocks);
    ASSERT_FALSE(refused) << keys;
    ASSERT_NE(refused.error().message.find("AES has 176 or 240"), std::string::npos) << keys;
    EXPECT_EQ(blocks, Labels(16));
  }
  for (const std::size_t octets : {1, 15, 17, 40}) {
    const Labels round_keys(176, {1, 1});
    Labels blocks(octets);
    auto refused = encrypt(never, round_keys, blocks);
    ASSERT_FALSE(refused) << octets;
    EXPECT_NE(refused.error().message.find("no whole blocks"), std::string::npos) << octets;
  }
}

// Changed octets are another protocol.
TEST(LutGolden, WhatBothSendIsAsCommitted) {
  const ot::FixedRandom fixed;
  const Job job{counting(16, 1), counting(16, 0x11)};
  Done done;
  const Outcome outcome = run_job(job, 1, done, 0, {}, true);
  ASSERT_TRUE(outcome.ok());
  ot::compare_golden(TKDC_LUT_WIRE_FORMAT_FILE,
                     {{"AES-LT 0", outcome.hash[0]}, {"AES-LT 1", outcome.hash[1]}});
}

}  // namespace
}  // namespace tkdc::lut
