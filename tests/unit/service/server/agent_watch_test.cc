// SPDX-License-Identifier: Apache-2.0
#include "service/server/agent_watch.h"

#include <gtest/gtest.h>

#include <vector>

namespace tkdc {
namespace {

TEST(AgentWatch, NamesAgentsOfKdcsThatAreSilent) {
  std::vector<HeardAgent> agents = {{"kdc1", AgentRole::kKdc, kSilentAfterS},
                                    {"admin", AgentRole::kAdmin, 100'000}};
  EXPECT_EQ(silent_agents(agents), "") << "kadmind's does not run on a spare";
  agents.push_back({"kdc2", AgentRole::kKdc, 600});
  agents.push_back({"kdc3", AgentRole::kKdc, 180});
  const std::string said = silent_agents(agents);
  EXPECT_TRUE(said.starts_with("no word from kdc2, kdc3 for 3 min: ")) << said;
  EXPECT_NE(said.find("goes out of [[agents]]"), std::string::npos);
  for (int k = 0; k < 60; ++k) agents.push_back({std::string(60, 'x'), AgentRole::kKdc, 180});
  EXPECT_NE(silent_agents(agents).find(" and 58 others for"), std::string::npos);
  EXPECT_LT(silent_agents(agents).size(), 800u) << "an answer has its bounds";
}

}  // namespace
}  // namespace tkdc
