// SPDX-License-Identifier: Apache-2.0
// What a unit is told of its member: credentials and addresses, and nothing of somebody else's
// file.
#include "tools/setup/unit_drop_in.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/scratch.h"

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class UnitDropInTest : public testing::Test {
 protected:
  ~UnitDropInTest() override { fs::remove_all(folder_); }
  UnitFacts facts(std::vector<std::string> hosts) const {
    UnitFacts out;
    out.unit = "tkdc-server@x";
    out.configuration = folder_ + "/tkdc.toml";
    out.hosts = std::move(hosts);
    return out;
  }
  std::string text(const UnitFacts& facts) const {
    auto made = drop_in_text(facts);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? *made : "";
  }
  const std::string folder_ = test::make_scratch("drop-in");
};

TEST_F(UnitDropInTest, NamesAddressesOnceAndNothingElse) {
  const std::string made = text(facts({"10.0.2.5", "fd00::2", "10.0.1.5", "10.0.2.5"}));
  EXPECT_NE(made.find("\nIPAddressDeny=any\nIPAddressAllow=10.0.1.5 10.0.2.5 fd00::2\n"),
            std::string::npos)
      << made;
  EXPECT_EQ(made.find("LoadCredential"), std::string::npos);
  EXPECT_EQ(made.find("name servers"), std::string::npos);
}

TEST_F(UnitDropInTest, ANameIsLookedUp) {
  const LookUp names = [](const std::string& host) -> Result<std::set<std::string>> {
    if (host != "s1.example") return fail(host + " has no address now");
    return std::set<std::string>{"192.0.2.7", "2001:db8::7"};
  };
  auto made = drop_in_text(facts({"s1.example"}), names);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_NE(made->find("192.0.2.7"), std::string::npos) << *made;
  EXPECT_NE(made->find("2001:db8::7"), std::string::npos) << *made;
  EXPECT_NE(made->find("name servers"), std::string::npos);
  auto none = drop_in_text(facts({"s1.example", "gone.example"}), names);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("gone.example has no address"), std::string::npos);
}

// A name of /etc/hosts: no name server is asked.
TEST_F(UnitDropInTest, TheSystemLooksUp) {
  auto own = look_up("localhost");
  ASSERT_TRUE(own.ok());
  EXPECT_TRUE(own->contains("127.0.0.1") || own->contains("::1"));
}

TEST_F(UnitDropInTest, NamesEachCredential) {
  for (const char* name :
       {"store.key.cred", "curve.key.cred", "tls.cert.pem", "x.cred", "y\nExecStart=z.cred"})
    std::ofstream(folder_ + "/" + name) << "x";
  UnitFacts any = facts({});
  any.any_address = true;
  const std::string made = text(any);
  EXPECT_NE(made.find("[Service]\nLoadCredentialEncrypted=curve.key:" + folder_ +
                      "/curve.key.cred\nLoadCredentialEncrypted=store.key:" + folder_ +
                      "/store.key.cred\n"),
            std::string::npos)
      << made;
  EXPECT_EQ(made.find("ExecStart"), std::string::npos) << "a name that somebody made up";
  EXPECT_EQ(made.find("x.cred"), std::string::npos);
  EXPECT_EQ(made.find("IPAddress"), std::string::npos);
}

TEST_F(UnitDropInTest, IsOfAUnitsConfigurationOnly) {
  std::ofstream(folder_ + "/tkdc.toml") << "[installation]\nparty = 0\n";
  auto read = unit_facts(folder_ + "/tkdc.toml");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("is no unit's"), std::string::npos);
}

TEST_F(UnitDropInTest, ReplacesItsOwnFileAndNobodyElses) {
  const std::string path = folder_ + "/unit.d/tkdc.conf";
  ASSERT_TRUE(write_drop_in(path, text(facts({"10.0.0.1"}))).ok());
  ASSERT_TRUE(write_drop_in(path, text(facts({"10.0.0.2"}))).ok());
  EXPECT_NE(text_of(path).find("10.0.0.2"), std::string::npos);
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0644));
  std::ofstream(path) << "[Service]\n";
  EXPECT_FALSE(write_drop_in(path, text(facts({"10.0.0.3"}))).ok());
  EXPECT_EQ(text_of(path), "[Service]\n");
}

}  // namespace
}  // namespace tkdc::setup
