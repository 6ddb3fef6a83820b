// SPDX-License-Identifier: Apache-2.0
#include "service/server/config_changes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/secret_file.h"
#include "config_fixture.h"
#include "service/server/protocols.h"
#include "service/store/store_key.h"

namespace tkdc {
namespace {

TEST_F(ConfigTest, GoodFile) {
  ASSERT_EQ(setenv("CREDENTIALS_DIRECTORY", "/run/credentials/unit", 1), 0);
  auto config = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->party, 1);
  EXPECT_EQ(config->installation[15], 0x0f);
  EXPECT_EQ(config->lanes, 3);
  EXPECT_EQ(config->agents.at(0).role, AgentRole::kKdc);
  EXPECT_EQ(config->peers.at(0).party, 0) << "sorted";
  EXPECT_EQ(config->peers.at(1).certificate.certificate[0], 0x22);
  EXPECT_EQ(config->store_map_bytes, 64u << 20);
  EXPECT_EQ(config->store_path, directory_ + "/store");
  EXPECT_EQ(config->private_key_file, "/run/credentials/unit/tls.key");
}

TEST_F(ConfigTest, AMemberThatChangesItsKeysHasTwo) {
  auto peer = changed(
      "certificate_sha256 = \"2222",
      "former_certificate_sha256 = \"" + std::string(64, '3') + "\"\ncertificate_sha256 = \"2222");
  ASSERT_TRUE(peer.ok()) << peer.error().message;
  EXPECT_FALSE(peer->peers.at(0).certificate.former.has_value());
  ASSERT_TRUE(peer->peers.at(1).certificate.former.has_value());
  EXPECT_EQ((*peer->peers.at(1).certificate.former)[31], 0x33);
  EXPECT_EQ(former_keys(*peer),
            std::vector<std::string>{"server" + std::to_string(peer->peers.at(1).party)});
  expect_error("certificate_sha256 = \"2222",
               "former_certificate_sha256 = \"22\"\ncertificate_sha256 = \"2222",
               {"former_certificate_sha256", "64 hexadecimal"});
  expect_error(
      "certificate_sha256 = \"2222",
      "former_certificate_sha256 = \"" + std::string(64, '0') + "\"\ncertificate_sha256 = \"2222",
      {"is the other peer's too"});

  const std::string role = "role = \"kdc\"\n", key = "former_curve_public_key = \"";
  auto agent = changed(role, role + key + "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\"\n");
  ASSERT_TRUE(agent.ok()) << agent.error().message;
  ASSERT_EQ(agent->agents.size(), 2u);
  EXPECT_EQ(former_keys(*agent), std::vector<std::string>{"agent " + agent->agents[0].name});
  EXPECT_EQ(agent->agents[0].name, agent->agents[1].name);
  EXPECT_EQ(agent->agents[0].role, agent->agents[1].role);
  EXPECT_NE(agent->agents[0].curve_public_key, agent->agents[1].curve_public_key);
  expect_error(role, role + key + "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n",
               {"former_curve_public_key", "another [[agents]]"});
  expect_error(role, role + key + "short\"\n", {"former_curve_public_key", "40 characters"});
}

TEST_F(ConfigTest, UnknownKeysNameKeyAndLine) {
  expect_error("lanes = 3", "lanse = 3",
               {"unknown key 'data.lanse'", "line 17", "did you mean 'data.lanes'?"});
  expect_error("[audit]", "[audti]", {"unknown key 'audti'", "did you mean 'audit'?"});
  expect_error("role = \"kdc\"", "role = \"kdc\"\nnaem = \"x\"",
               {"'agents.naem'", "did you mean 'agents.name'?"});
  expect_error("lanes = 3", "lanes = 3\nmap_size_mib = 5", {"it belongs in [store]"});
  expect_error("role = \"kdc\"", "role = \"kdc\"\ncolour = 1",
               {"'agents.colour'", "line 13", "remove it or correct its spelling"});
  expect_error("lanes = 3", "lanes = 3\nlanes = 4", {"line 18", "it stands twice"});
  expect_error("[installation]", "top = 1\n[installation]", {"unknown key 'top'", "line 1"});
}

TEST_F(ConfigTest, GpusAreCountedFromTheFirst) {
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->gpus, std::vector<int>{0});
  EXPECT_FALSE(plain->gpu_allow_shared);
  EXPECT_EQ(plain->gpu_min_cohort_blocks, 262'144u);
  EXPECT_EQ(plain->gpu_min_cohort_compressions, 16'777'216u);
  auto config = changed("backend = \"auto\"",
                        "backend = \"cuda\"\n[cuda]\nfirst_gpu = 2\ngpus = 3\n"
                        "allow_shared = true\nmin_cohort_blocks = 64\n"
                        "min_cohort_compressions = 65");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->backend, "cuda");
  EXPECT_EQ(config->gpus, (std::vector<int>{2, 3, 4}));
  EXPECT_TRUE(config->gpu_allow_shared);
  EXPECT_EQ(config->gpu_min_cohort_blocks, 64u);
  EXPECT_EQ(config->gpu_min_cohort_compressions, 65u);
  expect_error("[audit]", "[cuda]\ngpus = 0\n[audit]", {"cuda.gpus", "1 to 16"});
  expect_error("backend = \"auto\"", "backend = \"opencl\"", {"data.backend", "'cuda'"});
}

