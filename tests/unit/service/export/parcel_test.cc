// SPDX-License-Identifier: Apache-2.0
// Three servers' parcels: opened by the recipient alone, and added up only where they agree.
#include "service/export/parcel.h"

#include "sample.h"

namespace tkdc {
namespace {

using test::BoxPair, test::sample_request;

class Parcels : public testing::Test {
 protected:
  Parcels() {
    const std::size_t bytes[] = {16, 32};
    for (std::size_t k = 0; k < 2; ++k) {
      SecretVector x[3];
      keys_[k].assign(bytes[k], 0);
      for (SecretVector& component : x) {
        component.resize(bytes[k]);
        randombytes_buf(component.data(), component.size());
        xor_bytes(keys_[k].data(), component.data(), component.size());
      }
      for (std::size_t i = 0; i < 3; ++i) {
        SharedBytes share;
        share.component[0] = x[i];
        share.component[1] = x[(i + 1) % 3];
        parcels_[i].keys.emplace_back(std::move(share));
      }
    }
    for (int party = 0; party < 3; ++party) {
      auto& parcel = parcels_[static_cast<std::size_t>(party)];
      parcel.party = party;
      parcel.keys.emplace_back();  // krbtgt's stays
    }
  }
  Bytes packed(std::size_t i, const BoxPair& by) const {
    return *pack(parcels_[i], digest_, recipient_.public_key, by.secret);
  }
  Result<Parcel> opened(const Bytes& file, const BoxPair& by) const {
    return unpack(file, request_, digest_, recipient_.secret, by.public_key);
  }

  const BoxPair recipient_, server_, stranger_;
  const ExportRequest request_ = sample_request(recipient_);
  const Digest digest_ = request_digest(encode(request_));
  SecretVector keys_[2];
  std::array<Parcel, 3> parcels_;
};

TEST_F(Parcels, AreOpenedAndAddedUp) {
  std::array<Parcel, 3> got;
  for (std::size_t i = 0; i < 3; ++i) {
    auto parcel = opened(packed(i, server_), server_);
    ASSERT_TRUE(parcel.ok()) << parcel.error().message;
    EXPECT_EQ(parcel->party, static_cast<int>(i));
    got[i] = std::move(*parcel);
  }
  auto keys = combine(request_, got);
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ((*keys)[0], keys_[0]);
  EXPECT_EQ((*keys)[1], keys_[1]);
  EXPECT_FALSE((*keys)[2].has_value());
}

TEST_F(Parcels, AreOfThatServerForThatRecipientAndRequest) {
  const Bytes file = packed(1, server_);
  EXPECT_FALSE(opened(file, stranger_).ok());
  EXPECT_FALSE(opened(packed(1, stranger_), server_).ok()) << "whoever knows the recipient's key";
  EXPECT_FALSE(unpack(file, request_, digest_, stranger_.secret, server_.public_key).ok());
  Digest other = digest_;
  other[0] ^= 1;
  EXPECT_FALSE(unpack(file, request_, other, recipient_.secret, server_.public_key).ok());
  test::expect_no_changed_octet(
      file, [&](const Bytes& changed) { return opened(changed, server_).ok(); });
}

TEST_F(Parcels, AreForAllKeysOfTheRequest) {
  parcels_[0].keys.pop_back();
  EXPECT_FALSE(opened(packed(0, server_), server_).ok());
}

TEST_F(Parcels, ThatDifferNameTheKeyAndTwoServers) {
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t c = 0; c < 2; ++c) {
      std::array<Parcel, 3> lying = parcels_;
      lying[i].keys[1]->component[c][31] ^= 0x80;
      auto keys = combine(request_, lying);
      ASSERT_FALSE(keys.ok()) << i << c;
      EXPECT_NE(keys.error().message.find("odd\\ name@A.TEST"), std::string::npos);
      EXPECT_NE(keys.error().message.find(std::to_string(i)), std::string::npos);
    }
  std::array<Parcel, 3> lying = parcels_;
  lying[2].keys[0].reset();
  EXPECT_FALSE(combine(request_, lying).ok()) << "one says that the key stays";
}

TEST_F(Parcels, AreNotMadeForAPointOfSmallOrder) {
  EXPECT_FALSE(pack(parcels_[0], digest_, {}, server_.secret).ok());
}

}  // namespace
}  // namespace tkdc
