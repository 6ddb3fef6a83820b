// SPDX-License-Identifier: Apache-2.0
// What `tkdc init` writes, and that the agent takes it.
#include "tools/setup/installation.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <regex>
#include <sstream>

#include "agent/config.h"
#include "base/hex.h"
#include "base/utc_time.h"
#include "link/certificate.h"
#include "test_agent.h"
#include "tools/cli/commands.h"
#include "tools/cli/spare.h"
#include "tools/cli/status_table.h"

namespace tkdc::cli {
namespace {

using setup::check_plan;
using setup::Plan;
using setup::write_installation;

using agent::TempFolder;

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Init : public testing::Test {
 protected:
  Result<void> make(Plan plan, const std::string& name) {
    if (Result<void> checked = check_plan(plan); !checked) return checked;
    auto tree = setup::Tree::begin(folder_ / name);
    if (!tree) return tree.error();
    if (Result<void> made = write_installation(plan, *tree); !made) return made;
    return tree->publish();
  }
  TempFolder folder_;
  Plan plan_{
      "EXAMPLE.TEST", 17700, 3, {"127.0.0.1", "kdc-b.example.test", "10.0.0.3"}, "malicious"};
};

TEST_F(Init, AgentsAcceptTheirFiles) {
  ASSERT_TRUE(make(plan_, "out").ok());
  for (const char* name : {"agent-kdc", "agent-admin"}) {
    auto config = agent::load_config((folder_ / "out") + "/" + name + "/agent.toml");
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_EQ(config->name, name);
    EXPECT_EQ(config->servers[1].address, "tcp://kdc-b.example.test:17701");
    EXPECT_EQ(config->role, std::string(name) == "agent-kdc" ? TKDC_ROLE_KDC : TKDC_ROLE_ADMIN);
  }
}

TEST_F(Init, PeersPinEachOthersCertificates) {
  ASSERT_TRUE(make(plan_, "out").ok());
  for (int party = 0; party < 3; ++party) {
    std::string pem =
        slurp((folder_ / "out") + "/server" + std::to_string(party) + "/tls.cert.pem");
    auto fingerprint = certificate_fingerprint(pem);
    ASSERT_TRUE(fingerprint.ok()) << fingerprint.error().message;
    for (int other = 0; other < 3; ++other) {
      std::string toml =
          slurp((folder_ / "out") + "/server" + std::to_string(other) + "/tkdc.toml");
      EXPECT_EQ(toml.find(to_hex(*fingerprint)) != std::string::npos, other != party);
      EXPECT_NE(toml.find("lanes = 3"), std::string::npos);
    }
  }
}

TEST_F(Init, TwoServersAreAnInstallationToo) {
  plan_.servers = 2;
  EXPECT_FALSE(make(plan_, "lanes").ok()) << "with three lanes";
  plan_.lanes.reset();
  ASSERT_TRUE(make(plan_, "out").ok());
  EXPECT_FALSE(std::filesystem::exists((folder_ / "out") + "/server2"));
  const std::string toml = slurp((folder_ / "out") + "/server1/tkdc.toml");
  EXPECT_NE(toml.find("\nparties = 2\nparty = 1\n"), std::string::npos) << toml;
  EXPECT_NE(toml.find("\nlanes = 1\n"), std::string::npos) << toml;
  const auto config = agent::load_config((folder_ / "out") + "/agent-kdc/agent.toml");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->servers.size(), 2u);
}

TEST_F(Init, OfTwoServersThereIsNoThirdHostAndOneMode) {
  const auto run = [&](const std::string& more, const std::string& name) {
    CLI::App app;
    int status = -1;
    add_init(app, status);
    testing::internal::CaptureStdout();
    std::string said;
    try {
      app.parse("init --servers 2 --realm EXAMPLE.TEST --out " + (folder_ / name) + more);
    } catch (const CLI::Error& error) {
      said = error.what();
    }
    testing::internal::GetCapturedStdout();
    return said;
  };
  EXPECT_EQ(run(" --host0 10.0.0.1 --host1 10.0.0.2", "a"), "");
  EXPECT_TRUE(std::filesystem::exists((folder_ / "a") + "/server1/tkdc.toml"));
  EXPECT_NE(run(" --host0 10.0.0.1", "b"), "");
  EXPECT_NE(run(" --host0 10.0.0.1 --host1 10.0.0.2 --host2 10.0.0.3", "b"), "");
  EXPECT_NE(run(" --security semi-honest", "b"), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b"));
}

TEST_F(Init, EverythingIsForTheOwnerAlone) {
  ASSERT_TRUE(make(plan_, "out").ok());
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "out")) {
    struct stat info {};
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, entry.is_directory() ? 0700u : 0600u) << entry.path();
    files += entry.is_regular_file();
  }
  EXPECT_EQ(files, 3 * 5 + 2 * 2);
}

