// SPDX-License-Identifier: Apache-2.0
#include "agent/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "test_agent.h"

namespace tkdc::agent {
namespace {

constexpr const char kZ85[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
constexpr const char* kServerKeys[3] = {"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
                                        "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6", kZ85};

class Config : public testing::Test {
 protected:
  Config() { write_key(0600, kZ85); }

  void write_key(mode_t mode, const std::string& text) {
    std::string path = folder_ / "curve.key";
    std::ofstream(path) << text << "\n";
    ::chmod(path.c_str(), mode);
  }

  std::string good() const {
    std::string text =
        "[installation]\n"                             // line 1
        "id = \"000102030405060708090a0b0c0d0e0f\"\n"  // 2
        "[agent]\n"                                    // 3
        "name = \"agent-kdc\"\n"                       // 4
        "role = \"kdc\"\n"                             // 5
        "socket = \"agent.sock\"\n"                    // 6
        "curve_secret_key_file = \"curve.key\"\n"      // 7
        "max_pending = 100\n";                         // 8
    for (int party = 0; party < 3; ++party)
      text += "[[servers]]\nparty = " + std::to_string(party) +
              "\naddress = \"tcp://127.0.0.1:770" + std::to_string(party) +
              "\"\ncurve_public_key = \"" + kServerKeys[party] + "\"\n";
    return text;
  }

  Result<AgentConfig> load(const std::string& text) {
    std::ofstream(folder_ / "agent.toml") << text;
    return load_config(folder_ / "agent.toml");
  }

  // good() with a replacement is refused, and the error says `words`.
  void expect_error(const std::string& what, const std::string& by, const std::string& words) {
    std::string text = good();
    std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos);
    auto config = load(text.replace(at, what.size(), by));
    ASSERT_FALSE(config.ok()) << by;
    EXPECT_NE(config.error().message.find(words), std::string::npos) << config.error().message;
    EXPECT_NE(config.error().message.find("agent.toml"), std::string::npos);
  }

  TempFolder folder_;
};

TEST_F(Config, ReadsAGoodFile) {
  auto config = load(good());
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->name, "agent-kdc");
  EXPECT_EQ(config->role, TKDC_ROLE_KDC);
  EXPECT_EQ(config->max_pending, 100u);
  EXPECT_EQ(config->installation[15], 0x0f);
  EXPECT_EQ(config->socket_path, folder_ / "agent.sock");
  EXPECT_EQ(config->servers[2].address, "tcp://127.0.0.1:7702");
  EXPECT_TRUE(config->operations_log.empty());
}

TEST_F(Config, ServersHaveAddressesOfTheirOwn) {
  for (const char* wrong : {"tcp://127.0.0.1", "tcp://:7701", "tcp://127.0.0.1:", "udp://a:1",
                            "tcp://127.0.0.1:0", "tcp://127.0.0.1:65536", "tcp://127.0.0.1:77x1",
                            "tcp://::1:7701", "tcp://[]:7701", "tcp://a/b:7701"})
    expect_error("tcp://127.0.0.1:7701", wrong, "address");
  expect_error("tcp://127.0.0.1:7701", "tcp://127.0.0.1:7702", "each has its own");
  for (const char* right : {"tcp://s1.example:7701", "tcp://[fd00::2]:7701"}) {
    std::string text = good();
    text.replace(text.find("tcp://127.0.0.1:7701"), 20, right);
    EXPECT_TRUE(load(text).ok()) << right;
  }
}

TEST_F(Config, WhatItNamesHasToBeThere) {
  auto config = load(good());
  ASSERT_TRUE(config.ok());
  auto checked = check_surroundings(*config);
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_EQ(*checked, "");
  config->socket_group = "no-such-group-of-tkdc";
  EXPECT_NE(check_surroundings(*config).error().message.find("there is no group no-such-group"),
            std::string::npos);
  config->socket_group.clear();
  config->operations_log = folder_ / "none/operations.jsonl";
  EXPECT_NE(check_surroundings(*config).error().message.find("there is no folder"),
            std::string::npos);
  config->operations_log = "/var/lib/tkdc/no-such-unit/operations.jsonl";
  checked = check_surroundings(*config);
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_NE(checked->find("/var/lib/tkdc/no-such-unit will be made by systemd"), std::string::npos);
}

TEST_F(Config, AServersHostMayGetItsNameLater) {
  std::string text = good();
  for (const auto& [address, named] :
       {std::pair("tcp://127.0.0.1:7701", "tcp://server1.exmaple.test:7701"),
        std::pair("tcp://127.0.0.1:7702", "tcp://[fd00::2]:7702")})
    text.replace(text.find(address), 20, named);
  auto config = load(text);
  ASSERT_TRUE(config.ok()) << config.error().message;
  std::vector<std::string> asked;
  const auto answer = [&](Lookup found) {
    return [&asked, found](const std::string& host) {
      asked.push_back(host);
      return host == "server1.exmaple.test" ? found : Lookup::kFound;
    };
  };
  auto checked = check_surroundings(*config, answer(Lookup::kUnknown));
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  for (const std::string& word :
       {std::string("there is no host server1.exmaple.test"), std::string("'servers[1].address'"),
        std::string("(line "), config->path})
    EXPECT_NE(checked->find(word), std::string::npos) << *checked;
  EXPECT_EQ(asked, (std::vector<std::string>{"127.0.0.1", "server1.exmaple.test", "fd00::2"}));
  asked.clear();
  checked = check_surroundings(*config, answer(Lookup::kNotNow));
  ASSERT_TRUE(checked.ok()) << "a name server may be down at boot: " << checked.error().message;
  EXPECT_NE(checked->find("no name server answers about server1.exmaple.test"), std::string::npos);
  EXPECT_EQ(asked.back(), "server1.exmaple.test") << "each one that is asked next takes its time";
  EXPECT_EQ(check_surroundings(*config, answer(Lookup::kFound)).value(), "");
}

TEST_F(Config, AProtocolIsAskedForWhereOneIsNamed) {
  EXPECT_EQ(load(good())->protocol, "");
  const auto asking = [this](const std::string& name) {
    std::string text = good();
    const std::string after = "max_pending = 100\n";
    text.insert(text.find(after) + after.size(), "protocol = \"" + name + "\"\n");
    return load(text);
  };
  EXPECT_EQ(asking("rep3")->protocol, "rep3");
  const auto refused = asking(std::string(33, 'p'));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("agent.protocol' is longer"), std::string::npos);
}

