// SPDX-License-Identifier: Apache-2.0
// A disk that fails between the steps of a change of keys. The session ends, and what starts the
// next one settles it: no session serves from stores that differ.
#include "link/socket.h"
#include "service/job/features.h"
#include "session/agreement.h"
#include "three_services.h"

namespace tkdc {
namespace {

constexpr const char* kHost = "host/a.test@A.TEST";
constexpr int kOdd = 1;  // whose disk fails

class HalfMade : public testing::TestWithParam<Security> {
 protected:
  HalfMade()
      : s(2, 1, std::uint64_t{1} << 38, 0, GetParam(), nullptr, [](JobServiceOptions& options) {
          options.may_give_back = [](const KeyRecord&) { return true; };
        }) {
    s.all_end = true;
  }

  ThreeServices::Job removal(const KeyRef& key) {
    return {TKDC_OP_DESTROY, key, 0, {}, {}, AgentRole::kAdmin};
  }
  bool up(int p) { return s.service(p).status().session_up; }
  // By itself, at all three.
  void expect_end() {
    for (int waited_ms = 0; waited_ms < 10'000 && (up(0) || up(1) || up(2)); waited_ms += 10)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (int p = 0; p < 3; ++p) ASSERT_FALSE(up(p)) << "server " << p << " serves on";
    s.join();
  }
  // What the next session begins with. Empty: it does.
  std::array<std::string, 3> settle() {
    auto ring = MemoryRing::create();
    std::array<std::unique_ptr<Link>, 3> links{ring->link(0), ring->link(1), ring->link(2)};
    std::array<std::string, 3> why;
    std::array<EpochsSaid, 3> said{};
    for (int p = 0; p < 3; ++p)
      said[static_cast<std::size_t>(p)] = {s.store(p).epochs().reserved, s.store(p).epochs().used};
    std::vector<std::thread> threads;
    for (int p = 0; p < 3; ++p)
      threads.emplace_back([&, p] {
        EpochLedger ledger(s.store(p), EpochLedger::kPerDay);
        AgreementInputs inputs;
        inputs.party = p;
        inputs.epochs = said;
        auto epoch = agree_on_session(*links[static_cast<std::size_t>(p)], s.store(p), ledger,
                                      inputs, monotonic_ms() + 20'000);
        if (!epoch.ok()) why[static_cast<std::size_t>(p)] = epoch.error().message;
      });
    for (auto& thread : threads) thread.join();
    return why;
  }
  void expect_alike(const KeyRef& key, bool there) {
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(*s.store(p).committed(key.id), there) << "server " << p;
      EXPECT_TRUE(s.store(p).prepared()->empty()) << "server " << p;
      EXPECT_TRUE(s.store(p).condemned()->empty()) << "server " << p;
      EXPECT_EQ(*s.store(p).inventory(), *s.store(0).inventory()) << "server " << p;
    }
  }
  void expect_cause(const std::string& what) {
    for (int p = 0; p < 3; ++p)
      EXPECT_NE(s.ended(p).find(p == kOdd ? "this server " + what + ": store: no more steps"
                                          : "another server " + what + " yet"),
                std::string::npos)
          << s.ended(p);
  }

  ThreeServices s;
};

TEST_P(HalfMade, AKeyThatOneStoreLacksEndsTheSession) {
  KeyRef key = s.stage(18, {});
  key.principal = digest_of(kHost);
  s.disk(kOdd).refuses_rest = true;
  EXPECT_EQ(s.run(ThreeServices::bind_job(key, kHost)).status(), TKDC_STATUS_INTERNAL);
  ASSERT_NO_FATAL_FAILURE(expect_end());
  expect_cause("could not store the key");

  s.disk(kOdd).refuses_rest = false;
  for (const std::string& why : settle()) EXPECT_EQ(why, "");
  expect_alike(key, true);
  s.start_session();
  EXPECT_EQ(s.run({TKDC_OP_SEAL, key, usage::kTicket, {}, some_bytes(40)}).status(),
            TKDC_STATUS_OK);
}

TEST_P(HalfMade, AKeyThatOneStoreStillHasEndsTheSession) {
  const KeyRef key = s.make_key(kHost, 18, {});
  s.disk(kOdd).refuses_rest = true;
  EXPECT_EQ(s.run(removal(key)).status(), TKDC_STATUS_INTERNAL);
  ASSERT_NO_FATAL_FAILURE(expect_end());
  expect_cause("could not remove the key");

  s.disk(kOdd).refuses_rest = false;
  for (const std::string& why : settle()) EXPECT_EQ(why, "");
  expect_alike(key, false);
  s.start_session();
  EXPECT_EQ(s.run(removal(key)).status(), TKDC_STATUS_UNKNOWN_KEY);
}

TEST_P(HalfMade, NoSessionBeginsWhileTheDiskFails) {
  const KeyRef key = s.make_key(kHost, 18, {});
  s.disk(kOdd).refuses_rest = true;
  EXPECT_EQ(s.run(removal(key)).status(), TKDC_STATUS_INTERNAL);
  ASSERT_NO_FATAL_FAILURE(expect_end());

  const auto why = settle();
  EXPECT_EQ(why[kOdd], "store: no more steps");
  for (int p : {0, 2})
    EXPECT_EQ(why[static_cast<std::size_t>(p)], "session: party 1 refuses: store: no more steps");
  // Nor is an epoch used up.
  for (int p = 0; p < 3; ++p) EXPECT_EQ(s.store(p).epochs().reserved, 0u);
}

TEST_P(HalfMade, SoDoesOneThatCannotBeTakenBack) {
  KeyRef key = s.stage(18, {});
  key.principal = digest_of(kHost);
  s.disk(0).refuses_first = true;
  s.disk(kOdd).refuses_rest = true;
  EXPECT_EQ(s.run(ThreeServices::bind_job(key, kHost)).status(), TKDC_STATUS_INTERNAL);
  ASSERT_NO_FATAL_FAILURE(expect_end());
  EXPECT_NE(s.ended(kOdd).find("could not undo: store: no more steps"), std::string::npos)
      << s.ended(kOdd);

  s.disk(0).refuses_first = false;
  s.disk(kOdd).refuses_rest = false;
  for (const std::string& why : settle()) EXPECT_EQ(why, "");
  expect_alike(key, false);
}

TEST_P(HalfMade, OneThatIsTakenBackEndsNone) {
  KeyRef key = s.stage(18, {});
  key.principal = digest_of(kHost);
  s.disk(kOdd).refuses_first = true;
  EXPECT_EQ(s.run(ThreeServices::bind_job(key, kHost)).status(), TKDC_STATUS_INTERNAL);
  s.disk(kOdd).refuses_first = false;
  s.make_key("host/b.test@A.TEST", 18, {});
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(up(p));
  expect_alike(key, false);
}

// Of keys that sessions keep: dropped, given back and purged by all three or by none.
TEST_P(HalfMade, ChangesOfADroppedKeyAreSettledToo) {
  s.session_edit = [](int, Session& session) { session.features = {kKeepsDropped}; };
  s.restart(2, [](int) {});
  const KeyRef key = s.make_key(kHost, 18, {});
  const std::pair<tkdc_wire_op, const char*> changes[] = {
      {TKDC_OP_DESTROY, "could not remove the key"},
      {TKDC_OP_GIVE_BACK, "could not give back the key"},
      {TKDC_OP_DESTROY, "could not remove the key"},
      {TKDC_OP_PURGE, "could not purge the key"}};
  for (const auto& [op, what] : changes) {
    ThreeServices::Job job = removal(key);
    job.op = op;
    // Not begun at one server: nothing has changed.
    s.disk(kOdd).refuses_first = true;
    EXPECT_EQ(s.run(job).status(), TKDC_STATUS_INTERNAL);
    s.disk(kOdd).refuses_first = false;
    expect_alike(key, *s.store(kOdd).committed(key.id));
    // Not ended at one.
    s.disk(kOdd).refuses_rest = true;
    EXPECT_EQ(s.run(job).status(), TKDC_STATUS_INTERNAL);
    ASSERT_NO_FATAL_FAILURE(expect_end());
    expect_cause(what);
    s.disk(kOdd).refuses_rest = false;
    for (const std::string& why : settle()) EXPECT_EQ(why, "");
    expect_alike(key, op == TKDC_OP_GIVE_BACK);
    s.start_session();
  }
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(*s.store(p).buried(key.id));
}

INSTANTIATE_TEST_SUITE_P(Modes, HalfMade,
                         testing::Values(Security::kSemiHonest, Security::kMalicious),
                         [](const auto& one) {
                           return one.param == Security::kMalicious ? "Malicious" : "SemiHonest";
                         });

}  // namespace
}  // namespace tkdc