TEST_F(Init, NothingSecretStandsInTwoFolders) {
  ASSERT_TRUE(make(plan_, "out").ok());
  std::vector<std::string> secrets;
  for (int party = 0; party < 3; ++party)
    for (const char* name : {"curve.key", "store.key", "tls.key.pem"})
      secrets.push_back(slurp((folder_ / "out") + "/server" + std::to_string(party) + "/" + name));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "out")) {
    if (!entry.is_regular_file()) continue;
    std::string text = slurp(entry.path());
    int found = 0;
    for (const std::string& secret : secrets)
      found += text.find(secret.substr(0, 60)) != std::string::npos && text != secret;
    EXPECT_EQ(found, 0) << entry.path();
  }
}

TEST_F(Init, NeverOverwrites) {
  ASSERT_TRUE(make(plan_, "out").ok());
  std::string before = slurp(folder_ / "out/server0/store.key");
  EXPECT_FALSE(make(plan_, "out").ok());
  EXPECT_EQ(slurp(folder_ / "out/server0/store.key"), before);
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_TRUE(make(plan_, "empty").ok());
}

TEST_F(Init, AnUnpublishedTreeLeavesNothing) {
  {
    auto tree = setup::Tree::begin(folder_ / "out");
    ASSERT_TRUE(tree.ok());
    ASSERT_TRUE(write_installation(plan_, *tree).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / ""));
}

TEST_F(Init, RefusesPlansThatCannotWork) {
  Plan plan = plan_;
  plan.realm = "X\"\nrole = \"admin";
  EXPECT_FALSE(check_plan(plan).ok());
  plan = plan_;
  plan.base_port = 65530;
  EXPECT_FALSE(check_plan(plan).ok());
  plan = plan_;
  plan.lanes = 0;
  EXPECT_FALSE(check_plan(plan).ok());
  plan = plan_;
  plan.hosts[2] = "a\"b";
  EXPECT_FALSE(check_plan(plan).ok());
  plan = plan_;
  plan.hosts[2] = "10.0.0.300";
  EXPECT_FALSE(check_plan(plan).ok());
  plan = plan_;
  plan.hosts[1] = "10.0.0.3";
  EXPECT_FALSE(check_plan(plan).ok()) << "one host twice, which is not this machine";
  plan = plan_;
  plan.hosts = {"[2001:DB8::1]", "2001:db8::2", "Example.test"};
  ASSERT_TRUE(check_plan(plan).ok());
  EXPECT_EQ(plan.hosts[0], "2001:db8::1");
  EXPECT_EQ(plan.hosts[2], "example.test");
}

TEST_F(Init, TakesAllThreeHostsOrNone) {
  for (int given = 0; given < 8; ++given) {
    CLI::App app;
    int status = -1;
    add_init(app, status);
    std::string words = "init --realm EXAMPLE.TEST --out " + (folder_ / std::to_string(given));
    for (int party = 0; party < 3; ++party)
      if ((given >> party & 1) != 0)
        words += " --host" + std::to_string(party) + " 10.0.0." + std::to_string(party + 1);
    testing::internal::CaptureStdout();
    if (given == 0 || given == 7) {
      app.parse(words);
      EXPECT_EQ(status, 0) << words;
    } else {
      EXPECT_THROW(app.parse(words), CLI::RequiresError) << words;
      EXPECT_FALSE(std::filesystem::exists(folder_ / std::to_string(given)));
    }
    testing::internal::GetCapturedStdout();
  }
}