TEST_F(ConfigTest, ZeroSharesAreOneOfThree) {
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->zero_shares, "auto");
  for (const char* value : {"auto", "aes-ctr", "chacha20"}) {
    auto config = changed("backend = \"auto\"",
                          "backend = \"auto\"\nzero_shares = \"" + std::string(value) + "\"");
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_EQ(config->zero_shares, value);
  }
  expect_error("backend = \"auto\"", "backend = \"auto\"\nzero_shares = \"aes\"",
               {"data.zero_shares", "'aes-ctr'", "'chacha20'"});
  expect_error("backend = \"auto\"", "backend = \"auto\"\nzero_shares = 20", {"data.zero_shares"});
}

TEST_F(ConfigTest, ProtocolsAreReplicatedSharingUnlessOthersAreNamed) {
  using Names = std::vector<std::string>;
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->protocols, Names{"rep3"});
  EXPECT_TRUE(check_protocols(*plain).ok());
  const auto with = [](const std::string& list) {
    return "backend = \"auto\"\nprotocols = " + list;
  };
  auto two = changed("backend = \"auto\"", with("[\"plaintext\", \"rep3\"]"));
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(two->protocols, (Names{"plaintext", "rep3"}));
  const auto refused = check_protocols(*two);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("no protocol 'plaintext'; it has 'rep3'"),
            std::string::npos);
  for (const auto& [list, why] : {std::pair{"[]", "must name one"},
                                  {"[\"rep3\", \"rep3\"]", "names one twice"},
                                  {"\"rep3\"", "must be a list of strings"},
                                  {"[\"rep3\", 3]", "must be a list of strings"}})
    expect_error("backend = \"auto\"", with(list), {"data.protocols", why});
}

TEST_F(ConfigTest, MasksAreNotMadeUnlessAskedFor) {
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->masked_blocks, 0u);
  auto config = changed("backend = \"auto\"", "backend = \"auto\"\nmasked_blocks = 256");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->masked_blocks, 256u);
  expect_error("backend = \"auto\"", "backend = \"auto\"\nmasked_blocks = 4097",
               {"data.masked_blocks", "0 to 4096"});
}

TEST_F(ConfigTest, TwoPartsAreAllowedUnlessForbidden) {
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  EXPECT_TRUE(plain->two_parts);
  auto config = changed("backend = \"auto\"", "backend = \"auto\"\ntwo_parts = false");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_FALSE(config->two_parts);
  expect_error("backend = \"auto\"", "backend = \"auto\"\ntwo_parts = 0", {"data.two_parts"});
}

TEST_F(ConfigTest, FarServersGarbleUnlessItSaysOtherwise) {
  auto semi_honest = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(semi_honest.ok());
  EXPECT_EQ(semi_honest->garbling.use, GarblingOptions::Use::kNever);
  expect_error("backend = \"auto\"", "backend = \"auto\"\ngarbling = \"far\"",
               {"data.garbling", "malicious"});
  auto malicious = changed("\"semi-honest\"", "\"malicious\"");
  ASSERT_TRUE(malicious.ok()) << malicious.error().message;
  EXPECT_EQ(malicious->garbling.use, GarblingOptions::Use::kFar);
  expect_error("backend = \"auto\"", "backend = \"auto\"\ngarbling = \"near\"",
               {"data.garbling", "never", "far", "auto", "always"});
}

