// SPDX-License-Identifier: Apache-2.0
// Two whole servers of one realm in this process, over TLS on loopback: they come to a session and
// to a new one, say what they are, and refuse what only three servers do.
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/codec.h"
#include "link/socket.h"
#include "link/tls_network.h"
#include "scratch_dir.h"
#include "service/server/server.h"
#include "service/store/kept_values.h"
#include "service/store/value_table.h"

namespace tkdc {
namespace {

using nlohmann::json;

constexpr int kWaitMs = 20'000;

// Nobody asks.
class NoAgents final : public AgentSocket {
 public:
  Result<Ready> wait(int most_ms) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(most_ms, 20)));
    return Ready{false, woken_.exchange(false)};
  }
  void wake() override { woken_ = true; }
  bool receive(const std::function<void(const Message&)>&) override { return false; }
  bool send(const std::string&, SecretVector) override { return false; }
  std::string endpoint() const override { return "nowhere"; }

 private:
  std::atomic<bool> woken_{false};
};

class TwoServersTest : public ScratchDir {
 protected:
  TwoServersTest() {
    for (Certificate& one : certificates_) one = make_certificate("one of two").value();
    auto free = listen_on("127.0.0.1:0");
    address_ = "127.0.0.1:" + std::to_string(local_port(free->get()).value());
  }
  ~TwoServersTest() override {
    for (auto& server : servers_) server.reset();
  }

