// SPDX-License-Identifier: Apache-2.0
// The real ktkdc.so, loaded by libkdb5, around a database in memory and with a preload table of
// these tests' making: what it was asked, and what it is to answer.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
#include <kdb.h>

#include "api.h"
#include "handle.h"
#include "trailer.h"
}

#include "support/scratch.h"

namespace tkdc::test {

inline std::vector<tkdc_request> asked;
inline bool drawn_here;
inline bool refuse_all;
inline bool refuse_equal;
inline bool gone;             // the servers hold no key that is to be compared
inline int refused_enctype;   // of EQUAL
inline int refuse_bind_from;  // counted from 1; 0: none
inline bool bind_with_body;   // an answer to something else
inline bool equal;            // what the servers find
inline uint8_t next_id;
// Lists of keys that the servers answer one after the other; then none.
inline std::deque<std::vector<std::uint8_t>> pages;

inline krb5_error_code configure(krb5_context, const tkdc_preload_config*) { return 0; }

inline krb5_error_code call(krb5_context, const tkdc_request* request, tkdc_reply* reply) {
  static const uint8_t key[32] = {1, 2, 3};
  *reply = {};
  asked.push_back(*request);
  if (refuse_all || (refuse_equal && request->op == TKDC_OP_EQUAL))
    return KRB5KDC_ERR_SVC_UNAVAILABLE;
  if (request->op == TKDC_OP_EQUAL && static_cast<int>(request->key.enctype) == refused_enctype)
    return KRB5KDC_ERR_SVC_UNAVAILABLE;
  if (request->op == TKDC_OP_EQUAL && gone) return KRB5_KDB_NO_MATCHING_KEY;
  if (request->op == TKDC_OP_BIND && refuse_bind_from > 0 && --refuse_bind_from == 0)
    return KRB5_KDB_UNAUTH;
  if (request->op == TKDC_OP_BIND && bind_with_body) tkdc_buffer_put_bytes(&reply->body, {key, 1});
  if (request->op == TKDC_OP_STAGE) {
    uint8_t id[16] = {++next_id};
    tkdc_buffer_put(&reply->body, id, sizeof id);
  } else if (request->op == TKDC_OP_EXPORT) {
    tkdc_buffer_put_bytes(&reply->body, {key, sizeof key});
  } else if (request->op == TKDC_OP_LIST && !pages.empty()) {
    tkdc_buffer_put_bytes(&reply->body, {pages.front().data(), pages.front().size()});
    pages.pop_front();
  } else if (request->op == TKDC_OP_EQUAL) {
    const uint8_t octet = equal;
    tkdc_buffer_put_bytes(&reply->body, {&octet, 1});
  }
  return 0;
}

inline bool installation(uint8_t id[16]) {
  std::memset(id, 0xee, 16);
  return true;
}

inline bool no() { return false; }

inline void nothing() {}

inline krb5_error_code serialise(krb5_context, const uint8_t*, bool* waited) {
  *waited = false;
  return 0;
}

inline bool was_drawn_here(const krb5_keyblock*) { return drawn_here; }

// As libtkdc-k5.so's, but for what stands there.
inline constexpr uint8_t kStamp = 0x5a;

inline bool stamp(uint8_t* octets, size_t) {
  std::memset(octets + TKDC_HANDLE_STAMP_AT, kStamp, TKDC_HANDLE_STAMP_BYTES);
  return true;
}

inline bool unstamp(const uint8_t* octets, size_t len, uint8_t* plain) {
  for (size_t i = 0; i < TKDC_HANDLE_STAMP_BYTES; ++i)
    if (octets[TKDC_HANDLE_STAMP_AT + i] != kStamp) return false;
  std::memcpy(plain, octets, len);
  std::memset(plain + TKDC_HANDLE_STAMP_AT, 0, TKDC_HANDLE_STAMP_BYTES);
  return true;
}

// The handle in a key that the module gave out.
inline bool handle_in(const krb5_keyblock& key, tkdc_wire_key* id) {
  uint8_t plain[TKDC_HANDLE_BYTES];
  return key.length == sizeof plain && unstamp(key.contents, sizeof plain, plain) &&
         tkdc_handle_decode(plain, sizeof plain, id);
}

class Module : public testing::Test {
 protected:
  Module() {
    asked.clear();
    pages.clear();
    refuse_all = refuse_equal = bind_with_body = equal = gone = false;
    refused_enctype = refuse_bind_from = 0;
    drawn_here = true;
    configure_realm("kdb_memory");
  }

  ~Module() override {
    for (const char* name : {"alice", "bob", "K/M"})
      if (context) krb5_db_delete_principal(context, principal(name));
    if (context) {
      krb5_db_fini(context);
      krb5_dbe_free_key_data_contents(context, &kd);
      krb5_free_keyblock_contents(context, &mkey);
      for (krb5_principal p : principals) krb5_free_principal(context, p);
      krb5_free_context(context);
    }
    std::filesystem::remove_all(folder);
  }

  void configure_realm(const std::string& wrapped, const std::string& of_realm = "") {
    const std::string path = folder + "/krb5-" + wrapped + ".conf";
    std::ofstream(path) << "[libdefaults]\n default_realm = T\n[realms]\n T = {\n"
                        << of_realm
                        << "  database_module = m\n }\n[dbmodules]\n db_module_dir = " << MODULE_DIR
                        << "\n m = {\n  db_library = ktkdc\n  tkdc_wrapped = " << wrapped
                        << "\n }\n";
    setenv("KRB5_CONFIG", path.c_str(), 1);
    ASSERT_EQ(krb5_init_context(&context), 0);
  }

  krb5_error_code open() { return krb5_db_open(context, nullptr, KRB5_KDB_OPEN_RW); }

  // What a database gives out: a handle that is bound, of this version.
  void expect_bound(const krb5_key_data& stored, std::uint32_t kvno) {
    krb5_keyblock key{};
    ASSERT_EQ(krb5_dbe_decrypt_key_data(context, nullptr, &stored, &key, nullptr), 0);
    tkdc_wire_key id{};
    EXPECT_TRUE(handle_in(key, &id));
    EXPECT_TRUE(tkdc_key_is_bound(&id));
    EXPECT_EQ(id.kvno, kvno);
    krb5_free_keyblock_contents(context, &key);
  }

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

  krb5_error_code put(const char* name, krb5_tl_data* tl = nullptr) {
    krb5_db_entry entry = entry_of(name, 1);
    entry.tl_data = tl;
    entry.n_tl_data = tl ? 1 : 0;
    return krb5_db_put_principal(context, &entry);
  }

  size_t count(uint8_t op) {
    size_t n = 0;
    for (const tkdc_request& r : asked) n += r.op == op;
    return n;
  }

  // Whether DESTROY was sent for the key with this id, bound or staged.
  bool destroyed(int id, bool bound) {
    for (const tkdc_request& r : asked)
      if (r.op == TKDC_OP_DESTROY && r.key.key_id[0] == id && tkdc_key_is_bound(&r.key) == bound)
        return true;
    return false;
  }

  const std::string folder = tkdc::test::make_scratch("module");  // tests run beside each other
  krb5_context context = nullptr;
  krb5_keyblock mkey{};
  krb5_key_data kd{};
  std::vector<krb5_principal> principals;  // freed at the end
};

}  // namespace tkdc::test