TEST(StatusTable, ShowsDegradationAndSecurity) {
  auto document = nlohmann::json::parse(R"({"agent":{"name":"a","role":"kdc"},
    "security":"semi-honest","servers":[
    {"party":0,"address":"tcp://h:1","reachable":true,"session_up":true,"backend":"gfni",
     "records":"libipsec-mb","jobs_done":71,"jobs_refused":72,"jobs_failed":73},
    {"party":1,"address":"tcp://h:2","reachable":true,"session_up":true},
    {"party":2,"address":"tcp://h:3","reachable":false,"session_up":false,
     "trouble":"connection lost\u001b[2J"}]})");
  EXPECT_FALSE(is_healthy(document));
  std::string table = status_table(document);
  EXPECT_NE(table.find("DEGRADED"), std::string::npos);
  EXPECT_NE(table.find("security: semi-honest"), std::string::npos);
  EXPECT_NE(table.find("libipsec-mb"), std::string::npos);
  EXPECT_LT(table.find("REFUSED"), table.find("FAILED"));
  EXPECT_NE(table.find("71    72       73"), std::string::npos) << table;
  EXPECT_NE(table.find("server 2: connection lost"), std::string::npos);
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_EQ(table.find("EPOCHS"), std::string::npos) << "servers that say nothing of these";
  document["agent"]["former_keys_warning"] = "former keys of server1";
  document["servers"][0]["former_keys_warning"] = "former keys of server2";
  table = status_table(document);
  EXPECT_NE(table.find("agent a: former keys of server1\n"), std::string::npos) << table;
  document["other_agents"] = {{{"name", "b"}, {"reachable", true}, {"former_keys_warning", "too"}}};
  EXPECT_NE(status_table(document).find("agent b: too\n"), std::string::npos);
  document.erase("other_agents");
  EXPECT_NE(table.find("server 0: former keys of server2\n"), std::string::npos) << table;
  document["servers"][1]["epoch_alarms"] = {"only 9 nonce epochs are left", "513 were used"};
  table = status_table(document);
  EXPECT_NE(table.find("server 1: only 9 nonce epochs are left\n"), std::string::npos) << table;
  EXPECT_NE(table.find("server 1: 513 were used\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("\nprogram"), std::string::npos) << "servers that say none";
  for (auto& server : document["servers"]) {
    server["program"] = "ab12";
    server["build"] = "0.9 c0ffee";
  }
  table = status_table(document);
  EXPECT_NE(table.find("program of all three servers: ab12, version 0.9 c0ffee\n"),
            std::string::npos)
      << table;
  document["servers"][1]["program"] = "cd\n34";
  table = status_table(document);
  EXPECT_NE(table.find("which DIFFER"), std::string::npos) << table;
  EXPECT_NE(table.find("server 1  cd?34  version 0.9 c0ffee\n"), std::string::npos) << table;
  document["servers"][2]["reachable"] = true;
  document["servers"][2]["session_up"] = true;
  EXPECT_TRUE(is_healthy(document));
}

TEST(StatusTable, SaysHowEachServerIs) {
  auto document = nlohmann::json::parse(R"({"servers":[
    {"party":0,"reachable":true,"session_up":true,"uptime_s":7300,"keys":108,"epochs_left":1048000,
     "clocks":[{"party":1,"ahead_ms":-41},{"party":2,"ahead_ms":7}],
     "disks":[{"of":"store","free_mib":50,"total_mib":100},
              {"of":"audit log","free_mib":9,"total_mib":40},
              {"of":"store map","free_mib":63,"total_mib":64}],
     "shares":{"last_audit":{"at":1795730400,"failed":0}}},
    {"party":1,"reachable":true,"session_up":true,"uptime_s":90,"clocks":[],
     "disks":[{"of":"store map","free_mib":1,"total_mib":0},7],
     "certificate_until":"2020-01-01T00:00:00Z",
     "shares":{"last_audit":{"at":1795730400,"failed":3}}},
    {"party":2,"reachable":false,"session_up":false}]})");
  document["servers"][0]["certificate_until"] = format_utc(std::time(nullptr) + 100 * 86'400 + 60);
  std::string table = status_table(document);
  const auto line = [&table](const char* begin) {
    const std::string health = table.substr(table.find("EPOCHS LEFT"));
    const std::string text = health.substr(health.find(begin), 200);
    return text.substr(0, text.find('\n'));
  };
  ASSERT_NE(table.find("EPOCHS LEFT"), std::string::npos) << table;
  const auto words = [](const std::string& text) {
    return std::regex_replace(text, std::regex(" {2,}"), "|");
  };
  EXPECT_EQ(words(line("  0  ")), "|0|2 h|108|1048000|-|41 ms|22 % free|98 % free|100 d|2026-11-26")
      << table;
  EXPECT_EQ(words(line("  1  ")), "|1|90 s|-|-|-|-|-|-|ENDED|2026-11-26, 3 FAILED") << table;
  EXPECT_EQ(words(line("  2  ")), "|2|-|-|-|-|-|-|-|-|-") << table;
}

