// SPDX-License-Identifier: Apache-2.0
// Rows under the store's own key, where all are under a refresh epoch's: whoever has that key, and
// can write the database, brings none into a backup, nor to where the server reads it. He may write
// all that the database says of its keys, too. The file `keys` is not his.
#include "epoch_keys.h"
#include "service/store/store_snapshot.h"

namespace tkdc {
namespace {

class BareRows : public EpochKeys {
 protected:
  // What a backup would hold, or why there is none.
  std::string backup() {
    store_.reset();
    auto taken = StoreSnapshot::take(options_, key_);
    if (!taken.ok()) return taken.error().message;
    std::size_t rows = 0;
    auto seen = (*taken)->each([&](const StoredValue& value) -> Result<void> {
      const bool macs = value.kind == ValueKind::kMacs;
      const bool mac_keys = value.kind == ValueKind::kMeta &&
                            std::ranges::equal(value.name, tkdc::octets("mac keys"));
      EXPECT_TRUE(!mac_keys || std::ranges::equal(value.plain, mac_keys_));
      if (macs || mac_keys || value.kind == ValueKind::kRecord) ++rows;
      return {};
    });
    return seen.ok() ? std::to_string(rows) + " rows" : seen.error().message;
  }
  void expect_refused(const std::string& said) {
    EXPECT_NE(said.find("run this again"), std::string::npos) << said;
  }
  void write(Tables::Table table, ByteSpan name, const Bytes& value) {
    store_.reset();
    auto tables = open_lmdb_tables(options_.path, options_.map_bytes);
    ASSERT_TRUE(tables.ok());
    Txn txn(**tables, true);
    ASSERT_EQ(txn->put(table, name, value), 0);
    ASSERT_EQ(txn->commit(), 0);
  }
  Bytes under_stores_key(std::string_view table, ByteSpan name, ByteSpan plain) const {
    return store_cipher(keys(), owner()).encrypt(table, name, {}, plain);
  }
  void put_bare_mac_keys() {
    const ByteSpan name = tkdc::octets("mac keys");
    write(Tables::kMeta, name, under_stores_key("meta", name, mac_keys_));
  }
  void name_keys(const StoredRefresh& refresh) {
    const ByteSpan name = tkdc::octets("refresh");
    write(Tables::kMeta, name, under_stores_key("meta", name, encode_refresh(refresh)));
  }
  void start(bool as_before) {
    store_.reset();
    fs::remove_all(options_.path);
    as_before ? fill_as_before() : fill();
  }
  static constexpr const char* kWhole = "7 rows";  // three keys, their MACs, and the MAC keys
};

TEST_F(BareRows, GetIntoNoBackup) {
  ASSERT_NO_FATAL_FAILURE(start(false));
  ASSERT_EQ(backup(), kWhole);
  put_under_stores_key(Tables::kCommitted, 1);
  expect_refused(backup());

  ASSERT_NO_FATAL_FAILURE(start(false));
  put_bare_mac_keys();
  expect_refused(backup());
  EXPECT_FALSE(keys().bare_rows);
  open();
  EXPECT_FALSE(store_->macs()->keys().ok()) << "nor does the server read them";

  ASSERT_NO_FATAL_FAILURE(start(true));
  EXPECT_EQ(backup(), kWhole) << "the control: a store without an epoch's key has all under it";
  put_under_stores_key(Tables::kCommitted, 1);
  put_bare_mac_keys();
  EXPECT_EQ(backup(), kWhole);
}

TEST_F(BareRows, OfAStoreOfOneLevelGetIntoABackup) {
  without_keyring();
  fill();
  EXPECT_EQ(backup(), kWhole);
  open();
  ASSERT_TRUE(refresh_to_end(*store_, all(2)).ok());
  EXPECT_EQ(backup(), kWhole);
}

// All are under the store's key before the first refresh ends, and none from tidy() on.
TEST_F(BareRows, GetIntoABackupUntilTheFirstRefreshHasEnded) {
  ASSERT_NO_FATAL_FAILURE(start(true));
  ASSERT_TRUE(store_->refresh()->begin().ok());
  ASSERT_TRUE(store_->refresh()->add(all(2)).ok());
  EXPECT_TRUE(keys().bare_rows);
  EXPECT_EQ(backup(), kWhole) << "while it grows";
  open();
  ASSERT_TRUE(refresh_to_commit(*store_, all(2)).ok());
  EXPECT_NE(backup().find("no session has begun"), std::string::npos);
  open();
  ASSERT_TRUE(store_->refresh()->begun_with().ok());
  EXPECT_EQ(backup(), kWhole) << "MAC keys are under it still";
  put_under_stores_key(Tables::kNext, 1);  // the pair that serves
  expect_refused(backup());

  ASSERT_NO_FATAL_FAILURE(start(true));
  ASSERT_TRUE(refresh_to_end(*store_, all(2)).ok());
  EXPECT_FALSE(keys().bare_rows);
  EXPECT_EQ(backup(), kWhole);
  put_bare_mac_keys();
  expect_refused(backup());
}

// So that no row is left of which a backup, or the server, would lack the key then.
TEST_F(BareRows, OfAStoreWithoutRecordsGoWithTheFirstRefresh) {
  store_.reset();
  fs::create_directories(options_.path);
  ASSERT_TRUE(Keyring(options_.path, owner()).write({draw_store_key(), {}, {}}, {&key_}).ok());
  open();
  ASSERT_TRUE(store_->macs()->set_keys(mac_keys_).ok());
  ASSERT_TRUE(refresh_to_end(*store_, {}).ok());
  EXPECT_FALSE(keys().bare_rows);
  ASSERT_NO_FATAL_FAILURE(open());
  const auto mac_keys = store_->macs()->keys();
  ASSERT_TRUE(mac_keys.ok()) << mac_keys.error().message;
  EXPECT_TRUE(std::ranges::equal(*mac_keys, mac_keys_));
  EXPECT_EQ(backup(), "1 rows");
}

TEST_F(BareRows, GetIntoABackupWhileTheStoresKeysAreChanged) {
  for (const bool as_before : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(start(as_before));
    SecretBuffer next = draw_store_key();
    ASSERT_TRUE(store_->begin_rekey(key_, next).ok());
    EXPECT_EQ(backup(), kWhole);
    put_under_stores_key(Tables::kCommitted, 1);
    EXPECT_EQ(backup(), kWhole);
    open();
    ASSERT_TRUE(rekeyed(*store_, next).ok());
    key_ = std::move(next);
    EXPECT_EQ(backup(), kWhole);
    EXPECT_FALSE(keys().bare_rows);
    put_under_stores_key(Tables::kCommitted, 1);
    expect_refused(backup());
  }
}

// The value that names the keys is under the store's own.
TEST_F(BareRows, AreNotReadWhereTheDatabaseNamesNoKey) {
  ASSERT_NO_FATAL_FAILURE(start(false));
  const EpochKeyId is = keys().epochs.at(0).id;
  for (const EpochKeyId& other : {is, EpochKeyId{}}) {
    StoredRefresh none;
    none.other_key = other;
    name_keys(none);
    put_under_stores_key(Tables::kCommitted, 1);
    EXPECT_NE(backup().find("lacks the key"), std::string::npos);
    auto opened = Store::open(options_, key_);
    ASSERT_FALSE(opened.ok());
    EXPECT_NE(opened.error().message.find("lacks the key"), std::string::npos);
  }
  StoredRefresh missing;
  missing.key = is;
  missing.other_key = {1, 2, 3};
  name_keys(missing);
  expect_refused(backup());
}

}  // namespace
}  // namespace tkdc
