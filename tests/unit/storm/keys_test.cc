// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "storm/fake_kdc.h"

namespace tkdc::storm {
namespace {

// The first, with 4,096 iterations, is what Kerberos uses; computed by libkrb5 for comparison.
TEST(Keys, StringToKeyIsThatOfLibkrb5) {
  for (std::int32_t enctype : {17, 18}) {
    auto ours = string_to_key(enctype, "potatoe", "ATHENA.MIT.EDUraeburn");
    ASSERT_TRUE(ours);
    std::string word = "potatoe", spice = "ATHENA.MIT.EDUraeburn";
    krb5_data password{0, 7, word.data()}, salt{0, 21, spice.data()};
    krb5_keyblock theirs{};
    ASSERT_EQ(krb5_c_string_to_key(context(), enctype, &password, &salt, &theirs), 0);
    EXPECT_EQ(ours->octets, Bytes(theirs.contents, theirs.contents + theirs.length));
    krb5_free_keyblock_contents(context(), &theirs);
  }
  EXPECT_FALSE(string_to_key(12345, "a", "b"));
}

TEST(Keys, OtherEnctypesComeFromLibkrb5) {
  auto enctype = enctype_by_name("aes256-cts-hmac-sha384-192");
  ASSERT_TRUE(enctype);
  auto key = string_to_key(*enctype, "password", "REALMuser");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->octets.size(), 32U);
  EXPECT_FALSE(enctype_by_name("rot13"));
}

TEST(Keys, EncryptAndDecrypt) {
  Key key(random_key(18)), other(random_key(18));
  Bytes cipher, plain;
  ASSERT_TRUE(key.encrypt(kUsagePreauth, octets_of("hello"), cipher));
  ASSERT_TRUE(key.decrypt(kUsagePreauth, cipher, plain));
  EXPECT_EQ(plain, Bytes({'h', 'e', 'l', 'l', 'o'}));
  EXPECT_FALSE(key.decrypt(kUsageAsReply, cipher, plain));
  EXPECT_FALSE(other.decrypt(kUsagePreauth, cipher, plain));
  EXPECT_FALSE(key.decrypt(kUsagePreauth, Bytes(3), plain));
  EXPECT_FALSE(Key(RawKey{18, Bytes(7)}).valid());
  EXPECT_FALSE(Key().encrypt(kUsagePreauth, octets_of("x"), cipher));
}

TEST(Users, Patterns) {
  EXPECT_EQ(*pattern_name("user%06d", 42), "user000042");
  EXPECT_EQ(*pattern_name("u%d@", 1234567), "u1234567@");
  EXPECT_EQ(*pattern_name("alice", 9), "alice");
  for (const char* wrong : {"%s", "%", "%0", "%00d", "%5d", "%d%d", "a%06d%n"})
    EXPECT_FALSE(pattern_name(wrong, 1)) << wrong;
}

TEST(Users, DerivedAndWrittenAndReadAgain) {
  Pattern pattern{"svc/user%02d", 3, 5, "secret", 18};
  auto users = derive_users(pattern, "R.TEST");
  ASSERT_TRUE(users) << users.error().message;
  EXPECT_EQ((*users)[4].name, "svc/user07");
  EXPECT_EQ((*users)[4].raw, *string_to_key(18, "secret", "R.TESTsvcuser07"));
  std::string path = testing::TempDir() + "storm-" + std::to_string(getpid()) + ".keytab";
  ASSERT_TRUE(write_keytab(path, "R.TEST", *users));
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_FALSE(write_keytab(path, "R.TEST", *users)) << "never overwritten";
  auto again = read_keytab(path, "R.TEST");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->size(), 5U);
  EXPECT_EQ((*again)[2].name, (*users)[2].name);
  EXPECT_EQ((*again)[2].raw, (*users)[2].raw);
  EXPECT_FALSE(read_keytab(path, "OTHER.TEST"));
  unlink(path.c_str());
  EXPECT_FALSE(read_keytab(path, "R.TEST"));
}

TEST(Users, RefusesWhatNamesTooFew) {
  EXPECT_FALSE(derive_users({"alice", 0, 2, "x", 18}, "R"));
  EXPECT_FALSE(derive_users({"u%d", 0, 0, "x", 18}, "R"));
  EXPECT_EQ(derive_users({"alice", 0, 1, "x", 18}, "R")->at(0).name, "alice");
}

// What libkrb5 itself makes of our AS-REQ is shown by the integration test; here: its parts.
TEST(Requests, AsRequestHoldsFreshTimestampUnderTheUsersKey) {
  RequestTerms terms{"R.TEST", {18, 17}, 0, 36'000};
  User user{"alice/admin", random_key(18), {}};
  user.key = Key(user.raw);
  Bytes one, two, plain;
  build_as_request(terms, user, user.key, 7, {1'700'000'000, 123'456}, one);
  build_as_request(terms, user, user.key, 7, {1'700'000'000, 123'456}, two);
  EXPECT_NE(one, two) << "the confounder is fresh";
  FakeRequest request;
  ASSERT_TRUE(parse_as_request(one, request));
  EXPECT_EQ(request.client, "alice/admin");
  EXPECT_EQ(request.service, "krbtgt/R.TEST");
  EXPECT_EQ(request.nonce, 7U);
  ASSERT_TRUE(user.key.decrypt(kUsagePreauth, request.timestamp, plain));
  EXPECT_EQ(to_hex(plain),
            "301aa011180f32303233313131343232313332305aa105020301e240");  // by hand
}

TEST(Requests, NoncesDiffer) {
  std::uint32_t before = fresh_nonce();
  for (int i = 0; i < 5000; ++i) {
    std::uint32_t now = fresh_nonce();
    EXPECT_NE(now, before);
    EXPECT_EQ(now >> 31, 0U);
    before = now;
  }
}

}  // namespace
}  // namespace tkdc::storm
