// SPDX-License-Identifier: Apache-2.0
// Inputs that an agent deals: what fits, what does not, and who is to blame for it.
#include "pair/dealt_parties.h"

namespace tkdc::pair {
namespace {

TEST(PairDealt, EachTagIsThatOfItsBlockUnderTheOthersKey) {
  std::mt19937_64 generator(1);
  const std::array<Dealt, 2> dealt = deal_input(random_bits(generator, 300), Label{}, draw_coin());
  for (const std::size_t p : {0, 1}) {
    Labels blocks = elements_of(dealt[p].share);
    ASSERT_EQ(blocks.size(), 3u);
    blocks.push_back(dealt[p].mask);
    const DealtKeys keys(dealt[1 - p].peers_key, blocks.size());
    ASSERT_EQ(dealt[p].tags.size(), blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k)
      EXPECT_EQ(dealt[p].tags[k],
                keys.q()[k] ^ ot::field_reference()->product(blocks[k], keys.delta()));
  }
}

TEST(PairDealt, OctetsAreReadAsTheyWereWritten) {
  std::mt19937_64 generator(2);
  for (const std::size_t bits : {0, 1, 128, 130, 1000}) {
    const std::array<Dealt, 2> dealt =
        deal_input(random_bits(generator, bits), Label{7, 8}, draw_coin());
    const SecretVector octets = put_dealt(dealt[0]);
    ASSERT_EQ(octets.size(), dealt_bytes(bits));
    auto again = get_dealt(octets, bits);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->session, (Label{7, 8}));
    EXPECT_EQ(again->number, dealt[1].number);
    EXPECT_EQ(again->share, dealt[0].share);
    EXPECT_EQ(again->mask, dealt[0].mask);
    EXPECT_EQ(again->tags, dealt[0].tags);
    EXPECT_EQ(again->peers_key, dealt[0].peers_key);
    const auto shorter = get_dealt(ByteSpan(octets).first(octets.size() - 1), bits);
    EXPECT_NE(shorter.error().message.find("which takes"), std::string::npos);
    EXPECT_FALSE(get_dealt(octets, bits + 128).ok());
  }
}

TEST(PairDealt, AnAgentGetsItsOutputAndNobodyElseSeesIt) {
  Job job;
  EXPECT_TRUE(job.run().ok()) << job.outcome.error[0].value_or("");
  EXPECT_EQ(job.taken(), job.expected);
  EXPECT_NE(job.outputs[0], job.expected) << "the control: what servers see has the pad in it";
}

// Each field of what the agent deals to either server, and its own share: the job is dropped by
// both, and the session goes on.
TEST(PairDealt, AWrongInputOrMacDropsTheJobAndEndsNoSession) {
  const std::vector<std::function<void(Dealt&)>> changes = {
      [](Dealt& d) { d.share[3] ^= 1; },  // of the input
      [](Dealt& d) { d.share[8] ^= 1; },  // of the pad
      [](Dealt& d) { d.mask.high ^= 4; },    [](Dealt& d) { d.tags[0].low ^= 1; },
      [](Dealt& d) { d.tags[1].high ^= 1; }, [](Dealt& d) { d.peers_key[5] ^= 1; },
  };
  std::vector<Job> jobs(2 * changes.size() + 1);
  for (std::size_t k = 0; k < changes.size(); ++k)
    for (const std::size_t p : {0, 1}) changes[k](jobs[2 * k + p].dealt[p]);
  const auto body = [&](int p) {
    return [&, p](Session& session) -> Result<void> {
      for (Job& job : jobs)
        if (auto served = job.serve(session, p); !served) return served;
      return {};
    };
  };
  ASSERT_TRUE(with_sessions(body(0), body(1)).ok());
  for (std::size_t k = 0; k + 1 < jobs.size(); ++k) jobs[k].expect_dropped();
  EXPECT_EQ(jobs.back().taken(), jobs.back().expected) << "the same session serves on";
}

TEST(PairDealt, TwoDealsOfOneAgentDoNotMix) {
  Job job, other;
  job.dealt[1] = std::move(other.dealt[1]);
  job.run();
  job.expect_dropped();
}

// A server that enters another share than it was dealt, and proves with the tags that it has what
// it has entered: the job is dropped. Or it proves what it was dealt: that is its lie, and the end.
TEST(PairDealt, AServerThatFlipsABitOfThePadChangesNothing) {
  for (const int cheat : {0, 1}) {
    const FlippedPad flipped = flip_a_bit_of_the_pad(cheat);
    EXPECT_FALSE(flipped.taken);
    EXPECT_TRUE(flipped.stands);
  }
  const OtherProof proved = enter_one_share_and_prove_another();
  EXPECT_FALSE(proved.passed);
  EXPECT_EQ(proved.ended, EndedBy::kCheck);
}

TEST(PairDealt, WhatWasDealtServesOnce) {
  for (const bool in_octets : {false, true}) {
    const ReadTwice read = use_a_deal_twice(in_octets);
    EXPECT_FALSE(read.share);
    EXPECT_EQ(read.went, Went::kRefused);
    EXPECT_NE(read.refusal.find("dealt again"), std::string::npos);
  }
}

TEST(PairDealt, WhatWasDealtForAnotherSessionIsRefused) {
  const SessionBody body = [](Session& session) -> Result<void> {
    auto prepared = prepared_for(session, padded_sbox());
    if (!prepared) return prepared.error();
    const std::uint64_t before = session.channel().sent();
    Label other = session.id();
    other.high ^= 1;
    Inputs inputs(std::move(deal_input(Bits(16), other, draw_coin())[0]));
    const JobResult refused = compute(session, *prepared, inputs.dealt(16));
    EXPECT_EQ(refused.went(), Went::kRefused);
    EXPECT_NE(refused.error().message.find("for another session"), std::string::npos);
    EXPECT_EQ(session.channel().sent(), before);
    return session.stands();
  };
  EXPECT_TRUE(with_sessions(body, body).ok());
}

TEST(PairDealt, WhatDoesNotFitTheCircuitIsRefusedBeforeAWordIsSaid) {
  const SessionBody body = [](Session& session) -> Result<void> {
    auto prepared = prepared_for(session, padded_sbox());
    if (!prepared) return prepared.error();
    const std::uint64_t before = session.channel().sent();
    for (const std::size_t bits : {0, 15, 17, 200}) {
      Inputs inputs(std::move(deal_input(Bits(bits), session.id(), draw_coin())[0]));
      inputs.dealt(16);
      const JobResult refused = compute(session, *prepared, inputs);
      EXPECT_EQ(refused.went(), Went::kRefused) << bits;
      EXPECT_NE(refused.error().message.find("as long as"), std::string::npos);
    }
    Inputs none;
    EXPECT_FALSE(compute(session, *prepared, none.dealt(16)).ok());
    const Held other{Label{1, 2}, AuthBits(16)};
    Inputs held;
    EXPECT_NE(compute(session, *prepared, held.held(other)).error().message.find("another session"),
              std::string::npos);
    EXPECT_EQ(session.channel().sent(), before);
    return session.stands();
  };
  EXPECT_TRUE(with_sessions(body, body).ok());
}

// Held bits and bits that nobody knows, beside those of an agent.
TEST(PairDealt, InputsOfAllKindsInOneCircuit) {
  circuit::Recorder recorder;
  const auto x = recorder.input("x", 8), y = recorder.input("y", 8), z = recorder.input("z", 8);
  circuit::Bits<circuit::Recorder> out;
  for (std::size_t k = 0; k < 8; ++k) out.push_back(recorder.and_of(x[k], y[k]));
  for (std::size_t k = 0; k < 8; ++k) out.push_back(recorder.xor_of(y[k], z[k]));
  recorder.output("y", circuit::BitSpan<circuit::Recorder>(out));
  const PairCircuit circuit(circuit::schedule_of(recorder.finish()));
  std::mt19937_64 generator(3);
  const Bits secret = random_bits(generator, 8);
  std::array<Dealt, 2> dealt = deal_input(secret, Label{}, draw_coin());
  Bits outputs[2], shares[2];
  const auto body = [&](int p) {
    return [&, p](Session& session) -> Result<void> {
      auto prepared = prepared_for(session, circuit);
      if (!prepared) return prepared.error();
      auto drawn = session.draw(8);
      if (!drawn) return drawn.error();
      for (const AuthBit& bit : *drawn) shares[p].push_back(static_cast<std::uint8_t>(bit.own()));
      const Held held{session.id(), std::move(*drawn)};
      dealt[static_cast<std::size_t>(p)].session = session.id();
      Inputs inputs(std::move(dealt[static_cast<std::size_t>(p)]));
      auto done = compute(session, *prepared, inputs.held(held).dealt(8).random(8));
      if (!done) return done.error();
      outputs[p] = *done;
      return {};
    };
  };
  const Outcome outcome = with_sessions(body(0), body(1));
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  EXPECT_EQ(outputs[0], outputs[1]);
  for (std::size_t k = 0; k < 8; ++k)
    EXPECT_EQ(outputs[0][k], (shares[0][k] ^ shares[1][k]) & secret[k]);
  EXPECT_NE(Bits(outputs[0].begin() + 8, outputs[0].end()), secret) << "a confounder is random";
}

class PairDealtMessages : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Side, PairDealtMessages, testing::Values(0, 1));

