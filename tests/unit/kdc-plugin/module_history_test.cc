// SPDX-License-Identifier: Apache-2.0
// The real ktkdc.so under a policy with a password history: what it has the servers compare, which
// entries it refuses, which keys it destroys.
#include "history_fixture.h"
#include "module_fixture.h"

namespace tkdc::test {

namespace {

// As libkadm5srv changes a password under a policy.
class History : public Module {
 protected:
  void SetUp() override {
    open_realm();
    tkdc_wire_key id{};
    id.key_id[0] = 0xaa;
    id.principal[0] = 1;
    tkdc_handle_encode(history_octets, &id);
    stamp(history_octets, sizeof history_octets);
    ASSERT_EQ(make_key(1, 18, &salt), 0);
    ASSERT_EQ(put("alice"), 0);
    remember();
    ASSERT_EQ(make_key(2, 18, &salt), 0);
  }

  ~History() override { krb5_dbe_free_key_data_contents(context, &old); }

  // The present key under kadmin/history's.
  void remember() {
    krb5_keyblock key{};
    ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &kd, &key, nullptr), 0);
    ASSERT_EQ(krb5_dbe_encrypt_key_data(context, &history_key, &key, &salt, 1, &old), 0);
    krb5_free_keyblock_contents(context, &key);
  }

  // Decrypts the new key, then the remembered one: what libkadm5srv would find.
  krb5_error_code compare(bool* same) {
    krb5_keyblock now{}, before{};
    EXPECT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &kd, &now, nullptr), 0);
    const krb5_error_code code =
        krb5_dbe_decrypt_key_data(context, &history_key, &old, &before, nullptr);
    if (code == 0)
      *same = now.enctype == before.enctype && now.length == before.length &&
              std::memcmp(now.contents, before.contents, now.length) == 0;
    krb5_free_keyblock_contents(context, &now);
    krb5_free_keyblock_contents(context, &before);
    return code;
  }

  // libkadm5's record with the remembered key.
  Octets record() {
    const uint8_t* at = old.key_data_contents[0];
    return kadm5_record("p", {{{at, at + old.key_data_length[0]}}});
  }

  uint8_t history_octets[TKDC_HANDLE_BYTES];
  krb5_keyblock history_key{KV5M_KEYBLOCK, 18, TKDC_HANDLE_BYTES, history_octets};
  krb5_keysalt salt{};
  krb5_key_data old{};
};

TEST_F(History, EqualKeysComeOutAsEqualOctets) {
  bool same = true;
  ASSERT_EQ(compare(&same), 0);
  EXPECT_FALSE(same);
  ASSERT_EQ(count(TKDC_OP_EQUAL), 1U);
  EXPECT_EQ(asked.back().key.kvno, 1U);
  EXPECT_NE(asked.back().key.principal[0] | asked.back().key.principal[1], 0) << "alice's";
  EXPECT_EQ(asked.back().data.len, static_cast<size_t>(TKDC_WIRE_KEY_ID_BYTES));
  equal = true;
  ASSERT_EQ(compare(&same), 0);
  EXPECT_TRUE(same);
  EXPECT_EQ(count(TKDC_OP_DESTROY), 1U) << "the new key, which nobody will put";
  EXPECT_EQ(asked.back().key.kvno, 2U);
  ASSERT_EQ(make_key(2, 17, &salt), 0);
  ASSERT_EQ(compare(&same), 0);
  EXPECT_FALSE(same) << "another enctype";
  EXPECT_EQ(count(TKDC_OP_EQUAL), 2U) << "and nobody was asked";
}

// A remembered key names its principal in the clear: as a key of an entry it would be whoever's the
// database's writer likes.
TEST_F(History, ARememberedKeyIsNoKeyOfAnEntry) {
  krb5_keyblock key{};
  for (const krb5_keyblock* master : {&mkey, static_cast<krb5_keyblock*>(nullptr)}) {
    EXPECT_NE(krb5_dbe_decrypt_key_data(context, master, &old, &key, nullptr), 0);
    EXPECT_EQ(key.contents, nullptr);
  }
  krb5_db_entry entry = entry_of("alice", 1);
  krb5_db_entry* got = nullptr;
  ASSERT_EQ(krb5_db_get_principal(context, entry.princ, 0, &got), 0);
  std::swap(got->key_data[0], old);
  EXPECT_NE(krb5_dbe_decrypt_key_data(context, nullptr, &got->key_data[0], &key, nullptr), 0);
  std::swap(got->key_data[0], old);
  krb5_db_free_principal(context, got);
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, &history_key, &old, &key, nullptr), 0)
      << "the control";
  krb5_free_keyblock_contents(context, &key);
}

