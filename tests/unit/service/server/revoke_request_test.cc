// SPDX-License-Identifier: Apache-2.0
// What `tkdc revoke` leaves for its server, and the journal's alarms.
#include "service/server/revoke_request.h"

#include "scratch_dir.h"
#include "service/server/alarms.h"

namespace tkdc {
namespace {

class RevokeRequestTest : public ScratchDir {};

TEST_F(RevokeRequestTest, IsReadAsItWasWritten) {
  EXPECT_FALSE(read_revoke_request(directory_)->has_value());
  ASSERT_TRUE(write_revoke_request(directory_, {false, {12, 16'777'215}}).ok());
  const auto request = read_revoke_request(directory_);
  ASSERT_TRUE(request.ok() && request->has_value());
  EXPECT_FALSE((*request)->lift);
  EXPECT_EQ((*request)->window, (SealWindow{12, 16'777'215}));
  struct stat file {};
  ASSERT_EQ(stat(revoke_request_file(directory_).c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  auto second = write_revoke_request(directory_, {true, {}});
  ASSERT_FALSE(second.ok()) << "the first is not taken yet";
  EXPECT_NE(second.error().message.find("has not taken yet"), std::string::npos);
  ASSERT_TRUE(remove_revoke_request(directory_).ok());
  ASSERT_TRUE(write_revoke_request(directory_, {true, {}}).ok());
  EXPECT_TRUE((*read_revoke_request(directory_))->lift);
  ASSERT_TRUE(remove_revoke_request(directory_).ok());
  EXPECT_TRUE(remove_revoke_request(directory_).ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory_)) << "no drafts are left";
  EXPECT_FALSE(write_revoke_request(directory_ + "/none", {true, {}}).ok());
}

TEST_F(RevokeRequestTest, AnythingElseIsAnError) {
  for (const char* text :
       {"", "lift", "revoke 1\n", "revoke 1 2", "revoke 1 2\n ", "revoke -1 2\n", "revoke 01 2\n",
        "revoke 1 99999999999\n", "revoke  1 2\n", "lift\nlift\n"}) {
    write("revoke.request", text);
    EXPECT_FALSE(read_revoke_request(directory_).ok()) << text;
  }
  ASSERT_TRUE(remove_revoke_request(directory_).ok());
  std::filesystem::create_symlink("/etc/passwd", directory_ + "/revoke.request");
  EXPECT_FALSE(read_revoke_request(directory_).ok());
}

TEST(AlarmsTest, OnceAtOnceThenNotTooOften) {
  std::vector<std::string> lines;
  Alarms alarms([&](const std::string& line) { lines.push_back(line); });
  const auto start = Alarms::Clock::time_point(std::chrono::hours(1));
  JobServiceStatus status;
  alarms.look(status, start);
  EXPECT_TRUE(lines.empty());
  status.logins_unheralded = 3;
  alarms.look(status, start);
  alarms.look(status, start + std::chrono::minutes(30));
  ASSERT_EQ(lines.size(), 1u) << "nothing new";
  EXPECT_TRUE(lines[0].starts_with("3 login replies"));
  status.logins_unheralded = 4;
  alarms.look(status, start + std::chrono::minutes(1));
  ASSERT_EQ(lines.size(), 1u);
  status.logins_unheralded = 10;
  status.keys_limited = 5;
  status.agents_limited = 6;
  alarms.look(status, start + std::chrono::minutes(11));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[1].starts_with("7 login replies"));
  EXPECT_TRUE(lines[2].starts_with("5 operations"));
  EXPECT_TRUE(lines[3].starts_with("6 operations"));
}

}  // namespace
}  // namespace tkdc
