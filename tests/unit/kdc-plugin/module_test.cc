// SPDX-License-Identifier: Apache-2.0
// The real ktkdc.so, loaded by libkdb5, around a database in memory and with
// a preload table of this test's making: which requests it sends, which key
// data it refuses.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
#include <kdb.h>

#include "api.h"
#include "handle.h"
#include "trailer.h"
}

namespace {

std::vector<tkdc_request> asked;
bool drawn_here;
bool refuse_all;
uint8_t next_id;

krb5_error_code configure(krb5_context, const tkdc_preload_config*) { return 0; }

krb5_error_code call(krb5_context, const tkdc_request* request, tkdc_reply* reply) {
  static const uint8_t key[32] = {1, 2, 3};
  *reply = {};
  asked.push_back(*request);
  if (refuse_all)
    return KRB5KDC_ERR_SVC_UNAVAILABLE;
  if (request->op == TKDC_OP_STAGE) {
    uint8_t id[16] = {++next_id};
    tkdc_buffer_put(&reply->body, id, sizeof id);
  } else if (request->op == TKDC_OP_EXPORT) {
    tkdc_buffer_put_bytes(&reply->body, {key, sizeof key});
  }
  return 0;
}

bool installation(uint8_t id[16]) {
  std::memset(id, 0xee, 16);
  return true;
}

bool no() { return false; }

void nothing() {}

krb5_error_code serialise(krb5_context, const uint8_t*, bool* waited) {
  *waited = false;
  return 0;
}

bool was_drawn_here(const krb5_keyblock*) { return drawn_here; }

}  // namespace

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
};
}

namespace {

class Module : public testing::Test {
 protected:
  Module() {
    asked.clear();
    refuse_all = false;
    drawn_here = true;
    configure_realm("kdb_memory");
  }

  ~Module() override {
    for (const char* name : {"alice", "bob", "K/M"})
      if (context)
        krb5_db_delete_principal(context, principal(name));
    if (context) {
      krb5_db_fini(context);
      krb5_dbe_free_key_data_contents(context, &kd);
      krb5_free_keyblock_contents(context, &mkey);
      for (krb5_principal p : principals) krb5_free_principal(context, p);
      krb5_free_context(context);
    }
  }

  void configure_realm(const std::string& wrapped) {
    const std::string path = testing::TempDir() + "/ktkdc-" + wrapped + ".conf";
    std::ofstream(path) << "[libdefaults]\n default_realm = T\n[realms]\n T = {\n"
                        << "  database_module = m\n }\n[dbmodules]\n db_module_dir = " << MODULE_DIR
                        << "\n m = {\n  db_library = ktkdc\n  tkdc_wrapped = " << wrapped
                        << "\n }\n";
    setenv("KRB5_CONFIG", path.c_str(), 1);
    ASSERT_EQ(krb5_init_context(&context), 0);
  }

  krb5_error_code open() { return krb5_db_open(context, nullptr, KRB5_KDB_OPEN_RW); }

  // A realm with a master key in the list of libkdb5.
  void open_realm() {
    ASSERT_EQ(open(), 0) << message(open());
    ASSERT_EQ(krb5_c_make_random_key(context, 18, &mkey), 0);
    krb5_db_entry entry = entry_of("K/M", 1);
    ASSERT_EQ(krb5_dbe_encrypt_key_data(context, &mkey, &mkey, nullptr, 1, &kd), 0);
    EXPECT_TRUE(asked.empty());  // a master key never becomes a handle
    ASSERT_EQ(krb5_db_put_principal(context, &entry), 0);
    krb5_dbe_free_key_data_contents(context, &kd);
    kd = {};
    ASSERT_EQ(krb5_db_fetch_mkey_list(context, principal("K/M"), &mkey), 0);
  }

  std::string message(krb5_error_code code) {
    const char* text = krb5_get_error_message(context, code);
    std::string out = text;
    krb5_free_error_message(context, text);
    return out;
  }

  krb5_principal principal(const char* name) {
    krb5_principal p = nullptr;
    krb5_parse_name(context, name, &p);
    principals.push_back(p);
    return p;
  }

  // An entry with the one key data in `kd`.
  krb5_db_entry entry_of(const char* name, int keys) {
    krb5_db_entry e{};
    e.princ = principal(name);
    e.n_key_data = static_cast<krb5_int16>(keys);
    e.key_data = &kd;
    return e;
  }

  krb5_error_code make_key(int kvno, krb5_enctype enctype = 18, krb5_keysalt* salt = nullptr) {
    krb5_keyblock key{};
    krb5_dbe_free_key_data_contents(context, &kd);
    std::memset(&kd, 0, sizeof kd);
    krb5_c_make_random_key(context, enctype, &key);
    const krb5_error_code code = krb5_dbe_encrypt_key_data(context, &mkey, &key, salt, kvno, &kd);
    krb5_free_keyblock_contents(context, &key);
    return code;
  }

  krb5_error_code put(const char* name) {
    krb5_db_entry entry = entry_of(name, 1);
    return krb5_db_put_principal(context, &entry);
  }

  size_t count(uint8_t op) {
    size_t n = 0;
    for (const tkdc_request& r : asked) n += r.op == op;
    return n;
  }

  krb5_context context = nullptr;
  krb5_keyblock mkey{};
  krb5_key_data kd{};
  std::vector<krb5_principal> principals;  // freed at the end
};

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
  const krb5_error_code code = make_key(1, 20);
  EXPECT_NE(message(code).find("supported_enctypes"), std::string::npos);
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
  krb5_keyblock key{};
  ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, got->key_data, &key, nullptr), 0);
  tkdc_wire_key id{};
  ASSERT_TRUE(tkdc_handle_decode(key.contents, key.length, &id));
  EXPECT_TRUE(tkdc_key_is_bound(&id));
  EXPECT_EQ(id.kvno, 1U);
  krb5_free_keyblock_contents(context, &key);

  // The stored form has no mark; without one a handle is not given out.
  krb5_key_data bare = got->key_data[0];
  trailer_hide(&bare);
  EXPECT_EQ(bare.key_data_length[0], 190);
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

}  // namespace
