// SPDX-License-Identifier: Apache-2.0
// Two servers that have been told different things, or of which one has changed what it stores or
// says: a job is dropped, or the session ends, and nobody is answered wrongly.
#include "pair/served_deals.h"
#include "service/store/value_table.h"
#include "support/krb5_client.h"
#include "two_services.h"

namespace tkdc {
namespace {

using test::Krb5Client;

class FullTable : public ValueTable {
 public:
  explicit FullTable(ValueTable& of) : of_(of) {}
  Result<std::optional<SecretVector>> get(std::string_view name) override { return of_.get(name); }
  Result<void> put(std::span<const NamedValue> values) override {
    return full ? fail("disk full") : of_.put(values);
  }
  Result<void> room_for(std::size_t bytes) override { return of_.room_for(bytes); }
  Result<void> erase(std::span<const std::string> names) override { return of_.erase(names); }
  Result<std::vector<std::string>> names(std::string_view prefix) override {
    return of_.names(prefix);
  }
  std::atomic<bool> full{false};

 private:
  ValueTable& of_;
};

class PairServersDiffer : public testing::Test {
 protected:
  PairServersDiffer()
      : two_(512, not_ahead), key_(random_octets(16)), plain_(random_octets(20)),
        whole_(kEnctype, key_), ref_(two_.make_key("alice@R", kEnctype, key_)) {}

  TwoServices::Job seal() const { return {TKDC_OP_SEAL, ref_, 3, {}, plain_}; }
  void expect_served() {
    const auto out = two_.ask(seal());
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(whole_.open(3, out.output), plain_);
  }
  // What server p reads of its records.
  void change_record(std::size_t p, std::function<void(KeyRecord&)> change) {
    two_.store(p).read_hook = std::move(change);
  }
  // It ends as a check that failed, at the server that did not change anything.
  void expect_no_answer() {
    const auto out = two_.ask(seal());
    EXPECT_NE(out.status[0], TKDC_STATUS_OK);
    EXPECT_NE(out.status[1], TKDC_STATUS_OK);
    two_.join();
  }
  void expect_caught_by(std::size_t honest) {
    expect_no_answer();
    EXPECT_TRUE(two_.service(honest).deviation()) << two_.ended(honest);
  }

