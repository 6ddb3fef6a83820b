// SPDX-License-Identifier: Apache-2.0
// SEAL and OPEN whose AES is done by lookup tables (docs/protocols/29-tables-in-jobs.md): against
// libkrb5; when they are, and when they are not; what two servers must have alike before a word.
#include "heard_order.h"
#include "service/pair/pair_table_choice.h"
#include "service/pair/pair_table_wishes.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using namespace std::chrono_literals;
using test::Krb5Client;
using Way = PairTables::Way;

constexpr std::size_t kMost = std::size_t{8} << 20;

void by_tables(JobServiceOptions& options) {
  options.pair_tables_bytes = kMost;
  options.pair_tables_wait = 0ms;
}

class TablesRealm {
 public:
  explicit TablesRealm(std::function<void(JobServiceOptions&)> edit = by_tables,
                       std::uint32_t enctype = kEnctype, TwoServices::Tap tap = nullptr)
      : two(512, std::move(edit), nullptr, std::move(tap)),
        key(random_octets(enctype % 2 == 1 ? 16 : 32)), whole(enctype, key),
        ref(two.make_key("alice@R", enctype, key)) {
    two.restart();  // which forgets the circuits that a key is made by
  }

  PairJobsStatus status(std::size_t p) { return *two.service(p).status().pair; }
  bool comes_to(const std::function<bool()>& what) {
    for (int k = 0; k < 8000 && !what(); ++k) std::this_thread::sleep_for(5ms);
    return what();
  }
  // Both have all that there is room for, and rest: whatever stands ready has been made.
  bool is_filled() {
    PairJobsStatus last;
    auto since = std::chrono::steady_clock::now();
    return comes_to([&] {
      const PairJobsStatus a = status(0), b = status(1);
      const auto now = std::chrono::steady_clock::now();
      const bool rests = a.prepared == last.prepared && a.tables_bytes == last.tables_bytes;
      if (!rests) since = now;
      last = a;
      return a.prepared == b.prepared && a.tables_bytes == b.tables_bytes && a.tables_forward > 0 &&
             a.tables_inverse > 0 && a.tables_bytes + kStepBytes > kMost && now - since > 2s;
    });
  }
  // A job of which nothing comes; its agent waits so long.
  void fails(const TwoServices::Job& job) {
    two.deadline_ms = 15'000;
    EXPECT_FALSE(two.serves_or_ends(job, [](const Bytes&) {}));
    two.deadline_ms = 120'000;
  }
  void seals() {
    const auto out = two.ask({TKDC_OP_SEAL, ref, 3, {}, plain});
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(whole.open(3, out.output), plain);
  }
  void opens() {
    const auto out = two.ask({TKDC_OP_OPEN, ref, 1, {}, whole.seal(1, plain)});
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(out.output, plain);
  }
  // Tables for both ways; the first job has none.
  void fill() {
    seals();
    opens();
    ASSERT_TRUE(is_filled());
  }
  std::uint64_t jobs() {
    EXPECT_EQ(status(0).tables_jobs, status(1).tables_jobs);
    return status(0).tables_jobs;
  }

  static constexpr std::size_t kStepBytes = PairTables::kStep * PairTables::kBytesOfOne;
  TwoServices two;
  const Bytes key, plain = random_octets(30);
  Krb5Client whole;
  const KeyRef ref;
};

// What a login needs is told from the names of its circuits (tkdc tables plan): the same as a job
// takes.
TEST(PairTableJobOf, ACircuitsName) {
  PairCircuits circuits;
  const auto seal = table_job(circuits, "seal18:249"), open = table_job(circuits, "open17:277"),
             longer = table_job(circuits, "open20:300");
  ASSERT_TRUE(seal && open && longer);
  EXPECT_EQ(seal->kind, around_kind("seal18:249"));
  EXPECT_EQ(seal->text_bytes, 265u);
  EXPECT_EQ(seal->needs(Way::kForward, false), 17u * 14 * 16 + 52);
  EXPECT_EQ(seal->needs(Way::kInverse, false), 0u);
  EXPECT_EQ(open->text_bytes, 265u);
  EXPECT_EQ(open->needs(Way::kForward, false), 40u);
  EXPECT_EQ(open->needs(Way::kInverse, true), 17u * 10 * 16);
  EXPECT_EQ(longer->text_bytes, 300u - 24);
  for (const char* none : {"mac-sha1:60", "seal", "seal18", "seal18:", "seal18:249x", "seal99:249",
                           "seal18-249", "open18:1", "seal18:9000", ""})
    EXPECT_FALSE(table_job(circuits, none)) << none;
}

