// SPDX-License-Identifier: Apache-2.0
// What a refresh of two servers covers when it ends, and what keeps it from its end.
#include "refreshing.h"

namespace tkdc {
namespace {

// That has no room for another pool, and says so when it is asked, or not.
class Roomless final : public ValueTable {
 public:
  explicit Roomless(ValueTable& in, bool says_so = false) : in_(in), says_so_(says_so) {}
  Result<void> room_for(std::size_t bytes) override {
    return says_so_ && bytes >= 512 * sizeof(pair::AuthBlock) ? fail("store: no room")
                                                              : in_.room_for(bytes);
  }
  Result<std::optional<SecretVector>> get(std::string_view name) override { return in_.get(name); }
  Result<void> put(std::span<const NamedValue> values) override {
    for (const NamedValue& one : values)
      if (kept::is_head(one.name) && !in_.get(one.name).value()) return fail("store: no room");
    return in_.put(values);
  }
  Result<void> erase(std::span<const std::string> names) override { return in_.erase(names); }
  Result<std::vector<std::string>> names(std::string_view prefix) override {
    return in_.names(prefix);
  }

 private:
  ValueTable& in_;
  const bool says_so_;
};

// That removes no pool.
class Unerasing final : public ValueTable {
 public:
  explicit Unerasing(ValueTable& in) : in_(in) {}
  Result<void> room_for(std::size_t bytes) override { return in_.room_for(bytes); }
  Result<std::optional<SecretVector>> get(std::string_view name) override { return in_.get(name); }
  Result<void> put(std::span<const NamedValue> values) override { return in_.put(values); }
  Result<void> erase(std::span<const std::string> names) override {
    return std::ranges::any_of(names, kept::is_head) ? fail("disk full") : in_.erase(names);
  }
  Result<std::vector<std::string>> names(std::string_view prefix) override {
    return in_.names(prefix);
  }

