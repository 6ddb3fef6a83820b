// SPDX-License-Identifier: Apache-2.0
// Two servers' parcels: opened by the recipient alone, and added up only where what they say of a
// key belongs together.
#include "service/export/pair_parcel.h"

#include "sample.h"
#include "service/export/derived_key.h"
#include "service/export/parcel.h"

namespace tkdc {
namespace {

using test::BoxPair, test::sample_request;

// Of all enctypes: key 1 is of 18, key 2 of 20.
ExportRequest request_of_all(const BoxPair& recipient) {
  ExportRequest out = sample_request(recipient);
  out.keys.push_back(test::sample_key(4, 19, "host/x@A.TEST"));
  return out;
}

class PairParcels : public testing::Test {
 protected:
  PairParcels() {
    for (const int party : {0, 1}) parcels_[static_cast<std::size_t>(party)].party = party;
    for (const ExportKey& key : request_.keys) {
      SecretVector whole(key.enctype % 2 == 1 ? 16 : 32);
      randombytes_buf(whole.data(), whole.size());
      auto derived = encryption_key_of(key.enctype, whole, kUsage);
      EXPECT_TRUE(derived.ok());
      HandedPart a{kVersion, kUsage, whole, *derived}, b = a;
      for (SecretVector HandedPart::*field : {&HandedPart::key, &HandedPart::derived}) {
        randombytes_buf((a.*field).data(), (a.*field).size());
        xor_bytes((b.*field).data(), (a.*field).data(), (a.*field).size());
      }
      parcels_[0].keys.emplace_back(std::move(a));
      parcels_[1].keys.emplace_back(std::move(b));
      keys_.push_back(std::move(whole));
    }
  }
  Bytes packed(std::size_t p, const BoxPair& by) const {
    return *pack(parcels_[p], digest_, recipient_.public_key, by.secret);
  }
  Result<PairParcel> opened(const Bytes& file, const BoxPair& by) const {
    return unpack_of_two(file, request_, digest_, recipient_.secret, by.public_key);
  }
  // What the recipient says of parcels of which server `p` has changed its own, about key k, or 1.
  using Change = std::function<void(std::optional<HandedPart>&)>;
  std::string said_of(std::size_t k, std::size_t p, const Change& change) {
    std::array<PairParcel, 2> lying = parcels_;
    change(lying[p].keys[k]);
    auto keys = combine(request_, lying);
    return keys.ok() ? "" : keys.error().message;
  }
  std::string said(std::size_t p, const Change& change) { return said_of(1, p, change); }

