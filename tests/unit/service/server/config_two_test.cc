// SPDX-License-Identifier: Apache-2.0
// The configuration of a realm on two servers: what it takes, and what only three servers do.
#include "scratch_dir.h"
#include "service/server/config.h"
#include "service/server/config_changes.h"
#include "service/server/config_places.h"
#include "service/server/protocols.h"

namespace tkdc {
namespace {

class ConfigTwoTest : public ScratchDir {
 protected:
  // A good file with more in some of its tables.
  Result<ServerConfig> load(const std::map<std::string, std::string>& more = {}) {
    std::string text;
    for (const auto& [table, keys] : good_) {
      text += table + "\n" + keys;
      if (const auto it = more.find(table); it != more.end()) text += it->second + "\n";
    }
    if (const auto it = more.find(""); it != more.end()) text += it->second;
    return load_server_config(write("tkdc.toml", text));
  }
  void expect_error(const std::map<std::string, std::string>& more,
                    const std::vector<std::string>& words) {
    auto config = load(more);
    ASSERT_FALSE(config.ok()) << words[0];
    for (const std::string& word : words)
      EXPECT_NE(config.error().message.find(word), std::string::npos)
          << word << " in: " << config.error().message;
  }

  std::vector<std::pair<std::string, std::string>> good_ = {
      {"[installation]", "id = \"000102030405060708090a0b0c0d0e0f\"\nparties = 2\nparty = 1\n"},
      {"[control]", "listen = \"tcp://127.0.0.1:7701\"\ncurve_secret_key_file = \"curve.key\"\n"},
      {"[data]",
       "listen = \"127.0.0.1:7711\"\ncertificate_file = \"tls.pem\"\n"
       "private_key_file = \"tls.key\"\n"},
      {"[store]", "path = \"store\"\nkey_file = \"store.key\"\n"},
      {"[[peers]]", "party = 0\naddress = \"127.0.0.1:7710\"\ncertificate_sha256 = \"" +
                        std::string(64, '0') + "\"\n"}};
};

TEST_F(ConfigTwoTest, GoodFile) {
  auto config = load();
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->parties, 2);
  EXPECT_EQ(config->party, 1);
  EXPECT_EQ(config->security, Security::kMalicious);
  EXPECT_EQ(config->lanes, 1);
  EXPECT_EQ(config->protocols, std::vector<std::string>{"pair"});
  EXPECT_FALSE(config->two_parts);
  EXPECT_EQ(config->garbling.use, GarblingOptions::Use::kNever);
  ASSERT_EQ(config->peers.size(), 1u);
  EXPECT_TRUE(check_protocols(*config).ok());
  EXPECT_TRUE(offered_protocols(*config)->empty()) << "no protocol of jobs of three";
}

// Before work begins, with numbers and what to do.
TEST_F(ConfigTwoTest, TablesThatDoNotFitIntoMemoryAreRefused) {
  constexpr std::uint64_t kGib = std::uint64_t{1} << 30;
  auto config = load({{"[data]", "tables_mb = 4096\nprepared_mb = 2048\n"}});
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_TRUE(check_memory(*config, 8 * kGib).ok());
  const auto refused = check_memory(*config, 8 * kGib - 4096);
  ASSERT_FALSE(refused.ok());
  for (const char* word :
       {"'data.tables_mb': 4096 MiB of lookup tables and 2048 MiB of circuits", "has 8191 MiB",
        "set them lower at both servers", "tkdc tables plan", "(line "})
    EXPECT_NE(refused.error().message.find(word), std::string::npos) << refused.error().message;
  auto circuits = load({{"[data]", "prepared_mb = 8192\n"}});
  ASSERT_TRUE(circuits.ok());
  EXPECT_NE(check_memory(*circuits, 8 * kGib).error().message.find("'data.prepared_mb'"),
            std::string::npos);
  EXPECT_TRUE(check_memory(*load(), 2 * kGib).ok()) << "the values that stand there";
  EXPECT_GT(memory_of_this_host(), kGib / 4);
}

TEST_F(ConfigTwoTest, WhatIsOffWithTwoMaySaySo) {
  auto config = load({{"[data]",
                       "lanes = 1\nbackend = \"cpu\"\nzero_shares = \"auto\"\nmasked_blocks = 0\n"
                       "two_parts = false\ngarbling = \"never\""},
                      {"[store]", "share_macs = false"}});
  EXPECT_TRUE(config.ok()) << config.error().message;
}

TEST_F(ConfigTwoTest, WhatOnlyThreeServersDoIsRefusedByItsName) {
  const std::pair<const char*, const char*> of_three[] = {
      {"protocols", "protocols = [\"rep3\"]"},
      {"backend", "backend = \"cuda\""},
      {"zero_shares", "zero_shares = \"chacha20\""},
      {"masked_blocks", "masked_blocks = 128"},
      {"two_parts", "two_parts = true"},
      {"garbling", "garbling = \"far\""}};
  for (const auto& [key, line] : of_three)
    expect_error({{"[data]", line}}, {std::string("'data.") + key + "'", "of three servers",
                                      "leave it out", "installation.parties = 2", "(line "});
  expect_error({{"[store]", "share_macs = true"}}, {"'store.share_macs'", "of three servers"});
  expect_error({{"[data]", "lanes = 2"}}, {"'data.lanes'", "must be 1"});
  expect_error({{"[installation]", "security = \"semi-honest\""}},
               {"'installation.security'", "must be \"malicious\""});
}

TEST_F(ConfigTwoTest, WhatIsPreparedIsOfTwoServers) {
  EXPECT_EQ(load()->pair_prepared_bytes, std::size_t{384} << 20);
  EXPECT_EQ(load({{"[data]", "prepared_mb = 16"}})->pair_prepared_bytes, std::size_t{16} << 20);
  const std::vector<std::string> words = {"'data.prepared_mb'", "from 16 to 65536"};
  expect_error({{"[data]", "prepared_mb = 15"}}, words);
  expect_error({{"[data]", "prepared_mb = 65537"}}, words);
  const std::string id = "id = \"000102030405060708090a0b0c0d0e0f\"\n";
  good_[0].second = id + "parties = 3\nparty = 1\n";
  expect_error({{"[data]", "prepared_mb = 384"}},
               {"'data.prepared_mb'", "of two servers", "garbled_mb", "(line "});
}

TEST_F(ConfigTwoTest, LookupTablesAreOffUnlessTheyAreAskedFor) {
  EXPECT_EQ(load()->pair_tables_bytes, 0u);
  EXPECT_EQ(load()->pair_tables_wait, std::chrono::milliseconds(50));
  EXPECT_EQ(load({{"[data]", "tables_mb = 8"}})->pair_tables_bytes, std::size_t{8} << 20);
  EXPECT_EQ(load({{"[data]", "tables_wait_ms = 0"}})->pair_tables_wait.count(), 0);
  expect_error({{"[data]", "tables_mb = 7"}}, {"'data.tables_mb'", "must be 0", "8 or more"});
  expect_error({{"[data]", "tables_mb = 65537"}}, {"'data.tables_mb'", "from 0 to 65536"});
  expect_error({{"[data]", "tables_wait_ms = 60001"}},
               {"'data.tables_wait_ms'", "from 0 to 60000"});
  const std::string id = "id = \"000102030405060708090a0b0c0d0e0f\"\n";
  good_[0].second = id + "parties = 3\nparty = 1\n";
  expect_error({{"[data]", "tables_mb = 0"}}, {"'data.tables_mb'", "of two servers", "(line "});
  expect_error({{"[data]", "tables_wait_ms = 5"}}, {"'data.tables_wait_ms'", "of two servers"});
}

TEST_F(ConfigTwoTest, NumbersOfThreeServersAreNone) {
  const std::string third =
      "\n[[peers]]\nparty = 2\naddress = \"127.0.0.1:7712\"\n"
      "certificate_sha256 = \"" +
      std::string(64, '2') + "\"\n";
  expect_error({{"", third}}, {"'peers[1].party'", "from 0 to 1"});
  expect_error({{"", "\n[[approvers]]\nname = \"c\"\nparty = 2\npublic_key = \"" +
                         std::string(64, '3') + "\"\n"}},
               {"'approvers[0].party'", "from 0 to 1"});
  good_[0].second = "id = \"000102030405060708090a0b0c0d0e0f\"\nparties = 2\nparty = 2\n";
  expect_error({}, {"'installation.party'", "from 0 to 1"});
  good_[0].second = "id = \"000102030405060708090a0b0c0d0e0f\"\nparties = 4\nparty = 1\n";
  expect_error({}, {"'installation.parties'", "from 2 to 3"});
  good_[0].second = "id = \"000102030405060708090a0b0c0d0e0f\"\nparties = 2\nparty = 1\n";
  good_.pop_back();
  expect_error({}, {"one [[peers]], the other party"});
}

TEST_F(ConfigTwoTest, SomeChangesNeedARestart) {
  auto two = load();
  ASSERT_TRUE(two.ok());
  ServerConfig three = *two;
  three.parties = 3;
  EXPECT_EQ(changes_for_restart(*two, three), std::vector<std::string>{"[installation]"});
  ServerConfig more = *two;
  more.pair_prepared_bytes *= 2;
  EXPECT_EQ(changes_for_restart(*two, more), std::vector<std::string>{"[data]"});
  ServerConfig tables = *two;
  tables.pair_tables_bytes = 8 << 20;
  EXPECT_EQ(changes_for_restart(*two, tables), std::vector<std::string>{"[data]"});
}

}  // namespace
}  // namespace tkdc