 private:
  ValueTable& in_;
};

// Each number of a move is larger than those of before: the other server, whichever it is, does not
// take all of them away, by a move or by an end. What it can have said is followed, so that two
// honest ones go on after one that was not.
TEST_F(PairRefreshTest, AMovesNumberIsOneThatCanHaveBeenMade) {
  const auto refuses = [&](std::size_t p, std::uint32_t number, std::uint32_t own = 3) {
    two.stop();
    last_move_is(p, own);
    last_move_is(1 - p, number - 1);
    moves_ahead = {1u << 20, 1u << 20};
    moves_ahead[1 - p] = UINT32_MAX;  // it says any
    two.restart();
    two.service(p).ask_shares(ShareTask::kRefresh);
    const std::size_t before = two.troubles(p).size();
    const std::string text = "its next move of keys is number " + std::to_string(number);
    const std::uint32_t epoch = refreshed(p).epoch;
    const auto refused = [&] {
      const std::vector<std::string> told = two.troubles(p);
      return std::any_of(
          told.begin() + static_cast<std::ptrdiff_t>(before), told.end(),
          [&](const std::string& one) { return one.find(text) != std::string::npos; });
    };
    pump_until([&] { return refused() || has_ended(epoch + 1); });
    two.stop();
    if (refused()) {
      EXPECT_EQ(two.store(p).moves()->last_move().value(), own);
    } else {
      const std::vector<std::string> told = two.troubles(p);
      EXPECT_TRUE(std::ranges::any_of(told, [&](const std::string& one) {
        return one.find("has gone on from move number") != std::string::npos;
      })) << "it is followed, and said";
    }
    for (const std::size_t q : {0, 1}) {  // as the next session's beginning has it
      const std::vector<KeyId> half_done = two.store(q).prepared().value();
      for (const KeyId& one : half_done) EXPECT_TRUE(two.store(q).abandon(one).ok());
    }
    return refused();
  };
  const auto most = static_cast<std::uint32_t>((1u << 20) + wall_s() - 1'767'225'600);
  for (const bool with_keys : {false, true}) {
    if (with_keys) {
      two.restart();
      two.make_key("alice@R", kEnctype, random_octets(16));
    }
    for (const std::size_t p : {0, 1}) {
      EXPECT_TRUE(refuses(p, UINT32_MAX)) << p;
      EXPECT_TRUE(refuses(p, most + 10'000)) << p;
      EXPECT_FALSE(refuses(p, most - 10'000)) << "the control, and one that was driven up";
    }
  }
  // Nor by many small steps, each of which it follows: together they go as far as the clock has.
  for (const std::size_t p : {0, 1}) EXPECT_TRUE(refuses(p, most + 10'000, most - 1000)) << p;
}

// Whose numbers are used up moves none, and says so; no session ends, and in time there are more.
TEST_F(PairRefreshTest, WithoutAnotherNumberNothingMovesForAWhile) {
  const auto most = static_cast<std::uint32_t>((1u << 20) + wall_s() - 1'767'225'600);
  two.stop();
  for (const std::size_t p : {0, 1}) last_move_is(p, most + 10'000);
  two.restart();
  two.service(0).ask_shares(ShareTask::kRefresh);
  const auto said = [&](std::size_t p) {
    return std::ranges::any_of(two.troubles(p), [](const std::string& one) {
      return one.find("has used up the numbers of moves") != std::string::npos;
    });
  };
  pump_until([&] { return said(0) && said(1); });
  EXPECT_TRUE(two.service(0).status().session_up);
  two.stop();
  moves_ahead = {1u << 21, 1u << 21};
  two.restart();
  const std::uint32_t epoch = refreshed(0).epoch;
  two.service(0).ask_shares(ShareTask::kRefresh);
  pump_until([&] { return has_ended(epoch + 1); });
}

// Keys of a pool that is nearly used up move also where the refresh comes to nothing in this
// session: bob keeps it from its end, and alice's second pool is used up.
TEST_F(PairRefreshTest, WhereItFailsKeysOfUsedUpPoolsStillMove) {
  const KeyRef alice = two.make_key("alice@R", kEnctype, random_octets(16));
  const KeyRef bob = two.make_key("bob@R", kEnctype, random_octets(16));
  two.stop();
  two.store(1).read_hook = [&](KeyRecord& of) {
    if (of.ref.id == bob.id) of.version = 7;
  };
  two.restart();
  two.service(0).ask_shares(ShareTask::kRefresh);
  const auto fails = [&] { return !two.service(0).status().shares.trouble.empty(); };
  pump_until(fails);
  EXPECT_EQ(record(0, alice).version, 2u);
  two.stop();
  for (const std::size_t p : {0, 1}) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    ASSERT_TRUE(of.load().ok());
    for (const PairPools::Count& one : of.counts())
      if (!one.old) {
        ASSERT_TRUE(*of.take(one.id, one.next, one.blocks - (64 + 512 / 16) - one.next));
      }
  }
  two.restart();
  pump_until(fails);
  pump_until([&] { return record(0, alice).version == 3 && record(1, alice).version == 3; });
  EXPECT_FALSE(two.is_over()) << "in this session";
  EXPECT_TRUE(fails());
  EXPECT_EQ(refreshed(0).epoch, 0u);
}

// Whichever of both has an old pool that it cannot remove: both say so, and nobody waits.
TEST_F(PairRefreshTest, APoolThatCannotBeRemovedIsSaid) {
  two.make_key("alice@R", kEnctype, random_octets(16));
  for (const std::size_t p : {0, 1}) {
    const std::uint32_t epoch = refreshed(p).epoch;
    Unerasing unerasing(*two.store(p).values());
    two.stop();
    two.store(p).values_over = &unerasing;
    two.restart();
    two.service(0).ask_shares(ShareTask::kRefresh);
    const auto trouble = [&](std::size_t q) { return two.service(q).status().shares.trouble; };
    for (int session = 0; session < 2; ++session) {
      pump_until([&] { return !trouble(0).empty() && !trouble(1).empty(); });
      EXPECT_EQ(refreshed(p).epoch, epoch);
      EXPECT_FALSE(two.troubles(p).empty());
      two.restart();  // and the next one says so again
    }
    two.stop();
    two.store(p).values_over = nullptr;
    two.restart();
    pump_until_it_serves(epoch + 1);
  }
}

// Whichever of both has no room for another pool: keys serve on, no key is made, both say why. When
// there is room it ends.
TEST_F(PairRefreshTest, WithoutRoomForAPoolKeysServe) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  for (const std::size_t p : {0, 1}) {
    const std::uint32_t epoch = refreshed(p).epoch;
    Roomless roomless(*two.store(p).values());
    two.stop();
    two.store(p).values_over = &roomless;
    two.restart();
    two.service(0).ask_shares(ShareTask::kRefresh);
    const auto trouble = [&](std::size_t q) { return two.service(q).status().shares.trouble; };
    pump_until([&] { return !trouble(0).empty() && !trouble(1).empty(); });
    EXPECT_NE(trouble(p).find("no room"), std::string::npos) << trouble(p);
    EXPECT_NE(trouble(1 - p).find("the other server could not write"), std::string::npos);
    serves(alice, whole);
    EXPECT_EQ(
        two.ask({TKDC_OP_STAGE, new_key(kEnctype), 0, {TKDC_ORIGIN_DRAWN}, {}, AgentRole::kAdmin})
            .both(),
        TKDC_STATUS_LIMIT);
    EXPECT_EQ(pools(p).size(), 1u);
    EXPECT_EQ(refreshed(p).epoch, epoch);
    two.stop();
    two.store(p).values_over = nullptr;
    two.restart();
    pump_until_it_serves(epoch + 1);
    serves(alice, whole);
  }
}

// A key that ends each session in which it is moved, or prepared, does not keep others from
// serving, or moving, also those of its page: after two the third one tries each by itself, and
// then that key alone is left out, and named.
TEST_F(PairRefreshTest, WhatEndsEachSessionIsLeftOut) {
  const KeyRef alice = two.make_key("alice@R", kEnctype, random_octets(16));
  const KeyRef carol = two.make_key("carol@R", kEnctype, random_octets(16));
  two.stop();
  two.store(1).read_hook = [&](KeyRecord& of) {
    if (of.ref.id == alice.id) of.fields.at(field_name(56, "kc")).component[1].pop_back();
  };
  two.restart();
  two.service(0).ask_shares(ShareTask::kRefresh);
  const auto trouble = [&](std::size_t p) { return two.service(p).status().shares.trouble; };
  pump_until([&] { return !trouble(0).empty() && !trouble(1).empty(); });
  EXPECT_NE(trouble(0).find(to_hex(alice.id)), std::string::npos) << "who leads: " << trouble(0);
  EXPECT_NE(trouble(0).find("1 keys could not be moved"), std::string::npos) << trouble(0);
  EXPECT_EQ(record(0, carol).version, 2u);
  EXPECT_EQ(record(0, alice).version, 1u);
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  serves(two.make_key("bob@R", kEnctype, key), whole);
  EXPECT_FALSE(two.is_over()) << "this session stands";
}

// What ends sessions whichever key it is tried with, as a disk that cannot be written, does not go
// through all keys: after six sessions of the same keys one goes without.
TEST_F(PairRefreshTest, WhatEndsSessionsWithAnyKeyIsLeftOutAsAWhole) {
  for (int k = 0; k < 3; ++k)
    two.make_key("u" + std::to_string(k) + "@R", kEnctype, random_octets(16));
  two.stop();
  two.store(1).read_hook = [&](KeyRecord& of) {
    of.fields.at(field_name(56, "kc")).component[1].pop_back();
  };
  two.restart();
  two.service(0).ask_shares(ShareTask::kRefresh);
  const auto without = [&] {
    const std::vector<std::string> told = two.troubles(0);
    return std::ranges::any_of(told, [](const std::string& one) {
      return one.find("this one goes without") != std::string::npos;
    });
  };
  pump_until(without);
  two.store(1).read_hook = nullptr;  // what is asked for is bridged also so
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  serves(two.make_key("bob@R", kEnctype, key), whole);
  EXPECT_FALSE(two.is_over()) << "this session stands";
}

// Who is asked looks for room first: without, nothing begins, and keys are made on.
TEST_F(PairRefreshTest, WithoutRoomAtWhoIsAskedNoneBegins) {
  const KeyRef alice = two.make_key("alice@R", kEnctype, random_octets(16));
  for (const std::size_t p : {0, 1}) {
    const std::uint32_t epoch = refreshed(p).epoch;
    Roomless roomless(*two.store(p).values(), true);
    two.stop();
    two.store(p).values_over = &roomless;
    two.restart();
    two.service(p).ask_shares(ShareTask::kRefresh);
    const auto trouble = [&] { return two.service(p).status().shares.trouble; };
    pump_until([&] { return !trouble().empty() && two.is_up(); });
    EXPECT_NE(trouble().find("has not begun"), std::string::npos) << trouble();
    EXPECT_FALSE(two.service(p).status().shares.wanted);
    const std::string bob = "bob" + std::to_string(p) + "@R";
    two.make_key(bob, kEnctype, random_octets(16));
    EXPECT_EQ(two.service(0).status().refreshing_since_s, 0u);
    EXPECT_EQ(two.service(1).status().refreshing_since_s, 0u);
    EXPECT_EQ(record(p, alice).version, epoch + 1);
    two.stop();
    two.store(p).values_over = nullptr;
    two.restart();
    refresh(p);
  }
}

// With so many pools of before that no other can be made, the session's is one of them: it is said,
// and the next session, when they have gone, has room.
TEST_F(PairRefreshTest, WhereNoPoolCanBeMadeItIsSaid) {
  two.stop();
  std::vector<pair::Pool> many(PairPools::kMostWithOld - 1);  // beside the one that is there
  for (pair::Pool& one : many) {
    randombytes_buf(&one.id, sizeof one.id);
    one.blocks.resize(16);
  }
  for (const std::size_t p : {0, 1}) {
    const pair::Side side = p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator;
    PairPools of(*two.store(p).values(), side);
    ASSERT_TRUE(of.load().ok() && of.retire_all(1000).ok());
    for (pair::Pool one : many) {
      one.deltas = {side, pair::draw_delta(side)};
      ASSERT_TRUE(of.keep(std::move(one)).ok());
      ASSERT_TRUE(of.retire_all(1000).ok());
    }
  }
  two.restart();
  const auto trouble = [&](std::size_t p) { return two.service(p).status().shares.trouble; };
  pump_until([&] { return !trouble(0).empty() && !trouble(1).empty(); });
  for (const std::size_t p : {0, 1})
    EXPECT_NE(trouble(p).find("it needs new ones"), std::string::npos) << trouble(p);
  restart();
  pump_until_it_serves(1);
}

// A leader that asks for the end of a refresh of which this server has not heard has no store read:
// here what it says when the session begins is changed on its way.
TEST_F(PairRefreshTest, AnEndOfNoneReadsNoStore) {
  std::atomic<int> read{0};
  two.stop();
  KeyRecord key;
  key.ref.id = KeyId{7};
  key.ref.installation = kInstallation;
  key.principal_name = "alice@R";
  for (const char* name : {"base", "u1.ke"})
    for (SecretVector& component : key.fields[name].component) component.assign(16, 1);
  ASSERT_TRUE(two.store(1).prepare(key).ok() && two.store(1).commit(key.ref.id).ok());
  for (const std::size_t p : {0, 1}) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    ASSERT_TRUE(of.load().ok());
    for (const PairPools::Count& one : of.counts()) ASSERT_TRUE(of.erase(one.id).ok());
    if (p == 0) {
      ASSERT_TRUE(of.retire_all(1000).ok());
    }
  }
  two.store(1).read_hook = [&](KeyRecord&) { ++read; };
  two.restart_service();
  two.start_session(0, {1, 1});  // octet 1: whether a refresh is under way
  for (int k = 0; k < 400 && !two.is_up(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(two.is_up());
  EXPECT_TRUE(two.service(0).status().shares.running) << "the control: it leads one";
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_FALSE(two.is_over()) << "the control: it was answered";
  EXPECT_EQ(read, 0);
  EXPECT_EQ(refreshed(0).epoch, 0u);
}

// A key that was removed, of which the record is there still, is one of before.
TEST_F(PairRefreshTest, ARemovedKeyThatIsThereIsSaid) {
  const KeyRef alice = two.make_key("alice@R", kEnctype, random_octets(16));
  two.stop();
  for (const std::size_t p : {0, 1}) {
    ASSERT_TRUE(two.store(p).dropped()->condemn_to_drop(alice.id, 100).ok());
    ASSERT_TRUE(two.store(p).destroy(alice.id).ok());
  }
  two.restart();
  two.service(0).ask_shares(ShareTask::kRefresh);
  const auto trouble = [&] { return two.service(0).status().shares.trouble; };
  pump_until([&] { return !trouble().empty() || has_ended(1); });
  EXPECT_NE(trouble().find("1 keys could not be moved"), std::string::npos) << trouble();
  EXPECT_EQ(pools(0).size(), 2u) << "their pool stays";
  EXPECT_EQ(refreshed(0).epoch, 0u);
}

// An administrator's word begins another one amid it: what has moved since moves again, and the
// time that both note is not the first one's. A server that was only started again goes on.
TEST_F(PairRefreshTest, OneThatIsAskedForAmidAnotherBeginsAnew) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  two.stop();
  for (const std::size_t p : {0, 1}) {
    PairPools of(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    ASSERT_TRUE(of.load().ok() && of.retire_all(1000).ok());
  }
  ahead = false;  // it stays under way
  two.restart();
  pump_until([&] { return two.is_up(); });
  const std::vector<pair::Label> made = pools(0);
  EXPECT_EQ(made.size(), 2u);
  two.service(0).go_on_with_shares(ShareTask::kRefresh);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(two.is_over()) << "the control: this session goes on";
  EXPECT_EQ(two.service(0).status().refreshing_since_s, 1000u);
  two.stop();
  ahead = true;
  two.restart_service();
  const std::uint64_t asked_at = wall_s();
  two.service(1).ask_shares(ShareTask::kRefresh);
  begin_session();
  pump_until_it_serves(1);
  EXPECT_GE(refreshed(1).at_s, asked_at);
  for (const pair::Label& now : pools(1)) EXPECT_EQ(std::ranges::count(made, now), 0);
  serves(alice, whole);
}

// What a session has had of a key goes from memory when the key has moved: here one that is bridged
// ahead, by the block with which its pool is nearly used up.
TEST_F(PairRefreshTest, NothingOfBeforeIsInMemory) {
  const Bytes key = random_octets(16);
  Krb5Client whole(kEnctype, key);
  const KeyRef alice = two.make_key("alice@R", kEnctype, key);
  serves(alice, whole);
  KeyRecord before[2] = {record(0, alice), record(1, alice)};
  for (const KeyRecord& one : before) EXPECT_TRUE(is_in_memory(one)) << "the control";
  two.stop();
  use_up_to(two, 64 + 512 / 16);
  two.restart();
  const auto are_gone = [&] { return !is_in_memory(before[0]) && !is_in_memory(before[1]); };
  const auto version = [&] { return std::min(record(0, alice).version, record(1, alice).version); };
  pump_until([&] { return version() == 2; });
  EXPECT_FALSE(two.is_over()) << "in this session it was bridged, and moved";
  EXPECT_TRUE(are_gone() || (::sleep(1) == 0 && are_gone()));
  serves(alice, whole);
  for (const std::size_t p : {0, 1}) {
    before[p] = record(p, alice);
    EXPECT_TRUE(is_in_memory(before[p])) << "as it is now";
  }
  refresh(0);
  EXPECT_TRUE(are_gone());
  serves(alice, whole);
}

}  // namespace
}  // namespace tkdc
