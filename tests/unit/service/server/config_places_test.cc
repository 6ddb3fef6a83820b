// SPDX-License-Identifier: Apache-2.0
// What a tkdc.toml names outside of itself: folders, the socket for monitoring, listeners, hosts.
#include "service/server/config_places.h"

#include <sys/stat.h>

#include <algorithm>

#include "config_fixture.h"

namespace tkdc {
namespace {

TEST_F(ConfigTest, FoldersMustBeThereOrBeMadeBySystemd) {
  auto config = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(config.ok()) << config.error().message;
  auto checked = check_folders(*config);
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_EQ(*checked, "");
  config->audit_file = directory_ + "/none/audit.jsonl";
  checked = check_folders(*config);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(
      checked.error().message.find("'audit.file': there is no folder " + directory_ + "/none"),
      std::string::npos);
  config->audit_file = write("file", "") + "/audit.jsonl";
  EXPECT_FALSE(check_folders(*config).ok());

  // As config/tkdc-server@.service makes it, and nobody else.
  config->path = "/etc/tkdc/no-such-unit/tkdc.toml";
  config->store_path = "/var/lib/tkdc/no-such-unit/store";
  config->audit_file = "/var/lib/tkdc/no-such-unit/audit.jsonl";
  checked = check_folders(*config);
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_NE(checked->find("/var/lib/tkdc/no-such-unit will be made"), std::string::npos);
  config->store_path = "/var/lib/tkdc/no-such-unit/deeper/store";
  EXPECT_FALSE(check_folders(*config).ok());
  config->path = directory_ + "/no-such-unit/tkdc.toml";
  config->store_path = "/var/lib/tkdc/no-such-unit/store";
  EXPECT_FALSE(check_folders(*config).ok());
}

TEST_F(ConfigTest, ASocketForMonitoringIsAFileInAFolderThatIsThere) {
  const std::string listen = "listen = \"tcp://127.0.0.1:7701\"\n";
  const auto with = [&](const std::string& socket) {
    return changed(listen, listen + "status_socket = \"" + socket + "\"\n");
  };
  auto config = with("status.sock");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->status_socket, directory_ + "/status.sock");
  EXPECT_TRUE(check_folders(*config).ok());
  expect_error(listen, listen + "status_socket = \"/" + std::string(107, 'x') + "\"\n",
               {"'control.status_socket'", "108 of 107 octets", "line 8"});
  ASSERT_TRUE(with("/" + std::string(106, 'x')).ok()) << "the longest";
  expect_error(listen, listen + "status_socket = \"run/\"\n", {"name a file", "line 8"});

  const auto fails = [&](const std::string& socket, const std::string& words) {
    auto other = with(socket);
    ASSERT_TRUE(other.ok()) << other.error().message;
    auto checked = check_folders(*other);
    ASSERT_FALSE(checked.ok()) << socket;
    for (const std::string& word : {words, std::string("'control.status_socket'"),
                                    std::string("(line 8)"), directory_ + "/tkdc.toml"})
      EXPECT_NE(checked.error().message.find(word), std::string::npos) << checked.error().message;
  };
  fails(directory_ + "/none/status.sock", "there is no folder " + directory_ + "/none");
  fails(directory_, "is a folder; name a file in it");
  config = with("/run/tkdc/no-such-folder/server0.sock");
  ASSERT_TRUE(config.ok());
  auto checked = check_folders(*config);
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_NE(checked->find("/run/tkdc/no-such-folder will be made"), std::string::npos);
}

TEST_F(ConfigTest, TwoListenersNeedTwoPorts) {
  const std::string data = "listen = \"127.0.0.1:7711\"";
  for (const char* same : {"127.0.0.1:7701", "0.0.0.0:7701", "[::]:7701"})
    expect_error(data, "listen = \"" + std::string(same) + "\"",
                 {"'data.listen' is where control.listen waits", "line 16"});
  EXPECT_TRUE(changed(data, "listen = \"127.0.0.2:7701\"").ok()) << "another address";
  expect_error("tcp://127.0.0.1:7701", "tcp://0.0.0.0:7711", {"'data.listen'"});
  std::string text = kGoodText;
  text.replace(text.find("127.0.0.1:7701"), 14, "127.0.0.1:0");
  text.replace(text.find("127.0.0.1:7711"), 14, "127.0.0.1:0");
  EXPECT_TRUE(load_server_config(write("tkdc.toml", text)).ok()) << "ports that the kernel chooses";
}

TEST_F(ConfigTest, AHostThatNobodyKnowsIsNamedWithItsLine) {
  auto config = changed("127.0.0.1:7710", "server0.exmaple.test:7710");
  ASSERT_TRUE(config.ok()) << config.error().message;
  std::vector<std::string> asked;
  const auto answer = [&](Lookup found) {
    return [&asked, found](const std::string& host) {
      asked.push_back(host);
      return host == "server0.exmaple.test" ? found : Lookup::kFound;
    };
  };
  auto checked = check_hosts(*config, answer(Lookup::kUnknown));
  ASSERT_TRUE(checked.ok()) << "its administrator may name it later: " << checked.error().message;
  for (const std::string& word :
       {std::string("there is no host server0.exmaple.test"), std::string("'peers[1].address'"),
        std::string("(line 29)"), directory_ + "/tkdc.toml", std::string("correct its name")})
    EXPECT_NE(checked->find(word), std::string::npos) << *checked;
  EXPECT_EQ(asked.size(), 4u) << "two peers and two listeners";
  asked.clear();
  checked = check_hosts(*config, answer(Lookup::kNotNow));
  ASSERT_TRUE(checked.ok()) << "a name server may be down at boot: " << checked.error().message;
  EXPECT_NE(checked->find("no name server answers about server0.exmaple.test"), std::string::npos);
  EXPECT_EQ(asked.back(), "server0.exmaple.test") << "each one that is asked next takes its time";
  checked = check_hosts(*config, answer(Lookup::kFound));
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(*checked, "");

  // The real one, with what needs no name server; an interface to listen on is no host.
  EXPECT_EQ(look_up("127.0.0.1"), Lookup::kFound);
  EXPECT_EQ(look_up("localhost"), Lookup::kFound);
  EXPECT_NE(look_up("no-such-host.invalid"), Lookup::kFound);
  config = changed("tcp://127.0.0.1:7701", "tcp://lo:7701");
  ASSERT_TRUE(config.ok());
  asked.clear();
  EXPECT_TRUE(check_hosts(*config, answer(Lookup::kFound)).ok());
  EXPECT_EQ(std::ranges::count(asked, "lo"), 0);
}

TEST_F(ConfigTest, AStoreThatOthersMayReplaceIsNotGood) {
  auto config = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(config.ok()) << config.error().message;
  ASSERT_EQ(mkdir(config->store_path.c_str(), 0700), 0);
  EXPECT_TRUE(check_folders(*config).ok());
  for (const mode_t mode : {0777, 0770, 0702}) {
    ASSERT_EQ(chmod(config->store_path.c_str(), mode), 0);
    auto checked = check_folders(*config);
    ASSERT_FALSE(checked.ok()) << std::oct << mode;
    EXPECT_NE(checked.error().message.find("chmod 0700"), std::string::npos);
  }
}

}  // namespace
}  // namespace tkdc