TEST_F(ConfigTest, SharesHaveNoMacsUnlessSet) {
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE(plain->share_macs);
  auto config = changed("[store]", "[store]\nshare_macs = true");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_TRUE(config->share_macs);
  expect_error("[store]", "[store]\nshare_macs = 1", {"store.share_macs"});
  const std::string data = "[data]\n", macs = "[store]\nshare_macs = true\n";
  const std::string many = "protocols = [\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"]\n";
  const std::string none = "[store]\nkeep_dropped_days = 0\n";
  std::string both = kGoodText;
  both.replace(both.find("[store]\n"), 8, none);
  both.replace(both.find(data), data.size(), data + many);
  EXPECT_TRUE(load_server_config(write("tkdc.toml", both)).ok());
  both.replace(both.find(none), none.size(), macs + "keep_dropped_days = 0\n");
  EXPECT_NE(load_server_config(write("tkdc.toml", both)).error().message.find("more than 7"),
            std::string::npos);
  both = kGoodText;
  both.replace(both.find("[store]\n"), 8, macs);
  both.replace(both.find(data), data.size(), data + many);
  const auto refused = load_server_config(write("tkdc.toml", both));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("more than 6"), std::string::npos)
      << refused.error().message;
}

TEST_F(ConfigTest, DroppedKeysAreKeptForThirtyDaysUnlessSet) {
  EXPECT_EQ(load_server_config(write("tkdc.toml", kGoodText))->keep_dropped_days, 30u);
  auto config = changed("[store]", "[store]\nkeep_dropped_days = 0");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->keep_dropped_days, 0u);
  expect_error("[store]", "[store]\nkeep_dropped_days = -1", {"store.keep_dropped_days", "0 to"});
  expect_error("[store]", "[store]\nkeep_dropped_days = 36501", {"store.keep_dropped_days"});
}

TEST_F(ConfigTest, WrongTypesAndRanges) {
  expect_error("party = 1", "party = \"1\"", {"installation.party", "whole number", "line 3"});
  expect_error("party = 1", "party = 3", {"0 to 2"});
  expect_error("lanes = 3", "lanes = 65", {"data.lanes", "1 to 64"});
  expect_error("lanes = 3", "lanes = 2.5", {"data.lanes"});
  expect_error("security = \"semi-honest\"", "security = \"none\"", {"security", "semi-honest"});
  expect_error("role = \"kdc\"", "role = \"root\"", {"role", "'kdc', 'admin'"});
  expect_error("id = \"0001", "id = \"001", {"32 hexadecimal"});
  expect_error("listen = \"tcp://127.0.0.1:7701\"", "listen = \"127.0.0.1:7701\"", {"tcp://"});
  expect_error("address = \"127.0.0.1:7712\"", "address = \"127.0.0.1\"", {"address"});
  expect_error("rq:rM", "rq:r", {"curve_public_key"});
  expect_error("[data]", "[[data]]", {"[data]"});
  expect_error("path = \"store\"", "", {"'path' is missing in [store]"});
  expect_error("[store]", "[store", {"line"});
}

TEST_F(ConfigTest, PeersAreTheOtherTwo) {
  expect_error("party = 2\n", "party = 1\n", {"peers", "other two"});
  expect_error("party = 2\n", "party = 0\n", {"peers", "other two"});
  expect_error(std::string(64, '2'), std::string(64, '0'), {"peers", "each has its own"});
  expect_error("127.0.0.1:7712", "127.0.0.1:7710", {"peers", "each has its own"});
  expect_error("127.0.0.1:7712", "127.0.0.1:7711", {"peers", "listens itself"});
  expect_error("127.0.0.1:7712", "127.0.0.1", {"peers", "host:port"});
  std::string text = kGoodText;
  std::size_t from = text.find("[[peers]]"), to = text.find("[[peers]]", from + 1);
  text.erase(from, to - from);
  auto config = load_server_config(write("tkdc.toml", text));
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.error().message.find("two [[peers]]"), std::string::npos);
}

