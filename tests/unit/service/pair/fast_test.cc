// SPDX-License-Identifier: Apache-2.0
// Keys that two servers derive for one operation, against libkrb5; and agents and servers that do
// otherwise.
#include "support/fast_peer.h"
#include "two_services.h"

namespace tkdc {
namespace {

using test::FastPeer, test::kChallenge, test::kReply, test::recipe, test::operator+;

Bytes key_of(std::uint32_t enctype) { return random_octets(tkdc_enctype_of(enctype)->key_bytes); }

struct Enctypes {
  std::uint32_t user, armor;
};

class PairFast : public testing::TestWithParam<Enctypes> {};

TEST_P(PairFast, IsWhatLibkrb5Derives) {
  const auto [ue, ae] = GetParam();
  TwoServices two(512, not_ahead);
  FastPeer peer;
  const Bytes user = key_of(ue), armor = key_of(ae), stamp = random_octets(44);
  const KeyRef ref = two.make_key("alice@R", ue, user);
  // The user's keys of these are a million ANDs, and each of the others half of one.
  const bool long_keys = ae == 20;
  const Bytes reply = recipe(TKDC_DERIVE_CF2, ae, kReply), body = random_octets(70);
  const Bytes key = peer.fx_cf2(ae, armor, "strengthenkey", ue, user, kReply);
  const Bytes known = peer.known_half(ae, armor, "strengthenkey");
  const auto sum = two.ask({TKDC_OP_MAC_DERIVED, ref, 56, reply, known + body});
  ASSERT_EQ(sum.both(), TKDC_STATUS_OK) << sum.message[0];
  EXPECT_EQ(sum.output, peer.checksum(ae, key, 56, body));
  if (long_keys) return;
  const auto sealed = two.ask({TKDC_OP_SEAL_DERIVED, ref, 3, reply, known + body});
  ASSERT_EQ(sealed.both(), TKDC_STATUS_OK) << sealed.message[0];
  EXPECT_EQ(peer.open(ae, key, 3, sealed.output), body);

  const Bytes by = recipe(TKDC_DERIVE_CF2, ae, kChallenge);
  const Bytes client = peer.fx_cf2(ae, armor, "clientchallengearmor", ue, user, kChallenge);
  const Bytes to_kdc = peer.known_half(ae, armor, "clientchallengearmor");
  Bytes sent = peer.seal(ae, client, 54, stamp);
  const auto opened = two.ask({TKDC_OP_OPEN_DERIVED, ref, 54, by, to_kdc + sent});
  ASSERT_EQ(opened.both(), TKDC_STATUS_OK) << opened.message[0];
  EXPECT_EQ(opened.output, stamp);
  sent[20] ^= 1;
  const auto refused = two.ask({TKDC_OP_OPEN_DERIVED, ref, 54, by, to_kdc + sent});
  EXPECT_EQ(refused.both(), TKDC_STATUS_INTEGRITY);
  EXPECT_TRUE(refused.reply[0].output.empty());

  const Bytes kdc = peer.fx_cf2(ae, armor, "kdcchallengearmor", ue, user, kChallenge);
  const Bytes to_client = peer.known_half(ae, armor, "kdcchallengearmor");
  const auto back = two.ask({TKDC_OP_SEAL_DERIVED, ref, 55, by, to_client + stamp});
  ASSERT_EQ(back.both(), TKDC_STATUS_OK) << back.message[0];
  EXPECT_EQ(peer.open(ae, kdc, 55, back.output), stamp);
}

INSTANTIATE_TEST_SUITE_P(Enctypes, PairFast,
                         testing::Values(Enctypes{18, 17}, Enctypes{17, 19}, Enctypes{20, 20}),
                         [](const auto& one) {
                           return "User" + std::to_string(one.param.user) + "Armor" +
                                  std::to_string(one.param.armor);
                         });

// Under krbtgt's own key, which no test has seen; of names that are short and long.
TEST(PairFastCookie, IsWhatKrbtgtsKeyMakes) {
  constexpr std::uint32_t enctype = 19;
  TwoServices two(512, not_ahead);
  FastPeer peer;
  const KeyRef ref = two.make_key("krbtgt/R@R", enctype, {});
  Bytes key(16);
  for (const std::size_t p : {0, 1}) {
    auto record = two.store(p).get(ref.id);
    xor_bytes(key.data(), (*record)->fields.at("key").component[0].data(), key.size());
  }
  const std::string name = "COOKIEalice@R", longer = "COOKIE" + std::string(120, 'x') + "@R";
  const Bytes state = random_octets(40), by = recipe(TKDC_DERIVE_PRFPLUS, enctype, longer);
  const auto sealed = two.ask({TKDC_OP_SEAL_DERIVED, ref, 513, by, state});
  ASSERT_EQ(sealed.both(), TKDC_STATUS_OK) << sealed.message[0];
  EXPECT_EQ(peer.open(enctype, peer.known_half(enctype, key, longer), 513, sealed.output), state);
  const auto opened = two.ask({TKDC_OP_OPEN_DERIVED, ref, 513, by, sealed.output});
  EXPECT_EQ(opened.output, state) << opened.message[0];
  const Bytes other = recipe(TKDC_DERIVE_PRFPLUS, enctype, name);
  EXPECT_EQ(two.ask({TKDC_OP_OPEN_DERIVED, ref, 513, other, sealed.output}).both(),
            TKDC_STATUS_INTEGRITY);
}

class PairFastDiffers : public testing::Test {
 protected:
  static constexpr std::size_t kHalf = 16;
  PairFastDiffers()
      : two_(512, not_ahead), key_(random_octets(16)), armor_(random_octets(16)),
        ref_(two_.make_key("alice@R", kEnctype, key_)) {}
  TwoServices::Job mac(const std::string& pepper = kReply) const {
    FastPeer peer;
    return {TKDC_OP_MAC_DERIVED, ref_, 56, recipe(TKDC_DERIVE_CF2, kEnctype, pepper),
            peer.known_half(kEnctype, armor_, "strengthenkey") + data_};
  }
  void expect_served() {
    FastPeer peer;
    const Bytes key = peer.fx_cf2(kEnctype, armor_, "strengthenkey", kEnctype, key_, kReply);
    const auto out = two_.ask(mac());
    ASSERT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    EXPECT_EQ(out.output, peer.checksum(kEnctype, key, 56, data_));
  }

