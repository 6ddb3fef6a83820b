// SPDX-License-Identifier: Apache-2.0
// The last step of an attempt at a session with bulk streams: more connections, while the lanes
// have theirs.
#include <gtest/gtest.h>

#include <chrono>

#include "link/tls_network.h"
#include "trio.h"

namespace tkdc {
namespace {

// Its party is gone before it calls for its first stream.
class LeavingNetwork final : public Network {
 public:
  LeavingNetwork(std::unique_ptr<Network> real, std::function<void()> leave)
      : real_(std::move(real)), leave_(std::move(leave)) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& address,
                                           const PeerPin& pin) override {
    return real_->listen(address, pin);
  }
  Result<std::unique_ptr<PacketStream>> dial(const std::string& address, const PeerPin& pin,
                                             std::string name) override {
    if (dials_++ > 0) leave_();
    return real_->dial(address, pin, std::move(name));
  }
  Result<std::unique_ptr<Link>> link(std::unique_ptr<PacketStream> prev,
                                     std::unique_ptr<PacketStream> next,
                                     std::shared_ptr<LinkBreaker> breaker) override {
    return real_->link(std::move(prev), std::move(next), std::move(breaker));
  }

 private:
  std::unique_ptr<Network> real_;
  std::function<void()> leave_;
  int dials_ = 0;
};

// Party 1 has all its streams by then, and does not end them. So of what party 0 has, the lane's
// connection alone says that nobody will call.
TEST(Streams, ALostLaneEndsTheWaitForAStream) {
  Trio trio(1);
  for (int p = 0; p < 3; ++p) trio.options(p).streamed = {"streamed", 7};
  const MeshOptions& leaving = trio.options(2);
  TlsNetworkOptions tls;
  tls.certificate_pem = leaving.certificate_pem;
  tls.private_key_pem = leaving.private_key_pem;
  auto real = make_tls_network(tls);
  ASSERT_TRUE(real.ok());
  trio.options(2).network = std::make_shared<LeavingNetwork>(std::move(*real), [&trio] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    trio.mesh(2).stop();
  });
  const auto began = std::chrono::steady_clock::now();
  auto sessions = trio.establish(20'000);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_TRUE(sessions[1]) << trio.errors();
  EXPECT_FALSE(sessions[0]);
  EXPECT_NE(trio.errors().find("party 0: tls: party 2"), std::string::npos) << trio.errors();
}

}  // namespace
}  // namespace tkdc
