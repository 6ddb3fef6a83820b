// SPDX-License-Identifier: Apache-2.0
// An agent of two servers: what it deals, which answers it believes, and how it deals again.
#include "agent/two_servers.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "agent/jobs.h"
#include "fake_servers.h"
#include "service/wire/recipe.h"

namespace tkdc::agent {
namespace {

constexpr std::size_t kServers = 2;

SecretVector octets(const std::string& text) { return {text.begin(), text.end()}; }

// What arrives at one of two servers, and what it says.
class MemoryLink final : public ServerLink {
 public:
  explicit MemoryLink(std::string title) : title_(std::move(title)) {}
  bool send(SecretVector frame) override {
    auto request = decode_request(frame);
    EXPECT_TRUE(request.ok()) << request.error().message;
    if (request->op != TKDC_OP_STATUS) asked.push_back(std::move(*request));
    return true;
  }
  bool ready() override { return true; }
  bool readable() override { return !said.empty(); }
  void receive(const std::function<void(ByteSpan)>& handle, int) override {
    for (const SecretVector& frame : std::exchange(said, {})) handle(frame);
  }
  bool update(Clock::time_point) override { return std::exchange(lost, false); }
  bool connected() const override { return true; }
  Clock::time_point down_since() const override { return {}; }
  const std::string& title() const override { return title_; }
  const std::string& trouble() const override { return trouble_; }

  void say(const JobRequest& to, JobReply reply) {
    reply.run = to.name.run;
    reply.number = to.name.number;
    said.push_back(encode(reply));
  }

  std::deque<JobRequest> asked;
  std::vector<SecretVector> said;
  bool lost = false;

 private:
  std::string title_, trouble_;
};

JobReply reply_of(tkdc_status status, SecretVector output = {}, std::string message = {}) {
  JobReply reply;
  reply.status = status;
  reply.output = std::move(output);
  reply.message = std::move(message);
  return reply;
}

JobReply deal_for(std::uint8_t session) {
  return reply_of(TKDC_STATUS_DEAL_AGAIN, SecretVector(sizeof(pair::Label), session));
}

// What both were dealt for one job.
struct Deal {
  std::array<pair::Dealt, kServers> to;
  SecretVector input, pad;
};

// Each server's MACs are those that the other one's key gives.
void expect_macs(const Deal& deal) {
  for (std::size_t p = 0; p < kServers; ++p) {
    pair::Labels blocks = pair::elements_of(deal.to[p].share);
    blocks.push_back(deal.to[p].mask);
    const pair::DealtKeys keys(deal.to[1 - p].peers_key, blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const pair::Label tag = keys.q()[k] ^ ot::field().product(blocks[k], keys.delta());
      EXPECT_TRUE(tag.low == deal.to[p].tags[k].low && tag.high == deal.to[p].tags[k].high);
    }
  }
}

Deal opened(ByteSpan a, ByteSpan b, std::size_t input, std::size_t pad) {
  const std::size_t bits = 8 * (input + pad);
  Deal deal;
  auto first = pair::get_dealt(a, bits), second = pair::get_dealt(b, bits);
  EXPECT_TRUE(first.ok() && second.ok()) << "a deal of another length than servers reckon";
  if (!first.ok() || !second.ok()) return deal;
  deal.to = {std::move(*first), std::move(*second)};
  pair::Bits sum = deal.to[0].share;
  for (std::size_t k = 0; k < bits; ++k) sum[k] ^= deal.to[1].share[k];
  const Bytes all = pair::packed(sum);
  deal.input.assign(all.begin(), all.begin() + std::ptrdiff_t(input));
  deal.pad.assign(all.begin() + std::ptrdiff_t(input), all.end());
  expect_macs(deal);
  return deal;
}

// All of it: a known half is dealt by itself, before the rest.
Deal opened(const JobRequest& a, const JobRequest& b) {
  const auto by = is_derived(a.op) ? decode_derivation(a.public_data) : std::nullopt;
  const std::size_t half = by ? known_half_bytes(*by) : 0;
  const std::size_t first = half > 0 ? pair::dealt_bytes(8 * half) : 0;
  const ByteSpan all_of_a = a.dealt, all_of_b = b.dealt;
  Deal rest = opened(all_of_a.subspan(first), all_of_b.subspan(first), a.input_bytes() - half,
                     pad_bytes(a).value_or(0));
  if (half == 0) return rest;
  const Deal known = opened(all_of_a.first(first), all_of_b.first(first), half, 0);
  EXPECT_NE(known.to[0].number, rest.to[0].number);
  EXPECT_EQ(known.to[0].session, rest.to[0].session);
  rest.input.insert(rest.input.begin(), known.input.begin(), known.input.end());
  return rest;
}

std::uint8_t session_of(const pair::Dealt& dealt) {
  return static_cast<std::uint8_t>(dealt.session.low);
}

class TwoServersTest : public testing::Test {
 protected:
  TwoServersTest() {
    config_.servers.resize(kServers);
    config_.name = "agent-test";
    ServerLinks links;
    for (std::size_t p = 0; p < kServers; ++p) {
      auto link = std::make_unique<MemoryLink>("server " + std::to_string(p));
      link_[p] = link.get();
      links.push_back(std::move(link));
    }
    auto jobs = Jobs::create(config_, std::move(links),
                             [this](const Asker&, tkdc_wire_op op, const KeyId&, Outcome outcome) {
                               if (op == TKDC_OP_STATUS) return;
                               outcomes_.push_back(std::move(outcome));
                             });
    jobs_ = std::move(jobs).value();
  }

