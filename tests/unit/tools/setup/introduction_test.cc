// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/introduction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hex.h"
#include "sample.h"

namespace tkdc::setup {
namespace {

// The lines, signed by this seed: what somebody with a key of his own can write.
std::string signed_anew(const std::string& lines, const SecretBuffer& seed) {
  SecretBuffer secret(crypto_sign_SECRETKEYBYTES);
  IdentityKey key;
  crypto_sign_seed_keypair(key.data(), secret.data(), seed.data());
  Bytes octets;
  Writer w(octets);
  w.text("tkdc introduction 1");
  w.text(lines);
  std::array<std::uint8_t, crypto_sign_BYTES> signature;
  crypto_sign_detached(signature.data(), nullptr, octets.data(), octets.size(), secret.data());
  return lines + "signature " + to_hex(signature) + "\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string lines_of(const std::string& text) { return text.substr(0, text.find("signature ")); }

TEST(Introduction, SaysWhatWasPutIn) {
  const Introduction server = sample::server(2);
  auto read = decode_introduction(encode(server, sample::seed_of(2)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->installation, server.installation);
  EXPECT_EQ(read->realm, "EXAMPLE.TEST");
  EXPECT_EQ(read->security, Security::kMalicious);
  EXPECT_EQ(read->made_s, server.made_s);
  EXPECT_EQ(read->host, "10.0.1.3");
  EXPECT_EQ(read->curve_public_key, server.curve_public_key);
  EXPECT_EQ(read->identity, identity_of(sample::seed_of(2)));
  EXPECT_EQ(read->name(), "server2");
  ASSERT_NE(read->server(), nullptr);
  EXPECT_EQ(read->server()->party, 2);
  EXPECT_EQ(read->server()->lanes, 2);
  EXPECT_EQ(read->server()->control_port, 7702);
  EXPECT_EQ(read->server()->data_port, 7712);
  EXPECT_EQ(read->server()->certificate_sha256, server.server()->certificate_sha256);
  ASSERT_TRUE(read->server()->approver.has_value());
  EXPECT_EQ(read->server()->approver->name, "approver2");
  EXPECT_EQ(read->server()->approver->party, 2);

  Introduction agent = sample::agent("agent-kdc", "kdc", 5);
  agent.security = Security::kSemiHonest;
  agent.host = "2001:db8::7";
  read = decode_introduction(encode(agent, sample::seed_of(5)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_NE(read->agent(), nullptr);
  EXPECT_EQ(read->agent()->role, "kdc");
  EXPECT_EQ(read->name(), "agent-kdc");
  EXPECT_EQ(read->security, Security::kSemiHonest);
  EXPECT_EQ(read->host, "2001:db8::7");
}

TEST(Introduction, IsRefusedWithAnyOctetChanged) {
  for (const Introduction& one : {sample::server(0), sample::agent("agent-admin", "admin", 4)}) {
    const std::string text = encode(one, sample::seed_of(9));
    ASSERT_TRUE(decode_introduction(text).ok());
    for (std::size_t at = 0; at < text.size(); ++at)
      for (const int change : {1, 0x20, 0x80}) {
        std::string changed = text;
        changed[at] = static_cast<char>(changed[at] ^ change);
        EXPECT_FALSE(decode_introduction(changed).ok()) << at << ": " << changed;
      }
    for (std::size_t size = 0; size < text.size(); ++size)
      EXPECT_FALSE(decode_introduction(text.substr(0, size)).ok());
    EXPECT_FALSE(decode_introduction(text + "\n").ok());
    EXPECT_FALSE(decode_introduction(text + text).ok());
  }
}

TEST(Introduction, OfAnotherIdentityDoesNotPassForTheFirst) {
  const std::string text = encode(sample::server(0), sample::seed_of(0));
  const std::string forged = signed_anew(lines_of(text), sample::seed_of(1));
  auto read = decode_introduction(forged);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("signature does not hold"), std::string::npos);
  EXPECT_EQ(signed_anew(lines_of(text), sample::seed_of(0)), text) << "the control: same seed";
}

TEST(Introduction, OfTwoServersSaysSo) {
  const SecretBuffer seed = sample::seed_of(1);
  Introduction server = sample::server(1);
  const std::string of_three = encode(server, seed);
  EXPECT_EQ(of_three.find("servers"), std::string::npos);
  EXPECT_EQ(decode_introduction(of_three)->servers, 3);
  server.servers = 2;
  const std::string text = encode(server, seed);
  const auto read = decode_introduction(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->servers, 2);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] ^= 1;
    EXPECT_FALSE(decode_introduction(changed).ok()) << changed;
  }
  const std::string good = lines_of(text);
  for (const auto& [what, by] :
       {std::pair("servers 2", "servers 3"), std::pair("server 1", "server 2"),
        std::pair("introduction 2", "introduction 1"), std::pair("malicious", "semi-honest")}) {
    std::string changed = good;
    changed.replace(changed.find(what), std::string(what).size(), by);
    EXPECT_FALSE(decode_introduction(signed_anew(changed, seed)).ok()) << changed;
  }
  EXPECT_TRUE(decode_introduction(signed_anew(good, seed)).ok()) << "the control";
}

// Signed, but not what a member of ours writes.
TEST(Introduction, HasOneWayToBeWritten) {
  const SecretBuffer seed = sample::seed_of(0);
  const std::string good = lines_of(encode(sample::server(0), seed));
  const std::pair<const char*, const char*> cases[] = {
      {"tkdc-introduction 1", "tkdc-introduction 2"},
      {"realm EXAMPLE.TEST", "realm EXAMPLE TEST"},
      {"realm EXAMPLE.TEST", "realm X\"\nrole = \"admin"},
      {"security malicious", "security none"},
      {"made 1", "made +1"},
      {"made 1", "made -1"},
      {"made 1", "made 01"},
      {"host 10.0.1.1", "host 10.0.1.300"},
      {"host 10.0.1.1", "host [2001:db8::1]"},
      {"host 10.0.1.1", "host 2001:DB8::1"},
      {"host 10.0.1.1", "host a\" b"},
      {"curve ", "curve x"},
      {"server 0", "server 3"},
      {"server 0", "servers 0"},
      {"lanes 2", "lanes 0"},
      {"lanes 2", "lanes 65"},
      {"control 7700", "control 0"},
      {"control 7700", "control 65536"},
      {"control 7700", "control 07700"},
      {"certificate 2", "certificate "},
      {"approver0\n", "a b\n"},
      {"approver0\n", ".a\n"},
      {"approver0\n", "\n"},
      {"identity ", "Identity "},
  };
  for (const auto& [from, to] : cases)
    EXPECT_FALSE(decode_introduction(signed_anew(replaced(good, from, to), seed)).ok()) << to;
  EXPECT_TRUE(decode_introduction(signed_anew(good, seed)).ok()) << "the control";
  const std::string agent = lines_of(encode(sample::agent("agent-kdc", "kdc", 0), seed));
  for (const auto& [from, to] : {std::pair("agent kdc", "agent root"),
                                 std::pair("agent-kdc\n", "\n"), std::pair("agent-kdc\n", "a/b\n")})
    EXPECT_FALSE(decode_introduction(signed_anew(replaced(agent, from, to), seed)).ok()) << to;
}

TEST(Introduction, AnAgentIsNotCalledLikeAServer) {
  const SecretBuffer seed = sample::seed_of(0);
  EXPECT_FALSE(decode_introduction(encode(sample::agent("server1", "kdc", 0), seed)).ok());
}

TEST(Introduction, ItsFingerprintIsOfEveryOctet) {
  const std::string text = encode(sample::server(0), sample::seed_of(0));
  const std::string print = fingerprint(text);
  EXPECT_EQ(print.size(), 39u);
  EXPECT_TRUE(is_fingerprint(print, text));
  std::string shouted = print;
  std::ranges::transform(shouted, shouted.begin(), [](unsigned char c) { return std::toupper(c); });
  std::ranges::replace(shouted, '-', ' ');
  EXPECT_TRUE(is_fingerprint(shouted, text));
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] ^= 1;
    EXPECT_FALSE(is_fingerprint(print, changed));
  }
  EXPECT_FALSE(is_fingerprint("", text));
  EXPECT_FALSE(is_fingerprint(print.substr(0, 38), text));
  EXPECT_FALSE(is_fingerprint(print + "0", text));
}

}  // namespace
}  // namespace tkdc::setup
