// SPDX-License-Identifier: Apache-2.0
// What somebody with the disk can do to a store: every change is noticed when
// the record is used, and named.
#include <algorithm>
#include <functional>

#include "base/hex.h"
#include "scratch_store.h"
#include "service/store/lmdb.h"
#include "service/store/store_cipher.h"
#include "service/store/tables.h"

namespace tkdc {
namespace {

class TamperTest : public ScratchStore {
 protected:
  // Runs `change` on a table of the closed store, as an attacker would.
  void raw(const char* table, const std::function<void(MDB_txn*, MDB_dbi)>& change) {
    store_.reset();
    MDB_env* env = nullptr;
    ASSERT_EQ(mdb_env_create(&env), 0);
    mdb_env_set_maxdbs(env, 8);
    mdb_env_set_mapsize(env, options_.map_bytes);
    ASSERT_EQ(mdb_env_open(env, options_.path.c_str(), 0, 0600), 0);
    MDB_txn* txn = nullptr;
    MDB_dbi dbi = 0;
    ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
    ASSERT_EQ(mdb_dbi_open(txn, table, 0, &dbi), 0);
    change(txn, dbi);
    ASSERT_EQ(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
  }

  static Bytes value_of(MDB_txn* txn, MDB_dbi dbi, ByteSpan name) {
    MDB_val k = lmdb_val(name), v{};
    EXPECT_EQ(mdb_get(txn, dbi, &k, &v), 0);
    ByteSpan octets = lmdb_span(v);
    return {octets.begin(), octets.end()};
  }

  static void write(MDB_txn* txn, MDB_dbi dbi, ByteSpan name, ByteSpan value) {
    MDB_val k = lmdb_val(name), v = lmdb_val(value);
    EXPECT_EQ(mdb_put(txn, dbi, &k, &v, 0), 0);
  }

  void expect_refused(std::uint32_t number, const std::string& what) {
    auto got = store_->get(id_of(number));
    ASSERT_FALSE(got.ok()) << what;
    EXPECT_NE(got.error().message.find(to_hex(id_of(number))), std::string::npos) << what;
  }
};

TEST_F(TamperTest, EveryFlippedOctetIsNoticed) {
  open();
  add(1);
  Bytes original;
  raw("committed", [&](MDB_txn* t, MDB_dbi d) { original = value_of(t, d, id_of(1)); });
  for (std::size_t at = 0; at < original.size(); at += at < 60 ? 1 : 37) {
    Bytes changed = original;
    changed[at] ^= 0x20;
    raw("committed", [&](MDB_txn* t, MDB_dbi d) { write(t, d, id_of(1), changed); });
    open();
    expect_refused(1, "octet " + std::to_string(at));
  }
  for (std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{40}, original.size() - 1}) {
    Bytes cut(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(length));
    raw("committed", [&](MDB_txn* t, MDB_dbi d) { write(t, d, id_of(1), cut); });
    open();
    expect_refused(1, "cut to " + std::to_string(length));
  }
}

TEST_F(TamperTest, RecordsCannotChangePlaces) {
  open();
  add(1);
  add(2);
  raw("committed", [&](MDB_txn* t, MDB_dbi d) {
    Bytes one = value_of(t, d, id_of(1));
    write(t, d, id_of(2), one);
  });
  open();
  expect_refused(2, "moved to another id");
}

TEST_F(TamperTest, PreparedCannotBeMadeCommitted) {
  open();
  ASSERT_TRUE(store_->prepare(record(3)).ok());
  Bytes prepared;
  raw("prepared", [&](MDB_txn* t, MDB_dbi d) { prepared = value_of(t, d, id_of(3)); });
  raw("committed", [&](MDB_txn* t, MDB_dbi d) { write(t, d, id_of(3), prepared); });
  open();
  expect_refused(3, "moved between tables");
}

TEST_F(TamperTest, AMisnamedHalfMadeKeyIsNoEmptyList) {
  open();
  const Bytes name = {1, 2, 3}, value = {0};
  for (const char* table : {"prepared", "condemned"})
    raw(table, [&](MDB_txn* t, MDB_dbi d) { write(t, d, name, value); });
  open();
  auto prepared = store_->prepared();
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.error().message.find("010203"), std::string::npos) << prepared.error().message;
  EXPECT_FALSE(store_->condemned().ok());
}

TEST_F(TamperTest, OtherPartysRecordIsRefused) {
  without_keyring();
  open();
  add(4);
  Bytes theirs;
  raw("committed", [&](MDB_txn* t, MDB_dbi d) { theirs = value_of(t, d, id_of(4)); });
  // Same store key, so that only the binding to the party can tell.
  options_.party = 2;
  options_.path = directory_ + "/party2";
  without_keyring();
  open();
  add(5);
  raw("committed", [&](MDB_txn* t, MDB_dbi d) { write(t, d, id_of(4), theirs); });
  open();
  expect_refused(4, "another party's");
}

TEST_F(TamperTest, WrongKeyIsNamed) {
  open();
  add(1);
  store_.reset();
  key_.data()[0] ^= 1;
  auto opened = Store::open(options_, key_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("key_file"), std::string::npos) << opened.error().message;
}

TEST_F(TamperTest, ForeignStoreIsNamed) {
  open();
  store_.reset();
  StoreOptions other = options_;
  other.party = 0;
  auto opened = Store::open(other, key_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("party 1"), std::string::npos) << opened.error().message;
  other = options_;
  other.installation.fill(0x22);
  opened = Store::open(other, key_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find(std::string(32, '1')), std::string::npos)
      << opened.error().message;
}

TEST_F(TamperTest, EpochCannotBeForged) {
  open();
  use_epochs(9);
  const std::string name = "epoch";
  ByteSpan epoch{reinterpret_cast<const std::uint8_t*>(name.data()), name.size()};
  raw("meta", [&](MDB_txn* t, MDB_dbi d) {
    Bytes v = value_of(t, d, epoch);
    v.back() ^= 1;
    write(t, d, epoch, v);
  });
  auto opened = Store::open(options_, key_);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("epoch"), std::string::npos);
}

