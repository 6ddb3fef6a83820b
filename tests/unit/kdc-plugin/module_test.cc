// SPDX-License-Identifier: Apache-2.0
// The real ktkdc.so: which requests it sends, which key data it refuses.
#include "module_fixture.h"

namespace tkdc::test {

extern "C" {
// Not const: some tests make it another version's.
__attribute__((visibility("default"))) struct tkdc_preload_api tkdc_test_api __asm__(
    "tkdc_preload_api") = {
    TKDC_PRELOAD_API,
    sizeof(struct tkdc_preload_api),
    TKDC_VERSION,
    configure,
    call,
    installation,
    no,
    nothing,
    nothing,
    serialise,
    was_drawn_here,
    stamp,
    unstamp,
};
}

namespace {

TEST_F(Module, OtherVersionOfThePreloadIsRefused) {
  tkdc_test_api.api++;
  EXPECT_NE(message(open()).find("not of this module's version"), std::string::npos);
  tkdc_test_api.api--;
  tkdc_test_api.version[0]++;
  EXPECT_NE(message(open()).find("not of this module's version"), std::string::npos);
  tkdc_test_api.version[0]--;
  tkdc_test_api.bytes++;
  EXPECT_NE(open(), 0);
  tkdc_test_api.bytes--;
}

TEST_F(Module, OtherVersionOfTheWrappedModuleIsRefused) {
  krb5_free_context(context);
  configure_realm("kdb_other_version");
  EXPECT_NE(message(open()).find("another version of krb5"), std::string::npos);
  krb5_free_context(context);
  configure_realm("ktkdc");  // itself
  EXPECT_NE(open(), 0);
}

TEST_F(Module, DrawnAndImported) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  EXPECT_EQ(asked.back().label, TKDC_ORIGIN_DRAWN);
  EXPECT_EQ(asked.back().data.len, 0U);
  krb5_keysalt salt{};
  ASSERT_EQ(make_key(1, 18, &salt), 0);
  EXPECT_EQ(asked.back().label, TKDC_ORIGIN_IMPORTED);
  EXPECT_EQ(asked.back().data.len, 32U);
  drawn_here = false;  // no salt, but brought along by somebody
  ASSERT_EQ(make_key(1, 17), 0);
  EXPECT_EQ(asked.back().label, TKDC_ORIGIN_IMPORTED);
  EXPECT_EQ(asked.back().data.len, 16U);
  ASSERT_EQ(make_key(1, 19), 0);
  EXPECT_EQ(asked.back().data.len, 16U);
  ASSERT_EQ(make_key(1, 20), 0);
  EXPECT_EQ(asked.back().data.len, 32U);
  const std::size_t staged = asked.size();
  for (krb5_enctype legacy : {16, 23, 25, 26})
    EXPECT_NE(message(make_key(1, legacy)).find("To migrate"), std::string::npos) << legacy;
  EXPECT_EQ(asked.size(), staged);
}

TEST_F(Module, PutBindsAndGetMarks) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  ASSERT_EQ(put("alice"), 0);
  EXPECT_EQ(count(TKDC_OP_BIND), 1U);
  trailer t{};
  ASSERT_TRUE(trailer_get(&kd, &t));  // the caller's entry stays usable
  EXPECT_EQ(t.state, TRAILER_BOUND);
  ASSERT_EQ(put("alice"), 0);
  EXPECT_EQ(count(TKDC_OP_BIND), 1U);
  EXPECT_EQ(count(TKDC_OP_DESTROY), 0U);

  krb5_db_entry* got = nullptr;
  ASSERT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &got), 0);
  expect_bound(got->key_data[0], 1);

  // The stored form has no mark; without one a handle is not given out.
  krb5_key_data bare = got->key_data[0];
  trailer_hide(&bare);
  EXPECT_EQ(bare.key_data_length[0], 190);
  krb5_keyblock key{};
  EXPECT_NE(krb5_dbe_decrypt_key_data(context, &mkey, &bare, &key, nullptr), 0);
  krb5_db_free_principal(context, got);
}

