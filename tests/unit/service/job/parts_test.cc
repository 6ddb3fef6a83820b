// SPDX-License-Identifier: Apache-2.0
// Operations in two parts (docs/protocols/17-two-part-hmac.md) through whole job services: results
// against libkrb5, which operations have parts, what a tail needs, and what is counted.
#include "agent/two_parts.h"
#include "enctype.h"
#include "rebuild_key.h"
#include "service/job/half_done.h"
#include "service/operation/operations.h"
#include "service/sealing/seal_counts.h"
#include "support/krb5_client.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

const Part kHead{Part::Kind::kHead};

Part tail_part(const JobName& head) { return {Part::Kind::kTail, head.number}; }

// A head and what an agent makes of its answer.
struct Begun {
  JobName name;
  Bytes ciphertext;
  ThreeServices::Job tail;
  JobCost cost;
};

ThreeServices::Job head_job(tkdc_wire_op op, const KeyRef& key, std::uint32_t use,
                            const Bytes& input) {
  return {op, key, use, encode(kHead), input};
}

Begun begun(ThreeServices& e, const ThreeServices::Job& head, const JobName& name) {
  const auto rest = agent::rest_of(head.op, *tkdc_enctype_of(head.key.enctype), head.input);
  const Answer answer = e.wait(name);
  const Bytes out = answer.output();
  EXPECT_TRUE(rest.has_value());
  EXPECT_EQ(out.size(), rest->head_bytes());
  const ByteSpan state = ByteSpan(out).last(kSha1StateBytes);
  const SecretVector digest = agent::inner_digest(state, *rest);
  Begun b{name, {out.begin(), out.end() - kSha1StateBytes}, head, answer.reply[0].cost};
  b.tail.opened = encode(tail_part(name));
  b.tail.input.assign(digest.begin(), digest.end());
  return b;
}

Begun begin(ThreeServices& e, const ThreeServices::Job& head) {
  return begun(e, head, e.send(head));
}

Bytes joined(const Begun& b, const Bytes& mac) {
  Bytes out = b.ciphertext;
  out.insert(out.end(), mac.begin(), mac.end());
  return out;
}

class TwoPartsOf : public testing::TestWithParam<std::uint32_t> {
 protected:
  // Every length from the first that has parts on; all heads beside each other, then all tails.
  std::vector<Bytes> in_two_parts(ThreeServices& e, tkdc_wire_op op, const KeyRef& key,
                                  std::uint32_t use, const std::vector<Bytes>& inputs) {
    std::vector<JobName> names;
    for (const Bytes& input : inputs) names.push_back(e.send(head_job(op, key, use, input)));
    std::vector<Begun> heads;
    std::vector<JobName> tails;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      heads.push_back(begun(e, head_job(op, key, use, inputs[k]), names[k]));
      tails.push_back(e.send(heads.back().tail));
    }
    std::vector<Bytes> out;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      out.push_back(joined(heads[k], e.wait(tails[k]).output()));
    return out;
  }
  static std::vector<Bytes> inputs_from(std::size_t least) {
    std::vector<Bytes> inputs;
    for (std::size_t n = least; n <= std::min<std::size_t>(test::longest_message(), 330); ++n)
      inputs.push_back(some_bytes(n));
    inputs.push_back(some_bytes(3000));
    return inputs;
  }
};

TEST_P(TwoPartsOf, GiveWhatLibkrbOpensAndComputesAtEveryLength) {
  ThreeServices e;
  KeyRef ref = e.make_key("host/a@R", GetParam(), {});
  test::Krb5Client service(GetParam(), rebuild_key(e, ref));
  const std::vector<Bytes> plain = inputs_from(104), data = inputs_from(120);
  const auto sealed = in_two_parts(e, TKDC_OP_SEAL, ref, 2, plain);
  for (std::size_t k = 0; k < plain.size(); ++k)
    EXPECT_EQ(service.open(2, sealed[k]), plain[k]) << plain[k].size();
  const auto sums = in_two_parts(e, TKDC_OP_MAC, ref, 17, data);
  for (std::size_t k = 0; k < data.size(); ++k)
    EXPECT_EQ(sums[k], service.checksum(17, data[k])) << data[k].size();
}

