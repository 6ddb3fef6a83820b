// SPDX-License-Identifier: Apache-2.0
// Nonce epochs begun anew: what krbtgt's versions of before still do, and what the ones that are
// drawn afterwards do.
#include <gtest/gtest.h>

#include "service/operation/check_use.h"
#include "service/sealing/nonce.h"
#include "three_services.h"

namespace tkdc {
namespace {

constexpr const char* kTgt = "krbtgt/R@R";
constexpr std::uint32_t kBefore = 500'000, kAfter = 1;

class EraTest : public testing::Test {
 protected:
  // All three servers, or only some.
  void begin_anew(const std::function<bool(int)>& who = [](int) { return true; }) {
    services_.restart(kAfter, [&](int p) {
      if (!who(p)) return;
      ASSERT_TRUE(services_.store(p).set_epochs({1, 0, 0}).ok());
    });
  }
  Answer seal(const KeyRef& key) {
    return services_.run({TKDC_OP_SEAL, key, usage::kTicket, {}, plain_});
  }
  Answer open(const KeyRef& key, const Bytes& ticket) {
    return services_.run({TKDC_OP_OPEN, key, usage::kTicket, {}, ticket});
  }
  static Bytes with_epoch(Bytes ticket, std::uint32_t epoch) {
    GcmNonce nonce;
    std::copy_n(ticket.begin(), nonce.size(), nonce.begin());
    NonceCoordinates at = decode_nonce(nonce);
    at.epoch = epoch;
    nonce = encode_nonce(at);
    std::copy_n(nonce.begin(), nonce.size(), ticket.begin());
    return ticket;
  }

  ThreeServices services_{2, kBefore};
  Bytes plain_ = some_bytes(200);
};

TEST_F(EraTest, VersionsOfBeforeOpenAndSealNothing) {
  const KeyRef old = services_.make_key(kTgt, 18, {});
  Answer sealed = seal(old);
  ASSERT_EQ(sealed.status(), TKDC_STATUS_OK);
  const Bytes ticket = sealed.output();
  begin_anew();
  // Its epoch is above the present one's.
  Answer opened = open(old, ticket);
  ASSERT_EQ(opened.status(), TKDC_STATUS_OK);
  EXPECT_EQ(opened.output(), plain_);
  EXPECT_EQ(open(old, with_epoch(ticket, kBefore + 1)).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(seal(old).status(), TKDC_STATUS_DENIED);
  // What has no nonce goes on.
  EXPECT_EQ(services_.run({TKDC_OP_MAC, old, usage::kPacSignature, {}, plain_}).status(),
            TKDC_STATUS_OK);
}

TEST_F(EraTest, VersionsOfAfterwardsSealAndRefuseEpochsToCome) {
  begin_anew();
  const KeyRef drawn = services_.make_key(kTgt, 18, {});
  Answer sealed = seal(drawn);
  ASSERT_EQ(sealed.status(), TKDC_STATUS_OK);
  const Bytes ticket = sealed.output();
  EXPECT_EQ(open(drawn, ticket).status(), TKDC_STATUS_OK);
  Answer future = open(drawn, with_epoch(ticket, kAfter + 1));
  EXPECT_EQ(future.status(), TKDC_STATUS_INTEGRITY);
  EXPECT_NE(future.reply[0].message.find("epoch has not been reached"), std::string::npos);
}

// Keys that others verify have no nonces, and go on.
TEST_F(EraTest, OtherKeysSealAsBefore) {
  const KeyRef host = services_.make_key("host/a@R", 18, some_bytes(32));
  begin_anew();
  EXPECT_EQ(seal(host).status(), TKDC_STATUS_OK);
}

// Each server refuses by its own store: two that have forgotten make the third seal nothing.
TEST_F(EraTest, OneServerThatKnowsIsEnough) {
  const KeyRef old = services_.make_key(kTgt, 18, {});
  begin_anew([](int p) { return p == 2; });
  EXPECT_EQ(seal(old).status(), TKDC_STATUS_INCONSISTENT);
  JobRequest request;
  request.op = TKDC_OP_SEAL;
  request.key = old;
  request.usage = usage::kTicket;
  for (auto& component : request.component) component = SecretVector(100);
  std::shared_ptr<const KeyRecord> record;
  for (int p = 0; p < 3; ++p)
    EXPECT_EQ(check_use(services_.store(p), kInstallation, AgentRole::kKdc, request, record),
              p == 2 ? TKDC_STATUS_DENIED : TKDC_STATUS_OK);
}

}  // namespace
}  // namespace tkdc
