// SPDX-License-Identifier: Apache-2.0
// Decisions that the three servers take alike (docs/protocols/10-admission.md, "Decisions"): one
// server of three tells the other two different things in each of them. The two honest ones see
// it when they compare, before they open anything; both are latched, no answer leaves, and
// nothing is sent after the tick that compares. It does not help the liar to withhold its own
// packet of that tick.
//
// This file is built twice. In attack_control the comparison is left out (without_agreement.cc):
// there the same lies lead to packets that must not leave, so that the tests would see them.
#include "attack/guarded.h"
#include "attack/two_faced.h"
#include "service/job/features.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kSeals = std::uint64_t{1} << 38;
constexpr Verdict kNot = TKDC_STATUS_UNAVAILABLE;

ThreeServices::Job timestamp(const KeyRef& key) {
  return {TKDC_OP_OPEN, key, usage::kAsReqTimestamp, {}, some_bytes(64)};
}

int next_of(int party) { return (party + 1) % 3; }

// Two accounts whose timestamps arrive together, and a session in which one server lies.
struct Realm {
  explicit Realm(int liar, int heads_every_ms = 0)
      : ring(std::make_shared<test::TwoFacedRing>(liar)),
        servers(1, 1, kSeals, heads_every_ms, Security::kMalicious, ring) {
    a = servers.make_key("victim@A.TEST", 18, some_bytes(32));
    b = servers.make_key("mallory@A.TEST", 18, some_bytes(32));
    servers.run(timestamp(a));  // forged, and refused: but it is verified like any other
    settled(servers);
    ticks = ring->ticks_to_comparison();
    ring->close("the honest session ends");
    servers.join();
  }

  // What waits when the session begins is named in one manifest.
  void ask(const KeyRef& key) { names.push_back(servers.send(timestamp(key))); }
  void ask_both() {
    for (const KeyRef& key : {a, b}) ask(key);
  }
  void lie(test::TwoFacedRing::Edit edit, bool withhold = false) {
    ring = std::make_shared<test::TwoFacedRing>(ring->liar());
    ring->arm(std::move(edit), ticks, withhold);
    servers.start_session(ring);
  }