INSTANTIATE_TEST_SUITE_P(Enctypes, TwoPartsOf, testing::Values(17u, 18u));

// What has no parts is done whole although a head was asked for.
TEST(TwoParts, AreOfLongMessagesUnderHmacSha1Alone) {
  ThreeServices e;
  KeyRef service = e.make_key("host/a@R", 18, {}), sha2 = e.make_key("host/b@R", 20, {});
  KeyRef late = e.make_key("host/c@R", 18, {}), tgt = e.make_key("krbtgt/R@R", 18, {});
  for (int p = 0; p < 3; ++p) {
    auto record = e.store(p).get(late.id);
    const_cast<KeyRecord&>(**record).fields.erase("u17.kc");  // in the cache
  }
  struct NoParts {
    const char* what;
    tkdc_wire_op op;
    KeyRef key;
    std::uint32_t use;
    std::size_t input, output;
  };
  for (const NoParts& c : {NoParts{"short seal", TKDC_OP_SEAL, service, 2, 103, 131},
                           NoParts{"short mac", TKDC_OP_MAC, service, 17, 119, 12},
                           NoParts{"SHA-2", TKDC_OP_SEAL, sha2, 2, 300, 340},
                           NoParts{"keys to be derived first", TKDC_OP_MAC, late, 17, 300, 12},
                           NoParts{"own realm's ticket", TKDC_OP_SEAL, tgt, 2, 300, 328},
                           NoParts{"own realm's token", TKDC_OP_MAC, tgt, 514, 300, 12}}) {
    const JobName name = e.send(head_job(c.op, c.key, c.use, some_bytes(c.input)));
    EXPECT_EQ(e.wait(name).output().size(), c.output) << c.what;
    const ThreeServices::Job tail{c.op, c.key, c.use, encode(tail_part(name)), some_bytes(20)};
    EXPECT_NE(e.run(tail).status(), TKDC_STATUS_OK) << c.what << " has no tail";
  }
}

// Its length is right, its own head is not: nobody gets a MAC for it.
TEST(TwoParts, ATailNeedsAHeadOfItsOwn) {
  ThreeServices e;
  KeyRef ref = e.make_key("host/a@R", 18, {}), other = e.make_key("host/b@R", 18, {});
  const ThreeServices::Job head = head_job(TKDC_OP_MAC, ref, 17, some_bytes(200));
  struct Misuse {
    const char* what;
    ThreeServices::Edit edit;
    tkdc_status expected = TKDC_STATUS_UNAVAILABLE;
    std::uint64_t agent = 7, session = 99;
  };
  const Misuse cases[] = {
      {"another number", [](int, JobRequest& r) { r.public_data.back() ^= 0x40; }},
      {"another key", [&](int, JobRequest& r) { r.key = other; }},
      {"another usage", [](int, JobRequest& r) { r.usage = 64; }},
      {"another operation",
       [](int, JobRequest& r) {
         r.op = TKDC_OP_SEAL;
         r.usage = 2;
       }},
      {"another agent", [](int, JobRequest& r) { r.name.agent = 8; }, TKDC_STATUS_UNAVAILABLE, 8},
      {"another session", [](int, JobRequest& r) { r.name.run = 98; }, TKDC_STATUS_UNAVAILABLE, 7,
       98},
      {"another number at one server",
       [](int p, JobRequest& r) {
         if (p == 1) r.public_data.back() ^= 0x40;
       }},
      {"another digest at one holder",
       [](int p, JobRequest& r) {
         if (p == 2) r.component[0][5] ^= 1;
       },
       TKDC_STATUS_INCONSISTENT},
  };
  for (const Misuse& c : cases) {
    const Begun b = begin(e, head);
    JobName name = e.send(b.tail, c.edit);
    name.agent = c.agent;
    name.run = c.session;
    EXPECT_EQ(e.wait(name).status(), c.expected) << c.what;
  }
  EXPECT_EQ(e.run(begin(e, head).tail).status(), TKDC_STATUS_OK) << "the honest one";
}