TEST(StatusTable, OfTwoServersNamesNoThird) {
  auto document = nlohmann::json::parse(R"({"agent":{"name":"a","role":"kdc"},
    "security":"malicious","servers":[
    {"party":0,"parties":2,"reachable":true,"session_up":true,"program":"ab","build":"1"},
    {"party":1,"parties":2,"reachable":true,"session_up":true,"program":"ab","build":"1"}]})");
  EXPECT_TRUE(is_healthy(document));
  std::string table = status_table(document);
  EXPECT_NE(table.find("security: two servers, malicious (either server may be read and changed"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("program of both servers: ab, version 1\n"), std::string::npos) << table;
  document["servers"][1]["session_up"] = false;
  EXPECT_NE(status_table(document).find("has no session with its peer;"), std::string::npos);
  document["servers"].erase(1);
  EXPECT_EQ(faults_of(document), std::vector<std::string>{"servers: the status has 1"});
  // The control: what says nothing of two is of three.
  document = nlohmann::json::parse(R"({"servers":[
    {"party":0,"reachable":true,"session_up":true},
    {"party":1,"reachable":true,"session_up":true}]})");
  EXPECT_EQ(faults_of(document), std::vector<std::string>{"servers: the status has 2"});
}

TEST(StatusTable, SaysHowManyLookupTablesAreLeftAndHowLongTheyLast) {
  auto document = nlohmann::json::parse(R"({"servers":[{"party":0,"parties":2,"session_up":true,
    "pair":{"pools":1,"pool_least":9,"prepared":3,"found":4,"missed":1,"tables_forward":12288,
    "tables_inverse":8192,"tables_most":67108864,"tables_jobs":7,"tables_missed":2}}]})");
  const std::string left =
      "lookup tables: 12288 to seal, 8192 to open; they served 7 operations, 2 went without";
  EXPECT_NE(status_table(document).find(left + "\n"), std::string::npos) << "nobody asks for them";
  auto& pair = document["servers"][0]["pair"];
  pair["tables_last_s"] = 250;
  EXPECT_NE(status_table(document).find(left + "; at the present rate they last 250 s\n"),
            std::string::npos)
      << status_table(document);
  pair["tables_most"] = 0;
  EXPECT_EQ(status_table(document).find("lookup tables"), std::string::npos);
}

TEST(StatusTable, SaysWhoHadItsShareOfWhatTwoServersHaveReady) {
  auto document = nlohmann::json::parse(R"({"servers":[{"party":0,"parties":2,"session_up":true,
    "pair":{"pools":1,"pool_least":9,"prepared":3,"found":4,"missed":1,"key_had":0}}]})");
  auto& server = document["servers"][0];
  const std::string waited = "4 operations took one, 1 waited for theirs";
  EXPECT_NE(status_table(document).find(waited + "\n"), std::string::npos);
  server["pair"]["key_had"] = 23u;
  server["agents"] = nlohmann::json::parse(R"([{"name":"kdc1","garbled_had":5}])");
  EXPECT_NE(status_table(document).find(waited +
                                        "; without what is ready, since one key had had its quota: "
                                        "23; since agent kdc1 had: 5\n"),
            std::string::npos)
      << status_table(document);
}

