// SPDX-License-Identifier: Apache-2.0
// A refresh while its server is at work: what is asked or written meanwhile, and disks that fail.
#include <chrono>
#include <future>

#include "altered_tables.h"
#include "refreshed_store.h"

namespace tkdc {
namespace {

class RefreshAtWork : public Refresh {
 protected:
  ~RefreshAtWork() override { store_.reset(); }
  void open_altered() {
    store_.reset();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    ASSERT_TRUE(tables.ok()) << tables.error().message;
    auto opened = Store::open_on(std::make_unique<AlteredTables>(std::move(*tables), altered_),
                                 options_, key_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
  }

  Alterations altered_;
};

// The thread that answers agents asks for it, too.
TEST_F(RefreshAtWork, ItsStateIsToldWhileTheDiskIsWaitedFor) {
  open_altered();
  int writes = 0;
  std::future<RefreshState> asked;
  altered_.writing = [&] {
    ++writes;
    asked = std::async(std::launch::async, [this] { return store_->refresh()->state(); });
    EXPECT_EQ(asked.wait_for(std::chrono::seconds(2)), std::future_status::ready);
  };
  ASSERT_TRUE(store_->prepare(record(1)).ok());
  altered_.writing = nullptr;
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(asked.get(), RefreshState{});
}

}  // namespace
}  // namespace tkdc