TEST_F(Config, ErrorsNameLineAndKey) {
  expect_error("\"kdc\"", "\"root\"", "agent.role' must be one of 'kdc', 'admin' (line 5)");
  expect_error("= 100", "= 0",
               "agent.max_pending' must be a whole number from 1 to 1048576 (line 8)");
  expect_error("= 100", "= \"100\"", "agent.max_pending");
  expect_error("000102", "0001zz", "servers' tkdc.toml (line 2)");
  expect_error("max_pending", "max_pendng", "unknown key 'agent.max_pendng'");
  expect_error("name = \"agent-kdc\"\n", "", "'name' is missing in [agent]");
  expect_error("\"agent-kdc\"", "\"\"", "agent.name' must not be empty");
  expect_error("party = 2", "party = 1", "stands twice");
  expect_error(kServerKeys[1], kServerKeys[0], "servers[1].curve_public_key' is another");
  expect_error("tcp://", "udp://", "servers[0].address' must be");
  expect_error("[agent]", "[agnt]", "unknown key 'agnt'");
  expect_error("role = ", "role = = ", "(line 5)");
}

TEST_F(Config, RefusesASecretThatOthersCanRead) {
  write_key(0640, kZ85);
  auto config = load(good());
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.error().message.find("chmod 0600"), std::string::npos);
  EXPECT_EQ(config.error().message.find(kZ85), std::string::npos);
}

TEST_F(Config, RefusesWhatIsNoCurveKey) {
  for (const std::string& text : {std::string("too short"), std::string(40, '\''),
                                  std::string(kZ85) + "x", std::string(3000, 'a')}) {
    write_key(0600, text);
    EXPECT_FALSE(load(good()).ok()) << text;
  }
}

TEST_F(Config, RefusesMissingFilesAndTooFewServers) {
  EXPECT_FALSE(load_config(folder_ / "nothing.toml").ok());
  const std::string text = good(), two = text.substr(0, text.rfind("[[servers]]"));
  EXPECT_FALSE(load(two.substr(0, two.rfind("[[servers]]"))).ok());
  // Of three one is left out, and it is not the last one.
  std::string gap = two;
  gap.replace(gap.find("party = 1"), 9, "party = 2");
  const auto refused = load(gap);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("or twice, for 0 and 1"), std::string::npos);
}

TEST_F(Config, ARealmMayBeOnTwoServers) {
  EXPECT_EQ(load(good())->servers.size(), 3u);
  const std::string text = good();
  const auto config = load(text.substr(0, text.rfind("[[servers]]")));
  ASSERT_TRUE(config.ok()) << config.error().message;
  ASSERT_EQ(config->servers.size(), 2u);
  EXPECT_EQ(config->servers[1].address, "tcp://127.0.0.1:7701");
}

TEST_F(Config, FindsSystemdCredentials) {
  std::string text = good();
  std::size_t at = text.find("\"curve.key\"");
  text.replace(at, 11, "\"%d/curve.key\"");
  write_key(0440, kZ85);  // as systemd makes them
  std::string here = folder_ / "";
  ::setenv("CREDENTIALS_DIRECTORY", here.substr(0, here.size() - 1).c_str(), 1);
  auto config = load(text);
  ::unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_TRUE(config.ok()) << config.error().message;
}

}  // namespace
}  // namespace tkdc::agent