TEST(TwoParts, AHeadHasOneTail) {
  ThreeServices e(3);
  KeyRef ref = e.make_key("host/a@R", 18, {});
  const ThreeServices::Job head = head_job(TKDC_OP_MAC, ref, 17, some_bytes(200));
  for (int round = 0; round < 5; ++round) {
    const Begun b = begin(e, head);
    std::vector<JobName> tails;  // in one manifest, in the next, on two lanes
    for (int k = 0; k < 6; ++k) tails.push_back(e.send(b.tail));
    int done = 0;
    for (const JobName& name : tails) done += e.wait(name).status() == TKDC_STATUS_OK;
    EXPECT_LE(done, 1);
    const Answer again = e.run(b.tail);
    EXPECT_EQ(again.status(), TKDC_STATUS_UNAVAILABLE);
    EXPECT_NE(again.reply[0].message.find("asked for anew"), std::string::npos);
  }
  const Begun b = begin(e, head);
  EXPECT_EQ(e.run(b.tail).status(), TKDC_STATUS_OK);
  const Begun spoilt = begin(e, head);
  const auto differ = [](int p, JobRequest& r) {
    if (p == 0) r.component[1][0] ^= 1;
  };
  EXPECT_EQ(e.run(spoilt.tail, differ).status(), TKDC_STATUS_INCONSISTENT);
  EXPECT_EQ(e.run(spoilt.tail).status(), TKDC_STATUS_UNAVAILABLE) << "taken means gone";
}

// Put back and named again, because two servers had not got it: it has its head all the same.
TEST(TwoParts, ATailThatReachesServersLateKeepsItsHead) {
  ThreeServices e(1);
  KeyRef ref = e.make_key("host/a@R", 18, {});
  const Begun b = begin(e, head_job(TKDC_OP_MAC, ref, 17, some_bytes(200)));
  const JobName late = e.send(b.tail, [](int p, JobRequest&) {
    if (p == 1) std::this_thread::sleep_for(std::chrono::milliseconds(60));
  });
  EXPECT_EQ(e.wait(late).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.run(b.tail).status(), TKDC_STATUS_UNAVAILABLE);
}

TEST(TwoParts, MalformedOnesAreRefused) {
  ThreeServices e;
  KeyRef ref = e.make_key("host/a@R", 18, {});
  const ThreeServices::Job head = head_job(TKDC_OP_MAC, ref, 17, some_bytes(200));
  for (const Bytes& part : {Bytes{0}, Bytes{3}, Bytes{1, 0}, Bytes{2},
                            Bytes{2, 0, 0, 0, 0, 0, 0, 1}, Bytes{2, 0, 0, 0, 0, 0, 0, 0, 1, 0}}) {
    ThreeServices::Job job = head;
    job.opened = part;
    EXPECT_EQ(e.run(job).status(), TKDC_STATUS_BAD_REQUEST);
  }
  for (std::size_t bytes : {0u, 19u, 21u, 64u}) {
    Begun b = begin(e, head);
    b.tail.input.resize(bytes);
    EXPECT_EQ(e.run(b.tail).status(), TKDC_STATUS_BAD_REQUEST) << bytes;
  }
}

TEST(TwoParts, ASessionWithoutThemDoesAllOfIt) {
  ThreeServices e(1, 1, SealCounts::kLimit, 0, Security::kMalicious, nullptr, nullptr, false);
  KeyRef ref = e.make_key("host/a@R", 18, {});
  test::Krb5Client service(18, rebuild_key(e, ref));
  const Bytes data = some_bytes(200);
  const JobName name = e.send(head_job(TKDC_OP_MAC, ref, 17, data));
  EXPECT_EQ(e.wait(name).output(), service.checksum(17, data));
  const ThreeServices::Job tail{TKDC_OP_MAC, ref, 17, encode(tail_part(name)), some_bytes(20)};
  EXPECT_EQ(e.run(tail).status(), TKDC_STATUS_UNAVAILABLE);
}