TEST_F(Module, CopiedKeyDataIsRefused) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  ASSERT_EQ(put("alice"), 0);
  krb5_db_entry* got = nullptr;
  ASSERT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &got), 0);
  const krb5_key_data own = kd;
  kd = got->key_data[0];
  EXPECT_NE(message(put("bob")).find("belongs to another principal"), std::string::npos);
  kd.key_data_kvno = 9;
  EXPECT_NE(message(put("alice")).find("cannot be changed"), std::string::npos);
  krb5_db_free_principal(context, got);
  kd = own;
  EXPECT_EQ(krb5_db_get_principal(context, principal("bob"), 0, &got), KRB5_KDB_NOENTRY);
}

TEST_F(Module, NothingIsWrittenWhenBindingFails) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  refuse_all = true;
  EXPECT_EQ(put("alice"), KRB5KDC_ERR_SVC_UNAVAILABLE);
  krb5_db_entry* got = nullptr;
  EXPECT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &got), KRB5_KDB_NOENTRY);
  EXPECT_EQ(make_key(2), KRB5KDC_ERR_SVC_UNAVAILABLE);
}

TEST_F(Module, AnAnswerToSomethingElseBindsNothing) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  bind_with_body = true;
  EXPECT_NE(message(put("alice")).find("malformed answer"), std::string::npos);
  krb5_db_entry* got = nullptr;
  EXPECT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &got), KRB5_KDB_NOENTRY);
}

// What was bound before is destroyed under the principal's name, the rest as what it is: staged.
TEST_F(Module, AllKeysOfAnEntryAreBoundOrNone) {
  open_realm();
  krb5_keysalt salt{};
  krb5_key_data keys[3]{};
  for (int i = 0; i < 3; i++) {
    ASSERT_EQ(make_key(1, i == 0 ? 18 : 17, &salt), 0);
    std::swap(keys[i], kd);
  }
  krb5_db_entry entry = entry_of("alice", 3);
  entry.key_data = keys;
  refuse_bind_from = 2;
  EXPECT_EQ(krb5_db_put_principal(context, &entry), KRB5_KDB_UNAUTH);
  EXPECT_EQ(count(TKDC_OP_BIND), 2U);
  EXPECT_TRUE(destroyed(next_id - 2, true));
  EXPECT_FALSE(destroyed(next_id - 1, true)) << "an entry may have it";
  EXPECT_TRUE(destroyed(next_id - 1, false));
  EXPECT_TRUE(destroyed(next_id, false));
  EXPECT_EQ(count(TKDC_OP_DESTROY), 3U);
  trailer t{};
  for (const krb5_key_data& key : keys) {
    ASSERT_TRUE(trailer_get(&key, &t));
    EXPECT_EQ(t.state, TRAILER_FRESH) << "or it could be put though it is gone";
  }
  krb5_db_entry* got = nullptr;
  EXPECT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &got), KRB5_KDB_NOENTRY);
  for (krb5_key_data& key : keys) krb5_dbe_free_key_data_contents(context, &key);
}

// What an administrator's setkey brings, for alice: a key formed like bob's handle, or like one
// that is staged and belongs to nobody yet.
TEST_F(Module, AKeyThatIsFormedLikeAHandleIsNone) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  ASSERT_EQ(put("bob"), 0);
  krb5_keyblock bobs{};
  tkdc_wire_key id{};
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &kd, &bobs, nullptr), 0);
  ASSERT_TRUE(handle_in(bobs, &id));
  krb5_key_data made{};
  ASSERT_EQ(krb5_dbe_encrypt_key_data(context, &mkey, &bobs, nullptr, 1, &made), 0)
      << "the control";
  krb5_dbe_free_key_data_contents(context, &made);
  asked.clear();
  for (const bool bound : {true, false}) {
    if (!bound) std::memset(id.principal, 0, sizeof id.principal);
    tkdc_handle_encode(bobs.contents, &id);
    made = {};
    const krb5_error_code code =
        krb5_dbe_encrypt_key_data(context, &mkey, &bobs, nullptr, 1, &made);
    EXPECT_EQ(code, KRB5_BAD_KEYSIZE) << message(code);
    // Nor is it the key of a history, under which any key would be remembered.
    made = {};
    EXPECT_NE(krb5_dbe_encrypt_key_data(context, &bobs, &mkey, nullptr, 1, &made), 0);
  }
  EXPECT_TRUE(asked.empty());
  krb5_free_keyblock_contents(context, &bobs);
}