TEST_F(ConfigTest, ASocketForMonitoringIsThereWhereItIsNamed) {
  const std::string listen = "listen = \"tcp://127.0.0.1:7701\"\n";
  EXPECT_EQ(changed(listen, listen)->status_socket, "");
  auto config = changed(listen, listen + "status_socket = \"s.sock\"\n");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->status_socket, directory_ + "/s.sock");
  expect_error(listen, listen + "status_socket = \"/" + std::string(200, 's') + "\"\n",
               {"status_socket", "longer than a socket's path"});
}

TEST_F(ConfigTest, HowTheAuditLogIsKept) {
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->audit_rotation.most_bytes, 64u << 20);
  EXPECT_EQ(plain->audit_rotation.days, 7);
  EXPECT_TRUE(plain->audit_rotation.keeping.compress);
  EXPECT_EQ(plain->audit_rotation.room_bytes, 64u << 20);
  EXPECT_EQ(plain->audit_rotation.keeping.days, 0) << "nothing is deleted unless somebody says so";
  auto set = changed("file = \"audit.jsonl\"\n",
                     "rotate_mib = 1\nrotate_days = 0\ncompress = false\nkeep_days = 400\n"
                     "room_mib = 0\n");
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->audit_rotation.most_bytes, 1u << 20);
  EXPECT_EQ(set->audit_rotation.days, 0);
  EXPECT_FALSE(set->audit_rotation.keeping.compress);
  EXPECT_EQ(set->audit_rotation.keeping.days, 400);
  EXPECT_EQ(set->audit_rotation.room_bytes, 0u);
  expect_error("file = \"audit.jsonl\"\n", "keep_days = -1\n", {"audit.keep_days"});
}

TEST_F(ConfigTest, AReloadNamesTheTablesThatWantARestart) {
  auto plain = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(plain.ok());
  const std::vector<std::tuple<const char*, const char*, std::vector<std::string>>> cases = {
      {"file = \"audit.jsonl\"\n", "file = \"audit.jsonl\"\nkeep_days = 400\n", {}},
      {"file = \"audit.jsonl\"\n", "file = \"audit.jsonl\"\nroom_mib = 1\n", {}},
      {"party = 1", "party = 1 # the same", {}},
      {"\"semi-honest\"", "\"malicious\"", {"[installation]"}},
      {":7701", ":7702", {"[control]"}},
      {"\"agent-kdc\"", "\"another\"", {"[[agents]]"}},
      {"lanes = 3", "lanes = 2", {"[data]"}},
      {"127.0.0.1:7712", "127.0.0.1:7713", {"[[peers]]"}},
      {"map_size_mib = 64", "map_size_mib = 65", {"[store]"}},
      {"\"audit.jsonl\"", "\"other.jsonl\"", {"audit.file"}},
      {"[audit]", "[cuda]\ngpus = 2\n[limits]\nagent_per_s = 7\n[audit]", {"[cuda]", "[limits]"}},
  };
  for (const auto& [from, to, tables] : cases) {
    auto other = changed(from, to);
    ASSERT_TRUE(other.ok()) << other.error().message;
    EXPECT_EQ(changes_for_restart(*plain, *other), tables) << to;
  }
}

// As `tkdc-server --check-config` by root, who is told nothing wrong of files that are right.
TEST_F(ConfigTest, RootMayLookAtAServicesFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr uid_t kService = 1234, kOther = 1235;
  const std::string key = write("a", std::string(32, 'k'), 0600);
  ASSERT_EQ(chown(key.c_str(), kService, static_cast<gid_t>(-1)), 0);
  EXPECT_FALSE(read_store_key(key).ok()) << "in a folder of root's it is a stranger's";
  ASSERT_EQ(chown(directory_.c_str(), kService, static_cast<gid_t>(-1)), 0);
  EXPECT_TRUE(read_store_key(key).ok());
  ASSERT_EQ(chown(key.c_str(), kOther, static_cast<gid_t>(-1)), 0);
  EXPECT_FALSE(read_store_key(key).ok());
}

