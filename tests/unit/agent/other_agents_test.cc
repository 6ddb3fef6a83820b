// SPDX-License-Identifier: Apache-2.0
// How a host's other agents are seen by who may read their agent.toml and by who may only look; and
// what a krbtgt without its key makes of a status.
#include "tools/cli/other_agents.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include <prometheus/text_serializer.h>

#include "base/unique_fd.h"
#include "support/scratch.h"
#include "test_agent.h"
#include "tools/cli/krbtgt.h"
#include "tools/cli/spare.h"
#include "tools/cli/status_table.h"
#include "tools/exporter/metrics.h"

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class OtherAgents : public testing::Test {
 protected:
  OtherAgents() {
    fs::create_directories(wants_);
    fs::create_directories(places_.sockets + "/status");
  }
  ~OtherAgents() override { fs::remove_all(folder_); }

  void starts(const std::string& agent) const {
    fs::create_symlink("/nowhere/unit", wants_ + "/tkdc-agent@" + agent + ".service");
  }
  // A well status of an agent whose host has these others.
  static json with(json others) {
    const json well = {{"reachable", true}, {"session_up", true}};
    return {{"servers", {well, well, well}}, {"other_agents", std::move(others)}};
  }
  static std::string metrics(const json& others) {
    return prometheus::TextSerializer().Serialize(exporter::metrics_of(with(others)));
  }

  const std::string folder_ = test::make_scratch("others");
  const AgentPlaces places_{folder_ + "/etc", folder_ + "/units", folder_ + "/run"};
  const std::string wants_ = places_.units + "/multi-user.target.wants";
  const std::string asked_ = places_.sockets + "/status/agent-kdc.sock";
};

TEST_F(OtherAgents, WhoMayOnlyLookGoesByTheUnitsThatStartWithTheHost) {
  starts("agent-kdc");
  EXPECT_TRUE(other_agents(asked_, "", places_).empty()) << "a spare: the other one is not started";
  starts("agent-admin");
  fs::create_symlink("/nowhere/unit", wants_ + "/tkdc-agent@.service");
  EXPECT_EQ(started_instances("tkdc-agent", places_.units),
            (std::set<std::string>{"agent-admin", "agent-kdc"}));

  json others = other_agents(asked_, "", places_);
  ASSERT_EQ(others.size(), 1u) << others;
  EXPECT_EQ(others[0]["name"], "agent-admin");
  EXPECT_EQ(others[0]["trouble"], "it does not run: systemctl status tkdc-agent@agent-admin");
  EXPECT_EQ(faults_of(with(others)),
            std::vector<std::string>{
                "agent agent-admin: it does not run: systemctl status tkdc-agent@agent-admin"});
  EXPECT_NE(metrics(others).find("tkdc_other_agent_up{agent=\"agent-admin\"} 0\n"),
            std::string::npos);
  EXPECT_NE(metrics(others).find("tkdc_healthy 0\n"), std::string::npos);

  // One that nobody can ask: its unit runs, and that is all that is said.
  fs::create_directory(places_.sockets + "/agent-admin");
  others = other_agents(asked_, "", places_);
  EXPECT_TRUE(is_healthy(with(others)));
  EXPECT_NE(status_table(with(others)).find("nobody sees here whether it answers"),
            std::string::npos);
  EXPECT_NE(metrics(others).find("tkdc_other_agent_up{agent=\"agent-admin\"} 1\n"),
            std::string::npos);

  // A socket at which nobody answers.
  std::ofstream(places_.sockets + "/status/agent-admin.sock") << "left";
  others = other_agents(asked_, "", places_);
  EXPECT_FALSE(is_healthy(with(others)));
  EXPECT_NE(metrics(others).find("tkdc_other_agent_up{agent=\"agent-admin\"} 0\n"),
            std::string::npos);
}

TEST_F(OtherAgents, OneThatAnswersIsUp) {
  agent::FakeServers servers;
  agent::TestAgent admin(servers);
  starts("agent-admin");
  fs::create_symlink(admin.status_socket(), places_.sockets + "/status/agent-admin.sock");
  const json others = other_agents(places_.sockets + "/agent-kdc/agent.sock", "", places_);
  ASSERT_EQ(others.size(), 1u) << others;
  EXPECT_EQ(others[0]["reachable"], true) << others;
  EXPECT_NE(metrics(others).find("tkdc_other_agent_up{agent=\"agent-admin\"} 1\n"),
            std::string::npos);
  admin.stop();
  EXPECT_EQ(other_agents(places_.sockets + "/agent-kdc/agent.sock", "", places_)[0]["reachable"],
            false);
}