TEST_F(History, WhatCannotBeComparedIsNotPut) {
  bool same = false;
  refuse_equal = true;
  EXPECT_NE(compare(&same), 0);
  refuse_equal = false;
  EXPECT_NE(message(put("alice")).find("could not be compared"), std::string::npos);
  EXPECT_EQ(count(TKDC_OP_BIND), 1U) << "of the first key";
  EXPECT_EQ(count(TKDC_OP_DESTROY), 1U) << "of the second";
  EXPECT_EQ(asked.back().key.kvno, 2U);
  ASSERT_EQ(make_key(2, 18, &salt), 0);
  ASSERT_EQ(compare(&same), 0);
  EXPECT_EQ(put("alice"), 0);
}

TEST_F(History, AKeyThatTheServersDoNotHoldIsEqualToNone) {
  bool same = true;
  gone = true;
  ASSERT_EQ(compare(&same), 0);
  EXPECT_FALSE(same);
  EXPECT_EQ(put("alice"), 0);
}

// libkadm5srv asks once for each key of kadmin/history, and after a failure goes on.
TEST_F(History, NothingIsAskedTwice) {
  krb5_keyblock now{}, before{};
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &kd, &now, nullptr), 0);
  krb5_free_keyblock_contents(context, &now);
  for (int i = 0; i < 3; i++) {
    ASSERT_EQ(krb5_dbe_decrypt_key_data(context, &history_key, &old, &before, nullptr), 0);
    krb5_free_keyblock_contents(context, &before);
  }
  EXPECT_EQ(count(TKDC_OP_EQUAL), 1U);
  bool same = false;
  refuse_equal = true;
  ASSERT_EQ(make_key(2, 18, &salt), 0);
  for (int i = 0; i < 100; i++) EXPECT_EQ(compare(&same), KRB5KDC_ERR_SVC_UNAVAILABLE);
  EXPECT_EQ(count(TKDC_OP_EQUAL), 2U);
  EXPECT_NE(message(put("alice")).find("could not be compared"), std::string::npos);
}

TEST_F(History, NoKeyIsBoundBeforeAllAreCompared) {
  krb5_key_data keys[2]{}, aes128{};
  bool same = false;
  ASSERT_EQ(make_key(1, 17, &salt), 0);
  ASSERT_EQ(put("bob"), 0);
  std::swap(aes128, old);
  remember();
  std::swap(aes128, old);
  for (int i = 0; i < 2; i++) {
    ASSERT_EQ(make_key(2, i == 0 ? 18 : 17, &salt), 0);
    refused_enctype = 17;
    if (i == 1) std::swap(aes128, old);
    EXPECT_EQ(compare(&same), i == 0 ? 0 : KRB5KDC_ERR_SVC_UNAVAILABLE);
    std::swap(keys[i], kd);
  }
  const size_t bound = count(TKDC_OP_BIND);
  krb5_db_entry entry = entry_of("alice", 2);
  entry.key_data = keys;
  EXPECT_NE(message(krb5_db_put_principal(context, &entry)).find("could not be compared"),
            std::string::npos);
  EXPECT_EQ(count(TKDC_OP_BIND), bound);
  EXPECT_TRUE(destroyed(next_id - 1, false));
  EXPECT_TRUE(destroyed(next_id, false));
  for (krb5_key_data& key : keys) krb5_dbe_free_key_data_contents(context, &key);
  krb5_dbe_free_key_data_contents(context, &aes128);
}

// libkadm5 keeps its record's length in 16 bits.
TEST_F(History, ARecordThatWasCutOffIsNotPutWithANewKey) {
  const uint8_t* at = old.key_data_contents[0];
  const Octets remembered(at, at + old.key_data_length[0]);
  Octets octets = kadm5_record("p", {100, std::vector<Octets>(6, remembered)});
  ASSERT_GT(octets.size(), 65536U);
  krb5_tl_data tl{nullptr, KRB5_TL_KADM_DATA, static_cast<krb5_ui_2>(octets.size()), octets.data()};
  EXPECT_NE(message(put("alice", &tl)).find("shorten -history"), std::string::npos);
  tl.tl_data_length = 0;
  EXPECT_NE(put("alice", &tl), 0);
  EXPECT_EQ(count(TKDC_OP_BIND), 1U) << "of the first key";
  EXPECT_EQ(count(TKDC_OP_DESTROY), 1U);
  octets = record();
  tl = {nullptr, KRB5_TL_KADM_DATA, static_cast<krb5_ui_2>(octets.size()), octets.data()};
  EXPECT_EQ(put("alice", &tl), 0);
}