// Whoever writes to the database without K/M cannot make a key of a handle, whose octets are known.
TEST_F(Module, AHandleCutToAKeysLengthIsNoKey) {
  open_realm();
  for (const krb5_ui_2 length : {16, 24, 32}) {
    ASSERT_EQ(make_key(1), 0);
    krb5_key_data stored = kd;
    trailer_hide(&stored);
    ASSERT_EQ(stored.key_data_contents[0][0], TKDC_HANDLE_BYTES);
    stored.key_data_contents[0][0] = static_cast<krb5_octet>(length);
    krb5_keyblock key{};
    const krb5_error_code code = krb5_dbe_decrypt_key_data(context, &mkey, &stored, &key, nullptr);
    EXPECT_EQ(code, KRB5_KDB_CONSTRAINT_VIOLATION) << length;
    EXPECT_EQ(key.contents, nullptr);
    krb5_free_keyblock_contents(context, &key);
  }
}

TEST_F(Module, FreshDrawnKeyIsExportedBoundOneIsNot) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  krb5_keyblock key{};
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &kd, &key, nullptr), 0);
  EXPECT_EQ(key.length, 32U);
  krb5_free_keyblock_contents(context, &key);
  EXPECT_EQ(count(TKDC_OP_EXPORT), 1U);
  ASSERT_EQ(put("alice"), 0);
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &kd, &key, nullptr), 0);
  EXPECT_EQ(key.length, static_cast<unsigned>(TKDC_HANDLE_BYTES));
  krb5_free_keyblock_contents(context, &key);
  EXPECT_EQ(count(TKDC_OP_EXPORT), 1U);
}

TEST_F(Module, ReplacedAndDeletedKeysAreDestroyed) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  ASSERT_EQ(put("alice"), 0);
  ASSERT_EQ(make_key(2), 0);
  ASSERT_EQ(put("alice"), 0);
  ASSERT_EQ(count(TKDC_OP_DESTROY), 1U);
  EXPECT_EQ(asked.back().key.kvno, 1U);
  ASSERT_EQ(krb5_db_delete_principal(context, principal("alice")), 0);
  ASSERT_EQ(count(TKDC_OP_DESTROY), 2U);
  EXPECT_EQ(asked.back().key.kvno, 2U);
}

// A ticket for a user is made with his session key or not at all.
TEST_F(Module, UsersAreNoServices) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  krb5_db_entry user = entry_of("alice", 1), service = entry_of("host/a", 1);
  krb5_db_entry keyless = entry_of("alice", 0), plain = entry_of("alice", 1);
  krb5_key_data before_migration{};
  before_migration.key_data_ver = 1;
  plain.key_data = &before_migration;
  krb5_db_entry nobody{};  // krb5kdc asks with it for S4U2Self
  krb5_kdc_req request{}, to_user{};
  to_user.kdc_options = KDC_OPT_ENC_TKT_IN_SKEY;
  const char* status = nullptr;
  krb5_pa_data** e_data = nullptr;
  auto tgs = [&](krb5_kdc_req& r, krb5_db_entry& server) {
    return krb5_db_check_policy_tgs(context, &r, &server, nullptr, &status, &e_data);
  };
  auto as = [&](krb5_db_entry& server) {
    return krb5_db_check_policy_as(context, &request, &user, &server, 0, &status, &e_data);
  };
  EXPECT_EQ(tgs(request, user), KRB5KDC_ERR_MUST_USE_USER2USER);
  EXPECT_STREQ(status, "SERVER_IS_A_USER");
  EXPECT_EQ(as(user), KRB5KDC_ERR_MUST_USE_USER2USER);
  EXPECT_EQ(tgs(to_user, user), KRB5_PLUGIN_OP_NOTSUPP);  // nothing against it
  for (krb5_db_entry* server : {&service, &keyless, &plain, &nobody}) {
    EXPECT_EQ(tgs(request, *server), KRB5_PLUGIN_OP_NOTSUPP);
    EXPECT_EQ(as(*server), KRB5_PLUGIN_OP_NOTSUPP);
  }
}

}  // namespace
}  // namespace tkdc::test
