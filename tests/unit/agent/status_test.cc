// SPDX-License-Identifier: Apache-2.0
// The status document when servers say of themselves what they like.
#include "agent/status.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tkdc::agent {
namespace {

using nlohmann::json;

// Server 1 says `said`, the others what is expected.
json status_with(const std::string& said) {
  AgentConfig config;
  config.servers.resize(3);
  config.security = "malicious";
  std::array<ServerStatus, 3> servers;
  for (ServerStatus& server : servers) {
    server.reachable = true;
    server.json = R"({"security":"malicious","session_up":true,"lanes":2})";
  }
  servers[1].json = said;
  return json::parse(status_json(config, servers, {}, 0));
}

TEST(Status, HoldsWhatTheServersSay) {
  const json shown = status_with(R"({"security":"malicious","session_up":true,"keys":7})");
  EXPECT_EQ(shown["security"], "malicious");
  EXPECT_EQ(shown["servers"][1]["keys"], 7);
  EXPECT_EQ(shown["servers"][1]["party"], 1);
  EXPECT_EQ(shown["servers"][1]["session_up"], true);
}

TEST(Status, AServerInAnotherModeMakesTheWholeWeaker) {
  EXPECT_EQ(status_with(R"({"security":"semi-honest"})")["security"], "semi-honest");
}

// What the agent expects is no mode that runs.
TEST(Status, WithoutAWordOfAServerTheModeIsUnknown) {
  AgentConfig config;
  config.servers.resize(3);
  config.security = "malicious";
  const json shown = json::parse(status_json(config, std::array<ServerStatus, 3>{}, {}, 0));
  EXPECT_EQ(shown["security"], "unknown");
  EXPECT_EQ(shown["security_expected"], "malicious");
}

TEST(Status, FormerKeysAreSpokenOf) {
  AgentConfig config;
  config.servers.resize(3);
  const std::array<ServerStatus, 3> servers;
  EXPECT_FALSE(json::parse(status_json(config, servers, {}, 0))["agent"].contains("former_keys"));
  config.path = "/etc/tkdc/agent-kdc/agent.toml";
  config.servers[2].former_curve_public_key = "any";
  const json agent = json::parse(status_json(config, servers, {}, 0))["agent"];
  EXPECT_EQ(agent["former_keys"], json::array({"server2"}));
  EXPECT_NE(agent["former_keys_warning"].get<std::string>().find("--forget-former"),
            std::string::npos);
}

// One server must not be able to stop the agent.
TEST(Status, FieldsOfOtherTypesDoNoHarm) {
  for (const char* said : {R"({"security":1})", R"({"security":null})", R"({"security":{}})",
                           R"({"session_up":"yes","party":"x","reachable":[]})"}) {
    const json shown = status_with(said);
    EXPECT_EQ(shown["servers"].size(), 3u) << said;
    EXPECT_EQ(shown["servers"][1]["session_up"], false) << said;
    EXPECT_EQ(shown["servers"][1]["party"], 1) << said;
    EXPECT_TRUE(shown["servers"][1]["reachable"].is_boolean()) << said;
  }
  EXPECT_EQ(status_with(R"({"security":1})")["security"], "semi-honest");
}

TEST(Status, WhatIsNoObjectIsNoAnswer) {
  for (const char* said : {"", "[]", "7", "{", "{}{}", "\xff\xfe"}) {
    const json shown = status_with(said);
    EXPECT_EQ(shown["servers"][1]["reachable"], false) << said;
    EXPECT_EQ(shown["servers"][1]["trouble"], "connected, but gave no status") << said;
  }
}

// Each level would take stack when the document is written.
TEST(Status, DepthIsBounded) {
  constexpr std::size_t kLevels = 1'000'000;
  const std::string deep =
      R"({"lanes":2,"x":)" + std::string(kLevels, '[') + std::string(kLevels, ']') + "}";
  const json shown = status_with(deep);
  EXPECT_EQ(shown["servers"][1]["lanes"], 2);
  EXPECT_LT(shown.dump().size(), 4096u);
}

}  // namespace
}  // namespace tkdc::agent