  void expect_seen(const char* what, bool withhold) {
    if (withhold && kGuarded) {
      for (int k = 0; k < 300 && !ring->withheld(); ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_TRUE(ring->withheld()) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // what honest servers send comes
      ring->close("the liar is gone");
    }
    if (!kGuarded) {
      // Enough time for what must not happen; then the end.
      for (int k = 0; k < 300 && ring->sent_after_comparison() == 0; ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ring->close("the control has seen enough");
    }
    servers.join();
    EXPECT_TRUE(ring->lied()) << what;
    int latched = 0;
    std::string ended;
    for (int p = 0; p < 3; ++p) {
      const auto deviation = servers.service(p).deviation();
      bool told = deviation && deviation->find("told different things") != std::string::npos;
      // The ring broke before it heard: then the next handshake tells it.
      const int other = 3 - p - liar();
      if (kGuarded && !deviation && p != liar())
        told = !servers.service(p).hear_course(0, other, servers.service(other).course(0)).ok();
      latched += p != liar() && told ? 1 : 0;
      ended += "\nserver " + std::to_string(p) + ": " + servers.ended(p);
    }
    if (kGuarded) {
      EXPECT_EQ(latched, 2) << what << ended;
      EXPECT_EQ(ring->sent_after_comparison(), 0) << what << ": something left after comparing";
      expect_no_output(what);
    } else {
      EXPECT_EQ(latched, 0) << what;
      EXPECT_GT(ring->sent_after_comparison(), 0)
          << what << ": nothing is sent even without the comparison, so this test shows nothing";
    }
  }
  void expect_no_output(const char* what) {
    for (const JobName& name : names)
      for (const JobReply& reply : servers.answer_so_far(name).reply) {
        EXPECT_TRUE(reply.output.empty()) << what;
        EXPECT_EQ(reply.next_output, Digest{}) << what;
      }
  }
  int liar() const { return ring->liar(); }

  std::shared_ptr<test::TwoFacedRing> ring;
  ThreeServices servers;
  KeyRef a, b;
  std::uint32_t ticks = 0;
  std::vector<JobName> names;
};

#ifdef TKDC_WITHOUT_AGREEMENT
constexpr bool kWithholds[] = {false};
#else
constexpr bool kWithholds[] = {false, true};
#endif

// The next one is told "A, not B", the previous one "B, not A"; the liar goes on with A.
TEST(Decisions, Verdicts) {
  for (bool withhold : kWithholds)
    for (int liar = 0; liar < 3; ++liar) {
      Realm realm(liar);
      auto edit = [liar](int from, int to, LaneControl& said) {
        if (said.verdicts.size() != 2) return false;
        if (from == liar) said.verdicts[to == next_of(liar) ? 1 : 0] = kNot;
        if (to == liar && from == next_of(liar)) said.verdicts[1] = kNot;
        return from == liar || from == next_of(liar);
      };
      realm.ask_both();
      realm.lie(edit, withhold);
      realm.expect_seen("verdicts", withhold);
    }
}

// One of them puts the job back, the other refuses it; the job beside it shows that.
TEST(Decisions, PutBackOrRefused) {
  for (bool withhold : kWithholds) {
    Realm realm(2);
    auto edit = [](int from, int to, LaneControl& said) {
      if (said.verdicts.size() != 2 || (from != 2 && to != 2)) return false;
      // It runs the other job alone itself.
      said.verdicts[0] = to == 0 ? kMissing : Verdict{TKDC_STATUS_LIMIT};
      return true;
    };
    realm.ask_both();
    realm.lie(edit, withhold);
    realm.expect_seen("put back", withhold);
  }
}

TEST(Decisions, TimeOfSealing) {
  for (bool withhold : kWithholds) {
    Realm realm(0);
    auto edit = [](int from, int to, LaneControl& said) {
      if (from != 0 || to != 1 || !said.manifest) return false;
      said.manifest->sealed_at ^= 1;
      return true;
    };
    realm.ask(realm.a);
    realm.lie(edit, withhold);
    realm.expect_seen("sealed_at", withhold);
  }
}

// What two servers take for different jobs neither runs, since their statements differ; that they
// were named different ones shows with the next job.
TEST(Decisions, ContentOfManifests) {
  for (bool order : {true, false}) {
    Realm realm(0);
    std::atomic<int> lies{0};
    auto edit = [&](int from, int to, LaneControl& said) {
      if (from != 0 || to != 1 || !said.manifest || said.manifest->jobs.size() != 2) return false;
      if (lies.exchange(1) != 0) return false;
      auto& jobs = said.manifest->jobs;
      order ? std::swap(jobs[0], jobs[1]) : void(jobs[1].name.number += 1000);
      return true;
    };
    realm.ask_both();
    realm.lie(edit);
    for (int k = 0; k < 1000 && !realm.ring->lied(); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    realm.ask(realm.a);
    realm.expect_seen("manifest", false);
  }
}

// A job that one of them would compute in another way runs nowhere: the statements name the
// protocol.
TEST(Decisions, ProtocolOfAJob) {
  Realm realm(0);
  realm.servers.protocols = {"rep3", "plaintext"};
  std::atomic<int> lies{0};
  auto edit = [&](int from, int to, LaneControl& said) {
    if (from != 0 || to != 1 || !said.manifest || lies.exchange(1) != 0) return false;
    said.manifest->jobs[0].protocol = 1;
    return true;
  };
  realm.ask(realm.a);
  realm.lie(edit);
  for (int k = 0; k < 1000 && !realm.ring->lied(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  realm.ask(realm.b);
  realm.expect_seen("protocol", false);
}

// Each tells its windows when a session begins, none too; the liar's reach one neighbour only.
TEST(Decisions, RevokedWindows) {
  for (bool withhold : kWithholds)
    for (int liar = 0; liar < 3; ++liar) {
      Realm realm(liar);
      auto edit = [liar](int from, int to, LaneControl& said) {
        if (from != liar || to != next_of(liar) || !said.revoked) return false;
        said.revoked.reset();
        return true;
      };
      realm.ask(realm.a);
      realm.lie(edit, withhold);
      realm.expect_seen("revoked windows", withhold);
    }
}

// What each server's clock says comes from the server itself, but to both neighbours alike.
TEST(Decisions, Clocks) {
  for (bool withhold : kWithholds)
    for (int liar = 0; liar < 3; ++liar) {
      Realm realm(liar);
      auto edit = [liar](int from, int to, LaneControl& said) {
        if (from != liar || to != next_of(liar) || !said.clock_ms) return false;
        *said.clock_ms += 60'000;
        return true;
      };
      realm.ask(realm.a);
      realm.lie(edit, withhold);
      realm.expect_seen("clocks", withhold);
    }
}

// With guards it ends by itself.
void end_session(Realm& realm) {
  if (!kGuarded) {
    for (int k = 0; k < 300 && !realm.ring->lied(); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    realm.ring->close("the control has seen enough");
  }
  realm.servers.join();
}

// Of servers 0 and 2, which server 1 told different things.
void expect_latched(Realm& realm) {
  for (int p : {0, 2}) {
    JobService& service = realm.servers.service(p);
    // Whoever was cut off while it compared hears it in the next handshake.
    const CourseTail other = realm.servers.service(2 - p).course(0);
    const bool latched =
        service.deviation() || (kGuarded && !service.hear_course(0, 2 - p, other).ok());
    EXPECT_EQ(latched, kGuarded) << p;
  }
}

// Compared before anything of them is written down.
TEST(Decisions, AuditHeads) {
  Realm realm(1, 200);
  auto edit = [](int from, int to, LaneControl& said) {
    if (from != 1 || to != 2 || !said.audit_head) return false;
    said.audit_head->lines += 1'000'000;
    return true;
  };
  realm.lie(edit);
  end_session(realm);
  bool written = false;
  for (const AuditHead& head : realm.servers.heard(2, 1)) written |= head.lines > 1'000'000;
  EXPECT_EQ(written, !kGuarded);
  expect_latched(realm);
}

// One is to deal while two audit: seen before either begins.
TEST(Decisions, WorkOnShares) {
  Realm realm(1);
  realm.servers.session_edit = [](int, Session& session) { session.features = {kShareMacs}; };
  realm.servers.service(1).ask_shares(ShareTask::kAudit);
  auto edit = [](int from, int to, LaneControl& said) {
    if (from != 1 || to != 2 || !said.share_task) return false;
    said.share_task = ShareTask::kDeal;
    return true;
  };
  realm.lie(edit);
  end_session(realm);
  EXPECT_TRUE(realm.ring->lied());
  // Begun at those that were told different things.
  bool begun = false;
  for (int p : {0, 2}) begun |= realm.servers.service(p).status().shares.task.has_value();
  EXPECT_EQ(begun, !kGuarded);
  expect_latched(realm);
}

// As if the handshake had been told two things.
TEST(Decisions, SessionParameters) {
  const std::pair<const char*, std::function<void(Session&)>> parameters[] = {
      {"epoch", [](Session& session) { session.epoch += 1; }},
      {"id", [](Session& session) { session.id[0] ^= 1; }},
      {"MACs on shares", [](Session& session) { session.features.push_back(kShareMacs); }},
      {"two parts", [](Session& session) { session.two_parts = !session.two_parts; }},
      {"protocols", [](Session& session) { session.protocols.push_back("plaintext"); }},
  };
  for (const auto& [what, change] : parameters) {
    Realm realm(0);
    realm.servers.session_edit = [&](int party, Session& session) {
      if (party == 2) change(session);
    };
    realm.servers.start_session(nullptr);
    const Answer answer = realm.servers.run(timestamp(realm.a));
    realm.servers.stop_session();
    int latched = 0;
    for (int p = 0; p < 3; ++p) latched += realm.servers.service(p).deviation() ? 1 : 0;
    EXPECT_EQ(latched > 0, kGuarded) << what;
    for (const JobReply& reply : answer.reply) EXPECT_TRUE(reply.output.empty());
    if (kGuarded) {
      EXPECT_NE(answer.reply[1].status, TKDC_STATUS_INTEGRITY) << what;
    }
  }
}

// The liar goes before anybody compares. The next handshake does, and latches both.
TEST(Decisions, WhatWasNotComparedIsInTheNextHandshake) {
  Realm realm(0);
  auto edit = [](int from, int to, LaneControl& said) {
    if (from != 0 || to != 1 || said.verdicts.empty()) return false;
    said.verdicts[0] = kNot;
    return true;
  };
  realm.ask(realm.a);
  realm.lie(edit);
  for (int k = 0; k < 1000 && !realm.ring->lied(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  realm.ring->close("the liar is gone");
  realm.servers.join();
  JobService &one = realm.servers.service(1), &two = realm.servers.service(2);
  const CourseTail of_one = one.course(0), of_two = two.course(0),
                   of_liar = realm.servers.service(0).course(0);
  if (one.deviation() && two.deviation()) return;  // it was late: they have compared
  EXPECT_TRUE(contradict(of_one, of_two));
  EXPECT_FALSE(two.hear_course(0, 1, of_one).ok());
  EXPECT_FALSE(one.hear_course(0, 2, of_two).ok());
  EXPECT_TRUE(one.hear_course(0, 2, of_two).ok()) << "once: then the operators look at it";
}

// And a session in which nobody lied contradicts nothing, wherever it broke.
TEST(Decisions, AnHonestSessionContradictsNothing) {
  for (int ms : {0, 1, 3, 10, 30, 100}) {
    Realm realm(0);
    for (int k = 0; k < 4; ++k) realm.ask_both();
    realm.lie(nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    realm.ring->close("the network is gone");
    realm.servers.join();
    for (int p = 0; p < 3; ++p) {
      EXPECT_FALSE(realm.servers.service(p).deviation());
      const CourseTail theirs = realm.servers.service(next_of(p)).course(0);
      EXPECT_FALSE(theirs.last.empty());
      EXPECT_TRUE(realm.servers.service(p).hear_course(0, next_of(p), theirs).ok()) << ms;
    }
  }
}

}  // namespace
}  // namespace tkdc