class PairTablesServe : public testing::TestWithParam<std::uint32_t> {};

TEST_P(PairTablesServe, SealAndOpenAsLibkrb5) {
  TablesRealm of(by_tables, GetParam());
  of.fill();
  EXPECT_EQ(of.jobs(), 0u);
  const std::size_t forward = of.status(0).tables_forward;
  of.seals();
  EXPECT_EQ(of.jobs(), 1u);
  of.opens();
  EXPECT_EQ(of.jobs(), 2u);
  // The key's schedule and the rounds of three blocks; with round keys that are there.
  const std::size_t key = of.key.size(), blocks = lut::cts_lookups(key, 16 + of.plain.size());
  EXPECT_EQ(forward - of.status(0).tables_forward, blocks + 2 * lut::schedule_lookups(key));
  const std::size_t then = of.status(0).tables_forward;
  of.seals();
  EXPECT_EQ(then - of.status(0).tables_forward, blocks);
  Bytes forged = of.whole.seal(1, of.plain);
  forged[20] ^= 1;
  const auto opened = of.two.ask({TKDC_OP_OPEN, of.ref, 1, {}, forged});
  EXPECT_EQ(opened.both(), TKDC_STATUS_INTEGRITY);
  EXPECT_TRUE(opened.reply[0].output.empty());
  EXPECT_EQ(of.jobs(), 3u) << "one that comes to nothing is not counted";
  of.opens();
  EXPECT_EQ(of.jobs(), 4u);
  for (const std::size_t p : {0, 1}) {
    EXPECT_TRUE(of.two.troubles(p).empty());
    EXPECT_EQ(of.status(p).may_be_known, 0u);
    EXPECT_GE(of.status(p).tables_last_s, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Enctypes, PairTablesServe, testing::Values(17u, 18u, 19u));

// None are made, or used, unless both are told to.
TEST(PairTablesOff, UnlessBothWantThem) {
  TablesRealm of([](JobServiceOptions& options) {
    if (options.party == 1) by_tables(options);
  });
  of.seals();
  of.two.ask({TKDC_OP_MAC, of.ref, 56, {}, of.plain});
  std::this_thread::sleep_for(500ms);
  of.seals();
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(of.status(p).tables_most + of.status(p).tables_bytes, 0u);
    EXPECT_EQ(of.status(p).tables_jobs, 0u);
  }
  EXPECT_EQ(JobServiceOptions().pair_tables_bytes, 0u);
}

// An agent's deal that does not fit: both drop it, what it took is gone, and the next one is
// served.
TEST(PairTablesJobs, ADealThatDoesNotFitIsDropped) {
  TablesRealm of;
  of.fill();
  const std::size_t forward = of.status(0).tables_forward;
  const auto out = of.two.ask(
      {TKDC_OP_SEAL, of.ref, 3, {}, of.plain},
      [](std::size_t p, JobRequest& job) { job.dealt[40] ^= static_cast<std::uint8_t>(p); });
  EXPECT_EQ(out.both(), TKDC_STATUS_INCONSISTENT) << out.message[0];
  EXPECT_EQ(of.status(0).tables_forward, forward) << "it ended before AES";
  for (const std::size_t p : {0, 1}) EXPECT_EQ(of.status(p).may_be_known, 0u);
  of.seals();
  EXPECT_EQ(of.jobs(), 1u);
  EXPECT_FALSE(of.two.is_over());
}

// A deal serves once, whichever way.
TEST(PairTablesJobs, ADealThatHasServedIsRefused) {
  TablesRealm of;
  of.fill();
  constexpr std::uint64_t kNumber = 1'000'000;
  of.two.number_is(kNumber);
  of.seals();
  ASSERT_EQ(of.jobs(), 1u);
  of.two.number_is(kNumber);
  const auto again = of.two.ask_once({TKDC_OP_SEAL, of.ref, 3, {}, of.plain});
  EXPECT_EQ(again.both(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_NE(again.message[0].find("has been used"), std::string::npos) << again.message[0];
  EXPECT_EQ(of.jobs(), 1u);
}

// What nobody has proved, and anybody may have made up, takes none.
TEST(PairTablesJobs, AMadeUpTicketTakesNone) {
  TablesRealm of;
  of.fill();
  const std::size_t inverse = of.status(0).tables_inverse;
  EXPECT_EQ(of.two.ask({TKDC_OP_OPEN, of.ref, 1, {}, random_octets(177)}).both(),
            TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(of.status(0).tables_inverse, inverse);
  of.opens();
  EXPECT_LT(of.status(0).tables_inverse, inverse);
}

// Who has had its quota is served by circuits; another key still finds tables.
TEST(PairTablesJobs, AKeysFloodLeavesSomeToOthers) {
  TablesRealm of;
  const KeyRef bob = of.two.make_key("bob@R", kEnctype, of.key);
  const TwoServices::Job quiet{TKDC_OP_SEAL, bob, 3, {}, of.plain};
  of.fill();
  EXPECT_EQ(of.two.ask(quiet).both(), TKDC_STATUS_OK);
  const std::uint64_t before = of.jobs();
  EXPECT_EQ(before, 1u) << "neither asks alone";
  constexpr std::uint64_t kFlood = 60;
  const std::size_t all = of.status(0).tables_forward / lut::cts_lookups(of.key.size(), 46);
  ASSERT_LT(all, kFlood) << "more than there is";
  for (std::uint64_t k = 0; k < kFlood; ++k) of.seals();
  const std::uint64_t flooded = of.jobs() - before;
  EXPECT_GE(flooded, all / 2 - 1);
  EXPECT_LT(flooded, kFlood);
  EXPECT_GE(of.status(0).key_had, kFlood - flooded);
  EXPECT_EQ(of.two.ask(quiet).both(), TKDC_STATUS_OK);
  EXPECT_EQ(of.jobs(), before + flooded + 1) << "some were left";
  EXPECT_FALSE(of.two.is_over());
}

// A session that breaks in the middle of a job takes all of its tables with it, and what the next
// one has is made in it. The agent deals again.
TEST(PairTablesJobs, ALinkThatBreaksInAJobTakesAllTablesWithIt) {
  std::atomic<bool> armed{false};
  std::atomic<std::uint64_t> said{0};
  std::function<void()> act;
  TablesRealm of(by_tables, kEnctype, [&](std::size_t p, ByteSpan octets) {
    if (armed && p == 1 && (said += octets.size()) > 600) act();
  });
  act = [&] { of.two.break_link(); };
  of.fill();
  armed = true;
  of.fails({TKDC_OP_SEAL, of.ref, 3, {}, of.plain});
  of.two.join();
  armed = false;
  for (const std::size_t p : {0, 1}) {
    EXPECT_EQ(of.status(p).tables_forward + of.status(p).tables_inverse, 0u);
    EXPECT_EQ(of.status(p).tables_bytes, 0u);
    EXPECT_EQ(of.status(p).may_be_known, 0u) << "nothing but uniform octets had left";
  }
  of.two.start_session();
  of.fill();
  of.seals();
  EXPECT_EQ(of.jobs(), 1u);
}

// ---- a server that says something else of its tables than it has

// Changes the statement that server 1 gives of the next job, in octet `at` of it.
struct Statement {
  std::size_t at;
  std::uint8_t with;
};
class PairTablesDiffer : public testing::Test {
 protected:
  void run(const Statement& changed, const std::function<void(TablesRealm&)>& then) {
    std::atomic<bool> armed{false}, told{false};
    TablesRealm of(by_tables, kEnctype, [&](std::size_t p, ByteSpan octets) {
      if (armed && p == 0) of_honest_ += octets.size();
    });
    of.two.stop();
    of.two.restart_service();
    ot::Change change;
    change.rewrite = [&](std::uint64_t, MutableByteSpan octets) {
      // Before it server 1 says one octet at a time: that it is there.
      if (!armed || told || octets.size() < PairStatement::kBytes) return;
      octets[changed.at] ^= changed.with;
      told = true;
    };
    of.two.start_session(1, change);
    of.fill();
    of_honest_ = 0;
    armed = true;
    of.fails({TKDC_OP_SEAL, of.ref, 3, {}, of.plain});
    EXPECT_TRUE(told);
    of.two.join();
    then(of);
  }
  // Of what server 0 says of a job before its first word: an order with a statement.
  static constexpr std::uint64_t kOrder = 3 + 25 + PairStatement::kBytes, kAlive = 3;
  std::atomic<std::uint64_t> of_honest_{0};
};

constexpr std::size_t kOfTables = 36;  // of a statement: flags 1, circuits 2, left 4 and 4, bits 8

TEST_F(PairTablesDiffer, EndsBeforeAWordOfTheJob) {
  // Of each other number: WhatBothMustHaveAlike.
  const std::pair<Statement, const char*> changes[] = {{{kOfTables + 18, 1}, "bits"}};
  for (const auto& [changed, what] : changes)
    run(changed, [this, what = what](TablesRealm& of) {
      EXPECT_NE(of.two.ended(0).find("other lookup tables left"), std::string::npos)
          << what << ": " << of.two.ended(0);
      EXPECT_FALSE(of.two.service(0).deviation()) << "honest servers may come to this";
      EXPECT_EQ(of.status(0).may_be_known, 0u);
      EXPECT_LE(of_honest_, kOrder + 5 * kAlive) << what << ": a word of the job has left";
    });
}

// It says that the job goes by a circuit, and does it by tables: the honest one takes its first
// message for another one, and ends at a check or at its deadline. Nothing is answered.
TEST_F(PairTablesDiffer, AnotherWayThanItSaysEndsTheSession) {
  run({kOfTables, 1}, [this](TablesRealm& of) {
    EXPECT_GT(of_honest_, kOrder + 5 * kAlive) << "the control of the test above";
    EXPECT_FALSE(of.two.ended(0).empty());
    EXPECT_EQ(of.status(0).tables_jobs + of.status(1).tables_jobs, 0u);
  });
}

// ---- parts

TEST(PairTableTalk, Orders) {
  EXPECT_EQ(heard({4, 0, 1, 0})->way, Way::kForward);
  EXPECT_EQ(heard({4, 0, 1, 1})->way, Way::kInverse);
  EXPECT_FALSE(heard({4, 0, 1, 2}).ok()) << "no way";
  EXPECT_FALSE(heard({4, 0, 2, 0, 0}).ok()) << "an octet too many";
  EXPECT_FALSE(heard({4, 0, 0}).ok()) << "an octet too few";
}

TEST(PairTableTalk, WhatBothMustHaveAlike) {
  const PairStatement one;
  EXPECT_TRUE(has_alike(one, one));
  const std::vector<std::function<void(PairStatement&)>> changes = {
      [](PairStatement& s) { s.ready = 1; },
      [](PairStatement& s) { s.tables.ready = 1; },
      [](PairStatement& s) { s.tables.left.forward = 1; },
      [](PairStatement& s) { s.tables.left.inverse = 1; },
      [](PairStatement& s) { s.tables.left.bits = 1; },
  };
  for (std::size_t k = 0; k < changes.size(); ++k) {
    PairStatement other;
    changes[k](other);
    EXPECT_FALSE(has_alike(one, other)) << k;
    EXPECT_FALSE(has_alike(other, one)) << k;
  }
  PairStatement other;  // what either would do, and what only spares work
  other.tables.wanted = other.tables.round_keys = true;
  EXPECT_TRUE(has_alike(one, other));
}

PairTableJob ticket(Way way) {
  PairTableJob job;
  job.way = way;
  job.key_bytes = 32;
  job.text_bytes = 265;
  return job;
}

// Page 29's table.
TEST(PairTableJobs, TakeAndWaitAsThePageSays) {
  EXPECT_EQ(ticket(Way::kForward).lookups(), 3808u);
  EXPECT_EQ(ticket(Way::kForward).waits(true), 722u);
  EXPECT_EQ(ticket(Way::kInverse).waits(true), 92u);
  EXPECT_EQ(ticket(Way::kForward).waits(false), 722u + 3 * 13 + 3);
  EXPECT_EQ(ticket(Way::kForward).needs(Way::kForward, false), 3808u + 52);
  EXPECT_EQ(ticket(Way::kForward).needs(Way::kInverse, false), 0u);
  EXPECT_EQ(ticket(Way::kInverse).needs(Way::kForward, true), 0u);
  EXPECT_EQ(ticket(Way::kInverse).needs(Way::kForward, false), 52u);
}

TEST(PairTableChoices, TheLinkHasToBeShort) {
  PairTableChoice choice(50ms);
  const PairTableJob seal = ticket(Way::kForward), open = ticket(Way::kInverse);
  EXPECT_FALSE(choice.is_near(open, true)) << "not known yet";
  choice.took(1ms);
  EXPECT_TRUE(choice.is_near(open, true)) << "46 ms";
  EXPECT_FALSE(choice.is_near(seal, true)) << "361 ms";
  choice.took(130us);
  EXPECT_TRUE(choice.is_near(seal, true)) << "47 ms; the shortest counts";
  EXPECT_TRUE(choice.is_near(seal, false)) << "and its keys, 50 ms";
  for (int k = 0; k < 8; ++k) choice.took(3ms);
  EXPECT_FALSE(choice.is_near(open, true)) << "it has become longer";
  PairTableChoice always(0ms);
  EXPECT_TRUE(always.is_near(seal, false));
}

// A ticket's job of an agent, under a principal's key or krbtgt's; three of six are there.
bool is_granted(PairTableChoice& choice, std::uint64_t number, std::uint8_t principal,
                std::size_t jobs_left, KeyClass of_class = KeyClass::kService,
                const std::function<void(PairStatement&)>& edit = nullptr) {
  PairJob of;
  of.job = std::make_unique<Job>();
  of.job->request.name = {7, 1, number};
  auto record = std::make_shared<KeyRecord>();
  record->key_class = of_class;
  record->ref.principal[0] = principal;
  of.job->found.record = record;
  of.by_tables = ticket(Way::kForward);
  PairStatement own;
  own.tables.wanted = own.tables.round_keys = true;
  own.tables.ready = own.ready = 1;
  if (edit) edit(own);
  const std::size_t each = of.by_tables->lookups();
  own.tables.left.forward = static_cast<std::uint32_t>(jobs_left * each);
  const bool granted = choice.takes(of, own, 6 * each);
  choice.settle(of.job->request.name, granted);
  return granted;
}

TEST(PairTableChoices, AKeyLeavesSomeToOthers) {
  PairTableChoice choice(0ms);
  EXPECT_TRUE(is_granted(choice, 1, 'a', 2));
  EXPECT_TRUE(is_granted(choice, 2, 'a', 1)) << "nobody else has asked";
  EXPECT_TRUE(is_granted(choice, 3, 'b', 2));
  EXPECT_FALSE(is_granted(choice, 4, 'a', 1)) << "it has taken more than there are";
  EXPECT_TRUE(is_granted(choice, 5, 'a', 4)) << "there are more than it has taken";
  EXPECT_TRUE(is_granted(choice, 6, 'k', 1, KeyClass::kKrbtgt));
  EXPECT_TRUE(is_granted(choice, 7, 'k', 1, KeyClass::kKrbtgt)) << "every login's";
}

TEST(PairTableChoices, WhatIsReadyAndWhatIsNot) {
  const auto without = [](PairStatement& own) { own.tables.wanted = false; };
  const auto whole = [](PairStatement& own) { own.tables.ready = 0; };
  const auto neither = [](PairStatement& own) { own.tables.ready = own.ready = 0; };
  PairTableChoice near(60'000ms), always(0ms);
  near.took(1us);
  for (PairTableChoice* choice : {&near, &always})
    EXPECT_FALSE(is_granted(*choice, 1, 'a', 6, KeyClass::kService, without)) << "too few tables";
  EXPECT_FALSE(is_granted(near, 2, 'a', 6, KeyClass::kService, whole)) << "a circuit is faster";
  EXPECT_TRUE(is_granted(always, 2, 'a', 6, KeyClass::kService, whole));
  EXPECT_TRUE(is_granted(near, 3, 'a', 6, KeyClass::kService, neither));
  EXPECT_TRUE(is_granted(near, 4, 'a', 6));
}

TEST(PairTableWish, WhatIsMadeNext) {
  PairTableWishes wishes;
  auto now = PairTableWishes::Clock::now();
  std::size_t left[2] = {0, 0};
  bool room[2] = {true, true};
  const auto next = [&](bool few) {
    return wishes.next(
        few, [&](Way way) { return left[static_cast<std::size_t>(way)]; },
        [&](Way way) { return room[static_cast<std::size_t>(way)]; }, now);
  };
  const auto lasts = [&] {
    return wishes.lasts_s([&](Way way) { return left[static_cast<std::size_t>(way)]; }, now);
  };
  EXPECT_EQ(next(false), std::nullopt) << "nobody asks";
  EXPECT_EQ(lasts(), std::nullopt);
  wishes.note(Way::kForward, 600, now);
  EXPECT_EQ(next(true), Way::kForward);
  left[0] = 600;
  EXPECT_EQ(next(true), std::nullopt) << "enough for one";
  EXPECT_EQ(next(false), Way::kForward);
  EXPECT_EQ(lasts(), 60u) << "600 a minute";
  wishes.note(Way::kInverse, 60, now);
  EXPECT_EQ(next(false), Way::kInverse) << "of which there is none";
  EXPECT_EQ(lasts(), 0u);
  left[1] = 120;
  EXPECT_EQ(next(false), Way::kForward) << "of which there is less for those who ask";
  room[0] = false;
  EXPECT_EQ(next(false), Way::kInverse);
  now += 16min;
  EXPECT_EQ(next(false), std::nullopt) << "nobody asks any more";
  EXPECT_EQ(lasts(), std::nullopt);
  room[0] = true;
  now += PairTableWishes::kForgotten;
  wishes.note(Way::kForward, 60, now);
  left[0] = 60;
  EXPECT_EQ(next(true), std::nullopt) << "a long job of long ago needs nothing any more";
}

}  // namespace
}  // namespace tkdc