  void submit(tkdc_wire_op op, SecretVector secret, std::size_t output, Bytes public_data = {}) {
    Operation operation;
    operation.job.op = op;
    operation.job.key.enctype = 18;
    operation.job.key.id.fill(7);
    operation.job.public_data = std::move(public_data);
    operation.secret = std::move(secret);
    operation.min_output = operation.max_output = output;
    jobs_->submit({1, 1}, std::move(operation), now_, now_ + std::chrono::seconds(10));
  }

  // The job that both have been asked last.
  std::pair<JobRequest, JobRequest> asked() {
    EXPECT_FALSE(link_[0]->asked.empty() || link_[1]->asked.empty());
    std::pair<JobRequest, JobRequest> both(link_[0]->asked.back(), link_[1]->asked.back());
    EXPECT_EQ(both.first.name, both.second.name);
    EXPECT_EQ(both.first.op, both.second.op);
    return both;
  }

  void answer(JobReply first, JobReply second) {
    link_[0]->say(link_[0]->asked.back(), std::move(first));
    link_[1]->say(link_[1]->asked.back(), std::move(second));
    jobs_->pump(now_);
  }
  void answer(const JobReply& both) { answer(both, both); }

  // Both answer a padded operation: the output, as they open it.
  SecretVector masked(SecretVector output) {
    const auto [a, b] = asked();
    const Deal deal = opened(a, b);
    EXPECT_EQ(deal.pad.size(), output.size());
    for (std::size_t k = 0; k < output.size(); ++k) output[k] ^= deal.pad[k];
    return output;
  }

  Outcome last() {
    EXPECT_EQ(outcomes_.size(), 1u);
    if (outcomes_.empty()) return failure(TKDC_STATUS_INTERNAL, "none");
    Outcome outcome = std::move(outcomes_.back());
    outcomes_.clear();
    return outcome;
  }

  // Of a SEAL that both answer so.
  Outcome sealed_with(JobReply first, JobReply second) {
    submit(TKDC_OP_SEAL, octets("message"), 35);
    answer(std::move(first), std::move(second));
    return last();
  }

