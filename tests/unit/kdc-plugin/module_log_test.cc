// SPDX-License-Identifier: Apache-2.0
// ktkdc.so and the log of incremental propagation: what kpropd replays, and what does not fit.
#include <cerrno>

#include "module_fixture.h"

namespace tkdc::test {
namespace {

class ModuleLog : public Module {
 protected:
  ~ModuleLog() override { program_invocation_short_name = own_name_; }

  static void become(const char* name) { program_invocation_short_name = const_cast<char*>(name); }

  krb5_key_data copy() const {
    krb5_key_data out = kd;
    out.key_data_contents[0] = static_cast<krb5_octet*>(std::malloc(kd.key_data_length[0]));
    std::memcpy(out.key_data_contents[0], kd.key_data_contents[0], kd.key_data_length[0]);
    return out;
  }

  bool is_there(const char* name) {
    krb5_db_entry* got = nullptr;
    const krb5_error_code code = krb5_db_get_principal(context, principal(name), 0, &got);
    krb5_db_free_principal(context, got);
    return code == 0;
  }

 private:
  char* own_name_ = program_invocation_short_name;
};

// The primary binds; the log has the entry of before. In kpropd it is put as it is, even where the
// servers would refuse everything; what was there before is not destroyed.
TEST_F(ModuleLog, KpropdTakesFreshKeysForBound) {
  open_realm();
  for (int kvno : {1, 2}) {
    ASSERT_EQ(make_key(kvno), 0);
    krb5_key_data logged = copy();
    become("kadmind");
    ASSERT_EQ(put("alice"), 0);
    const size_t before = asked.size();
    krb5_dbe_free_key_data_contents(context, &kd);
    kd = logged;
    become("kpropd");
    refuse_all = true;
    ASSERT_EQ(put("alice"), 0);
    refuse_all = false;
    EXPECT_EQ(asked.size(), before);
  }
  EXPECT_EQ(count(TKDC_OP_BIND), 2U);

  krb5_db_entry* got = nullptr;
  ASSERT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &got), 0);
  expect_bound(got->key_data[0], 2);
  krb5_db_free_principal(context, got);
}

TEST_F(ModuleLog, OtherProgramsBind) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  become("kpropd.real");
  refuse_all = true;
  EXPECT_EQ(put("alice"), KRB5KDC_ERR_SVC_UNAVAILABLE);
  EXPECT_FALSE(is_there("alice"));
  refuse_all = false;
}

TEST_F(ModuleLog, KpropdDeletesInTheDatabaseOnly) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  ASSERT_EQ(put("alice"), 0);
  become("kpropd");
  ASSERT_EQ(krb5_db_delete_principal(context, principal("alice")), 0);
  EXPECT_EQ(count(TKDC_OP_DESTROY), 0U);
  EXPECT_FALSE(is_there("alice"));
  EXPECT_EQ(krb5_db_delete_principal(context, principal("alice")), KRB5_KDB_NOENTRY);
}

TEST_F(ModuleLog, KpropdComparesNames) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  ASSERT_EQ(put("alice"), 0);
  become("kpropd");
  EXPECT_NE(message(put("bob")).find("belongs to another principal"), std::string::npos);
  EXPECT_FALSE(is_there("bob"));
}

class LargeEntry : public ModuleLog {
 protected:
  LargeEntry() : octets_(62400) {
    tl_.tl_data_type = 1000;
    tl_.tl_data_contents = octets_.data();
  }

  krb5_error_code put_with(size_t bytes) {
    tl_.tl_data_length = static_cast<krb5_ui_2>(bytes);
    return put("alice", &tl_);
  }

 private:
  std::vector<krb5_octet> octets_;
  krb5_tl_data tl_{};
};

TEST_F(LargeEntry, GetsNoNewKeysThatTheLogCannotTake) {
  krb5_free_context(context);
  configure_realm("kdb_memory", "  iprop_enable = true\n");
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  EXPECT_NE(message(put_with(62400)).find("has no room"), std::string::npos);
  EXPECT_EQ(count(TKDC_OP_BIND), 0U);
  EXPECT_FALSE(is_there("alice"));
  ASSERT_EQ(put_with(62000), 0);
  ASSERT_EQ(put_with(62400), 0) << "its attributes can be changed at any time";
}

TEST_F(LargeEntry, IsTheDatabasesBusinessWithoutALog) {
  open_realm();
  ASSERT_EQ(make_key(1), 0);
  EXPECT_EQ(put_with(62400), 0);
}

}  // namespace
}  // namespace tkdc::test
