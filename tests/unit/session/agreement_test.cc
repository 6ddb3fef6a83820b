// SPDX-License-Identifier: Apache-2.0
// The agreement on stores and epoch, over a memory ring that can lie.
#include "session/agreement.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "link/faulty_ring.h"
#include "link/socket.h"
#include "memory_store.h"
#include "session/hello.h"

namespace tkdc {
namespace {

KeyId id_of(std::uint32_t n) {
  KeyId id{};
  for (std::size_t i = 0; i < 4; ++i) id[i] = static_cast<std::uint8_t>(n >> (24 - 8 * i));
  return id;
}

class AgreementTest : public testing::Test {
 protected:
  AgreementTest() { EXPECT_GE(sodium_init(), 0); }

  void prepare(int party, std::uint32_t n) {
    KeyRecord record;
    record.ref.id = id_of(n);
    ASSERT_TRUE(store_[party].prepare(record).ok());
  }
  void commit(int party, std::uint32_t n) { ASSERT_TRUE(store_[party].commit(id_of(n)).ok()); }

  // All three at once; returns the errors, empty when all agree.
  std::string run() {
    if (!ring_) ring_ = std::make_shared<FaultyRing>();
    ring_->fault = fault_;
    std::array<std::unique_ptr<Link>, 3> links{ring_->link(0), ring_->link(1), ring_->link(2)};
    std::string errors[3];
    EpochsSaid said[3];
    for (int p = 0; p < 3; ++p) {
      const Epochs epochs = store_[p].store.epochs();
      said[p] = store_[p].lie.value_or(EpochsSaid{epochs.reserved, epochs.used});
    }
    std::vector<std::thread> threads;
    for (int p = 0; p < 3; ++p)
      threads.emplace_back([&, p] {
        AgreementInputs inputs;
        inputs.party = p;
        inputs.session.fill(1);
        inputs.transcript.fill(transcript_[p]);
        inputs.newcomer = newcomer_;
        inputs.advice.inventories = "mend that one";
        inputs.advice.epoch_not_believed = "or raise it";
        inputs.advice.epochs_used_up = "begin anew";
        inputs.advice.allowance_spent = "have patience";
        inputs.log = [this](const std::string& line) {
          std::lock_guard lock(mutex_);
          log_ += line + "\n";
        };
        for (std::size_t q = 0; q < 3; ++q) inputs.epochs[q] = said[q];
        EpochLedger ledger(store_[p], per_day_, inputs.advice);
        Link& link = *links[static_cast<std::size_t>(p)];
        const long long deadline_ms = monotonic_ms() + deadline_ms_;
        auto same = confirm_handshake(link, inputs, deadline_ms);
        auto epoch = same.ok() ? agree_on_session(link, store_[p], ledger, inputs, deadline_ms)
                               : Result<std::uint32_t>(same.error());
        if (epoch.ok())
          epoch_[p] = *epoch;
        else
          errors[p] = "P" + std::to_string(p) + " " + epoch.error().message + "\n";
      });
    for (auto& thread : threads) thread.join();
    ring_.reset();
    return errors[0] + errors[1] + errors[2];
  }

  struct TestStore {
    MemoryStore store;
    std::optional<EpochsSaid> lie;  // in its HELLO, about its epochs
    operator Store&() { return store; }
    Result<void> prepare(const KeyRecord& record) { return store.prepare(record); }
    Result<void> commit(const KeyId& id) { return store.commit(id); }
  };

  TestStore store_[3];
  std::uint32_t epoch_[3]{};
  std::uint8_t transcript_[3] = {7, 7, 7};
  std::uint32_t per_day_ = EpochLedger::kPerDay;
  std::optional<int> newcomer_;
  int deadline_ms_ = 2'000;
  std::mutex mutex_;
  std::string log_;
  std::shared_ptr<FaultyRing> ring_;
  decltype(FaultyRing::fault) fault_;
};

// It has nothing yet: the two others are to be alike, whichever it is.
TEST_F(AgreementTest, ANewcomerIsLeftOut) {
  for (int p : {0, 2}) {
    prepare(p, 1);
    commit(p, 1);
  }
  EXPECT_NE(run().find("the inventory of party 1 differs"), std::string::npos);
  newcomer_ = 1;
  EXPECT_EQ(run(), "");
  // The control: with another one's name on it, or where the two differ, there is no session.
  newcomer_ = 0;
  EXPECT_NE(run(), "");
  newcomer_ = 1;
  prepare(0, 2);
  commit(0, 2);
  const std::string errors = run();
  for (const char* party : {"P0", "P1", "P2"}) EXPECT_NE(errors.find(party), std::string::npos);
}

TEST_F(AgreementTest, EmptyStores) {
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(epoch_[p], 1u);
    EXPECT_EQ(store_[p].store.epochs().reserved, 1u);
    EXPECT_EQ(store_[p].store.epochs().used, 1u);
  }
}

TEST_F(AgreementTest, EpochIsAboveTheHighest) {
  store_[0].store.use_epochs(5);
  store_[1].store.use_epochs(9);
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) EXPECT_EQ(store_[p].store.epochs().used, 10u);
}