TEST_F(OtherAgents, WhoReadsTheirConfigurationGoesByThat) {
  for (const char* name : {"agent-kdc", "agent-admin"}) {
    fs::create_directories(places_.configs + "/" + name);
    std::ofstream(places_.configs + "/" + name + "/agent.toml")
        << "[agent]\nsocket = \"agent.sock\"\nstatus_socket = \"status.sock\"\nrole = \""
        << (std::string(name) == "agent-kdc" ? "kdc" : "admin") << "\"\n";
  }
  for (const char* socket : {"agent.sock", "status.sock"}) {
    const json others = other_agents(places_.configs + "/agent-kdc/" + socket, "", places_);
    ASSERT_EQ(others.size(), 1u) << socket;
    EXPECT_EQ(others[0]["name"], "agent-admin");
    EXPECT_EQ(others[0]["socket"], places_.configs + "/agent-admin/agent.sock");
    EXPECT_TRUE(others[0].contains("trouble"));
  }
  EXPECT_TRUE(other_agents(folder_ + "/elsewhere/agent.sock", "", places_).empty())
      << "an agent that is none of these says nothing about them";
  // A spare KDC's, whose agent beside kadmind is not to run.
  fs::create_symlink("/nowhere/krb5-kdc.service", wants_ + "/krb5-kdc.service");
  const json spare = other_agents(places_.configs + "/agent-kdc/agent.sock", "", places_);
  EXPECT_EQ(spare[0]["spare"], true);
  EXPECT_TRUE(is_healthy(with(spare)));
  EXPECT_EQ(metrics(spare).find("tkdc_other_agent_up"), std::string::npos);
}

// Takes connections, and never says a word.
class Silent {
 public:
  explicit Silent(const std::string& socket)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    socket.copy(at.sun_path, sizeof at.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
  }

 private:
  UniqueFd fd_;
};

TEST_F(OtherAgents, ThoseThatHangTakeTheirTimeTogether) {
  const Silent one(places_.sockets + "/status/one.sock"), two(places_.sockets + "/status/two.sock"),
      three(places_.sockets + "/status/three.sock");
  for (const char* name : {"agent-kdc", "one", "two", "three"}) starts(name);
  const auto began = std::chrono::steady_clock::now();
  const json others = other_agents(asked_, "", places_);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  ASSERT_EQ(others.size(), 3u) << others;
  EXPECT_EQ(others[0]["name"], "one") << "in their order, whoever ends first";
  for (const json& agent : others) EXPECT_TRUE(agent.contains("trouble")) << agent;
  EXPECT_GT(took.count(), 3) << "they do hang";
  EXPECT_LT(took.count(), 9) << "5 s each";
}

// A host may serve two realms, each by agents of its own.
TEST_F(OtherAgents, AgentsOfAnotherRealmAreNotThisOnes) {
  agent::FakeServers servers;
  agent::TestAgent kdc(servers), admin(servers, {.installation = kdc.installation()}),
      stranger(servers);
  starts("agent-kdc");
  starts("elsewhere");
  fs::create_symlink(kdc.status_socket(), asked_);
  fs::create_symlink(admin.status_socket(), places_.sockets + "/status/elsewhere.sock");
  const StatusPlace place{asked_, false};
  auto document = ask_host(place, "", places_);
  ASSERT_TRUE(document.ok()) << document.error().message;
  ASSERT_EQ((*document)["other_agents"].size(), 1u) << "both are of one installation";
  fs::remove(places_.sockets + "/status/elsewhere.sock");
  fs::create_symlink(stranger.status_socket(), places_.sockets + "/status/elsewhere.sock");
  EXPECT_EQ(other_agents(asked_, "", places_)[0]["reachable"], true) << "it does answer";
  document = ask_host(place, "", places_);
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_FALSE(document->contains("other_agents")) << *document;

  // By their configuration: also where it does not run.
  for (const char* name : {"agent-kdc", "agent-admin", "elsewhere"}) {
    fs::create_directories(places_.configs + "/" + name);
    std::ofstream(places_.configs + "/" + name + "/agent.toml")
        << "[installation]\nid = \"" << (std::string(name) == "elsewhere" ? "b" : "a")
        << "\"\n[agent]\nsocket = \"agent.sock\"\nrole = \"kdc\"\n";
  }
  const json others = other_agents(places_.configs + "/agent-kdc/agent.sock", "", places_);
  ASSERT_EQ(others.size(), 1u) << others;
  EXPECT_EQ(others[0]["name"], "agent-admin");
}