  static constexpr std::uint32_t kVersion = 3, kUsage = 2;
  const BoxPair recipient_, server_, stranger_;
  const ExportRequest request_ = request_of_all(recipient_);
  const Digest digest_ = request_digest(encode(request_));
  std::vector<SecretVector> keys_;
  std::array<PairParcel, 2> parcels_;
};

TEST_F(PairParcels, AreOpenedAndAddedUp) {
  parcels_[0].keys[2].reset();
  parcels_[1].keys[2].reset();
  std::array<PairParcel, 2> got;
  for (const std::size_t p : {0, 1}) {
    auto parcel = opened(packed(p, server_), server_);
    ASSERT_TRUE(parcel.ok()) << parcel.error().message;
    EXPECT_EQ(parcel->party, static_cast<int>(p));
    got[p] = std::move(*parcel);
  }
  auto keys = combine(request_, got);
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_EQ((*keys)[0], keys_[0]);
  EXPECT_EQ((*keys)[1], keys_[1]);
  EXPECT_FALSE((*keys)[2].has_value()) << "both say that it stays";
}

TEST_F(PairParcels, AreOfThatServerForThatRecipientAndRequest) {
  const Bytes file = packed(1, server_);
  EXPECT_FALSE(opened(file, stranger_).ok());
  EXPECT_FALSE(opened(packed(1, stranger_), server_).ok()) << "whoever knows the recipient's key";
  EXPECT_FALSE(unpack_of_two(file, request_, digest_, stranger_.secret, server_.public_key).ok());
  Digest other = digest_;
  other[0] ^= 1;
  EXPECT_FALSE(unpack_of_two(file, request_, other, recipient_.secret, server_.public_key).ok());
  test::expect_no_changed_octet(
      file, [&](const Bytes& changed) { return opened(changed, server_).ok(); });
  PairParcel fewer = parcels_[0];
  fewer.keys.pop_back();
  auto box = pack(fewer, digest_, recipient_.public_key, server_.secret);
  EXPECT_FALSE(opened(*box, server_).ok()) << "not all keys of the request";
  EXPECT_FALSE(pack(parcels_[0], digest_, {}, server_.secret).ok()) << "a point of small order";
}

// The box does not say how many servers there are, so another title is tried at each.
TEST_F(PairParcels, AreNotThoseOfThreeServers) {
  constexpr std::size_t kDigit = std::string_view("tkdc-export-shares ").size();
  Bytes file = packed(1, server_);
  EXPECT_EQ(parcel_name(file)->servers, 2);
  EXPECT_FALSE(unpack(file, request_, digest_, recipient_.secret, server_.public_key).ok());
  file[kDigit] = '1';
  EXPECT_EQ(parcel_name(file)->servers, 3);
  EXPECT_FALSE(unpack(file, request_, digest_, recipient_.secret, server_.public_key).ok());
  file[kDigit] = '2';
  file[kDigit + 2] = 2;
  EXPECT_FALSE(parcel_name(file).ok()) << "there is no server 2";

  Parcel of_three;
  of_three.party = 1;
  for (const SecretVector& key : keys_) of_three.keys.emplace_back(SharedBytes(key.size()));
  file = *pack(of_three, digest_, recipient_.public_key, server_.secret);
  EXPECT_FALSE(opened(file, server_).ok());
  file[kDigit] = '2';
  EXPECT_FALSE(opened(file, server_).ok());
}

// Each octet of what either server says of a key of each enctype, changed. The control: unchanged.
TEST_F(PairParcels, ThatDoNotBelongTogetherNameTheKey) {
  EXPECT_EQ(said(0, [](auto&) {}), "");
  for (const std::size_t p : {0, 1})
    for (std::size_t k = 0; k < keys_.size(); ++k)
      for (std::size_t at = 0; at < keys_[k].size(); ++at)
        for (const std::uint8_t bit : {1, 0x80})
          for (SecretVector HandedPart::*field : {&HandedPart::key, &HandedPart::derived}) {
            const std::string why = said_of(k, p, [&](auto& part) { ((*part).*field)[at] ^= bit; });
            EXPECT_EQ(why.find(label_of(request_.keys[k]) + ": "), 0u) << why;
            EXPECT_NE(why.find("do not belong together"), std::string::npos) << why;
          }
}

TEST_F(PairParcels, ThatDifferInWhatTheyAreOfNameTheKey) {
  for (const std::size_t p : {0, 1}) {
    EXPECT_NE(said(p, [](auto& part) { ++part->usage; }).find("key usages"), std::string::npos);
    EXPECT_NE(said(p, [](auto& part) { part.reset(); }).find("this key stays"), std::string::npos);
    const std::string moved = said(p, [](auto& part) { ++part->version; });
    EXPECT_NE(moved.find("odd\\ name@A.TEST"), std::string::npos) << moved;
    EXPECT_NE(moved.find("moved this key meanwhile"), std::string::npos) << moved;
    EXPECT_NE(said(p, [&](auto& part) { part = parcels_[p].keys[2]; }), "") << "another key's";
  }
}

// Both changed in the same way are still not the key's own Ke.
TEST_F(PairParcels, ThatBothSayAnotherUsageAreRefused) {
  for (PairParcel& parcel : parcels_) ++parcel.keys[1]->usage;
  auto keys = combine(request_, parcels_);
  ASSERT_FALSE(keys.ok());
  EXPECT_NE(keys.error().message.find("do not belong together"), std::string::npos);
}

// What a server can do that knows a key, and cannot where it guesses wrong: the bound of the check.
// By AES (enctypes 17 and 18), and by HMAC (19 and 20).
TEST_F(PairParcels, AKeyThatALiarKnowsIsItsOwnToChange) {
  const auto replace = [&](std::size_t k, std::optional<HandedPart>& part,
                           const SecretVector& guess) {
    const std::uint32_t enctype = request_.keys[k].enctype;
    SecretVector moved = guess;
    moved[0] ^= 1;
    auto before = encryption_key_of(enctype, guess, kUsage),
         after = encryption_key_of(enctype, moved, kUsage);
    ASSERT_TRUE(before.ok() && after.ok());
    part->key[0] ^= 1;
    xor_bytes(part->derived.data(), before->data(), before->size());
    xor_bytes(part->derived.data(), after->data(), after->size());
  };
  for (const std::size_t p : {0, 1})
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      EXPECT_EQ(said_of(k, p, [&](auto& part) { replace(k, part, keys_[k]); }), "");
      SecretVector wrong = keys_[k];
      wrong.back() ^= 1;
      const std::string why = said_of(k, p, [&](auto& part) { replace(k, part, wrong); });
      EXPECT_NE(why.find("do not belong"), std::string::npos) << request_.keys[k].enctype;
    }
}

// No more than one, whatever else does not fit.
TEST_F(PairParcels, NameTheFirstKeyAlone) {
  for (auto& part : parcels_[0].keys) part->key[0] ^= 1;
  auto keys = combine(request_, parcels_);
  ASSERT_FALSE(keys.ok());
  EXPECT_NE(keys.error().message.find("alice@A.TEST"), std::string::npos);
  EXPECT_EQ(keys.error().message.find("odd\\ name"), std::string::npos);
}

}  // namespace
}  // namespace tkdc