TEST_F(AgreementTest, PreparedIsCommittedWhenAnybodyHasCommitted) {
  for (int p = 0; p < 3; ++p) prepare(p, 1);
  commit(2, 1);
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(store_[p].store.committed(id_of(1)).value()) << p;
    EXPECT_TRUE(store_[p].store.prepared().value().empty()) << p;
  }
}

TEST_F(AgreementTest, PreparedIsDroppedWhenNobodyHas) {
  for (int p = 0; p < 2; ++p) prepare(p, 1);
  for (int p = 0; p < 3; ++p) prepare(p, 2);
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(store_[p].store.count(), 0u);
    EXPECT_TRUE(store_[p].store.prepared().value().empty());
  }
}

TEST_F(AgreementTest, CondemnedIsDestroyedWhenAnybodyHasBuriedIt) {
  for (int p = 0; p < 3; ++p) {
    prepare(p, 1);
    commit(p, 1);
    ASSERT_TRUE(store_[p].store.condemn(id_of(1)).ok());
  }
  ASSERT_TRUE(store_[1].store.destroy(id_of(1)).ok());
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_FALSE(store_[p].store.committed(id_of(1)).value()) << p;
    EXPECT_TRUE(store_[p].store.condemned().value().empty()) << p;
  }
}

TEST_F(AgreementTest, CondemnedIsPardonedWhenNobodyHasBuriedIt) {
  for (int p = 0; p < 3; ++p) {
    prepare(p, 1);
    commit(p, 1);
  }
  for (int p = 0; p < 2; ++p) ASSERT_TRUE(store_[p].store.condemn(id_of(1)).ok());
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(store_[p].store.committed(id_of(1)).value()) << p;
    EXPECT_TRUE(store_[p].store.condemned().value().empty()) << p;
  }
}

// One server that has buried a key cannot take it from those that never agreed.
TEST_F(AgreementTest, NobodyRemovesWhatItHasNotCondemned) {
  for (int p = 0; p < 3; ++p) {
    prepare(p, 1);
    commit(p, 1);
  }
  ASSERT_TRUE(store_[2].store.destroy(id_of(1)).ok());
  EXPECT_NE(run().find("party 2 differs"), std::string::npos);
  for (int p = 0; p < 2; ++p) EXPECT_TRUE(store_[p].store.committed(id_of(1)).value()) << p;
}

// Party 2 has committed the key; were its read error taken for "not committed",
// the others would drop theirs, and the key would be gone from two servers.
TEST_F(AgreementTest, AReadErrorIsNoAnswer) {
  for (int p = 0; p < 3; ++p) prepare(p, 1);
  commit(2, 1);
  store_[2].store.lookup_failure = "store: reading failed";
  std::string errors = run();
  EXPECT_NE(errors.find("P0 session: party 2 refuses: store: reading failed"), std::string::npos)
      << errors;
  for (int p = 0; p < 2; ++p) EXPECT_FALSE(store_[p].store.prepared().value().empty()) << p;
  store_[2].store.lookup_failure.clear();
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(store_[p].store.committed(id_of(1)).value()) << p;
}

TEST_F(AgreementTest, AListThatCannotBeReadStopsAll) {
  for (int p = 0; p < 3; ++p) prepare(p, 1);
  commit(0, 1);
  store_[1].store.read_failure = "store: reading failed";
  EXPECT_NE(run().find("party 1 refuses: store: reading failed"), std::string::npos);
  EXPECT_EQ(epoch_[0], 0u);
}