TEST_F(OtherAgents, TheOnlyServerOfAHostNeedNotBeNamed) {
  const auto make = [&](const std::string& member) {
    fs::create_directories(places_.configs + "/" + member);
    std::ofstream(places_.configs + "/" + member + "/tkdc.toml") << "any";
  };
  EXPECT_FALSE(server_config("", places_.configs).ok());
  make("server1");
  fs::create_directories(places_.configs + "/agent-kdc");
  EXPECT_EQ(server_config("", places_.configs).value(), places_.configs + "/server1/tkdc.toml");
  make("server2");
  const auto of_two = server_config("", places_.configs);
  ASSERT_FALSE(of_two.ok());
  EXPECT_NE(of_two.error().message.find("--config: this account sees 2"), std::string::npos);
  EXPECT_EQ(server_config("/x/tkdc.toml", places_.configs).value(), "/x/tkdc.toml");
  // Nobody named the agent that is not there: maybe this is a server's host.
  const auto said = ask_status({folder_ + "/agent.sock", false, true});
  ASSERT_FALSE(said.ok());
  EXPECT_NE(said.error().message.find("on a server's host without an agent: --config /etc/tkdc/"),
            std::string::npos)
      << said.error().message;
  EXPECT_EQ(ask_status({folder_ + "/agent.sock"}).error().message.find("--config"),
            std::string::npos);
}

TEST_F(OtherAgents, AKrbtgtWithoutItsKeyIsNoHealthyRealm) {
  json document = with(json::array());
  document["installation"] = "00112233445566778899aabbccddeeff";
  const auto told = [&](const std::string& installation, const std::string& dead) {
    json out = document;
    take_krbtgt(out, dead == "[]" ? 0 : 2,
                "a warning\n{\"realm\":\"R\",\"installation\":\"" + installation +
                    "\",\"dead\":" + dead + "}\n");
    return out;
  };
  const std::string own = document["installation"];
  json seen = told(own, "[]");
  EXPECT_EQ(seen["krbtgt_held"], true);
  EXPECT_TRUE(is_healthy(seen));
  seen = told(own, R"([{"principal":"krbtgt/R@R","kvno":3,"enctype":18}])");
  EXPECT_EQ(seen["krbtgt_held"], false);
  ASSERT_EQ(faults_of(seen).size(), 1u);
  EXPECT_NE(faults_of(seen)[0].find("database: no server holds the key of krbtgt/R@R version 3"),
            std::string::npos)
      << faults_of(seen)[0];
  EXPECT_NE(status_table(seen).find("tkdc is DEGRADED"), std::string::npos);
  EXPECT_NE(status_table(seen).find("tkdc rotate krbtgt --now"), std::string::npos);
  // One that is no handle: everybody logs in, and no server has anything to do with it.
  seen = document;
  take_krbtgt(seen, 2, "{\"installation\":\"" + own + "\",\"dead\":[],\"plain\":true}");
  EXPECT_EQ(seen["krbtgt_held"], false);
  EXPECT_TRUE(is_healthy(seen));
  EXPECT_NE(status_table(seen).find("database: krbtgt's newest key is in the database itself"),
            std::string::npos);
  EXPECT_NE(status_table(seen).find("tkdc import"), std::string::npos);
  // Opened by another module: no password is right, and new keys are whole in the database.
  for (const bool is_own : {true, false}) {
    seen = document;
    take_krbtgt(seen, 2,
                "{\"installation\":\"" + (is_own ? own : "ff") +
                    "\",\"module_error\":\"write database_module = tkdc\"}");
    EXPECT_EQ(is_healthy(seen), !is_own);
    EXPECT_EQ(
        status_table(seen).find("database: write database_module = tkdc") != std::string::npos,
        is_own);
  }
  // Of another realm's agent, or of one that could not be asked, nothing is known.
  for (const json& other : {told("ff", "[1]"), told("", "[1]"), told(own, "7")})
    EXPECT_FALSE(other.contains("krbtgt_held") || other.contains("database_error")) << other;
  seen = document;
  take_krbtgt(seen, 1, "{\"installation\":\"" + own + "\",\"dead\":[1]}");
  take_krbtgt(seen, 0, "no JSON");
  take_krbtgt(seen, 2, "{");
  EXPECT_EQ(seen, document);
}

}  // namespace
}  // namespace tkdc::cli
