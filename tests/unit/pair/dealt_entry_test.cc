// SPDX-License-Identifier: Apache-2.0
// A deal that becomes bits of the session before a circuit: what both have then, what is dropped,
// what ends the session, and what is refused before a word is said.
#include <algorithm>
#include <bit>

#include "pair/dealt_entry_parties.h"

namespace tkdc::pair {
namespace {

TEST(PairDealtEntry, BitsOfBothAreWhatWasDealtUnderTheSessionsMacs) {
  for (const std::size_t bits : {9, 128, 300}) {
    Entry entry(bits, 8);
    ASSERT_TRUE(entry.run().ok()) << entry.outcome.error[0].value_or("");
    for (const int p : {0, 1}) {
      ASSERT_EQ(entry.went[p], Went::kDone);
      ASSERT_EQ(entry.input[p].bits.size(), bits - 8);
      EXPECT_EQ(entry.pad_bits[p], 8u);
    }
    for (std::size_t k = 0; k < bits - 8; ++k) {
      const AuthBit *a = &entry.input[0].bits[k], *b = &entry.input[1].bits[k];
      EXPECT_EQ(a->own() ^ b->own(), entry.secret[k]) << k;
      EXPECT_EQ(a->own(), entry.share[0][k]) << "its share is the one that it was dealt";
      EXPECT_EQ(a->mac, entry.deltas[1].expected(*b, a->own())) << k;
      EXPECT_EQ(b->mac, entry.deltas[0].expected(*a, b->own())) << k;
    }
  }
}

// What a server says of its share tells nothing of it: of one share, all zeros, half of the octets'
// bits are ones, and in another session others.
TEST(PairDealtEntry, WhatIsSaidOfAShareIsMasked) {
  constexpr std::size_t kBits = 2048;
  for (const int p : {0, 1}) {
    Bytes said[2];
    for (Bytes& one : said) {
      Entry entry(kBits, 20);
      Change tap;
      Bytes all;
      tap.rewrite = [&](std::uint64_t, MutableByteSpan octets) {
        all.insert(all.end(), octets.begin(), octets.end());
      };
      std::ranges::fill(entry.dealt[static_cast<std::size_t>(p)].share, std::uint8_t{0});
      entry.run(p, tap);
      ASSERT_EQ(entry.went[p], Went::kDropped) << "its tags are of another share";
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(entry.entered_at[p]);
      one.assign(from, from + kBits / 8);
    }
    const auto ones = [](const Bytes& octets) {
      std::size_t sum = 0;
      for (const std::uint8_t octet : octets) sum += static_cast<std::size_t>(std::popcount(octet));
      return sum;
    };
    Bytes both = said[0];
    for (std::size_t k = 0; k < both.size(); ++k) both[k] ^= said[1][k];
    for (const Bytes& one : {said[0], said[1], both}) {
      EXPECT_GT(ones(one), kBits * 2 / 5) << p;
      EXPECT_LT(ones(one), kBits * 3 / 5) << p;
    }
  }
}

// The S-box with a pad: what entered goes on into a circuit, and the agent takes its output.
TEST(PairDealtEntry, GoesOnIntoACircuitAndThePadServesOnce) {
  Job job;
  const auto body = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      auto prepared = prepared_for(session, padded_sbox());
      auto again = prepared_for(session, padded_sbox());
      auto masks = EntryMasks::draw(session, 16);
      if (!prepared || !again || !masks) return fail("not prepared");
      job.dealt[p].session = session.id();
      auto entered = enter_dealt(session, std::move(*masks), std::move(job.dealt[p]), 8);
      if (!entered) return entered.error();
      Inputs inputs;
      inputs.held(entered->input).held(std::move(entered->pad));
      auto done = compute(session, *prepared, inputs);
      if (!done) return done.error();
      job.outputs[p] = std::move(*done);
      EXPECT_EQ(entered->pad.size(), 0u) << "it is gone where it was taken from";
      EXPECT_EQ(compute(session, *again, inputs).went(), Went::kRefused);
      return {};
    };
  };
  const Outcome outcome = with_sessions(body(0), body(1));
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  EXPECT_EQ(job.taken(), job.expected);
}

// Each field of what the agent deals to either server, and its own share: both drop the job, and
// the session goes on.
TEST(PairDealtEntry, AWrongShareOrMacDropsTheJobAndEndsNoSession) {
  const std::vector<std::function<void(Dealt&)>> changes = {
      [](Dealt& d) { d.share[3] ^= 1; },     [](Dealt& d) { d.share.back() ^= 1; },
      [](Dealt& d) { d.mask.high ^= 4; },    [](Dealt& d) { d.tags[0].low ^= 1; },
      [](Dealt& d) { d.tags[1].high ^= 1; }, [](Dealt& d) { d.peers_key[5] ^= 1; },
  };
  for (std::size_t k = 0; k < changes.size(); ++k)
    for (const std::size_t p : {0, 1}) {
      Entry entry(100, 20);
      changes[k](entry.dealt[p]);
      EXPECT_TRUE(entry.run().ok());
      for (const int of : {0, 1}) {
        EXPECT_EQ(entry.went[of], Went::kDropped) << k << p;
        EXPECT_TRUE(entry.stands[of]) << k << p;
      }
    }
}

// A server that flips a bit of its share and proves that, and one that enters one share and proves
// another.
TEST(PairDealtEntry, AServerThatFlipsABitIsDroppedOrEnds) {
  for (const int cheat : {0, 1}) {
    EXPECT_FALSE(flip_an_entered_bit(cheat).taken);
    const EndedBy ended = enter_one_and_prove_another(cheat);
    EXPECT_EQ(ended, EndedBy::kCheck);
  }
}

