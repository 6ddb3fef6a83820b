// SPDX-License-Identifier: Apache-2.0
// Blocks serve again after an orderly stop alone: not after a crash, not from a copy.
#include "service/server/pool_mark.h"

#include <gtest/gtest.h>

#include "base/codec.h"
#include "scratch_dir.h"
#include "service/store/kept_values.h"
#include "small_store.h"

namespace tkdc {
namespace {

const std::string kPoolOfTest = "pool/" + std::string(32, '0');

class PoolMark : public ScratchDir {
 protected:
  PoolMark() {
    open();
    Bytes head(kept::kHeadBytes), number(8);
    head[8] = 64;
    number[7] = 17;
    const std::string names[] = {kPoolOfTest + "/head", kPoolOfTest + "/next",
                                 kPoolOfTest + "/0001"};
    EXPECT_TRUE(
        store_->values()->put({{{names[0], head}, {names[1], number}, {names[2], head}}}).ok());
  }
  void open() {
    store_.reset();
    store_ = open_small_store(directory_ + "/store");
  }
  std::unique_ptr<AuditLog> log(const char* name = "/audit.jsonl") const {
    auto log = AuditLog::open(directory_ + name);
    EXPECT_TRUE(log.ok());
    return std::move(*log);
  }
  // As a server does it: what it logs while it runs, and whether it stops in good order.
  void run(bool orderly) {
    const auto audit = log();
    ASSERT_TRUE(take_up_pools(*store_, *audit).ok());
    ASSERT_TRUE(audit->append(R"({"event":"started"})").ok());
    if (!orderly) return;
    ASSERT_TRUE(audit->append(R"({"event":"stopped"})").ok());
    ASSERT_TRUE(audit->sync().ok());
    leave_pools(*store_, *audit);
  }
  std::uint64_t next() const {
    const auto value = store_->values()->get(kPoolOfTest + "/next");
    return Reader(*value.value()).u64();
  }
  bool has_blocks() const {
    return store_->values()->get(kPoolOfTest + "/0001").value().has_value();
  }
  void expect_given_up() const {
    EXPECT_EQ(next(), 64u);
    EXPECT_FALSE(has_blocks());
    EXPECT_TRUE(store_->values()->get(kPoolOfTest + "/head").value().has_value());
  }

  std::unique_ptr<Store> store_;
};

// Behind the first run, which gives up what it was made with.
class MarkedPool : public PoolMark {
 protected:
  MarkedPool() {
    const auto audit = log();
    EXPECT_TRUE(audit->append(R"({"event":"stopped"})").ok());
    EXPECT_TRUE(audit->sync().ok());
    leave_pools(*store_, *audit);
  }
};

TEST_F(MarkedPool, ServesAgainAfterEachOrderlyStop) {
  for (int k = 0; k < 3; ++k) {
    run(true);
    open();
    EXPECT_EQ(next(), 17u);
    EXPECT_TRUE(has_blocks());
  }
}

TEST_F(MarkedPool, IsGivenUpAfterACrash) {
  run(false);
  EXPECT_EQ(next(), 17u);
  open();
  run(true);
  expect_given_up();
}

TEST_F(MarkedPool, OfACopyThatWasTakenWhileItRanIsGivenUp) {
  const auto audit = log();
  ASSERT_TRUE(take_up_pools(*store_, *audit).ok());
  // The copy is the store as it is now; with its log or without, it has no mark.
  ASSERT_TRUE(take_up_pools(*store_, *audit).ok());
  expect_given_up();
}

TEST_F(MarkedPool, OfACopyOfAStoppedServerIsGivenUpWhereTheLogWentOn) {
  ASSERT_TRUE(log()->append(R"({"event":"started"})").ok());
  run(true);
  expect_given_up();
}

TEST_F(MarkedPool, IsGivenUpWithAnotherLog) {
  ASSERT_TRUE(take_up_pools(*store_, *log("/other.jsonl")).ok());
  expect_given_up();
}

TEST_F(PoolMark, NoMarkIsLeftBehindALineThatIsNotOnDisk) {
  const auto audit = log();
  ASSERT_TRUE(audit->append(R"({"event":"stopped"})").ok());
  leave_pools(*store_, *audit);
  EXPECT_FALSE(store_->values()->get(kept::kMark).value().has_value());
}

TEST_F(PoolMark, AStoreWithoutPoolsHasNone) {
  ASSERT_TRUE(store_->values()
                  ->erase({{kPoolOfTest + "/head", kPoolOfTest + "/next", kPoolOfTest + "/0001"}})
                  .ok());
  run(true);
  EXPECT_TRUE(store_->values()->names("").value().empty());
}

}  // namespace
}  // namespace tkdc