// The operation is charged and watched once, with its head; the audit log has both.
TEST(TwoParts, AreCountedWithTheHead) {
  ThreeServices e(1, 1, SealCounts::kLimit, 0, Security::kMalicious, nullptr,
                  [](JobServiceOptions& o) {
                    o.limits.user_key = {0.001, 3};
                  });
  KeyRef alice = e.make_key("alice@R", 18, some_bytes(32));
  const ThreeServices::Job head = head_job(TKDC_OP_SEAL, alice, 3, some_bytes(249));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(e.run(begin(e, head).tail).status(), TKDC_STATUS_OK) << k;
  EXPECT_EQ(e.service(0).status().logins_unheralded, 3u);
  const std::uint64_t asked = e.service(0).status().agents.at(0).asked;
  EXPECT_EQ(e.wait(e.send(head)).status(), TKDC_STATUS_LIMIT);
  ThreeServices::Job tail = head;
  tail.opened = encode(Part{Part::Kind::kTail, 12345});
  tail.input.resize(kSha1StateBytes);
  EXPECT_EQ(e.run(tail).status(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_EQ(e.service(0).status().agents.at(0).asked, asked + 2) << "a tail of no head is charged";
  for (int p = 0; p < 3; ++p) {
    std::size_t heads = 0, tails = 0, runs = 0;
    for (const std::string& line : e.audit(p)) {
      heads += line.find("\"head\":") != std::string::npos;
      tails += line.find("\"tail_of\":") != std::string::npos;
      runs += line.find("\"run\":") != std::string::npos;
    }
    EXPECT_EQ(heads, 3u);
    EXPECT_EQ(tails, 4u);
    EXPECT_EQ(runs, heads + tails) << "whose number the head's is";
  }
}

// cost_of() against the job service's own counters, without other jobs beside it.
TEST(TwoParts, CostWhatTheySay) {
  ThreeServices e(1, 1, SealCounts::kLimit, 0, Security::kSemiHonest);
  KeyRef ref = e.make_key("host/a@R", 18, {});
  for (const auto& [op, use] : {std::pair{TKDC_OP_SEAL, 2u}, {TKDC_OP_MAC, 17u}}) {
    const JobServiceStatus before = settled(e);
    const Begun head = begin(e, head_job(op, ref, use, some_bytes(249)));
    JobCost cost = head.cost;
    EXPECT_EQ(cost.sha1_blocks, 1u);
    cost += e.run(head.tail).reply[0].cost;
    const JobServiceStatus after = settled(e);
    EXPECT_EQ(cost.message_bytes, after.message_bytes_sent - before.message_bytes_sent) << op;
    EXPECT_EQ(cost.aes_blocks, after.aes_blocks - before.aes_blocks) << op;
    EXPECT_EQ(cost.sha1_blocks, after.sha1_blocks - before.sha1_blocks) << op;
    EXPECT_EQ(cost.sha1_blocks, 2u) << op;
  }
}

TEST(HalfDone, GoAfterATimeAndEachAgentHasRoomOfItsOwn) {
  HalfDone heads;
  const auto now = HalfDone::Clock::now();
  JobRequest head;
  head.name = {1, 5, 0};
  for (std::size_t k = 0; k < HalfDone::kMaxOfAgent; ++k) {
    EXPECT_TRUE(heads.room(1));
    head.name.number = k;
    heads.answered(head, now);
  }
  EXPECT_FALSE(heads.room(1));
  EXPECT_TRUE(heads.room(2)) << "another agent's own";
  EXPECT_TRUE(heads.take(head, 3, now + HalfDone::kWithin));
  EXPECT_TRUE(heads.room(1));
  EXPECT_FALSE(heads.take(head, 3, now)) << "once";
  EXPECT_FALSE(heads.take(head, 4, now + HalfDone::kWithin + std::chrono::seconds(1)));
  JobRequest other_key = head, other_op = head, other_usage = head;
  other_key.key.id[0] ^= 1;
  other_op.op = TKDC_OP_MAC;
  other_usage.usage ^= 1;
  EXPECT_FALSE(heads.take(other_key, 5, now));
  EXPECT_FALSE(heads.take(other_op, 6, now));
  EXPECT_FALSE(heads.take(other_usage, 7, now));
  EXPECT_FALSE(heads.take(head, 5, now)) << "taken means gone";
  heads.expire(now + HalfDone::kWithin);
  EXPECT_EQ(heads.abandoned(), 0u);
  heads.expire(now + HalfDone::kWithin + std::chrono::seconds(1));
  EXPECT_EQ(heads.abandoned(), HalfDone::kMaxOfAgent - 5);
  EXPECT_TRUE(heads.room(1));
}

}  // namespace
}  // namespace tkdc
