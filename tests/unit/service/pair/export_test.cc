// SPDX-License-Identifier: Apache-2.0
// Keys that two services have made leave by both servers' parcels, whatever pool they are of.
#include "service/server/exports.h"

#include "service/export/approver_key.h"
#include "service/store/move_table.h"
#include "two_services.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kNow = 1'800'000'000;

class KeysOfTwoLeave : public testing::Test {
 protected:
  KeysOfTwoLeave() {
    crypto_box_keypair(request_.recipient.data(), recipient_.data());
    request_.installation = kInstallation;
    request_.realm = "R";
    request_.expires_at_s = kNow + 3600;
    for (const std::size_t p : {0, 1})
      approvers_.push_back(
          {"admin" + std::to_string(p), static_cast<int>(p), approver_public_key(seeds_[p])});
  }

  void make(const std::string& principal, std::uint32_t enctype) {
    const Bytes key = random_octets(enctype % 2 == 1 ? 16 : 32);
    const KeyRef ref = two_.make_key(principal, enctype, key);
    request_.keys.push_back({ref.id, ref.kvno, enctype, principal});
    keys_[ref.id] = key;
  }
  // As `tkdc hand-over` at server p.
  PairParcel handed(std::size_t p) {
    std::ranges::sort(request_.keys, {}, &ExportKey::id);
    randombytes_buf(request_.nonce.data(), request_.nonce.size());
    const std::string text = encode(request_);
    const Digest digest = request_digest(text);
    ExportsOptions options;
    options.installation = kInstallation;
    options.party = static_cast<int>(p);
    options.parties = 2;
    options.approvers = approvers_;
    options.used_file = used_requests_file(two_.store_options(p).path);
    std::array<std::uint8_t, 32> public_key{};
    crypto_box_keypair(public_key.data(), options.secret.data());
    options.now_s = [] { return kNow; };
    options.audit = [](const std::string&) { return Result<void>(); };
    options.audit_on_disk = [](const std::vector<std::string>&) { return Result<void>(); };
    Exports exports(std::move(options), two_.store(p));
    std::vector<std::string> approvals;
    for (const SecretBuffer& seed : seeds_) approvals.push_back(encode(approve(digest, seed)));
    auto file = exports.hand_over(text, approvals);
    EXPECT_TRUE(file.ok()) << file.error().message;
    if (!file.ok()) return {};
    auto parcel = unpack_of_two(*file, request_, digest, recipient_, public_key);
    EXPECT_TRUE(parcel.ok()) << parcel.error().message;
    return parcel.ok() ? std::move(*parcel) : PairParcel();
  }
  void expect_all(const std::array<PairParcel, 2>& parcels) {
    auto keys = combine(request_, parcels);
    ASSERT_TRUE(keys.ok()) << keys.error().message;
    for (std::size_t k = 0; k < keys->size(); ++k) {
      ASSERT_TRUE((*keys)[k].has_value());
      const Bytes& key = keys_.at(request_.keys[k].id);
      EXPECT_EQ(*(*keys)[k], SecretVector(key.begin(), key.end())) << request_.keys[k].principal;
    }
  }

  TwoServices two_{512, not_ahead};
  const SecretBuffer seeds_[2] = {draw_approver_seed(), draw_approver_seed()};
  std::vector<Approver> approvers_;
  SecretBuffer recipient_{32};
  ExportRequest request_;
  std::map<KeyId, Bytes> keys_;
};

// Of RFC 3962 and RFC 8009, and of classes whose first key usage is another one; krbtgt's own, too.
// Also when no session is up.
TEST_F(KeysOfTwoLeave, OfBothKindsAndOfEachClass) {
  make("bob@R", 19);
  for (const char* principal :
       {"alice@R", "host/x@R", "krbtgt/R@R", "kadmin/admin@R", "krbtgt/OTHER@R", "kiprop/x@R"})
    make(principal, kEnctype);
  expect_all({handed(0), handed(1)});
  two_.stop();
  expect_all({handed(0), handed(1)});
}

// A record that only one of both stores has moved is said to have moved; and what either has
// changed in its store is found. The control: both moved, and changed back.
TEST_F(KeysOfTwoLeave, NotWithWhatOneServerHasChanged) {
  make("alice@R", kEnctype);
  two_.stop();
  const auto stored = [&](std::size_t p) {
    auto record = two_.store(p).get(request_.keys[0].id);
    EXPECT_TRUE(record.ok());
    return KeyRecord(**record);
  };
  // As its next version, with an octet of a field changed.
  const auto move = [&](std::size_t p, const char* field, std::uint8_t by) {
    KeyRecord record = stored(p);
    ++record.version;
    record.fields.at(field).component[0][3] ^= by;
    MoveTable& moves = *two_.store(p).moves();
    const std::uint32_t number = *moves.last_move() + 1;
    ASSERT_TRUE(moves.prepare_move(number, std::array{record}).ok());
    ASSERT_TRUE(two_.store(p).commit(moves.move_entry(number)).ok());
  };
  const auto said = [&] {
    auto keys = combine(request_, {handed(0), handed(1)});
    return keys.ok() ? "" : keys.error().message;
  };
  for (const std::size_t p : {0, 1})
    for (const char* field : {"key", "u1.ke"}) {
      move(p, field, 4);
      EXPECT_NE(said().find("alice@R"), std::string::npos) << said();
      EXPECT_NE(said().find("different versions"), std::string::npos) << said();
      move(1 - p, field, 0);
      EXPECT_NE(said().find("alice@R"), std::string::npos) << said();
      EXPECT_NE(said().find("do not belong together"), std::string::npos) << said();
      for (const std::size_t q : {0, 1}) move(q, field, p == q ? 4 : 0);
      expect_all({handed(0), handed(1)});
    }
}

}  // namespace
}  // namespace tkdc
