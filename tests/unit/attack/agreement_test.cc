// SPDX-License-Identifier: Apache-2.0
// What a verification compares beside the jobs (Lane::agree): what its batch holds, how far the
// lane's random streams have been used, which masks were taken. One of three parties in one thread
// is in another state than the others, with packets of the same lengths; the round that opens the
// seed is then the last one. Built a second time without the comparison, like decisions_test.
#include <gtest/gtest.h>

#include "attack/guarded.h"
#include "rep3/unit/aes/mask_pool.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using test::PartiesWithCiphers;
using test::random_bytes;

constexpr const char* kTold = "the servers were told different things about which jobs to run";
constexpr std::size_t kLayers = 40;  // of an AES-128 block, before its verification

struct OneBlock {
  OneBlock() : parties(1, rep3_backend_scalar(), Security::kMalicious) {
    keys = parties.net.share(random_bytes(parties.net.rng(), 176));
    block = parties.net.share(random_bytes(parties.net.rng(), 16));
    parties.net.record = [this](int p, const SecretVector&, const SecretVector&) {
      rounds += p == 0 ? 1 : 0;
    };
  }
  // Party p encrypts it; `odd` is done by one party after the block's last layer.
  Task<void> run(int p, int other, const std::function<void(Rep3Protocol&)>& odd) {
    Rep3Protocol& c = *parties.ciphers[p];
    SharedBytes out = co_await c.aes.encrypt(keys[p], block[p]);
    if (p == other) odd(c);
    co_await c.rep3.verified();
    released[p] = true;
  }
  void expect_caught(const char* what, const std::function<void(Rep3Protocol&)>& odd, int other) {
    auto ran = parties.net.run([&](int p) { return run(p, other, odd); });
    if (!kGuarded) {
      EXPECT_GT(rounds, kLayers + 1) << what << ": even without the comparison nothing follows";
      return;
    }
    EXPECT_FALSE(ran.ok()) << what;
    EXPECT_FALSE(released[0] || released[1] || released[2]) << what;
    EXPECT_EQ(rounds, kLayers + 1) << what;
    for (const auto& lane : parties.net.lane) EXPECT_EQ(lane->deviation(), kTold) << what;
  }

  PartiesWithCiphers parties;
  PartiesWithCiphers::Shares keys, block;
  std::size_t rounds = 0;
  bool released[3] = {};
};

// z = x y of one bit, with all components 0.
const ClaimShape& bit_shape() {
  static const ClaimShape form = [] {
    ClaimShape out{ClaimShape::Product::kBits, 3, 1, 1, {}, {}, {}};
    out.factors.resize(1);
    out.factors[0].x = {{{0, kIdentity}}};
    out.factors[0].right = {{0, {{{1, kIdentity}}}}};
    out.z = {{{{2, kIdentity}}}};
    return out;
  }();
  return form;
}

void claim_zeros(ClaimLog& log, std::size_t lanes) {
  const Bytes zeros(lanes);
  ClaimRows::Rows rows{};
  for (auto& component : rows)
    for (const std::uint8_t*& row : component) row = zeros.data();
  log.add(bit_shape(), lanes, rows);
}

// Both fill one block: their messages have one length, and both claims are true.
TEST(Agreement, OnWhatABatchHolds) {
  for (int other = 0; other < 3; ++other) {
    OneBlock one;
    for (int p = 0; p < 3; ++p)
      claim_zeros(*one.parties.net.party[p]->claims(), p == other ? 6 : 5);
    one.expect_caught(
        "lanes", [](Rep3Protocol&) {}, other);
  }
}

TEST(Agreement, OnHowFarStreamsHaveBeenUsed) {
  for (int other = 0; other < 3; ++other) {
    OneBlock one;
    one.expect_caught(
        "streams", [](Rep3Protocol& c) { (void)c.rep3.random(8); }, other);
  }
}

TEST(Agreement, OnWhichMasksWereTaken) {
  for (int other = 0; other < 3; ++other) {
    OneBlock one;
    one.expect_caught(
        "masks", [](Rep3Protocol& c) { c.rep3.took(1); }, other);
  }
}

TEST(Agreement, IsReachedByEqualParties) {
  OneBlock one;
  auto ran = one.parties.net.run([&](int p) { return one.run(p, -1, nullptr); });
  EXPECT_TRUE(ran.ok());
  EXPECT_TRUE(one.released[0] && one.released[1] && one.released[2]);
}

// The last decisions of two servers that were in one session.
CourseTail tail_of(std::initializer_list<std::uint8_t> decisions) {
  Course course;
  for (std::uint8_t one : decisions) course.note(Course::Kind::kSaid, {ByteSpan(&one, 1)});
  CourseTail tail = course.tail();
  tail.session[0] = 1;
  return tail;
}

TEST(CourseTail, ContradictsWhereTheNewestThatBothKnowDiffers) {
  EXPECT_FALSE(contradict(tail_of({1, 2, 3}), tail_of({1, 2, 3})));
  EXPECT_FALSE(contradict(tail_of({1, 2, 3}), tail_of({1, 2}))) << "one is a decision behind";
  EXPECT_FALSE(contradict(tail_of({1, 2, 3, 4, 5, 6}), tail_of({1, 2, 3, 4, 5})));
  EXPECT_TRUE(contradict(tail_of({1, 2, 3}), tail_of({1, 2, 4})));
  EXPECT_TRUE(contradict(tail_of({9, 2, 3, 4, 5, 6, 7}), tail_of({1, 2, 3, 4, 5, 6, 7})));
  EXPECT_TRUE(contradict(tail_of({1, 2, 3}), tail_of({1, 4})));
  EXPECT_TRUE(contradict(tail_of({1, 2, 3, 4, 5, 6, 7}), tail_of({1, 2}))) << "too far behind";
  CourseTail other_session = tail_of({1, 4});
  other_session.session[0] = 2;
  EXPECT_FALSE(contradict(tail_of({1, 2}), other_session));
  EXPECT_FALSE(contradict(tail_of({1, 2}), CourseTail())) << "it was started anew";
}

TEST(CourseTail, IsReadAsItIsWrittenAndNoOtherwise) {
  const CourseTail tail = tail_of({1, 2, 3, 4, 5});
  Bytes octets;
  Writer w(octets);
  put_course_tail(w, tail);
  Reader whole(octets);
  CourseTail read;
  ASSERT_TRUE(get_course_tail(whole, read));
  EXPECT_TRUE(whole.complete());
  EXPECT_EQ(read.decisions, 5u);
  EXPECT_EQ(read.last, tail.last);
  for (std::size_t cut = 0; cut < octets.size(); ++cut) {
    Reader in(ByteSpan(octets).first(cut));
    EXPECT_FALSE(get_course_tail(in, read)) << cut;
  }
  octets[32 + 8] = CourseTail::kMost + 1;
  Reader many(octets);
  EXPECT_FALSE(get_course_tail(many, read));
}

}  // namespace
}  // namespace tkdc