// Every message of a job with dealt inputs, an octet of each field, changed by either server in two
// ways with two inputs: none gives the agent another output, and an end or a drop does not depend
// on what is secret.
TEST_P(PairDealtMessages, EachFieldChangedIsFoundWhateverTheInputs) {
  const int cheat = GetParam();
  Job honest;
  ASSERT_TRUE(honest.run().ok());
  // Of the garbler: masked bits; labels of the S-box's inputs, and of pads, of which colours are
  // read only; coin; verdict, proof (3), digest, outputs, digest. Of the evaluator: masked bits;
  // coin, proof (3), values, digest; verdict, outputs, digest.
  const std::vector<std::uint64_t> fields[2] = {
      {16 / 8 + 16, 8 * 16, 8 * 16, 16, 1, 16, 16, 16, 16, 1, 16},
      {16 / 8 + 16, 16, 16, 16, 16, 4, 16, 1, 1, 16}};
  const std::size_t verdict = cheat == 0 ? 4 : 7, agents_mac = cheat == 0 ? 7 : 4;
  std::uint64_t at = honest.online_at[cheat];
  for (std::size_t field = 0; field < fields[cheat].size(); at += fields[cheat][field++])
    for (const bool begin : {false, true}) {
      Job job(2 * field + (begin ? 1 : 0));
      job.run(cheat, begin ? Change{at, 1} : Change{at + fields[cheat][field] / 2, 2});
      const bool unread = cheat == 0 && field == 2 && !begin;
      // What may be the agent's doing; and the verdict 0 in the place of 1.
      const bool drops = field == agents_mac || (field == verdict && begin);
      EXPECT_EQ(job.went[1 - cheat], unread  ? Went::kDone
                                     : drops ? Went::kDropped
                                             : Went::kEnded)
          << " field " << field << begin;
      if (unread) {
        EXPECT_EQ(job.taken(), job.expected);
      }
    }
  EXPECT_EQ(at, honest.outcome.sent[cheat]) << "all fields are named";
}

// Neither sends labels or a coin before it has the other one's masked bits: after them nobody can
// choose what it proves by the coin.
TEST(PairDealt, NoCoinIsToldBeforeTheOtherOnesMaskedBitsAreThere) {
  for (const int p : {0, 1}) {
    Job job;
    std::uint64_t said = 0;
    const SessionBody waits = [&](Session& session) -> Result<void> {
      auto served = job.serve(session, p);
      said = session.channel().sent() - job.online_at[p];
      EXPECT_EQ(session.ended_by(), EndedBy::kLink);
      return served;
    };
    const SessionBody leaves = [&](Session& session) -> Result<void> {
      auto prepared = prepared_for(session, padded_sbox());
      Bytes octets(16 / 8 + 16);
      auto got = prepared ? session.channel().read(octets) : prepared.error();
      return got ? fail("it has heard masked bits, and wants a coin first") : got;
    };
    (void)(p == 0 ? with_sessions(waits, leaves) : with_sessions(leaves, waits));
    EXPECT_EQ(said, 16u / 8 + 16) << p;
    EXPECT_EQ(job.went[p], Went::kEnded);
  }
}

}  // namespace
}  // namespace tkdc::pair
