// SPDX-License-Identifier: Apache-2.0
// Who calls a party's data address and is not its peer: what is said of him, and for how long.
#include <thread>

#include "link/tls_network.h"
#include "trio.h"

namespace tkdc {
namespace {

// It calls party 1, and goes on until it is refused or has seen the certificate.
std::string call_party_1(Trio& trio, bool anonymous) {
  TlsNetworkOptions options;
  auto own = make_certificate("a stranger");
  options.anonymous = anonymous;
  options.certificate_pem = own->certificate_pem;
  options.private_key_pem = std::move(own->private_key_pem);
  auto network = make_tls_network(options);
  if (!network) return network.error().message;
  const PeerPin pin = trio.options(0).peers[0].pin;
  auto stream = (*network)->dial("127.0.0.1:" + std::to_string(trio.mesh(1).port()), pin, "it");
  const long long deadline = monotonic_ms() + 5'000;
  if (!stream || !(*stream)->connect(deadline)) return "no connection";
  for (; monotonic_ms() < deadline; (*stream)->wait(deadline)) {
    auto done = (*stream)->handshake();
    if (!done) return done.error().message;
    if (*done) return {};
  }
  return "no answer";
}

TEST(Strangers, WhoCalledWhileASessionStoodIsNoReasonWhyNoneBegins) {
  Trio trio(1);
  ASSERT_EQ(trio.options(0).peers[0].party, 1);
  auto sessions = trio.establish(3'000);
  ASSERT_TRUE(sessions[1].has_value()) << trio.errors();
  EXPECT_EQ(call_party_1(trio, false), "") << "its own end is done before it is refused";
  for (int i = 0; i < 500 && trio.log().find("not the pinned one") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_NE(trio.log().find("an unknown caller presented"), std::string::npos) << trio.log();
  for (auto& session : sessions) session.reset();
  const auto again = trio.mesh(1).establish();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message.find("was refused"), std::string::npos) << again.error().message;
}

TEST(Strangers, WhoOnlyLooksAtACertificateIsNotSpokenOf) {
  Trio trio(1);
  trio.create(300);
  EXPECT_EQ(call_party_1(trio, true), "");
  const auto alone = trio.mesh(1).establish();
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().message.find("was refused"), std::string::npos) << alone.error().message;
  EXPECT_EQ(trio.log().find("unknown caller"), std::string::npos) << trio.log();
  trio.options(0).peers[0].pin.certificate.fill(7);
  EXPECT_NE(call_party_1(trio, true).find("not the pinned one"), std::string::npos);
}

}  // namespace
}  // namespace tkdc
