// SPDX-License-Identifier: Apache-2.0
// Who watches a check of an audit log sees how far it is, and may stop it.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "audit_log_fixture.h"
#include "service/server/audit_files.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

class WatchedAudit : public AuditLogFixture {
 protected:
  // Two closed files, which are compressed, and the one that is written.
  void write_files() {
    AuditRotation rotation;
    rotation.most_bytes = 1'000;
    rotation.keeping.compress = false;
    auto opened = AuditLog::open(path(), rotation);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    for (int k = 0; k < 23; ++k) {
      ASSERT_TRUE((*opened)->append(R"({"event":"x","party":0})").ok());
      if (k % 10 != 9) continue;
      ASSERT_TRUE((*opened)->keep(std::time(nullptr)).ok());
    }
    opened->reset();
    ASSERT_TRUE(tidy_audit_files(path(), {}, 0).ok());
    of_ = fs::file_size(path());
    auto closed = closed_audit_files(path());
    ASSERT_TRUE(closed.ok());
    ASSERT_EQ(closed->size(), 2u);
    for (const ClosedAuditFile& one : *closed) {
      EXPECT_TRUE(one.compressed);
      of_ += fs::file_size(one.path);
    }
  }
  Watch until(std::size_t most) {
    looks_ = seen_ = 0;
    return [this, most](std::uint64_t done, std::uint64_t of) {
      EXPECT_EQ(of, of_);
      EXPECT_LE(done, of);
      seen_ = std::max(seen_, done);
      return ++looks_ <= most;
    };
  }

  std::uint64_t of_ = 0, seen_ = 0, looks_ = 0;
};

TEST_F(WatchedAudit, SeesAllOctetsAndMayStop) {
  write_files();
  ASSERT_TRUE(check_audit_log(path(), {}, 0, until(1'000)).ok());
  EXPECT_EQ(seen_, of_);
  auto stopped = check_audit_log(path(), {}, 0, until(15));
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "stopped, as it was asked to");
  EXPECT_EQ(looks_, 16u);
}

}  // namespace
}  // namespace tkdc
