// SPDX-License-Identifier: Apache-2.0
// The real ktkdc.so in `kdb5_util load -update`: which keys it names as held by no server, and
// refuses, while others are made.
#include <errno.h>

#include "module_fixture.h"

namespace tkdc::test {

namespace {

using Octets = std::vector<std::uint8_t>;

// As service/wire/key_list.h has it: all that there is, of no name.
Octets page_of(const std::vector<std::uint8_t>& first_octets_of_ids) {
  Octets page{0};
  for (const std::uint8_t first : first_octets_of_ids) {
    Octets key(TKDC_WIRE_KEY_ID_BYTES + 12);
    key[0] = first;
    page.insert(page.end(), key.begin(), key.end());
  }
  return page;
}

class Load : public Module {
 protected:
  const std::uint8_t alice = next_id + 1, another = next_id + 2;  // ids

  static void SetUpTestSuite() {
    static char program[] = "kdb5_util";
    program_invocation_short_name = program;
  }

  // alice's entry comes back from a dump; the servers hold nothing of it but what `pages` say.
  std::string said_of_alice(krb5_error_code expected = 0, const char* argument = nullptr) {
    krb5_free_context(context);
    const std::string stash = folder + "/stash";
    configure_realm("kdb_memory", "  key_stash_file = " + stash + "\n");
    open_realm();
    EXPECT_EQ(krb5_db_store_master_key(context, const_cast<char*>(stash.c_str()), principal("K/M"),
                                       1, &mkey, nullptr),
              0);
    EXPECT_EQ(make_key(1), 0);
    EXPECT_EQ(put("alice"), 0);
    EXPECT_EQ(next_id, alice);
    krb5_db_entry* entry = nullptr;
    EXPECT_EQ(krb5_db_get_principal(context, principal("alice"), 0, &entry), 0);
    EXPECT_EQ(krb5_db_delete_principal(context, principal("alice")), 0);
    trailer_hide(entry->key_data);
    krb5_context loading = nullptr;
    EXPECT_EQ(krb5_init_context(&loading), 0);
    char* arguments[] = {const_cast<char*>(argument), nullptr};
    EXPECT_EQ(krb5_db_open(loading, argument == nullptr ? nullptr : arguments, KRB5_KDB_OPEN_RW),
              0);
    testing::internal::CaptureStderr();
    EXPECT_EQ(krb5_db_put_principal(loading, entry), expected);
    krb5_db_entry* written = nullptr;
    loaded = krb5_db_get_principal(loading, principal("alice"), 0, &written) == 0;
    if (loaded) krb5_db_free_principal(loading, written);
    krb5_db_fini(loading);
    krb5_db_free_principal(context, entry);
    krb5_free_context(loading);
    return testing::internal::GetCapturedStderr();
  }

  bool loaded = false;
};

constexpr const char* kNamed = "no server holds version 1, enctype 18, of alice@T";

TEST_F(Load, NamesAndRefusesAKeyThatNoServerHolds) {
  pages = {page_of({another}), page_of({another})};
  const std::string said = said_of_alice(KRB5_KDB_CONSTRAINT_VIOLATION);
  EXPECT_NE(said.find(kNamed), std::string::npos) << said;
  EXPECT_NE(said.find("1 of the keys that are to be loaded"), std::string::npos) << said;
  EXPECT_EQ(count(TKDC_OP_LIST), 2U);
  EXPECT_FALSE(loaded);
}

TEST_F(Load, TakesItWhereItIsTold) {
  pages = {page_of({another}), page_of({another})};
  const std::string said = said_of_alice(0, "load_anyway");
  EXPECT_NE(said.find(kNamed), std::string::npos) << said;
  EXPECT_TRUE(loaded);
}

TEST_F(Load, ComparesAlone) {
  pages = {page_of({another}), page_of({another})};
  const std::string said = said_of_alice(0, "compare_only");
  EXPECT_NE(said.find(kNamed), std::string::npos) << said;
  EXPECT_FALSE(loaded);
}

// The servers had listed theirs when it was made.
TEST_F(Load, NamesNoKeyThatWasMadeMeanwhile) {
  pages = {page_of({}), page_of({alice, another})};
  EXPECT_EQ(said_of_alice(), "");
  EXPECT_EQ(count(TKDC_OP_LIST), 2U);
  EXPECT_TRUE(loaded);
}

TEST_F(Load, ListsOnceWhereNothingIsMissing) {
  pages = {page_of({alice})};
  EXPECT_EQ(said_of_alice(), "");
  EXPECT_EQ(count(TKDC_OP_LIST), 1U);
}

}  // namespace

}  // namespace tkdc::test