  AgentConfig config_;
  std::array<MemoryLink*, kServers> link_{};
  std::vector<Outcome> outcomes_;
  std::unique_ptr<Jobs> jobs_;
  Clock::time_point now_ = Clock::now();
};

TEST_F(TwoServersTest, InputAndPadAreDealtAndThePadComesOff) {
  submit(TKDC_OP_SEAL, octets("message"), 35);
  const auto [a, b] = asked();
  EXPECT_TRUE(a.component[0].empty() && a.component[1].empty());
  EXPECT_NE(a.dealt, b.dealt);
  EXPECT_EQ(opened(a, b).input, octets("message"));
  EXPECT_EQ(opened(a, b).pad.size(), 35u);
  const SecretVector sealed = fake_seal(octets("message"));
  const SecretVector z = masked(sealed);
  EXPECT_NE(z, sealed);
  answer(reply_of(TKDC_STATUS_OK, z));
  EXPECT_EQ(last().output, sealed);
}

TEST_F(TwoServersTest, EachOperationIsDealtWhatItTakes) {
  const auto dealt_for = [&](tkdc_wire_op op, std::size_t input, std::size_t output,
                             Bytes public_data = {}) {
    submit(op, SecretVector(input, 3), output, std::move(public_data));
    const auto [a, b] = asked();
    const Deal deal = opened(a, b);
    EXPECT_EQ(deal.input, SecretVector(input, 3)) << op;
    answer(reply_of(TKDC_STATUS_OK, SecretVector(output)));
    EXPECT_EQ(last().status, TKDC_STATUS_OK) << op;
    return deal.pad.size();
  };
  EXPECT_EQ(dealt_for(TKDC_OP_OPEN, 60, 32), 32u);
  EXPECT_EQ(dealt_for(TKDC_OP_MAC, 500, 12), 12u);
  EXPECT_EQ(dealt_for(TKDC_OP_VERIFY, 40, 0), 0u);
  EXPECT_EQ(dealt_for(TKDC_OP_STAGE, 32, 0, {TKDC_ORIGIN_IMPORTED}), 0u);
  const Bytes recipe = encode_derivation({TKDC_DERIVE_CF2, 20, "replykey"});
  EXPECT_EQ(dealt_for(TKDC_OP_SEAL_DERIVED, 32 + 10, 50, recipe), 50u);
  EXPECT_EQ(dealt_for(TKDC_OP_MAC_DERIVED, 32 + 10, 24, recipe), 24u);
  const Bytes cookie = encode_derivation({TKDC_DERIVE_PRFPLUS, 18, "COOKIEalice@R"});
  EXPECT_EQ(dealt_for(TKDC_OP_SEAL_DERIVED, 10, 38, cookie), 38u);
}

TEST_F(TwoServersTest, WithoutInputAndPadNothingIsDealt) {
  for (tkdc_wire_op op : {TKDC_OP_BIND, TKDC_OP_DESTROY, TKDC_OP_EQUAL, TKDC_OP_STAGE}) {
    const std::size_t output = op == TKDC_OP_EQUAL ? 1 : 0;
    submit(op, {}, output, op == TKDC_OP_STAGE ? Bytes{TKDC_ORIGIN_DRAWN} : Bytes());
    EXPECT_TRUE(asked().first.dealt.empty()) << op;
    answer(reply_of(TKDC_STATUS_OK, SecretVector(output, 1)));
    EXPECT_EQ(last().output, SecretVector(output, 1)) << op;
  }
}

// The agent has to know how long a key is before it may be told: it has seen it staged.
TEST_F(TwoServersTest, AKeyIsExportedByWhoStagedIt) {
  submit(TKDC_OP_EXPORT, {}, 32);
  EXPECT_TRUE(link_[0]->asked.empty());
  EXPECT_EQ(last().status, TKDC_STATUS_UNKNOWN_KEY);
  submit(TKDC_OP_STAGE, {}, 0, {TKDC_ORIGIN_DRAWN});
  answer(reply_of(TKDC_STATUS_OK));
  EXPECT_EQ(last().status, TKDC_STATUS_OK);
  submit(TKDC_OP_EXPORT, {}, 32);
  EXPECT_EQ(asked().first.key.enctype, 18u);
  EXPECT_EQ(asked().first.input_bytes(), 0u);
  const SecretVector key(32, 0x5a);
  answer(reply_of(TKDC_STATUS_OK, masked(key)));
  EXPECT_EQ(last().output, key);
}

TEST_F(TwoServersTest, AWrongAnswerIsSeen) {
  for (std::size_t liar = 0; liar < kServers; ++liar)
    for (std::size_t bit = 0; bit < 35 * 8; bit += 39) {
      submit(TKDC_OP_SEAL, octets("message"), 35);
      const SecretVector z = masked(fake_seal(octets("message")));
      std::array<JobReply, 2> replies = {reply_of(TKDC_STATUS_OK, z), reply_of(TKDC_STATUS_OK, z)};
      replies[liar].output[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      answer(replies[0], replies[1]);
      const Outcome outcome = last();
      EXPECT_EQ(outcome.status, TKDC_STATUS_INCONSISTENT);
      EXPECT_TRUE(outcome.fault);
      EXPECT_TRUE(outcome.output.empty());
      EXPECT_NE(outcome.message.find("faulty or changed"), std::string::npos);
    }
  // An octet of EQUAL has no pad.
  submit(TKDC_OP_EQUAL, {}, 1);
  answer(reply_of(TKDC_STATUS_OK, {1}), reply_of(TKDC_STATUS_OK, {0}));
  EXPECT_EQ(last().status, TKDC_STATUS_INCONSISTENT);
}

TEST_F(TwoServersTest, AnAnswerOfAnotherLengthIsNone) {
  for (std::size_t bytes : {0, 34, 36})
    EXPECT_EQ(sealed_with(reply_of(TKDC_STATUS_OK, SecretVector(bytes)),
                          reply_of(TKDC_STATUS_OK, SecretVector(bytes)))
                  .status,
              bytes > 35 ? TKDC_STATUS_INTERNAL : TKDC_STATUS_INCONSISTENT)
        << bytes;
}

TEST_F(TwoServersTest, ARefusalCountsFromBoth) {
  for (tkdc_status status : {TKDC_STATUS_INTEGRITY, TKDC_STATUS_DENIED, TKDC_STATUS_UNKNOWN_KEY,
                             TKDC_STATUS_BAD_REQUEST}) {
    EXPECT_EQ(sealed_with(reply_of(status), reply_of(status)).status, status);
    for (bool first : {false, true}) {
      JobReply refused = reply_of(status, {}, "not with me"), done = reply_of(TKDC_STATUS_OK);
      done.output.assign(35, 0);
      const Outcome outcome = first ? sealed_with(refused, done) : sealed_with(done, refused);
      EXPECT_EQ(outcome.status, TKDC_STATUS_INCONSISTENT);
      EXPECT_TRUE(outcome.fault);
      EXPECT_NE(outcome.message.find("not with me"), std::string::npos) << outcome.message;
      EXPECT_NE(outcome.message.find("server 0: "), std::string::npos) << outcome.message;
      EXPECT_NE(outcome.message.find("server 1: "), std::string::npos) << outcome.message;
    }
  }
  EXPECT_EQ(sealed_with(reply_of(TKDC_STATUS_DENIED), reply_of(TKDC_STATUS_INTEGRITY)).status,
            TKDC_STATUS_INCONSISTENT);
}

TEST_F(TwoServersTest, ALimitAFaultAndAnAbsenceCountFromOne) {
  for (tkdc_status status : {TKDC_STATUS_LIMIT, TKDC_STATUS_INTERNAL, TKDC_STATUS_UNAVAILABLE})
    for (tkdc_status other : {TKDC_STATUS_OK, TKDC_STATUS_INTEGRITY, TKDC_STATUS_UNAVAILABLE}) {
      EXPECT_EQ(sealed_with(reply_of(status), reply_of(other, SecretVector(35))).status, status);
      EXPECT_EQ(sealed_with(reply_of(other, SecretVector(35)), reply_of(status)).status, status);
    }
}

TEST_F(TwoServersTest, NoMixtureIsEverOk) {
  for (int a = 0; a <= TKDC_STATUS_INTERNAL; ++a)
    for (int b = 0; b <= TKDC_STATUS_INTERNAL; ++b)
      if (a + b > 0) {
        const Outcome outcome = sealed_with(reply_of(tkdc_status(a), SecretVector(35)),
                                            reply_of(tkdc_status(b), SecretVector(35)));
        EXPECT_NE(outcome.status, TKDC_STATUS_OK);
        EXPECT_TRUE(outcome.output.empty());
        EXPECT_FALSE(outcome.message.empty());
      }
}

TEST_F(TwoServersTest, ItDealsForTheSessionThatBothName) {
  submit(TKDC_OP_SEAL, octets("message"), 35);
  EXPECT_EQ(session_of(opened(asked().first, asked().second).to[0]), 0);
  const JobName before = asked().first.name;
  answer(deal_for(9));
  EXPECT_TRUE(outcomes_.empty()) << "asked again at once";
  const auto [a, b] = asked();
  EXPECT_EQ(a.name.run, before.run);
  EXPECT_GT(a.name.number, before.number);
  const Deal deal = opened(a, b);
  EXPECT_EQ(session_of(deal.to[0]), 9);
  EXPECT_EQ(session_of(deal.to[1]), 9);
  EXPECT_EQ(deal.input, octets("message"));
  answer(reply_of(TKDC_STATUS_OK, masked(fake_seal(octets("message")))));
  EXPECT_EQ(last().output, fake_seal(octets("message")));
  // The next one is for it from the first.
  submit(TKDC_OP_MAC, octets("message"), 12);
  EXPECT_EQ(session_of(opened(asked().first, asked().second).to[0]), 9);
}

TEST_F(TwoServersTest, WhatIsDealtServesOnce) {
  std::set<SecretVector> pads;
  std::set<std::pair<std::uint64_t, std::uint64_t>> numbers;
  std::set<std::uint64_t> jobs;
  constexpr std::uint8_t kDeals = 5;
  submit(TKDC_OP_SEAL, octets("message"), 35);
  for (std::uint8_t k = 0; k < kDeals; ++k) {
    const auto [a, b] = asked();
    const Deal deal = opened(a, b);
    pads.insert(deal.pad);
    numbers.insert({deal.to[0].number.low, deal.to[0].number.high});
    jobs.insert(a.name.number);
    answer(deal_for(static_cast<std::uint8_t>(k + 1)));
    now_ += kDealAgainAfter;
    jobs_->pump(now_);
  }
  EXPECT_EQ(pads.size(), kDeals);
  EXPECT_EQ(numbers.size(), kDeals);
  EXPECT_EQ(jobs.size(), kDeals);
}

// However fast they say so.
TEST_F(TwoServersTest, ServersThatAlwaysAskForAnotherDealAreGivenUp) {
  submit(TKDC_OP_SEAL, octets("message"), 35);
  std::size_t answered = 0;
  for (int passes = 0; outcomes_.empty() && passes < 1'000; ++passes) {
    if (link_[0]->asked.size() > answered) {
      ++answered;
      answer(deal_for(static_cast<std::uint8_t>(answered)));
    }
    now_ += std::chrono::milliseconds(10);
    jobs_->pump(now_);
  }
  EXPECT_EQ(link_[0]->asked.size(), std::size_t(kMostDeals));
  EXPECT_EQ(last().status, TKDC_STATUS_UNAVAILABLE);
}

TEST_F(TwoServersTest, OneAloneNamesNoSession) {
  submit(TKDC_OP_SEAL, octets("message"), 35);
  answer(deal_for(8), deal_for(9));
  answer(deal_for(8), reply_of(TKDC_STATUS_UNAVAILABLE));
  EXPECT_TRUE(outcomes_.empty()) << "they are between two sessions";
  EXPECT_EQ(link_[0]->asked.size(), 2u) << "not at once any more";
  now_ += kDealAgainAfter;
  jobs_->pump(now_);
  ASSERT_EQ(link_[0]->asked.size(), 3u);
  EXPECT_EQ(session_of(opened(asked().first, asked().second).to[0]), 0);
  // The other one has done it, so it knows of a session that served.
  answer(deal_for(8), reply_of(TKDC_STATUS_OK, SecretVector(35)));
  const Outcome outcome = last();
  EXPECT_EQ(outcome.status, TKDC_STATUS_INCONSISTENT);
  EXPECT_TRUE(outcome.fault);
}

TEST_F(TwoServersTest, AnAnswerThatComesTwiceIsCountedOnce) {
  submit(TKDC_OP_MAC, octets("message"), 12);
  const SecretVector z = masked(fake_mac(octets("message")));
  for (int times = 0; times < 2; ++times) {
    link_[0]->say(link_[0]->asked.back(), reply_of(TKDC_STATUS_OK, z));
    jobs_->pump(now_);
  }
  EXPECT_TRUE(outcomes_.empty()) << "one server has answered twice, the other one has not";
  EXPECT_EQ(jobs_->counters().late_replies, 1u);
  link_[1]->say(link_[1]->asked.back(), reply_of(TKDC_STATUS_OK, z));
  link_[1]->say(link_[1]->asked.back(), reply_of(TKDC_STATUS_OK, z));
  jobs_->pump(now_);
  EXPECT_EQ(last().output, fake_mac(octets("message")));
  EXPECT_EQ(jobs_->counters().late_replies, 2u);
}

// An answer to what was dealt before is no answer to what is dealt now.
TEST_F(TwoServersTest, AnAnswerToAnEarlierDealIsLate) {
  submit(TKDC_OP_MAC, octets("message"), 12);
  const JobRequest before = link_[0]->asked.back();
  answer(deal_for(1));
  link_[0]->say(before, reply_of(TKDC_STATUS_OK, SecretVector(12)));
  link_[1]->say(before, reply_of(TKDC_STATUS_OK, SecretVector(12)));
  jobs_->pump(now_);
  EXPECT_TRUE(outcomes_.empty()) << outcomes_[0].message;
  EXPECT_EQ(jobs_->counters().late_replies, 2u);
}

TEST_F(TwoServersTest, ALostConnectionFailsWhatItOwed) {
  submit(TKDC_OP_MAC, octets("message"), 12);
  link_[1]->lost = true;
  jobs_->pump(now_);
  EXPECT_EQ(last().status, TKDC_STATUS_UNAVAILABLE);
}

// A long message is one job: nothing of it is hashed by the agent.
TEST_F(TwoServersTest, NoOperationIsInTwoParts) {
  config_.installation.fill(1);
  KeyRef key;
  key.installation = config_.installation;
  key.enctype = 18;
  SecretVector body;
  SecretWriter w(body);
  put_key(w, key);
  w.u32(7);
  w.bytes(SecretVector(1'000, 4));
  Parsed parsed = parse_operation(TKDC_OP_MAC, body, config_, false);
  ASSERT_EQ(parsed.status, TKDC_STATUS_OK) << parsed.message;
  ASSERT_TRUE(parsed.operation.rest) << "with three servers it is";
  jobs_->submit({1, 1}, std::move(parsed.operation), now_, now_ + std::chrono::seconds(1));
  EXPECT_TRUE(asked().first.public_data.empty());
  const SecretVector mac(12, 9);
  answer(reply_of(TKDC_STATUS_OK, masked(mac)));
  EXPECT_EQ(last().output, mac);
}

TEST_F(TwoServersTest, BothListTheSameKeys) {
  submit(TKDC_OP_LIST, {}, 100);
  answer(reply_of(TKDC_STATUS_OK, {1, 2}));
  EXPECT_EQ(last().output, SecretVector({1, 2}));
  submit(TKDC_OP_LIST, {}, 100);
  answer(reply_of(TKDC_STATUS_OK, {1, 2}), reply_of(TKDC_STATUS_OK, {1, 3}));
  EXPECT_EQ(last().status, TKDC_STATUS_INCONSISTENT);
}

}  // namespace
}  // namespace tkdc::agent
