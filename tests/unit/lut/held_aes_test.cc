// SPDX-License-Identifier: Apache-2.0
// AES-CBC-CTS from a session's bits to its bits, by tables: against OpenSSL; each message changed
// by each side, with two inputs; what is refused before a word is said; octets on the wire.
#include "lut/held_aes.h"

#include <optional>

#include "lut/cts_reference.h"
#include "lut/held_parties.h"

namespace tkdc::lut {
namespace {

using HeldWay = NormTables::Way;

struct HeldJob {
  Bytes key, plain;
  HeldWay way = HeldWay::kForward;
  Bytes sealed() const { return openssl_cts(key, plain); }
  Bytes in() const { return way == HeldWay::kForward ? plain : sealed(); }
  Bytes expected() const { return way == HeldWay::kForward ? sealed() : plain; }
};

struct HeldDone {
  BothHeld held;
  std::uint64_t keys_at[2] = {0, 0}, online_at[2] = {0, 0}, out_at[2] = {0, 0};
  std::size_t left[2] = {0, 0};
};

Result<NormTables> tables_for(PairDealer& dealer, HeldWay way, std::size_t count) {
  return way == HeldWay::kForward ? NormTables::make(dealer, count)
                                  : NormTables::make_inverse(dealer, count);
}

Result<void> run_held_party(PairDealer& dealer, std::size_t p, const HeldJob& job, HeldDone& done) {
  done.held.deltas[p] = dealer.session().deltas();
  const Bytes in = job.in();
  auto key = held_of(dealer, shares_of(job.key, 1)[p]);
  auto text = held_of(dealer, shares_of(in, 2)[p]);
  if (!key || !text) return fail("nothing drawn");
  auto schedule = NormTables::make(dealer, schedule_lookups(job.key.size()));
  if (!schedule) return schedule.error();
  auto tables = tables_for(dealer, job.way, cts_lookups(job.key.size(), in.size()));
  if (!tables) return tables.error();
  auto out = BitsOut::make(dealer, in.size());
  if (!out) return out.error();
  done.keys_at[p] = dealer.session().channel().sent();
  auto keys = RoundKeys::expand(dealer, *schedule, *key);
  if (!keys) return keys.error();
  done.online_at[p] = dealer.session().channel().sent();
  auto made =
      (job.way == HeldWay::kForward ? seal_held : open_held)(dealer, *tables, *out, *keys, *text);
  if (!made) return made.error();
  done.left[p] = tables->left() + schedule->left() + out->left();
  done.held.of[p] = std::move(*made);
  return {};
}

Outcome run_held_job(const HeldJob& job, HeldDone& done, int cheat = 0, Change change = {},
                     bool fixed = false) {
  return with_many_bits(
      [&](PairDealer& dealer, int p) {
        return run_held_party(dealer, static_cast<std::size_t>(p), job, done);
      },
      cheat, change, fixed);
}

HeldJob random_held_job(std::uint64_t seed, std::size_t key_octets, std::size_t octets,
                        HeldWay way) {
  std::mt19937_64 generator(seed);
  HeldJob out;
  out.key = random_octets(generator, key_octets);
  out.plain = random_octets(generator, octets);
  out.way = way;
  return out;
}

// One block, a short last one, whole ones.
TEST(LutHeldAes, SealsAndOpensAsOpenssl) {
  for (const auto& [key, octets] : {std::pair(16, 16), std::pair(32, 23), std::pair(16, 32),
                                    std::pair(32, 48), std::pair(16, 61)})
    for (const HeldWay way : {HeldWay::kForward, HeldWay::kInverse}) {
      const HeldJob job =
          random_held_job(static_cast<std::uint64_t>(octets), static_cast<std::size_t>(key),
                          static_cast<std::size_t>(octets), way);
      HeldDone done;
      const Outcome outcome = run_held_job(job, done);
      ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
      EXPECT_EQ(done.held.octets(), job.expected()) << key << " " << octets;
      for (const int p : {0, 1}) EXPECT_EQ(done.left[p], 0u);
    }
}

// The key schedule's last opening; those of S-boxes, h, g and f of the first round and the last; d;
// the check. Each ends the honest party, with two inputs, and
// nothing comes out.
TEST(LutHeldAes, EveryMessageChangedEndsItWhateverTheInput) {
  for (const HeldWay way : {HeldWay::kForward, HeldWay::kInverse}) {
    const HeldJob jobs[2] = {random_held_job(1, 16, 16, way), random_held_job(2, 16, 16, way)};
    HeldDone honest;
    const Outcome outcome = run_held_job(jobs[0], honest);
    ASSERT_TRUE(outcome.ok());
    for (const int cheat : {0, 1}) {
      const std::uint64_t keys = honest.keys_at[cheat], online = honest.online_at[cheat],
                          end = outcome.sent[cheat];
      // Of a block 160 S-boxes, three octets each; 16 octets leave; the check.
      const std::uint64_t lookups = std::uint64_t{3} * 160, check = cheat == 0 ? 32 : 96;
      ASSERT_EQ(end - online, lookups + 16 + check);
      ASSERT_EQ(online - keys, std::uint64_t{3} * 40 + check);
      for (const std::uint64_t at : {keys + 119, online, online + 16, online + 47,
                                     online + lookups - 1, online + lookups + 15, end - 1})
        for (const HeldJob& job : jobs) {
          HeldDone done;
          const Outcome ended = run_held_job(job, done, cheat, {at, 0x40});
          EXPECT_TRUE(ended.error[1 - cheat]) << cheat << " " << at - online;
          EXPECT_TRUE(done.held.of[1 - cheat].bits.empty());
          // A check of all that was opened comes before anything else is said.
          if (at < online) {
            EXPECT_LE(ended.sent[1 - cheat], honest.online_at[1 - cheat]);
          }
        }
    }
  }
}

struct HeldRefusal {
  std::size_t key = 16, text = 16, tables = 160, schedule = 40, masks = 16;
  HeldWay way = HeldWay::kForward;
  const char* words = "";
};

TEST(LutHeldAes, WhatDoesNotFitIsRefusedBeforeAWordIsSaid) {
  const HeldRefusal refusals[] = {
      {.key = 24, .words = "AES has 16 or 32"},
      {.schedule = 39, .words = "40 wanted and only 39 tables left"},
      {.text = 15, .words = "is no block"},
      {.tables = 159, .words = "160 wanted and only 159 tables left"},
      {.masks = 15, .words = "only 15 masks of octets that leave left"},
      {.way = HeldWay::kInverse, .words = "go the other way"},
  };
  const Outcome outcome = with_dealers([&](PairDealer& dealer, int) -> Result<void> {
    for (const HeldRefusal& of : refusals) {
      auto key = held_of(dealer, Bytes(of.key)), text = held_of(dealer, Bytes(of.text));
      auto schedule = NormTables::make(dealer, of.schedule);
      auto tables = tables_for(dealer, of.way, of.tables);
      auto out = BitsOut::make(dealer, of.masks);
      if (!key || !text || !schedule || !tables || !out) return fail("nothing drawn");
      std::uint64_t before = dealer.session().channel().sent();
      auto keys = RoundKeys::expand(dealer, *schedule, *key);
      std::string why = keys ? "" : keys.error().message;
      if (keys) {
        before = dealer.session().channel().sent();
        auto made = seal_held(dealer, *tables, *out, *keys, *text);
        why = made ? "" : made.error().message;
      }
      EXPECT_NE(why.find(of.words), std::string::npos) << of.words << ": " << why;
      EXPECT_EQ(dealer.session().channel().sent(), before) << of.words;
      EXPECT_EQ(tables->left(), of.tables);
    }
    return dealer.session().stands();
  });
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
}

// Before a word is said: else one of both could hold what the other one has not, and wait.
TEST(LutHeldAes, WhatIsOfAnotherSessionIsRefused) {
  std::optional<RoundKeys> kept[2];
  std::optional<NormTables> tables_of[2];
  std::optional<BitsOut> masks_of[2];
  for (const bool first : {true, false}) {
    const Outcome outcome = with_dealers([&](PairDealer& dealer, int p) -> Result<void> {
      auto key = held_of(dealer, Bytes(16));
      auto tables = NormTables::make(dealer, 200);
      auto out = BitsOut::make(dealer, 16);
      if (!key || !tables || !out) return fail("nothing drawn");
      if (first) {
        auto keys = RoundKeys::expand(dealer, *tables, *key);
        if (!keys) return keys.error();
        kept[p].emplace(std::move(*keys));
        tables_of[p].emplace(std::move(*tables));
        masks_of[p].emplace(std::move(*out));
        return {};
      }
      auto keys = RoundKeys::expand(dealer, *tables, *key);
      if (!keys) return keys.error();
      const std::uint64_t before = dealer.session().channel().sent();
      const auto refused = [&](const auto& result, const char* words) {
        EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
        EXPECT_EQ(dealer.session().channel().sent(), before) << words;
        EXPECT_EQ(tables->left(), 160u) << words;
      };
      refused(seal_held(dealer, *tables, *out, *kept[p], *key), "round keys of another session");
      refused(seal_held(dealer, *tables_of[p], *out, *keys, *key), "tables are of another session");
      refused(seal_held(dealer, *tables, *masks_of[p], *keys, *key),
              "masks of octets that leave are of another session");
      refused(RoundKeys::expand(dealer, *tables_of[p], *key), "tables are of another session");
      key->session.high ^= 1;
      refused(RoundKeys::expand(dealer, *tables, *key), "another session");
      return dealer.session().stands();
    });
    EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
  }
}

// Changed octets are another protocol.
TEST(LutGolden, WhatBothSendForAJobIsAsCommitted) {
  const ot::FixedRandom fixed;
  ot::Hashes hashes;
  for (const HeldWay way : {HeldWay::kForward, HeldWay::kInverse}) {
    const HeldJob job = random_held_job(1, 32, 40, way);
    HeldDone done;
    const Outcome outcome = run_held_job(job, done, 0, {}, true);
    ASSERT_TRUE(outcome.ok());
    for (const int p : {0, 1})
      hashes[(way == HeldWay::kForward ? "held-seal " : "held-open ") + std::to_string(p)] =
          outcome.hash[p];
  }
  ot::compare_golden(TKDC_LUT_JOBS_WIRE_FORMAT_FILE, hashes);
}

}  // namespace
}  // namespace tkdc::lut