// One number, which may have been used.
TEST_F(TamperTest, TheEpochOfTheFormatBeforeIsTaken) {
  without_keyring();
  open();
  const ByteSpan epoch = octets("epoch");
  const Bytes before{0, 1, 2, 3};
  raw("meta", [&](MDB_txn* t, MDB_dbi d) {
    StoreCipher cipher(key_, options_.installation, options_.party);
    write(t, d, epoch, cipher.encrypt("meta", epoch, {}, before));
  });
  open();
  EXPECT_EQ(store_->epochs(), (Epochs{0, 0x10203, 0x10203, 0, 0}));
}

// The other library opens what the one has sealed, many in a row, and nothing else.
TEST(ManyValuesOfAStore, OpenAsOneDoes) {
  SecretBuffer key(32);
  randombytes_buf(key.data(), key.size());
  const StoreCipher cipher(key, InstallationId{1}, 0);
  const Bytes name(16, 3), header(10, 4);
  ManyValues many;
  const auto nonce_at = 1 + header.size();
  for (const std::size_t bytes : {0, 1, 15, 16, 17, 63, 64, 65, 1000, 4096, 70000}) {
    Bytes plaintext(bytes);
    if (bytes > 0) randombytes_buf(plaintext.data(), plaintext.size());
    Bytes value = cipher.encrypt("committed", name, header, plaintext);
    SecretVector opened;
    ASSERT_TRUE(cipher.decrypt("committed", name, value, opened, StoreCipher::Under::kAny, &many));
    EXPECT_TRUE(std::ranges::equal(opened, plaintext)) << bytes;
    EXPECT_FALSE(cipher.decrypt("prepared", name, value, opened, StoreCipher::Under::kAny, &many));
    for (const std::size_t at : {std::size_t{1}, nonce_at, nonce_at + 20, value.size() - 1}) {
      value[at] ^= 1;
      EXPECT_FALSE(
          cipher.decrypt("committed", name, value, opened, StoreCipher::Under::kAny, &many));
      value[at] ^= 1;
    }
    // Itself, without the other's second opinion.
    const ByteSpan sealed = ByteSpan(value).subspan(nonce_at + 24);
    SecretVector out(bytes);
    EXPECT_FALSE(many.opens(key, value.data() + nonce_at, name, sealed, out));
    Bytes made(bytes + crypto_aead_xchacha20poly1305_ietf_ABYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(made.data(), nullptr, plaintext.data(), bytes,
                                               name.data(), name.size(), nullptr,
                                               value.data() + nonce_at, key.data());
    if (bytes > 0) {
      EXPECT_TRUE(many.opens(key, value.data() + nonce_at, name, made, out));
      EXPECT_TRUE(std::ranges::equal(out, plaintext)) << bytes;
      made[0] ^= 1;
      EXPECT_FALSE(many.opens(key, value.data() + nonce_at, name, made, out));
    }
  }
}

}  // namespace
}  // namespace tkdc
