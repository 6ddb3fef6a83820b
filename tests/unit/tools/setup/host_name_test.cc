// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/host_name.h"

#include <gtest/gtest.h>

#include "link/socket.h"

namespace tkdc::setup {
namespace {

TEST(HostName, HasOneForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"10.0.1.5", "10.0.1.5"},
      {"KDC-b.Example.TEST", "kdc-b.example.test"},
      {"a", "a"},
      {"1x.test", "1x.test"},
      {"2001:DB8:0:0::5", "2001:db8::5"},
      {"[2001:db8::5]", "2001:db8::5"},
      {"::1", "::1"},
  };
  for (const auto& [given, expected] : cases) {
    auto host = canonical_host(given);
    ASSERT_TRUE(host.ok()) << given << ": " << host.error().message;
    EXPECT_EQ(*host, expected);
    EXPECT_EQ(*canonical_host(*host), *host);
    EXPECT_TRUE(parse_address(host_port(*host, 7700)).ok()) << "as the daemons read it: " << *host;
  }
}

TEST(HostName, RefusesWhatIsNoHost) {
  for (const char* given : {"",
                            "10.0.0.300",
                            "10.0.1",
                            "1.2.3.4.5",
                            "010.0.0.1",
                            "host.7",
                            "0.0.0.0",
                            "0.1.2.3",
                            "255.255.255.255",
                            "224.0.0.1",
                            "::",
                            "ff02::1",
                            "fe80::1",
                            "fe80::1%eth0",
                            "::ffff:10.0.0.1",
                            "2001:db8::5::",
                            "[10.0.0.1]",
                            "[host]",
                            "[]",
                            "host:7700",
                            "10.0.0.1:7700",
                            "-host",
                            "host-",
                            "a..b",
                            "a.",
                            ".a",
                            "a b",
                            "a\"b",
                            "a\n",
                            "h\xc3\xb6st",
                            "a_b",
                            "[::1",
                            "::1]"})
    EXPECT_FALSE(canonical_host(given).ok()) << given;
  EXPECT_TRUE(canonical_host(std::string(63, 'a')).ok());
  EXPECT_FALSE(canonical_host(std::string(64, 'a')).ok());
  std::string name(63, 'a');
  for (int i = 0; i < 3; ++i) name += "." + std::string(63, 'a');
  EXPECT_FALSE(canonical_host(name).ok()) << "255 octets";
}

TEST(HostName, ListensWhereItIsWhenThatIsAnAddress) {
  EXPECT_EQ(listen_host("10.0.1.5"), "10.0.1.5");
  EXPECT_EQ(listen_host("2001:db8::5"), "2001:db8::5");
  EXPECT_EQ(listen_host("kdc.example.test"), "0.0.0.0");
  EXPECT_EQ(host_port("2001:db8::5", 1), "[2001:db8::5]:1");
}

TEST(HostName, KnowsThisMachine) {
  for (const char* here : {"127.0.0.1", "127.9.9.9", "::1", "localhost"})
    EXPECT_TRUE(is_this_machine(here)) << here;
  for (const char* elsewhere : {"10.0.0.1", "2001:db8::1", "example.test"})
    EXPECT_FALSE(is_this_machine(elsewhere)) << elsewhere;
}

}  // namespace
}  // namespace tkdc::setup