// As kdb5_util load -update, which has no list of master keys and so cannot read the entry's keys.
TEST_F(History, WithoutMasterKeysNothingRememberedIsDestroyed) {
  Octets octets = record();
  krb5_tl_data tl{nullptr, KRB5_TL_KADM_DATA, static_cast<krb5_ui_2>(octets.size()), octets.data()};
  ASSERT_EQ(put("alice", &tl), 0);
  krb5_context loading = nullptr;
  ASSERT_EQ(krb5_init_context(&loading), 0);
  ASSERT_EQ(krb5_db_open(loading, nullptr, KRB5_KDB_OPEN_RW), 0);
  krb5_db_entry entry = entry_of("alice", 0);
  EXPECT_EQ(krb5_db_put_principal(loading, &entry), 0);
  EXPECT_EQ(count(TKDC_OP_DESTROY), 0U);
  krb5_db_fini(loading);
  krb5_free_context(loading);
}

TEST_F(History, DamagedOnesAreRefusedAndOnesOfBeforeTheImportPassedOver) {
  bool same = true;
  old.key_data_length[0] -= 1;  // no mark: as a stock KDC remembers
  EXPECT_EQ(compare(&same), KRB5_KDB_NO_MATCHING_KEY);
  EXPECT_EQ(count(TKDC_OP_EQUAL), 0U);
  EXPECT_EQ(put("alice"), 0);
}

TEST_F(History, PlainKeysAreRememberedAsNone) {
  const uint8_t octets[32] = {7};
  krb5_keyblock plain{KV5M_KEYBLOCK, 18, 32, const_cast<krb5_octet*>(octets)};
  // libkadm5 reads what it will remember first.
  krb5_key_data present{};
  ASSERT_EQ(krb5_dbe_def_encrypt_key_data(context, &mkey, &plain, nullptr, 1, &present), 0);
  krb5_keyblock read{};
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &present, &read, nullptr), 0);
  krb5_free_keyblock_contents(context, &read);
  krb5_dbe_free_key_data_contents(context, &present);
  const size_t before = asked.size();
  ASSERT_EQ(krb5_dbe_encrypt_key_data(context, &history_key, &plain, &salt, 1, &old), 0);
  EXPECT_EQ(asked.size(), before) << "it is not staged";
  bool same = true;
  ASSERT_EQ(compare(&same), 0);
  EXPECT_FALSE(same);
  EXPECT_EQ(count(TKDC_OP_EQUAL), 0U);
}

// While a realm is imported kadmin/history's key may still be what it was.
TEST_F(History, APlainHistoryKeyServesAsWell) {
  uint8_t octets[32] = {9};
  history_key = {KV5M_KEYBLOCK, 18, sizeof octets, octets};
  krb5_dbe_free_key_data_contents(context, &old);
  old = {};
  krb5_db_entry* got = nullptr;
  ASSERT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &got), 0);
  krb5_keyblock key{};
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, got->key_data, &key, nullptr), 0);
  ASSERT_EQ(krb5_dbe_encrypt_key_data(context, &history_key, &key, &salt, 1, &old), 0);
  krb5_free_keyblock_contents(context, &key);
  krb5_db_free_principal(context, got);
  bool same = false;
  equal = true;
  ASSERT_EQ(compare(&same), 0);
  EXPECT_TRUE(same);
}

// An entry's key in the clear, under kadmin/history's plain key as a stock kadmind remembers it,
// until `tkdc import` takes both along. Meanwhile it is compared here.
class Moving : public History {
 protected:
  void SetUp() override {
    History::SetUp();
    history_key = {KV5M_KEYBLOCK, 18, sizeof history_plain, history_plain};
    krb5_dbe_free_key_data_contents(context, &old);
    old = {};
    ASSERT_EQ(krb5_dbe_def_encrypt_key_data(context, &mkey, &former, nullptr, 1, &present), 0);
  }
  ~Moving() override { krb5_dbe_free_key_data_contents(context, &present); }