  ServerConfig config_of(int party, int parties = 2) {
    ServerConfig config;
    config.path = directory_ + "/tkdc.toml";
    config.installation.fill(0x33);
    config.parties = parties;
    config.party = party;
    config.lanes = 1;
    config.protocols = {"pair"};
    config.garbling.use = GarblingOptions::Use::kNever;
    config.data_listen = address_;
    config.peers = {{1 - party, address_, certificates_[1 - party].sha256}};
    config.store_path = directory_ + "/store" + std::to_string(party);
    config.audit_file = directory_ + "/audit" + std::to_string(party) + ".jsonl";
    return config;
  }
  Surroundings around(const ServerConfig& config) {
    Surroundings out;
    SecretBuffer key(32);
    std::memset(key.data(), 7, key.size());
    out.store =
        Store::open({config.store_path, config.installation, config.party, 64u << 20}, key).value();
    TlsNetworkOptions tls;
    tls.certificate_pem = certificates_[config.party].certificate_pem;
    tls.private_key_pem = certificates_[config.party].private_key_pem;
    out.network = make_tls_network(tls).value();
    out.agents = std::make_unique<NoAgents>();
    return out;
  }
  void start(int party) {
    const ServerConfig config = config_of(party);
    auto made = Server::create(config, "program", around(config));
    ASSERT_TRUE(made.ok()) << made.error().message;
    servers_[party] = std::move(*made);
    servers_[party]->start();
  }
  json status(int party) { return json::parse(servers_[party]->status_json()); }
  // The session that both are in, another than `before`.
  std::string session(const std::string& before = "") {
    const long long until = monotonic_ms() + kWaitMs;
    while (monotonic_ms() < until) {
      const std::string one = status(0).value("session", ""),
                        other = status(1).value("session", "");
      if (!one.empty() && one == other && one != before) return one;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << status(0).dump() << "\n" << status(1).dump();
    return {};
  }

  Certificate certificates_[2];
  std::string address_;
  std::unique_ptr<Server> servers_[2];
};

TEST_F(TwoServersTest, ComeToASessionAndToANewOne) {
  for (int party : {0, 1}) start(party);
  const std::string first = session();
  for (int party : {0, 1}) {
    const json said = status(party);
    EXPECT_EQ(said["parties"], 2);
    EXPECT_EQ(said["party"], party);
    EXPECT_EQ(said["security"], "malicious");
    EXPECT_EQ(said["epoch"], 1);
    for (const char* of_three : {"zero_shares", "two_parts", "garbling"})
      EXPECT_FALSE(said.contains(of_three)) << of_three;
    for (const LocalOp op : {LocalOp::kRepair, LocalOp::kApproval, LocalOp::kHandOver})
      EXPECT_FALSE(servers_[party]->answer_administrator({op, "status", {}}).ok());
    for (const char* macs : {"audit", "deal"})
      EXPECT_FALSE(servers_[party]->answer_administrator({LocalOp::kShares, macs, {}}).ok());
    EXPECT_TRUE(servers_[party]->answer_administrator({LocalOp::kShares, "status", {}}).ok());
    EXPECT_TRUE(servers_[party]->answer_administrator({LocalOp::kStatus, "", {}}).ok());
  }
  for (int gone : {0, 1}) {
    const std::string before = status(1 - gone).value("session", "");
    servers_[gone].reset();
    start(gone);
    EXPECT_NE(session(before), before) << gone << " came back";
  }
  const std::string audit = read(directory_ + "/audit0.jsonl");
  EXPECT_NE(audit.find("\"session\":\"" + first), std::string::npos) << "by both logs";
  EXPECT_EQ(audit.find("\"party\":2"), std::string::npos) << "there is no third peer";
  EXPECT_EQ(audit.find("latched"), std::string::npos);
}

// Alone: of a pool of 64 blocks 17 have served.
TEST_F(TwoServersTest, BlocksOfACopyInItsPlaceServeNoMore) {
  namespace fs = std::filesystem;
  const std::string store = config_of(0).store_path, copy = directory_ + "/copy",
                    pool = "pool/" + std::string(32, '1');
  const auto put_pool = [&] {
    Bytes head(kept::kHeadBytes), next(8);
    head[8] = 64;
    next[7] = 17;
    const SecretVector chunk(16 * 48);
    const std::string names[] = {pool + "/head", pool + "/next", pool + "/0001", pool + "/0002",
                                 pool + "/0003"};
    const NamedValue values[] = {{names[0], head},
                                 {names[1], next},
                                 {names[2], chunk},
                                 {names[3], chunk},
                                 {names[4], chunk}};
    ASSERT_TRUE(around(config_of(0)).store->values()->put(values).ok());
  };
  const auto run = [&] {
    start(0);
    servers_[0].reset();
  };
  const auto next = [&] {
    const auto value = around(config_of(0)).store->values()->get(pool + "/next");
    return Reader(*value.value()).u64();
  };
  put_pool();
  run();
  EXPECT_EQ(next(), 64u) << "nothing says that it was stopped in good order";
  put_pool();
  fs::copy(store, copy, fs::copy_options::recursive);
  run();
  ASSERT_TRUE(Server::create(config_of(0), "program", around(config_of(0))).ok()) << "no start";
  run();
  EXPECT_EQ(next(), 17u);
  fs::remove_all(store);
  fs::rename(copy, store);
  run();
  EXPECT_EQ(next(), 64u);
}

TEST_F(TwoServersTest, AStoreOfTheOtherKindIsRefused) {
  const ServerConfig two = config_of(0);
  {
    Surroundings other = around(two);
    const SecretVector one(1);
    ASSERT_TRUE(other.store->values()->put({{{"pool", one}}}).ok());
  }
  ASSERT_TRUE(Server::create(two, "program", around(two)).ok());
  ServerConfig three = config_of(0, 3);
  three.protocols = {"rep3"};
  auto refused = Server::create(three, "program", around(three));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("of a realm on two servers"), std::string::npos)
      << refused.error().message;

  const ServerConfig with_keys = config_of(1);
  Surroundings of_three = around(with_keys);
  KeyRecord record;
  record.ref.id.fill(1);
  record.ref.installation = with_keys.installation;
  ASSERT_TRUE(of_three.store->prepare(record).ok());
  ASSERT_TRUE(of_three.store->commit(record.ref.id).ok());
  refused = Server::create(with_keys, "program", std::move(of_three));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("of a realm on three servers"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace tkdc