  TwoServices two_;
  const Bytes key_, armor_, data_ = random_octets(30);
  const KeyRef ref_;
};

TEST_F(PairFastDiffers, AJobOfWhichTheyAreToldDifferentThings) {
  const std::size_t first = pair::dealt_bytes(8 * kHalf);
  const std::vector<TwoServices::Edit> edits = {
      [](std::size_t p, JobRequest& job) {
        if (p == 0) job.public_data = recipe(TKDC_DERIVE_CF2, kEnctype, kChallenge);
      },
      [](std::size_t p, JobRequest& job) { job.dealt[20] ^= static_cast<std::uint8_t>(p); },
      [](std::size_t p, JobRequest& job) {  // a share of the known half
        job.dealt[40] ^= static_cast<std::uint8_t>(p);
      },
      [=](std::size_t p, JobRequest& job) {  // the key for the other one's half
        job.dealt[first - 1] ^= static_cast<std::uint8_t>(1 - p);
      },
      [=](std::size_t p, JobRequest& job) {  // the number of the other deal
        job.dealt[first + 20] ^= static_cast<std::uint8_t>(p);
      },
      [=](std::size_t p, JobRequest& job) {  // a share of the data
        job.dealt[first + 40] ^= static_cast<std::uint8_t>(p);
      },
      [](std::size_t p, JobRequest& job) { job.dealt.back() ^= static_cast<std::uint8_t>(p); },
      [](std::size_t p, JobRequest& job) {
        if (p == 1) job.dealt.pop_back();
      },
  };
  for (std::size_t k = 0; k < edits.size(); ++k) {
    const auto out = two_.ask(mac(), edits[k]);
    EXPECT_EQ(out.both(), TKDC_STATUS_INCONSISTENT) << k << ": " << out.message[0];
    EXPECT_TRUE(out.reply[0].output.empty() && out.reply[1].output.empty()) << k;
  }
  expect_served();
  EXPECT_FALSE(two_.is_over());
}

TEST_F(PairFastDiffers, ADealThatIsNone) {
  const std::size_t first = pair::dealt_bytes(8 * kHalf);
  const std::vector<TwoServices::Edit> edits = {
      [=](std::size_t, JobRequest& job) { job.dealt.resize(first); },
      [=](std::size_t, JobRequest& job) { job.dealt.resize(first - 1); },
      [](std::size_t, JobRequest& job) { job.dealt.pop_back(); },
      // Less than a known half.
      [](std::size_t, JobRequest& job) { job.dealt_input_bytes = kHalf - 1; },
      [=](std::size_t, JobRequest& job) {  // one number for both
        std::copy_n(job.dealt.begin() + 16, 16, job.dealt.begin() + std::ptrdiff_t(first) + 16);
      },
  };
  for (std::size_t k = 0; k < edits.size(); ++k)
    EXPECT_EQ(two_.ask(mac(), edits[k]).both(), TKDC_STATUS_BAD_REQUEST) << k;
  EXPECT_EQ(two_.ask(mac(kChallenge)).both(), TKDC_STATUS_DENIED) << "another usage's pepper";
  EXPECT_EQ(two_.ask({TKDC_OP_MAC_DERIVED, ref_, 56, {1}, data_}).both(), TKDC_STATUS_BAD_REQUEST);
  // Either deal that has served, beside a new one: nothing is said.
  SecretVector before[2];
  ASSERT_EQ(two_.ask(mac(), [&](std::size_t p, JobRequest& job) { before[p] = job.dealt; }).both(),
            TKDC_STATUS_OK);
  for (const bool half : {true, false}) {
    const auto again = two_.ask(mac(), [&](std::size_t p, JobRequest& job) {
      const auto at = static_cast<std::ptrdiff_t>(half ? 0 : first);
      std::copy(before[p].begin() + at,
                half ? before[p].begin() + std::ptrdiff_t(first) : before[p].end(),
                job.dealt.begin() + at);
    });
    EXPECT_EQ(again.both(), TKDC_STATUS_BAD_REQUEST) << half << ": of another job";
  }
  expect_served();
  EXPECT_FALSE(two_.is_over());
}

// PRF+ is made once in a session, and again in the next one.
TEST_F(PairFastDiffers, OneBridgeAndOnePrfForMany) {
  expect_served();
  const std::uint64_t left = two_.service(0).status().pair->pool_left;
  const std::uint64_t missed = two_.service(0).status().pair->missed;
  expect_served();
  EXPECT_EQ(two_.service(0).status().pair->pool_left, left);
  EXPECT_EQ(two_.service(0).status().pair->missed - missed, 2u) << "its keys, and the checksum";
  two_.restart();
  expect_served();
}

TEST_F(PairFastDiffers, APrfFieldThatOneHasChanged) {
  two_.store(1).read_hook = [](KeyRecord& record) { record.fields.at("prf").component[0][5] ^= 4; };
  const auto out = two_.ask(mac());
  EXPECT_NE(out.status[0], TKDC_STATUS_OK);
  EXPECT_NE(out.status[1], TKDC_STATUS_OK);
  two_.join();
  EXPECT_TRUE(two_.service(0).deviation()) << two_.ended(0);
}

// Who has an armor ticket knows no user's key, but sends what he likes: its length counts.
TEST(PairFastProved, ChallengesOfLengthsThatNobodySealedAreLimited) {
  TwoServices two(512, [](JobServiceOptions& options) {
    options.pair_ahead = false;
    options.pair_unproved_ands = 100'000;
  });
  FastPeer peer;
  const Bytes user = key_of(17), armor = key_of(17), stamp = random_octets(20);
  const KeyRef ref = two.make_key("alice@R", 17, user);
  const Bytes by = recipe(TKDC_DERIVE_CF2, 17, kChallenge);
  const Bytes key = peer.fx_cf2(17, armor, "clientchallengearmor", 17, user, kChallenge);
  const Bytes known = peer.known_half(17, armor, "clientchallengearmor");
  const auto status_of = [&](const Bytes& sealed) {
    return two.ask({TKDC_OP_OPEN_DERIVED, ref, 54, by, known + sealed}).both();
  };
  EXPECT_EQ(status_of(peer.seal(17, key, 54, stamp)), TKDC_STATUS_OK) << "given in advance";
  EXPECT_EQ(status_of(random_octets(48)), TKDC_STATUS_INTEGRITY) << "and proved by it";
  std::size_t refused = 0;
  for (const std::size_t bytes : {60u, 76u, 92u, 108u})
    refused += status_of(random_octets(bytes)) == TKDC_STATUS_LIMIT;
  EXPECT_GE(refused, 2u);
  EXPECT_EQ(status_of(peer.seal(17, key, 54, stamp)), TKDC_STATUS_OK);
}

}  // namespace
}  // namespace tkdc
