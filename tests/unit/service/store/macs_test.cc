// SPDX-License-Identifier: Apache-2.0
// MACs beside records: written with them, gone with them, in one transaction with others, and not
// to be moved or changed.
#include "scratch_store.h"
#include "service/store/mac_table.h"

namespace tkdc {
namespace {

class Macs : public ScratchStore {
 protected:
  static MacRow row(std::uint8_t octet, std::size_t bytes = 64) {
    MacRow row;
    row.key.fill(octet);
    row.refresh_epoch = octet;
    row.version = 1;
    row.dealing.session.fill(octet);
    row.dealing.lane = 3;
    row.dealing.number = octet;
    for (SecretVector& tag : row.tag) tag.assign(bytes, octet);
    return row;
  }
  void add_with_macs(std::uint32_t number) {
    KeyRecord r = record(number);
    r.macs = std::make_shared<const MacRow>(row(static_cast<std::uint8_t>(number)));
    ASSERT_TRUE(store_->prepare(r).ok());
    ASSERT_TRUE(store_->commit(r.ref.id).ok());
  }
  std::vector<StoredKey> page(std::optional<KeyId> after = std::nullopt, std::size_t most = 100) {
    auto read = store_->macs()->page(after, most);
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read.ok() ? std::move(*read) : std::vector<StoredKey>();
  }
};

TEST_F(Macs, ARowSaysWhatWasPutIn) {
  const MacRow before = row(7);
  MacRow after;
  ASSERT_TRUE(decode_mac_row(encode_mac_row(before), after));
  EXPECT_EQ(after.key, before.key);
  EXPECT_EQ(after.refresh_epoch, before.refresh_epoch);
  EXPECT_EQ(after.version, before.version);
  EXPECT_EQ(after.dealing, before.dealing);
  for (int c = 0; c < 2; ++c) EXPECT_EQ(after.tag[c], before.tag[c]);
}

TEST_F(Macs, OtherOctetsAreNoRow) {
  const SecretVector good = encode_mac_row(row(7));
  MacRow out;
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_FALSE(decode_mac_row(ByteSpan(good).first(bytes), out)) << bytes;
  SecretVector longer = good;
  longer.push_back(0);
  EXPECT_FALSE(decode_mac_row(longer, out));
  SecretVector format = good;
  format[0] ^= 1;
  EXPECT_FALSE(decode_mac_row(format, out));
  MacRow uneven = row(7);
  uneven.tag[1].resize(48);
  EXPECT_FALSE(decode_mac_row(encode_mac_row(uneven), out));
}

TEST_F(Macs, ArePreparedWithTheRecordAndGoWithIt) {
  open();
  add_with_macs(1);
  add(2);
  KeyRecord third = record(3);
  third.macs = std::make_shared<const MacRow>(row(3));
  ASSERT_TRUE(store_->prepare(third).ok());
  open();
  EXPECT_EQ(store_->macs()->rows(), 2u);
  std::vector<StoredKey> keys = page();
  ASSERT_EQ(keys.size(), 2u);  // what is prepared is none yet
  ASSERT_TRUE(keys[0].macs);
  EXPECT_EQ(keys[0].macs->dealing, row(1).dealing);
  EXPECT_EQ(keys[0].record->principal_name, "user1@EXAMPLE.ORG");
  EXPECT_FALSE(keys[1].macs);
  ASSERT_TRUE(store_->abandon(third.ref.id).ok());
  EXPECT_EQ(store_->macs()->rows(), 1u);
  ASSERT_TRUE(store_->destroy(id_of(1)).ok());
  EXPECT_EQ(store_->macs()->rows(), 0u);
}

TEST_F(Macs, ArePutOverOthersInOneTransaction) {
  open();
  add_with_macs(1);
  add(2);
  const NamedMacs rows[] = {{id_of(1), row(9)}, {id_of(2), row(8)}, {id_of(5), row(5)}};
  ASSERT_TRUE(store_->macs()->put(rows).ok());
  open();
  std::vector<StoredKey> keys = page();
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].macs->dealing, row(9).dealing);
  EXPECT_EQ(keys[1].macs->dealing, row(8).dealing);
  EXPECT_EQ(store_->macs()->rows(), 2u);  // the key that is not there has none
}

TEST_F(Macs, PagesAreInOrderAndWhole) {
  open();
  for (std::uint32_t n = 1; n <= 10; ++n) add(n);
  std::vector<std::uint32_t> seen;
  std::optional<KeyId> after;
  for (;;) {
    std::vector<StoredKey> keys = page(after, 3);
    for (const StoredKey& one : keys) seen.push_back(one.record->ref.kvno);
    if (keys.size() < 3) break;
    after = keys.back().record->ref.id;
    // One that goes meanwhile is no hole.
    if (seen.size() == 3) {
      ASSERT_TRUE(store_->destroy(*after).ok());
    }
  }
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST_F(Macs, AFullMapRefusesThemAndKeysCanStillBeCommitted) {
  options_.map_bytes = 2u << 20;
  open();
  for (std::uint32_t n = 1; n <= 8; ++n) add(n);
  ASSERT_TRUE(store_->prepare(record(20)).ok());
  Result<void> last;
  for (int k = 0; k < 400 && last.ok(); ++k) {
    std::vector<NamedMacs> rows;
    for (std::uint32_t n = 1; n <= 8; ++n) rows.push_back({id_of(n), row(9, 4096u * (k + 1u))});
    last = store_->macs()->put(rows);
  }
  ASSERT_FALSE(last.ok());
  EXPECT_NE(last.error().message.find("map_size_mib"), std::string::npos) << last.error().message;
  EXPECT_TRUE(store_->commit(id_of(20)).ok());
  EXPECT_TRUE(store_->destroy(id_of(1)).ok());
}

TEST_F(Macs, KeysAreKept) {
  open();
  auto none = store_->macs()->keys();
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
  const Bytes keys(100, 7);
  ASSERT_TRUE(store_->macs()->set_keys(keys).ok());
  open();
  auto kept = store_->macs()->keys();
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(std::ranges::equal(*kept, keys));
}

}  // namespace
}  // namespace tkdc