// Octets of each field that either sends, in two ways and with two secrets: it drops the job or
// ends the session, the same with both secrets, and nothing comes out.
TEST(PairDealtEntry, EachFieldChangedByEitherEndsOrDropsWhateverTheInput) {
  Entry honest(20, 4);
  ASSERT_TRUE(honest.run().ok());
  // 148 bits of share and R, a coin, a proof of 48 octets, a verdict.
  const std::uint64_t octets = 19 + 16 + 48 + 1;
  const std::uint64_t proof = 19 + 16, verdict = octets - 1;
  for (const int cheat : {0, 1}) {
    ASSERT_EQ(honest.outcome.sent[cheat] - honest.entered_at[cheat], octets);
    // A coin is whatever it is, and four bits of the shares' last octet are nobody's.
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{17}, proof,
                                   proof + 16, proof + 31, proof + 32, proof + 47, verdict})
      for (const std::uint8_t with : {1, 8}) {
        // W' alone may be the client's fault, and so a verdict of 0.
        const bool client = at >= proof + 32 && (at < verdict || with == 1);
        for (const std::uint64_t seed : {1, 2}) {
          Entry entry(20, 4, seed);
          entry.run(cheat, {honest.entered_at[cheat] + at, with});
          EXPECT_EQ(entry.went[1 - cheat], client ? Went::kDropped : Went::kEnded)
              << cheat << " " << at << " " << seed;
          EXPECT_EQ(entry.stands[1 - cheat], client);
        }
      }
  }
}

// The coin is sent when the other one's share is there: who proves to a coin that it knew before
// would choose two errors that cancel.
TEST(PairDealtEntry, ACoinLeavesBehindTheOthersShare) {
  const SessionBody silent = [](Session& session) -> Result<void> {
    auto masks = EntryMasks::draw(session, 16);
    Bytes share(18);  // 16 bits and R
    if (auto got = session.channel().read(share); !got) return got;
    return fail("it says nothing");
  };
  const SessionBody honest = [](Session& session) -> Result<void> {
    auto masks = EntryMasks::draw(session, 16);
    if (!masks) return masks.error();
    const std::uint64_t before = session.channel().sent();
    auto dealt = deal_input(Bits(16), session.id(), draw_coin());
    auto entered = enter_dealt(session, std::move(*masks), std::move(dealt[0]), 0);
    EXPECT_EQ(entered.went(), Went::kEnded);
    EXPECT_EQ(session.ended_by(), EndedBy::kLink);
    EXPECT_EQ(session.channel().sent() - before, 18u);
    return fail("the other one said nothing");
  };
  (void)with_sessions(honest, silent);
  (void)with_sessions(silent, honest);
}

TEST(PairDealtEntry, WhatDoesNotFitIsRefusedBeforeAWordIsSaid) {
  const SessionBody body = [](Session& session) -> Result<void> {
    const auto refused = [&](const char* words, std::size_t masked, std::array<Dealt, 2> dealt,
                             std::size_t pad_bits) {
      auto masks = EntryMasks::draw(session, masked);
      const std::uint64_t before = session.channel().sent();
      auto entered = enter_dealt(session, std::move(*masks), std::move(dealt[0]), pad_bits);
      EXPECT_EQ(entered.went(), Went::kRefused) << words;
      EXPECT_NE(entered.error().message.find(words), std::string::npos) << entered.error().message;
      EXPECT_EQ(session.channel().sent(), before);
    };
    const auto dealt = [&](std::size_t bits) {
      return deal_input(Bits(bits), session.id(), draw_coin());
    };
    refused("as long as", 16, dealt(17), 0);
    refused("as long as", 17, dealt(16), 0);
    refused("as long as", 16, dealt(16), 17);
    auto fewer = dealt(16);
    fewer[0].tags.pop_back();
    refused("as long as", 16, std::move(fewer), 0);
    refused("for another session", 16, deal_input(Bits(16), Label{1, 2}, draw_coin()), 0);
    return session.stands();
  };
  const Outcome outcome = with_sessions(body, body);
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
}

TEST(PairDealtEntry, DealsAndMasksServeOnceAndMasksInTheirSession) {
  std::optional<EntryMasks> kept[2];
  const std::array<Dealt, 2> dealt = deal_input(Bits(16), Label{}, Label{7, 7});
  for (const bool first : {true, false}) {
    const auto body = [&](std::size_t p) {
      return [&, p](Session& session) -> Result<void> {
        const auto again = [&](EntryMasks masks) {
          auto copy = get_dealt(put_dealt(dealt[p]), 16);
          copy->session = session.id();
          return enter_dealt(session, std::move(masks), std::move(*copy), 0);
        };
        auto one = EntryMasks::draw(session, 16), two = EntryMasks::draw(session, 16);
        if (!one || !two) return fail("nothing drawn");
        if (!first) {
          EXPECT_NE(again(std::move(*kept[p])).error().message.find("another session"),
                    std::string::npos);
          return {};
        }
        EXPECT_EQ(again(std::move(*one)).went(), Went::kDone);
        EXPECT_NE(again(std::move(*two)).error().message.find("this deal has served"),
                  std::string::npos);
        EXPECT_NE(again(std::move(*one)).error().message.find("masks have served"),
                  std::string::npos);
        auto three = EntryMasks::draw(session, 16);
        if (!three) return three.error();
        kept[p].emplace(std::move(*three));
        return {};
      };
    };
    const Outcome outcome = with_sessions(body(0), body(1));
    EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
  }
}

}  // namespace
}  // namespace tkdc::pair