TEST_F(ConfigTest, Limits) {
  auto config = load_server_config(write("tkdc.toml", kGoodText));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->limits.agent.per_s, 500'000);
  EXPECT_EQ(config->limits.user_key.per_s, 50);
  EXPECT_EQ(config->limits.user_key.burst, 1'000);
  EXPECT_FALSE(config->limits.service_key.any());
  EXPECT_EQ(config->epochs_per_day, 2'048u);
  config = changed("[audit]", "[limits]\nepochs_per_day = 100\n[audit]");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->epochs_per_day, 100u);
  expect_error("[audit]", "[limits]\nepochs_per_day = 63\n[audit]", {"epochs_per_day"});
  config = changed("[audit]", "[limits]\nuser_key_per_s = 0\nservice_key_per_s = 7\n[audit]");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_FALSE(config->limits.user_key.any());
  EXPECT_EQ(config->limits.service_key.per_s, 7);
  expect_error("[audit]", "[limits]\nagent_burst = 0\n[audit]", {"agent_burst"});
  expect_error("[audit]", "[limits]\nagent_per_s = -1\n[audit]", {"agent_per_s"});
  expect_error("[audit]", "[limits]\nkey_per_s = 1\n[audit]", {"key_per_s"});
}

TEST_F(ConfigTest, OneKeyOneRole) {
  expect_error("[data]",
               "[[agents]]\nname = \"other\"\nrole = \"admin\"\n"
               "curve_public_key = \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n[data]",
               {"one key, one role"});
}

TEST_F(ConfigTest, OneApproverForEachServer) {
  EXPECT_TRUE(changed("[data]", "[data]")->approvers.empty()) << "no export unless somebody may";
  const auto table = [](const std::string& name, const std::string& party, char digit) {
    return "[[approvers]]\nname = \"" + name + "\"\nparty = " + party + "\npublic_key = \"" +
           std::string(64, digit) + "\"\n";
  };
  const std::string alice = table("alice", "0", 'a');
  auto two = changed("[data]", alice + table("bob", "2", 'b') + "[data]");
  ASSERT_TRUE(two.ok()) << two.error().message;
  ASSERT_EQ(two->approvers.size(), 2u);
  EXPECT_EQ(two->approvers[1].party, 2);
  EXPECT_EQ(two->approvers[1].public_key[31], 0xbb);
  for (const std::string& other :
       {table("alice", "1", 'b'), table("bob", "0", 'b'), table("bob", "1", 'a'),
        table("bob", "3", 'b'), table("bob", "1", 'x')})
    EXPECT_FALSE(changed("[data]", alice + other + "[data]").ok()) << other;
}

TEST_F(ConfigTest, MissingFile) {
  auto config = load_server_config(directory_ + "/none.toml");
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.error().message.find("none.toml: No such file"), std::string::npos);
  config = load_server_config(directory_);
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.error().message.find(" is a folder"), std::string::npos);
}

TEST_F(ConfigTest, SecretFilesAreForTheOwnerOnly) {
  std::string bytes(32, 'k');
  EXPECT_TRUE(read_store_key(write("a", bytes, 0600)).ok());
  EXPECT_TRUE(read_store_key(write("b", bytes, 0400)).ok());
  for (mode_t mode : {0640, 0604, 0620, 0602, 0700}) {
    auto key = read_store_key(write("c", bytes, mode));
    ASSERT_FALSE(key.ok()) << std::oct << mode;
    EXPECT_NE(key.error().message.find("chmod 0600; do not replace it"), std::string::npos);
    auto other = read_curve_secret(write("c", bytes, mode));
    ASSERT_FALSE(other.ok()) << std::oct << mode;
    EXPECT_NE(other.error().message.find("chmod 0600; replace"), std::string::npos);
    EXPECT_EQ(key.error().message.find("kkkk"), std::string::npos) << "never the secret";
  }
  EXPECT_FALSE(read_store_key(write("d", bytes + "x")).ok());
  EXPECT_FALSE(read_store_key(write("e", "short")).ok());
  EXPECT_FALSE(read_store_key(directory_).ok());
}

TEST_F(ConfigTest, CurveKeyFiles) {
  std::string key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";
  EXPECT_TRUE(read_curve_secret(write("a", key)).ok());
  EXPECT_TRUE(read_curve_secret(write("b", key + "\n")).ok());
  EXPECT_FALSE(read_curve_secret(write("c", key.substr(1))).ok());
  EXPECT_FALSE(read_curve_secret(write("d", "")).ok());
  EXPECT_FALSE(read_curve_secret(write("e", std::string(40, '"'))).ok());
}

}  // namespace
}  // namespace tkdc