  void read_present() {
    krb5_keyblock key{};
    ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &present, &key, nullptr), 0);
    ASSERT_EQ(key.length, former.length);
    krb5_free_keyblock_contents(context, &key);
  }
  krb5_error_code remember_plain() {
    return krb5_dbe_encrypt_key_data(context, &history_key, &former, nullptr, 1, &old);
  }

  uint8_t history_plain[32] = {9}, former_octets[32] = {7};
  krb5_keyblock former{KV5M_KEYBLOCK, 18, sizeof former_octets, former_octets};
  krb5_key_data present{};
};

TEST_F(Moving, AKeyInTheClearIsRememberedAsAStockKadmindDoes) {
  read_present();
  const size_t before = asked.size();
  ASSERT_EQ(remember_plain(), 0);
  EXPECT_EQ(asked.size(), before) << "it is not staged";
  krb5_keyblock key{};
  ASSERT_EQ(krb5_dbe_def_decrypt_key_data(context, &history_key, &old, &key, nullptr), 0);
  ASSERT_EQ(key.length, former.length);
  EXPECT_EQ(std::memcmp(key.contents, former_octets, key.length), 0);
  krb5_free_keyblock_contents(context, &key);
  bool same = true;
  ASSERT_EQ(compare(&same), 0);
  EXPECT_FALSE(same);
  EXPECT_EQ(count(TKDC_OP_EQUAL), 0U);
  EXPECT_EQ(put("alice"), 0);
}

// Whatever a caller takes for kadmin/history's key: only what the database had in the clear already
// is stored so.
TEST_F(Moving, NoOtherKeyGetsThere) {
  ASSERT_EQ(remember_plain(), 0);
  trailer t{};
  ASSERT_TRUE(trailer_get(&old, &t));
  EXPECT_EQ(t.state, TRAILER_HISTORY);
  const uint8_t* at = old.key_data_contents[0];
  EXPECT_TRUE(std::all_of(at, at + TKDC_WIRE_KEY_ID_BYTES, [](uint8_t o) { return o == 0; }));
  read_present();
  former_octets[1] = 1;
  ASSERT_EQ(remember_plain(), 0);
  EXPECT_TRUE(trailer_get(&old, &t));
}

TEST_F(Moving, TheSameKeyAgainComesOutAsEqualOctets) {
  read_present();
  ASSERT_EQ(remember_plain(), 0);
  krb5_dbe_free_key_data_contents(context, &kd);
  kd = {};
  const size_t destroyed_before = count(TKDC_OP_DESTROY);
  ASSERT_EQ(krb5_dbe_encrypt_key_data(context, &mkey, &former, &salt, 2, &kd), 0);
  bool same = false;
  ASSERT_EQ(compare(&same), 0);
  EXPECT_TRUE(same);
  EXPECT_EQ(count(TKDC_OP_EQUAL), 0U);
  EXPECT_EQ(count(TKDC_OP_DESTROY), destroyed_before + 2) << "both keys staged here";
}

TEST_F(History, HandlesStayWhileTheyAreRemembered) {
  Octets octets = record();
  krb5_tl_data tl{nullptr, KRB5_TL_KADM_DATA, static_cast<krb5_ui_2>(octets.size()), octets.data()};
  ASSERT_EQ(put("alice", &tl), 0);
  EXPECT_EQ(count(TKDC_OP_DESTROY), 0U);
  octets.pop_back();  // a record that makes no sense might name anything
  tl.tl_data_length--;
  ASSERT_EQ(put("alice", &tl), 0);
  EXPECT_EQ(count(TKDC_OP_DESTROY), 0U);
  octets = record();
  tl = {nullptr, KRB5_TL_KADM_DATA, static_cast<krb5_ui_2>(octets.size()), octets.data()};
  ASSERT_EQ(put("alice", &tl), 0);
  ASSERT_EQ(put("alice"), 0);
  ASSERT_EQ(count(TKDC_OP_DESTROY), 1U) << "forgotten";
  EXPECT_EQ(asked.back().key.kvno, 1U);
  ASSERT_EQ(put("alice", &tl), 0);
  ASSERT_EQ(krb5_db_delete_principal(context, principal("alice")), 0);
  EXPECT_EQ(count(TKDC_OP_DESTROY), 3U) << "the present one and the remembered one";
}

}  // namespace
}  // namespace tkdc::test