TEST_F(AgreementTest, ListsLongerThanAPage) {
  for (std::uint32_t n = 0; n < 2'500; ++n) {
    prepare(0, n);
    prepare(1, n);
    if (n % 2 == 0) {
      prepare(2, n);
      commit(2, n);
    }
  }
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(store_[p].store.count(), 1'250u);
    EXPECT_TRUE(store_[p].store.prepared().value().empty());
  }
}

TEST_F(AgreementTest, DifferentStoresAreNoServiceAndTheOddOneIsNamed) {
  for (int p = 0; p < 3; ++p) {
    prepare(p, 1);
    commit(p, 1);
  }
  prepare(1, 2);
  commit(1, 2);
  std::string errors = run();
  for (const char* who : {"P0 ", "P1 ", "P2 "})
    EXPECT_NE(errors.find(who), std::string::npos) << errors;
  EXPECT_NE(errors.find("the inventory of party 1 differs"), std::string::npos) << errors;
  EXPECT_NE(errors.find("; mend that one"), std::string::npos);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(store_[p].store.epochs(), Epochs());
}

TEST_F(AgreementTest, DifferentTranscriptsAreRefused) {
  transcript_[2] = 8;
  std::string errors = run();
  EXPECT_NE(errors.find("was told other things"), std::string::npos) << errors;
  for (int p = 0; p < 3; ++p) EXPECT_EQ(store_[p].store.epochs(), Epochs());
}

TEST_F(AgreementTest, EpochsEnd) {
  for (int p = 0; p < 3; ++p) store_[p].store.use_epochs(kMaxEpoch);
  EXPECT_NE(run().find("used up; begin anew"), std::string::npos);
}

TEST_F(AgreementTest, TheLastEpochIsStillUsed) {
  for (int p = 0; p < 3; ++p) store_[p].store.use_epochs(kMaxEpoch - 1);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(epoch_[0], kMaxEpoch);
}