TEST(StatusTable, SaysWhoHadItsShareOfGarbledCircuits) {
  auto document = nlohmann::json::parse(R"({"servers":[{"party":0,"session_up":true,
    "garbling":"auto","garbles":true,"garbled_ready":5,"garbled_kinds":2,"garbled_jobs":3,
    "garbled_missed":1}]})");
  EXPECT_NE(status_table(document).find("3 operations took one, 1 found none left\n"),
            std::string::npos);
  auto& server = document["servers"][0];
  server["garbled_key_had"] = 17u;
  server["agents"] = nlohmann::json::parse(
      R"([{"name":"kdc1","garbled_had":19},{"name":"kdc2","garbled_had":0}])");
  server["garbled_unfit"] = {"open18:9000: too long"};
  const std::string table = status_table(document);
  EXPECT_NE(
      table.find("left; shared, since one key had had its quota: 17; since agent kdc1 had: 19; "
                 "cannot be garbled: 1 kinds, so open18:9000: too long\n"),
      std::string::npos)
      << table;
}

TEST(StatusTable, ASpareKdcIsHealthy) {
  auto document = nlohmann::json::parse(R"({"servers":[
    {"reachable":true,"session_up":true},{"reachable":true,"session_up":true},
    {"reachable":true,"session_up":true}],
    "other_agents":[{"name":"agent-admin","reachable":false,"spare":true}]})");
  EXPECT_TRUE(is_healthy(document));
  EXPECT_NE(status_table(document).find("tkdc is healthy; this is a spare KDC: "),
            std::string::npos);
  document["servers"][0]["session_up"] = false;
  EXPECT_FALSE(is_healthy(document));
  EXPECT_NE(status_table(document).find("tkdc is DEGRADED; this is a spare KDC: "),
            std::string::npos);
  document["other_agents"][0].erase("spare");
  EXPECT_EQ(status_table(document).find("spare"), std::string::npos);
}

TEST_F(Init, AHostIsASpareWhereKadmindAndItsAgentAreNotStarted) {
  namespace fs = std::filesystem;
  const std::string units = folder_ / "units", wants = units + "/multi-user.target.wants";
  fs::create_directories(wants);
  const auto is_spare = [&units] { return is_of_a_spare("agent-admin", units); };
  EXPECT_FALSE(is_spare()) << "nothing starts krb5kdc: no KDC's host";
  fs::create_symlink("/nowhere/krb5-kdc.service", wants + "/krb5-kdc.service");
  EXPECT_TRUE(is_spare());
  for (const char* unit : {"krb5-admin-server.service", "tkdc-agent@agent-admin.service"}) {
    fs::create_symlink("/nowhere/unit", wants + "/" + unit);
    EXPECT_FALSE(is_spare()) << unit;
    fs::remove(wants + "/" + unit);
  }
  EXPECT_FALSE(is_of_a_spare("agent-admin", units + "/none"));
}

TEST(StatusTable, SurvivesAnyDocument) {
  for (const char* text : {"{}", R"({"servers":7})", R"({"servers":[1,null,{}]})",
                           R"({"servers":[{"clocks":[1,{"ahead_ms":"x"}],"certificate_until":7,
                             "disks":[{"total_mib":"a"},{"of":3,"total_mib":5}],
                             "uptime_s":18446744073709551615,
                             "shares":{"last_audit":{"at":18446744073709551615}}}]})",
                           R"({"agent":[],"counters":"x","servers":[{"party":{"a":1}}]})"}) {
    auto document = nlohmann::json::parse(text);
    EXPECT_FALSE(is_healthy(document));
    EXPECT_FALSE(status_table(document).empty());
  }
}

}  // namespace
}  // namespace tkdc::cli