  TwoServices two_;
  const Bytes key_, plain_;
  Krb5Client whole_;
  const KeyRef ref_;
};

TEST_F(PairServersDiffer, AJobOfWhichTheyAreToldDifferentThings) {
  const std::vector<TwoServices::Edit> edits = {
      [](std::size_t p, JobRequest& job) { job.usage = p == 0 ? 3 : 1; },
      [](std::size_t p, JobRequest& job) { job.key.kvno += static_cast<std::uint32_t>(p); },
      [](std::size_t p, JobRequest& job) { job.dealt_input_bytes -= p == 1; },
      [](std::size_t p, JobRequest& job) {
        if (p == 1) job.dealt.pop_back();
      },
      [](std::size_t p, JobRequest& job) {  // the deal's number
        job.dealt[20] ^= static_cast<std::uint8_t>(p);
      },
      [](std::size_t p, JobRequest& job) {  // a share
        job.dealt[40] ^= static_cast<std::uint8_t>(p);
      },
      [](std::size_t p, JobRequest& job) {  // the key for the other one's
        job.dealt.back() ^= static_cast<std::uint8_t>(1 - p);
      },
      [](std::size_t p, JobRequest& job) { job.protocol = p == 0 ? "pair" : ""; },
  };
  for (std::size_t k = 0; k < edits.size(); ++k) {
    const auto out = two_.ask(seal(), edits[k]);
    EXPECT_EQ(out.both(), TKDC_STATUS_INCONSISTENT) << k << ": " << out.message[0];
    EXPECT_TRUE(out.reply[0].output.empty() && out.reply[1].output.empty()) << k;
  }
  for (const std::size_t p : {0, 1})
    EXPECT_EQ(two_.service(p).status().pair->may_be_known, 0u) << "it ended before that";
  expect_served();
  EXPECT_FALSE(two_.is_over());
}

// No deal serves twice; one of which that cannot be known any more is dealt anew.
TEST_F(PairServersDiffer, NumbersOfDeals) {
  expect_served();
  const auto other_run = [](std::size_t, JobRequest& job) { job.dealt[24] ^= 1; };
  const auto other_number = [](std::size_t, JobRequest& job) { job.dealt[16] ^= 1; };
  for (const TwoServices::Edit& edit :
       {TwoServices::Edit(other_run), TwoServices::Edit(other_number)})
    EXPECT_EQ(two_.ask_once(seal(), edit).both(), TKDC_STATUS_BAD_REQUEST);
  constexpr std::uint64_t kWindow = pair::ServedDeals::kWindow / 2;  // a job may deal twice
  constexpr std::uint64_t kFar = 10 * kWindow;
  two_.number_is(kFar);
  expect_served();
  two_.number_is(kFar);
  const auto again = two_.ask_once(seal());
  EXPECT_EQ(again.both(), TKDC_STATUS_UNAVAILABLE);
  EXPECT_NE(again.message[0].find("has been used"), std::string::npos);
  two_.number_is(kFar + 1 - kWindow);
  expect_served();
  two_.number_is(kFar - kWindow);
  EXPECT_EQ(two_.ask_once(seal()).both(), TKDC_STATUS_DEAL_AGAIN);
  two_.number_is(kFar + 1);
  expect_served();
}

// The evaluator says that what the agent dealt does not fit, when it has the result already: at the
// garbler the job fails, but counts as one whose result is known.
TEST_F(PairServersDiffer, AnEvaluatorThatDropsWhatItHas) {
  constexpr std::size_t kAnswer = 16 + 20 + 12;  // confounder, message, checksum
  constexpr std::size_t kBehind = 1 + kAnswer + sizeof(pair::Label);  // verdict, shares, their MACs
  std::atomic<std::uint64_t> said{0}, drops_at{~std::uint64_t{0}};
  ot::Change change;
  change.rewrite = [&](std::uint64_t first, MutableByteSpan octets) {
    said = first + octets.size();
    if (drops_at >= first && drops_at < said) octets[drops_at - first] ^= 1;
  };
  const auto ask_in_new_session = [&] {
    two_.stop();
    two_.restart_service();
    two_.start_session(1, change);
    return two_.ask(seal());
  };
  const auto alarms = [&](std::size_t p) { return two_.service(p).status().logins_unheralded; };
  const auto known = [&](std::size_t p) { return two_.service(p).status().pair->may_be_known; };
  TwoServices::Taken out;
  // Where it says so in the second session is known from the first, unless one had a pause.
  for (int turn = 0; turn < 3 && out.status[1] != TKDC_STATUS_OK; ++turn) {
    drops_at = ~std::uint64_t{0};
    ASSERT_EQ(ask_in_new_session().both(), TKDC_STATUS_OK);
    EXPECT_EQ(known(0) + known(1), 0u);
    drops_at = said - kBehind;
    out = ask_in_new_session();
    ASSERT_NE(out.status[0], TKDC_STATUS_OK);
  }
  ASSERT_EQ(out.status[1], TKDC_STATUS_OK) << out.message[1];
  EXPECT_TRUE(out.reply[0].output.empty());
  EXPECT_EQ(known(0), 1u);
  EXPECT_EQ(alarms(0), 1u) << "a reply of a login, and nothing was opened before";
  const std::string line = two_.audit(0).back();
  EXPECT_NE(line.find("login reply without preauthentication"), std::string::npos) << line;
  EXPECT_NE(line.find("the other server may have had it"), std::string::npos) << line;
  two_.stop();
}

TEST_F(PairServersDiffer, AJobThatOnlyOneHas) {
  for (const int only : {0, 1}) {
    two_.deadline_ms = 60;
    std::atomic<bool> done{false};
    std::thread clock([&] {
      while (!done) {
        for (const std::size_t p : {0, 1}) two_.service(p).expire();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    const auto out = two_.ask_once(seal(), nullptr, only);
    done = true;
    clock.join();
    EXPECT_EQ(out.status[only], TKDC_STATUS_UNAVAILABLE);
    two_.deadline_ms = 50'000;
    expect_served();
  }
}

TEST_F(PairServersDiffer, ARecordThatOneHasNot) {
  ASSERT_TRUE(two_.store(1).condemn(ref_.id).ok());
  ASSERT_TRUE(two_.store(1).destroy(ref_.id).ok());
  EXPECT_EQ(two_.ask(seal()).both(), TKDC_STATUS_INCONSISTENT);
  EXPECT_FALSE(two_.is_over());
}

TEST_F(PairServersDiffer, AStoredBitThatOneHasChanged) {
  change_record(1, [](KeyRecord& record) { record.fields.at("u3.ke").component[0][5] ^= 4; });
  expect_caught_by(0);
}

TEST_F(PairServersDiffer, AStoredMacThatOneHasChanged) {
  change_record(0, [](KeyRecord& record) { record.fields.at("u3.ki").component[1][3] ^= 1; });
  expect_caught_by(1);
}

TEST_F(PairServersDiffer, AFieldInThePlaceOfAnother) {
  change_record(0, [](KeyRecord& record) {
    std::swap(record.fields.at("u3.ke"), record.fields.at("u1.ke"));
  });
  // Both proofs are wrong then: of what it has, and by the keys with which it looks at the other
  // one's. Who finds it first ends the session for both.
  expect_no_answer();
  EXPECT_TRUE(two_.service(0).deviation() || two_.service(1).deviation()) << two_.ended(1);
}

TEST_F(PairServersDiffer, AVersionOfARecord) {
  change_record(0, [](KeyRecord& record) { ++record.version; });
  EXPECT_EQ(two_.ask(seal()).both(), TKDC_STATUS_INCONSISTENT);
  EXPECT_FALSE(two_.is_over());
}

TEST_F(PairServersDiffer, ABlockOfThePoolThatOneHasChanged) {
  two_.restart([&](std::size_t p) {
    if (p == 1) return;
    ValueTable& values = *two_.store(p).values();
    auto names = values.names("pool/");
    ASSERT_TRUE(names.ok());
    for (const std::string& name : *names) {
      if (name.ends_with("/head") || name.ends_with("/next")) continue;
      auto chunk = values.get(name);
      ASSERT_TRUE(chunk.ok() && *chunk);
      for (std::size_t at = 0; at < (*chunk)->size(); at += 48) (**chunk)[at] ^= 1;
      const NamedValue changed{name, **chunk};
      ASSERT_TRUE(values.put(std::span(&changed, 1)).ok());
    }
  });
  expect_caught_by(1);
}

// One store that cannot take the first step: nothing is stored at either. One that cannot take the
// second: the session ends, since what begins the next one settles it.
TEST_F(PairServersDiffer, AKeyThatOneCannotStore) {
  for (const std::size_t p : {0, 1}) {
    KeyRef bob = two_.stage(kEnctype, {});
    two_.store(p).refuses_first = true;
    EXPECT_EQ(two_.bind(bob, "bob@R").both(), TKDC_STATUS_INTERNAL);
    two_.store(p).refuses_first = false;
    for (const std::size_t q : {0, 1}) {
      EXPECT_TRUE(two_.store(q).prepared()->empty());
      EXPECT_EQ(two_.store(q).count(), 1u);
    }
    expect_served();
  }
  KeyRef carol = two_.stage(kEnctype, {});
  two_.store(1).refuses_rest = true;
  const auto out = two_.bind(carol, "carol@R");
  EXPECT_NE(out.status[0], TKDC_STATUS_OK);
  EXPECT_NE(out.status[1], TKDC_STATUS_OK);
  two_.join();
  EXPECT_FALSE(two_.service(0).deviation() || two_.service(1).deviation());
  EXPECT_FALSE(two_.troubles(0).empty());
}

// Blocks that only one has taken are lost once, not with each job that is asked meanwhile.
TEST_F(PairServersDiffer, ADiskThatCannotBeWrittenForAWhile) {
  two_.stop();
  FullTable full(*two_.store(1).values());
  two_.store(1).values_over = &full;
  two_.restart_service();
  full.full = true;
  two_.deadline_ms = 300;
  for (int k = 0; k < 12; ++k) {
    if (two_.is_over() || k == 0) {
      two_.start_session();
      for (int n = 0; n < 400 && !two_.is_over() && !two_.is_up(); ++n)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_FALSE(two_.is_up() && two_.serves_or_ends(seal(), [](const Bytes&) {}));
  }
  full.full = false;
  two_.deadline_ms = 50'000;
  two_.stop();
  two_.restart_service();
  two_.start_session();
  expect_served();
  EXPECT_EQ(two_.service(0).status().pair->pools, 1u);
}

// A session that breaks while a job is at work; the agent asks anew.
TEST_F(PairServersDiffer, ALinkThatBreaksInTheMiddle) {
  for (int k = 0; k < 3; ++k) {
    std::thread breaker([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 * k));
      two_.break_link();
    });
    std::thread next([&] {
      breaker.join();
      two_.join();
      two_.start_session();
    });
    TwoServices::Taken out;
    for (int turn = 0; turn < 5 && out.status[0] != TKDC_STATUS_OK; ++turn) out = two_.ask(seal());
    next.join();
    for (int turn = 0; turn < 5 && out.status[1] != TKDC_STATUS_OK; ++turn) out = two_.ask(seal());
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(whole_.open(3, out.output), plain_);
    EXPECT_FALSE(two_.service(0).deviation() && two_.service(1).deviation());
  }
}

// Octets of what either sends, all over a session's setup, order, bridge, circuit and answer: an
// agent gets the right answer, or none.
TEST_F(PairServersDiffer, OctetsThatEitherSends) {
  two_.stop();
  std::size_t ended = 0;
  for (const int cheat : {0, 1})
    for (const std::uint64_t at : {40u, 30'000u, 200'000u, 1'000'000u, 3'000'000u}) {
      two_.restart_service();
      two_.start_session(cheat, {at, 0x40});
      for (int k = 0; k < 1000 && !two_.is_over() && !two_.is_up(); ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      two_.deadline_ms = 2000;
      const bool served = two_.is_up() && two_.serves_or_ends(seal(), [&](const Bytes& sealed) {
        EXPECT_EQ(whole_.open(3, sealed), plain_) << at;
      });
      ended += !served;
      two_.stop();
    }
  EXPECT_GE(ended, 4u);
}

}  // namespace
}  // namespace tkdc