// One server that lies uses up 36 epochs at most, and cannot say that they are used up.
TEST_F(AgreementTest, AnIncredibleEpochIsNotBelieved) {
  store_[0].store.use_epochs(1'000);
  store_[1].store.use_epochs(1'000);
  for (const std::uint32_t lie : {1'000 + kMaxEpochLead + 1, kMaxEpoch}) {
    store_[2].lie = EpochsSaid{lie, lie};
    const std::string errors = run();
    EXPECT_NE(errors.find("P0 session: party 2 claims to have used nonce epoch " +
                          std::to_string(lie) + ", party 0 has 1000, party 1 has 1000"),
              std::string::npos)
        << errors;
    EXPECT_NE(errors.find("Distrust party 2"), std::string::npos) << errors;
    EXPECT_NE(errors.find("; or raise it"), std::string::npos) << errors;
  }
  for (int p = 0; p < 2; ++p) EXPECT_EQ(store_[p].store.epochs().reserved, 1'000u);
}

// The lead is counted from what two servers have, not from one's own: a server whose store is
// old catches up, and the two others vouch for how far.
TEST_F(AgreementTest, AServerRestoredFromAnOldBackupCatchesUp) {
  store_[0].store.use_epochs(20'000);
  store_[2].store.use_epochs(20'000);
  per_day_ = EpochLedger::kMinPerDay;
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) EXPECT_EQ(store_[p].store.epochs().used, 20'001u);
  EXPECT_EQ(log_, "");
}

TEST_F(AgreementTest, TheLeadThatIsBelievedIsUsedUpAndLogged) {
  store_[2].lie = EpochsSaid{kMaxEpochLead, kMaxEpochLead};
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) EXPECT_EQ(epoch_[p], kMaxEpochLead + 1);
  EXPECT_NE(log_.find("36 epochs are skipped"), std::string::npos) << log_;
  EXPECT_NE(log_.find("party 2 misbehaves"), std::string::npos) << log_;
}

// Two full disks, and the third server reserves alone, again and again: it uses up one
// epoch, and is not so far ahead afterwards that nobody believes it.
TEST_F(AgreementTest, StartsThatFailAtTheOthersPutNobodyAhead) {
  store_[1].store.epoch_failure = store_[2].store.epoch_failure = "store: no space";
  for (int n = 0; n < 40; ++n) EXPECT_NE(run().find("no space"), std::string::npos);
  EXPECT_EQ(store_[0].store.epochs().reserved, 1u);
  EXPECT_EQ(store_[0].store.epochs().used, 0u);
  store_[1].store.epoch_failure = store_[2].store.epoch_failure = "";
  EXPECT_EQ(run(), "");
  EXPECT_EQ(epoch_[0], 1u);
}

// A server that lets one honest server begin and the other not, each time.
TEST_F(AgreementTest, OneThatAnswersOnlyOneOfTheOthersDrivesThemNotApart) {
  fault_ = [](int from, Neighbour to, SecretVector& packet) {
    const bool epoch = packet[0] == 5 && from == 2 && to == Neighbour::kPrev;
    return epoch ? FaultyRing::Action::kDrop : FaultyRing::Action::kDeliver;
  };
  deadline_ms_ = 100;
  for (std::uint32_t n = 1; n <= kMaxEpochLead + 4; ++n) {
    EXPECT_NE(run(), "");
    EXPECT_EQ(store_[0].store.epochs().used, n);
    EXPECT_EQ(store_[1].store.epochs().used, 0u);
    EXPECT_EQ(store_[1].store.epochs().reserved, n);
  }
  fault_ = nullptr;
  EXPECT_EQ(run(), "");
  EXPECT_EQ(epoch_[1], kMaxEpochLead + 5);
}

// Whatever the others say, a server takes part in no epoch twice.
TEST_F(AgreementTest, NoEpochIsUsedTwice) {
  store_[0].store.use_epochs(9);
  store_[1].lie = store_[2].lie = EpochsSaid{3, 3};
  EXPECT_EQ(run(), "");
  EXPECT_EQ(epoch_[0], 10u);
  MemoryStore store;
  store.use_epochs(9);
  EpochLedger ledger(store, EpochLedger::kPerDay);
  EXPECT_FALSE(ledger.reserve(9, 9).ok());
  EXPECT_FALSE(ledger.begin(8).ok());
}

TEST_F(AgreementTest, ASpentAllowanceIsToldToAll) {
  per_day_ = EpochLedger::kMinPerDay;
  Epochs spent;
  spent.spent = std::uint64_t{per_day_} * 86'400;
  spent.spent_at_s = ~0u;  // no clock that runs on gives back anything
  ASSERT_TRUE(store_[1].store.set_epochs(spent).ok());
  const std::string errors = run();
  EXPECT_NE(errors.find("P0 session: party 1 refuses: session: this start would use up 1 nonce"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find(" min; have patience"), std::string::npos) << errors;
}

TEST_F(AgreementTest, APartyThatCannotStoreTheEpochStopsAll) {
  store_[1].store.epoch_failure = "store: no space";
  std::string errors = run();
  EXPECT_NE(errors.find("P0 session: party 1 refuses: store: no space"), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("P2 session: party 1 refuses: store: no space"), std::string::npos)
      << errors;
}

TEST_F(AgreementTest, MalformedPacketsAreRefused) {
  for (std::uint8_t step = 1; step <= 5; ++step) {
    SCOPED_TRACE(static_cast<int>(step));
    fault_ = [step](int from, Neighbour to, SecretVector& packet) {
      if (from == 0 && to == Neighbour::kNext && packet[0] == step) packet.push_back(0);
      return FaultyRing::Action::kDeliver;
    };
    EXPECT_NE(run().find("P1 "), std::string::npos);
    fault_ = [step](int from, Neighbour, SecretVector& packet) {
      if (from == 2 && packet[0] == step) packet.clear();
      return FaultyRing::Action::kDeliver;
    };
    EXPECT_NE(run().find("P1 "), std::string::npos);
  }
}

TEST_F(AgreementTest, ASilentPartyIsADeadline) {
  fault_ = [](int from, Neighbour, SecretVector&) {
    return from == 1 ? FaultyRing::Action::kDrop : FaultyRing::Action::kDeliver;
  };
  long long before = monotonic_ms();
  EXPECT_NE(run(), "");
  EXPECT_LT(monotonic_ms() - before, 4'000);
}

TEST(Hello, RoundTripAndEveryTruncation) {
  ASSERT_GE(sodium_init(), 0);
  Hello hello;
  hello.party = 2;
  hello.lane = 3;
  hello.lanes = 4;
  hello.security = "semi-honest";
  for (std::size_t k = 0; k < kMaxProtocols; ++k)
    hello.protocols.push_back(
        {std::string(31, 'p') + static_cast<char>('a' + k), ~std::uint64_t{0}});
  hello.contribution.assign(32, 5);
  SecretVector packet = encode_hello(hello);
  ASSERT_LE(packet.size(), kMaxHelloBytes);
  auto again = decode_hello(packet);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(encode_hello(*again), packet);
  for (std::size_t n = 0; n < packet.size(); ++n)
    EXPECT_FALSE(decode_hello(ByteSpan(packet).first(n)).ok()) << n;
  packet.push_back(0);
  EXPECT_FALSE(decode_hello(packet).ok());
}

TEST(Hello, EpochsThatCannotBeAreMalformed) {
  ASSERT_GE(sodium_init(), 0);
  Hello hello;
  hello.lanes = 1;
  hello.contribution.assign(32, 5);
  hello.epoch_era = 7;
  hello.epoch = hello.epoch_used = kMaxEpoch;
  auto again = decode_hello(encode_hello(hello));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->epoch_era, 7u);
  EXPECT_EQ(again->epoch, kMaxEpoch);
  EXPECT_EQ(again->epoch_used, kMaxEpoch);
  hello.epoch = kMaxEpoch - 1;
  EXPECT_FALSE(decode_hello(encode_hello(hello)).ok()) << "used, but not reserved";
  hello.epoch = kMaxEpoch + 1;
  EXPECT_FALSE(decode_hello(encode_hello(hello)).ok()) << "more than 20 bits";
}

TEST(Hello, ProtocolsAreThoseThatAllThreeHaveAlike) {
  using Offers = std::vector<OfferedProtocol>;
  const Offers first = {{"garbled", 1}, {"rep3", 2}, {"lookup", 3}};
  EXPECT_EQ(common_protocols(first, first, first),
            (std::vector<std::string>{"garbled", "rep3", "lookup"}));
  // The order is the first party's; one of another release is not the same.
  const Offers second = {{"rep3", 2}, {"garbled", 1}}, third = {{"rep3", 2}, {"garbled", 9}};
  EXPECT_EQ(common_protocols(first, second, second), (std::vector<std::string>{"garbled", "rep3"}));
  EXPECT_EQ(common_protocols(first, second, third), (std::vector<std::string>{"rep3"}));
  EXPECT_TRUE(common_protocols(first, third, {{"lookup", 3}}).empty());
}

// Two sides of one protocol in a lane would draw the same keys: a key that was given out once
// would be krbtgt's too.
TEST(Hello, ProtocolsThatAreTooManyOrNamedTwiceOrNotWellAreMalformed) {
  ASSERT_GE(sodium_init(), 0);
  Hello hello;
  hello.lanes = 1;
  hello.contribution.assign(32, 5);
  for (char last = '1'; last <= '8'; ++last)
    hello.protocols.push_back({std::string("rep") + last, 7});
  ASSERT_EQ(hello.protocols.size(), kMaxProtocols);
  ASSERT_TRUE(decode_hello(encode_hello(hello)).ok());
  hello.protocols.push_back({"rep9", 7});
  EXPECT_FALSE(decode_hello(encode_hello(hello)).ok()) << "one too many";
  for (const char* bad : {"rep1", "", "Rep3", "rep 3", "rep3\n", "r\xc3\xa9p"}) {
    hello.protocols = {{"rep1", 7}, {bad, 8}};
    EXPECT_FALSE(decode_hello(encode_hello(hello)).ok()) << bad;
  }
}

TEST(Hello, ErasMustAgree) {
  Hello mine, theirs;
  mine.protocols = theirs.protocols = {{"rep3", 7}};
  theirs.party = 1;
  EXPECT_TRUE(check_hello(mine, theirs, 1).ok());
  theirs.epoch_era = 1;
  SessionAdvice advice;
  advice.era = "begin anew";
  const auto checked = check_hello(mine, theirs, 1, advice);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("party 1 has nonce era 1, this server 0"),
            std::string::npos)
      << checked.error().message;
  EXPECT_TRUE(checked.error().message.ends_with("; begin anew"));
}

TEST(Hello, RefusalsOfAPeerArePrintable) {
  Bytes packet = encode_refusal("line\nbreak \x1b[31m");
  ASSERT_TRUE(is_refusal(packet));
  EXPECT_EQ(refusal_text(packet), "line?break ?[31m");
  EXPECT_LE(refusal_text(encode_refusal(std::string(5000, 'x'))).size(), kMaxRefusalBytes);
  packet.pop_back();
  EXPECT_EQ(refusal_text(packet), "unreadable reason");
}

}  // namespace
}  // namespace tkdc
