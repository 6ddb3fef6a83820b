// SPDX-License-Identifier: Apache-2.0
// Golden traces of what no digest in the handshake covers yet (session/wire-format-later.txt):
// another digest would refuse servers of 0.2.0, which send the same. They become part of
// session/wire-format.txt with the next release that is incompatible anyway (docs/adr/0023).
#include "golden.h"
#include "mac/common_seed.h"
#include "mac/three_provers.h"
#include "service/job/lane_control.h"
#include "service/wire/key_list.h"
#include "service/wire/message.h"

namespace tkdc {
namespace {

using test::Hashes;

void expect_later(const std::string& name, Hashes& hashes) {
  test::Traces now;
  test::add_trace(now, name, "later", {hashes[0].hex(), hashes[1].hex(), hashes[2].hex()});
  test::expect_golden("later", now);
}

// In a full tick: what the clock says, and work on shares that an administrator asks for.
TEST(LaterGolden, ClockAndWorkOnShares) {
  ASSERT_GE(sodium_init(), 0);
  Hashes hashes;
  for (std::uint8_t p = 0; p < 3; ++p)
    for (const ShareTask task : {ShareTask::kAudit, ShareTask::kRefresh, ShareTask::kRepair}) {
      LaneControl said;
      said.clock_ms = 0x0123'4567'89ab + p;
      hashes[p].add(encode(said));
      said.share_task = task;
      hashes[p].add(encode(said));
    }
  expect_later("clock-and-shares", hashes);
}

// Beside components: what an agent deals to two servers, and the id of a client's request.
TEST(LaterGolden, RequestsThatAreDealtOrNamed) {
  Hashes hashes;
  for (std::uint8_t p = 0; p < 3; ++p) {
    JobRequest request;
    request.op = TKDC_OP_SEAL;
    request.name = {17, 18, 19};
    request.key.enctype = 17;
    request.key.principal.fill(0x44);
    request.usage = 3;
    request.request_id = 0x0123'4567'89ab'cdef;
    JobRequest dealt = request;
    request.component[0].assign(40, p);
    request.component[1].assign(40, static_cast<std::uint8_t>((p + 1) % 3));
    hashes[p].add(encode(request));
    dealt.dealt.assign(400, p);
    dealt.dealt_input_bytes = 40;
    hashes[p].add(encode(dealt));
    dealt.request_id = 0;
    hashes[p].add(encode(dealt));
  }
  expect_later("dealt-and-named", hashes);
}

TEST(LaterGolden, ListsOfKeys) {
  Hashes hashes;
  KeyListPage page;
  DroppedListPage dropped;
  for (const std::uint8_t first : {1, 2}) {
    ListedKey key;
    key.id = {first};
    key.kvno = first;
    key.enctype = 17 + first;
    key.principal = "host/a.test@A.TEST";
    page.keys.push_back(key);
    dropped.keys.push_back({key, 0x1234'5678});
  }
  for (const bool more : {false, true})
    for (test::TraceHash& hash : hashes) {
      page.more = dropped.more = more;
      hash.add(encode(page));
      hash.add(encode(dropped));
    }
  expect_later("lists", hashes);
}

// Sides and lengths of what each party sends: random numbers of a dealing and a seed are its own.
void note_lengths(test::ThreeLanes& three, Hashes& hashes) {
  three.record = [&](int p, const SecretVector& to_prev, const SecretVector& to_next) {
    for (const SecretVector* packet : {&to_prev, &to_next}) {
      Bytes length;
      Writer(length).u64(packet->size());
      hashes[static_cast<std::size_t>(p)].add(length);
    }
  };
}

TEST(LaterGolden, MacsAreDealtAndChecked) {
  for (const Security security : {Security::kSemiHonest, Security::kMalicious}) {
    test::ThreeProvers three(security);
    Hashes hashes;
    note_lengths(three, hashes);
    three.add("one", 3);
    three.add("two", 40);
    EXPECT_TRUE(three.deal(three.next()));
    three.expect_good();
    expect_later(security == Security::kMalicious ? "macs-malicious" : "macs", hashes);
  }
}

// From which a refresh draws.
TEST(LaterGolden, ACommonSeed) {
  test::ThreeLanes three(1, Security::kMalicious);
  Hashes hashes;
  note_lengths(three, hashes);
  auto one = [&](int p) -> Task<void> { (void)co_await common_seed(*three.lane[p], 7); };
  ASSERT_TRUE(three.run(one).ok());
  expect_later("common-seed", hashes);
}

}  // namespace
}  // namespace tkdc
