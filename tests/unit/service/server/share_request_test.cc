// SPDX-License-Identifier: Apache-2.0
// What `tkdc shares` leaves for its server.
#include "service/server/share_request.h"

#include "scratch_dir.h"

namespace tkdc {
namespace {

class ShareRequestTest : public ScratchDir {};

TEST_F(ShareRequestTest, IsReadAsItWasWritten) {
  EXPECT_FALSE(read_share_request(directory_)->has_value());
  for (ShareTask task : {ShareTask::kAudit, ShareTask::kDeal}) {
    ASSERT_TRUE(write_share_request(directory_, task).ok());
    const auto request = read_share_request(directory_);
    ASSERT_TRUE(request.ok() && request->has_value());
    EXPECT_EQ(**request, task);
    EXPECT_EQ(share_task_of(share_task_name(task)), task);
  }
  ASSERT_TRUE(remove_share_request(directory_).ok());
  EXPECT_TRUE(remove_share_request(directory_).ok());
  EXPECT_FALSE(read_share_request(directory_)->has_value());
  EXPECT_FALSE(write_share_request(directory_ + "/none", ShareTask::kDeal).ok());
}

TEST_F(ShareRequestTest, AnythingElseIsAnError) {
  for (const char* text : {"", "deal\n\n", "deals", "audit deal\n", " deal\n", "status\n"}) {
    write("shares.request", text);
    EXPECT_FALSE(read_share_request(directory_).ok()) << text;
  }
}

TEST_F(ShareRequestTest, TheLastAuditIsReadAsItWasWritten) {
  EXPECT_FALSE(read_last_audit(directory_)->has_value());
  const LastAudit audit{1'764'100'000, 18'446'744'073'709'551'615u, 2, 3};
  ASSERT_TRUE(write_last_audit(directory_, {1, 2, 3, 4}).ok());
  ASSERT_TRUE(write_last_audit(directory_, audit).ok());
  const auto read = read_last_audit(directory_);
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_EQ(**read, audit);
  EXPECT_FALSE(write_last_audit(directory_ + "/none", audit).ok());
  for (const char* text : {"", "1 2 3\n", "1 2 3 4 5\n", "-1 2 3 4\n", "1 2 3 -4\n", " 1 2 3 4\n",
                           "01 2 3 4\n", "99999999999999999999 2 3 4\n", "1 2 3 x\n"}) {
    write("shares.audited", text);
    EXPECT_FALSE(read_last_audit(directory_).ok()) << text;
  }
}

}  // namespace
}  // namespace tkdc
