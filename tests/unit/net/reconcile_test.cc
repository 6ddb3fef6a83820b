// SPDX-License-Identifier: Apache-2.0
// The agreement on stores and epoch, over a memory ring that can lie.
#include "net/reconcile.h"

#include <gtest/gtest.h>

#include <thread>

#include "faulty_ring.h"
#include "memory_store.h"
#include "net/hello.h"
#include "net/socket.h"

namespace tkdc {
namespace {

KeyId id_of(std::uint32_t n) {
  KeyId id{};
  for (std::size_t i = 0; i < 4; ++i) id[i] = static_cast<std::uint8_t>(n >> (24 - 8 * i));
  return id;
}

class ReconcileTest : public testing::Test {
 protected:
  ReconcileTest() { EXPECT_GE(sodium_init(), 0); }

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
    std::vector<std::thread> threads;
    for (int p = 0; p < 3; ++p)
      threads.emplace_back([&, p] {
        ReconcileInputs inputs;
        inputs.party = p;
        inputs.session.fill(1);
        inputs.transcript.fill(transcript_[p]);
        for (int q = 0; q < 3; ++q)
          inputs.epochs[static_cast<std::size_t>(q)] = store_[q].epoch_at_hello;
        auto epoch = reconcile(*links[static_cast<std::size_t>(p)], store_[p], inputs,
                               monotonic_ms() + 2'000);
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
    std::uint32_t epoch_at_hello = 0;
    operator Store&() { return store; }
    Result<void> prepare(const KeyRecord& record) { return store.prepare(record); }
    Result<void> commit(const KeyId& id) { return store.commit(id); }
    void set_epoch(std::uint32_t e) {
      ASSERT_TRUE(store.set_epoch(e).ok());
      epoch_at_hello = e;
    }
  };

  TestStore store_[3];
  std::uint32_t epoch_[3]{};
  std::uint8_t transcript_[3] = {7, 7, 7};
  std::shared_ptr<FaultyRing> ring_;
  decltype(FaultyRing::fault) fault_;
};

TEST_F(ReconcileTest, EmptyStores) {
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(epoch_[p], 1u);
    EXPECT_EQ(store_[p].store.epoch(), 1u);
  }
}

TEST_F(ReconcileTest, EpochIsAboveTheHighest) {
  store_[0].set_epoch(5);
  store_[1].set_epoch(9);
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) EXPECT_EQ(store_[p].store.epoch(), 10u);
}

TEST_F(ReconcileTest, PreparedIsCommittedWhenAnybodyHasCommitted) {
  for (int p = 0; p < 3; ++p) prepare(p, 1);
  commit(2, 1);
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(store_[p].store.committed(id_of(1)).value()) << p;
    EXPECT_TRUE(store_[p].store.prepared().value().empty()) << p;
  }
}

TEST_F(ReconcileTest, PreparedIsDroppedWhenNobodyHas) {
  for (int p = 0; p < 2; ++p) prepare(p, 1);
  for (int p = 0; p < 3; ++p) prepare(p, 2);
  EXPECT_EQ(run(), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(store_[p].store.count(), 0u);
    EXPECT_TRUE(store_[p].store.prepared().value().empty());
  }
}

TEST_F(ReconcileTest, CondemnedIsDestroyedWhenAnybodyHasBuriedIt) {
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

TEST_F(ReconcileTest, CondemnedIsPardonedWhenNobodyHasBuriedIt) {
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
TEST_F(ReconcileTest, NobodyRemovesWhatItHasNotCondemned) {
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
TEST_F(ReconcileTest, AReadErrorIsNoAnswer) {
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

TEST_F(ReconcileTest, AListThatCannotBeReadStopsAll) {
  for (int p = 0; p < 3; ++p) prepare(p, 1);
  commit(0, 1);
  store_[1].store.read_failure = "store: reading failed";
  EXPECT_NE(run().find("party 1 refuses: store: reading failed"), std::string::npos);
  EXPECT_EQ(epoch_[0], 0u);
}

TEST_F(ReconcileTest, ListsLongerThanAPage) {
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

TEST_F(ReconcileTest, DifferentStoresAreNoServiceAndTheOddOneIsNamed) {
  for (int p = 0; p < 3; ++p) {
    prepare(p, 1);
    commit(p, 1);
  }
  prepare(1, 2);
  commit(1, 2);
  std::string errors = run();
  for (const char* who : {"P0 ", "P1 ", "P2 "})
    EXPECT_NE(errors.find(who), std::string::npos) << errors;
  EXPECT_NE(errors.find("the store of party 1 differs"), std::string::npos) << errors;
  EXPECT_NE(errors.find("repaired"), std::string::npos);
  for (int p = 0; p < 3; ++p) EXPECT_EQ(store_[p].store.epoch(), 0u);
}

TEST_F(ReconcileTest, DifferentTranscriptsAreRefused) {
  transcript_[2] = 8;
  std::string errors = run();
  EXPECT_NE(errors.find("was told other things"), std::string::npos) << errors;
  for (int p = 0; p < 3; ++p) EXPECT_EQ(store_[p].store.epoch(), 0u);
}

TEST_F(ReconcileTest, EpochsEnd) {
  for (int p = 0; p < 3; ++p) store_[p].set_epoch(kMaxEpoch);
  EXPECT_NE(run().find("used up"), std::string::npos);
}

TEST_F(ReconcileTest, TheLastEpochIsStillUsed) {
  for (int p = 0; p < 3; ++p) store_[p].set_epoch(kMaxEpoch - 1);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(epoch_[0], kMaxEpoch);
}

TEST_F(ReconcileTest, AnIncredibleEpochIsNotBelieved) {
  store_[2].epoch_at_hello = kMaxEpochLead + 1;
  std::string errors = run();
  EXPECT_NE(errors.find("more than any outage explains"), std::string::npos) << errors;
  EXPECT_EQ(store_[0].store.epoch(), 0u);
  EXPECT_EQ(store_[1].store.epoch(), 0u);
}

TEST_F(ReconcileTest, APartyThatCannotStoreTheEpochStopsAll) {
  store_[1].store.epoch_failure = "store: no space";
  std::string errors = run();
  EXPECT_NE(errors.find("P0 session: party 1 refuses: store: no space"), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("P2 session: party 1 refuses: store: no space"), std::string::npos)
      << errors;
}

TEST_F(ReconcileTest, MalformedPacketsAreRefused) {
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

TEST_F(ReconcileTest, ASilentPartyIsADeadline) {
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
