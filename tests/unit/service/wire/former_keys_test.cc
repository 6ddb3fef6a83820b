// SPDX-License-Identifier: Apache-2.0
#include "service/wire/former_keys.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

TEST(FormerKeys, NamesMembersAndTheCommandThatEndsIt) {
  const std::string said =
      former_keys_warning({"server1", "kdc"}, "tkdc-server", "/etc/tkdc/server0/tkdc.toml");
  EXPECT_NE(said.find("the former keys of server1, kdc are still good here"), std::string::npos)
      << said;
  EXPECT_NE(said.find("runuser -u tkdc-server -- tkdc join --folder /etc/tkdc/server0 "
                      "--forget-former --out /etc/tkdc/server0/tkdc.toml.new"),
            std::string::npos)
      << said;
}

TEST(FormerKeys, WithoutAnyThereIsNothingToSay) {
  EXPECT_EQ(former_keys_warning({}, "tkdc-server", "/etc/tkdc/server0/tkdc.toml"), "");
}

}  // namespace
}  // namespace tkdc
