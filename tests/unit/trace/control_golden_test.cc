// SPDX-License-Identifier: Apache-2.0
// Golden traces of what servers say beside the protocols: the handshake's packets from
// HELLO to EPOCH, and the control octets of admission. Times and nonces are fixed here.
#include <gtest/gtest.h>

#include <thread>

#include "golden.h"
#include "link/memory_ring.h"
#include "link/socket.h"
#include "service/admit/admission.h"
#include "service/job/audit_head.h"
#include "service/job/audit_head_notice.h"
#include "service/job/lane_control.h"
#include "service/sealing/revocation_notice.h"
#include "session/agreement.h"
#include "session/hello.h"
#include "session/memory_store.h"

namespace tkdc {
namespace {

using test::expect_control;
using test::Hashes;

Hello hello_of(int party, int lane, std::uint8_t link) {
  Hello hello;
  hello.installation.fill(0x11);
  hello.party = party;
  hello.lane = lane;
  hello.lanes = 2;
  hello.security = security_name(Security::kMalicious);
  hello.representation = Representation::kBytes;
  hello.zero_shares = ZeroOffer::kChaCha20;
  hello.two_parts = party != 1;
  hello.wire_format = 0x0123'4567'89ab'cdef;
  hello.protocols = {{"rep3", 0xfedc'ba98'7654'3210}, {"plaintext", 1}};
  hello.masked_blocks = 128;
  hello.held.fill(0x88);
  hello.cohort_limit = 256;
  hello.inventory.fill(0x22);
  hello.epoch_era = 1;
  hello.epoch = 4 + static_cast<std::uint32_t>(party);
  hello.epoch_used = hello.epoch - 1;
  hello.nonce.fill(static_cast<std::uint8_t>(0x30 + party));
  hello.round.fill(0x30);
  AuditHead head;
  head.lines = 1'000 + static_cast<std::uint64_t>(party);
  head.hash.fill(0x44);
  hello.note = note_of(head);
  hello.course.session.fill(0x77);
  hello.course.decisions = 9;
  for (std::uint8_t k = 0; k < CourseTail::kMost; ++k) {
    hello.course.last.emplace_back();
    hello.course.last.back().fill(static_cast<std::uint8_t>(16 * lane + k));
  }
  hello.contribution.assign(kContributionBytes, link);
  return hello;
}

TEST(ControlGolden, HellosAndRefusals) {
  ASSERT_GE(sodium_init(), 0);
  Hashes hashes;
  for (int p = 0; p < 3; ++p) {
    test::TraceHash& hash = hashes[static_cast<std::size_t>(p)];
    for (int lane = 0; lane < 2; ++lane)
      for (std::uint8_t link : {1, 2}) hash.add(encode_hello(hello_of(p, lane, link)));
    hash.add(encode_refusal("session: party " + std::to_string(p) + " has no such circuits"));
  }
  expect_control("hello", hashes);
}

// Hashes what each party sends, and to whom.
class RecordingRing final : public MemoryRing {
 public:
  Hashes hashes;

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    test::TraceHash& hash = hashes[static_cast<std::size_t>(from)];
    const auto side = static_cast<std::uint8_t>(to);
    hash.add(ByteSpan(&side, 1));
    hash.add(packet);
    deliver(from, to, std::move(packet));
  }
};

KeyId key_id(std::uint8_t first) { return {first}; }

// One key half made at two of them and done at the third, one half removed at one.
void fill(MemoryStore& store, int party) {
  KeyRecord record;
  for (std::uint8_t first : {1, 2, 3}) {
    record.ref.id = key_id(first);
    ASSERT_TRUE(store.prepare(record).ok());
    if (first != 1 || party == 2) {
      ASSERT_TRUE(store.commit(record.ref.id).ok());
    }
  }
  if (party == 1) {
    ASSERT_TRUE(store.condemn(key_id(3)).ok());
  }
  store.use_epochs(3 + static_cast<std::uint32_t>(party));
}

TEST(ControlGolden, ConfirmToEpoch) {
  ASSERT_GE(sodium_init(), 0);
  auto ring = std::make_shared<RecordingRing>();
  MemoryStore stores[3];
  std::unique_ptr<Link> links[3];
  std::thread threads[3];
  for (int p = 0; p < 3; ++p) {
    fill(stores[p], p);
    links[p] = ring->link(p);
  }
  for (int p = 0; p < 3; ++p)
    threads[p] = std::thread([&, p] {
      AgreementInputs inputs;
      inputs.party = p;
      inputs.session.fill(0x55);
      inputs.transcript.fill(0x66);
      inputs.epochs = {EpochsSaid{3, 3}, EpochsSaid{4, 4}, EpochsSaid{5, 5}};
      EpochLedger ledger(stores[p], EpochLedger::kPerDay);
      const long long deadline_ms = monotonic_ms() + 20'000;
      EXPECT_TRUE(confirm_handshake(*links[p], inputs, deadline_ms).ok());
      auto epoch = agree_on_session(*links[p], stores[p], ledger, inputs, deadline_ms);
      EXPECT_TRUE(epoch.ok()) << (epoch.ok() ? "" : epoch.error().message);
      if (epoch.ok()) {
        EXPECT_EQ(*epoch, 6u);
      }
    });
  for (std::thread& thread : threads) thread.join();
  expect_control("reconcile", ring->hashes);
}

JobRequest job_of(std::uint64_t number) {
  JobRequest request;
  request.name = {7, 8, number};
  request.op = TKDC_OP_SEAL;
  request.usage = 2;
  request.key.id = key_id(2);
  request.key.kvno = 1;
  request.key.enctype = 18;
  request.public_data = {1, 2, 3};
  return request;
}

KeyRecord record_of(int party) {
  KeyRecord record;
  record.ref = job_of(1).key;
  record.principal_name = "host/a.test@A.TEST";
  record.fields["key"] = SharedBytes(32);
  for (int c = 0; c < 2; ++c)
    record.fields["key"].component[c].assign(32, static_cast<std::uint8_t>((party + c) % 3));
  return record;
}

void add_statements(int party, Bytes (&said)[2]) {
  const KeyRecord record = record_of(party);
  for (std::uint64_t number : {1, 2}) {
    JobRequest request = job_of(number);
    for (int c = 0; c < 2; ++c)
      request.component[c].assign(40, static_cast<std::uint8_t>((party + c) % 3));
    const JobDigests digests = digest_job(request, AgentRole::kKdc, &record, 0);
    for (int side = 0; side < 2; ++side) put_statement(said[side], kAdmit, digests, side);
  }
}

// The leader's manifest, then claims, verdicts, revoked windows and audit heads of all, as in
// a full tick.
TEST(ControlGolden, AdmissionOfTwoJobs) {
  ASSERT_GE(sodium_init(), 0);
  Hashes hashes;
  for (int p = 0; p < 3; ++p) {
    LaneControl to_both;
    if (p == 0) to_both.manifest = Manifest{0x12'3456, {{job_of(1).name, 0}, {job_of(2).name, 1}}};
    to_both.verdicts = {kAdmit, TKDC_STATUS_INCONSISTENT};
    MemoryStore store;
    Revocations revocations(store);
    ASSERT_TRUE(revocations.load().ok());
    ASSERT_TRUE(revocations.revoke({0x1000, 0x2000}, 0x3000).ok());
    to_both.revoked = RevocationNotice(revocations, p).say();
    JobServiceOptions options;
    options.audit_head_every = std::chrono::milliseconds(0);
    options.audit_head = [] {
      AuditHead head;
      head.lines = 77;
      head.hash.fill(0x44);
      return head;
    };
    Lane lane(p, Security::kMalicious);
    to_both.audit_head = AuditHeadNotice(lane, options, 0).say();
    Bytes to_one[2];
    add_statements(p, to_one);
    test::TraceHash& hash = hashes[static_cast<std::size_t>(p)];
    for (const Bytes& out : {encode(to_both), to_one[0], to_one[1]}) hash.add(out);
  }
  expect_control("admission", hashes);
}

}  // namespace
}  // namespace tkdc
