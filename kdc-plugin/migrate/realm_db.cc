// SPDX-License-Identifier: Apache-2.0
#include "migrate/realm_db.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "api.h"
#include "enctype.h"
#include "handle.h"
#include "migrate/realm_module.h"

namespace tkdc::migrate {
namespace {

void wipe(krb5_context context, krb5_keyblock& key) {
  if (key.contents != nullptr) sodium_memzero(key.contents, key.length);
  krb5_free_keyblock_contents(context, &key);
}

struct Visiting {
  const std::function<void(krb5_db_entry*)>& visit;
  std::exception_ptr thrown;
};

// Called from C: nothing may be thrown through libkdb5.
int visit_entry(krb5_pointer arg, krb5_db_entry* entry) {
  auto* visiting = static_cast<Visiting*>(arg);
  try {
    visiting->visit(entry);
  } catch (...) {
    visiting->thrown = std::current_exception();
    return ENOMEM;
  }
  return 0;
}

}  // namespace

bool is_served(std::int32_t enctype) {
  return tkdc_enctype_of(static_cast<std::uint32_t>(enctype)) != nullptr;
}

Bytes contents_of(const krb5_key_data& kd) {
  return {kd.key_data_contents[0], kd.key_data_contents[0] + kd.key_data_length[0]};
}

Holds holds(const Result<std::optional<EntryKeys>>& entry, const tkdc_wire_key& key) {
  if (!entry) return Holds::kUnreadable;
  if (!*entry) return Holds::kNo;
  const bool held = std::ranges::any_of((*entry)->keys, [&](const StoredKey& stored) {
    return stored.is_handle && std::ranges::equal(stored.handle.key_id, key.key_id);
  });
  const bool remembered = std::ranges::any_of((*entry)->remembered, [&](const auto& old) {
    return std::ranges::equal(old.key_id, key.key_id);
  });
  if (held || remembered) return Holds::kYes;
  const bool all_read = (*entry)->trouble.empty() && !(*entry)->history_damaged;
  return all_read ? Holds::kNo : Holds::kUnreadable;
}

std::string enctype_name(std::int32_t enctype) {
  char name[80];
  if (krb5_enctype_to_name(enctype, FALSE, name, sizeof name) != 0) return std::to_string(enctype);
  return std::string(name) + " (" + std::to_string(enctype) + ")";
}

Error RealmDb::error(const std::string& what, krb5_error_code code) const {
  const char* text = krb5_get_error_message(context_, code);
  Error out = fail(what + ": " + text);
  krb5_free_error_message(context_, text);
  return out;
}

Result<std::unique_ptr<RealmDb>> RealmDb::open(const std::string& realm, Purpose purpose) {
  std::unique_ptr<RealmDb> db(new RealmDb());
  if (const krb5_error_code code = kadm5_init_krb5_context(&db->context_); code != 0)
    return fail("krb5.conf or kdc.conf cannot be read (error " + std::to_string(code) + ")");
  if (auto configured = db->configure(realm, purpose); !configured) return configured.error();
  if (auto opened = db->open_with_master_key(purpose); !opened) return opened.error();
  if (auto read = db->take_history_keys({}); !read) return read.error();
  return db;
}

RealmDb::~RealmDb() {
  if (context_ == nullptr) return;
  wipe(context_, master_key_);
  forget_history_keys();
  krb5_free_principal(context_, master_);
  if (open_) krb5_db_fini(context_);
  krb5_free_context(context_);
}

Result<void> RealmDb::configure(const std::string& realm, Purpose purpose) {
  kadm5_config_params wanted{}, params{};
  std::string name = realm;
  if (!name.empty()) {
    wanted.mask = KADM5_CONFIG_REALM;
    wanted.realm = name.data();
  }
  bool logged = false;
  krb5_error_code code = kadm5_get_config_params(context_, 1, &wanted, &params);
  if (code == 0) {
    logged = params.iprop_enabled != 0;
    realm_ = params.realm;
    database_ = params.dbname == nullptr ? "" : params.dbname;
    stash_ = params.stash_file == nullptr ? "" : params.stash_file;
    master_name_ = params.mkey_name == nullptr ? "" : params.mkey_name;
    master_enctype_ = params.enctype;
    kadm5_free_config_params(context_, &params);
    code = krb5_set_default_realm(context_, realm_.c_str());
  }
  profile_t profile = nullptr;
  if (code == 0) code = krb5_get_profile(context_, &profile);
  if (code != 0) return error("the realm's configuration cannot be read", code);
  const RealmModule module = module_of_realm(profile, realm_);
  socket_ = module.socket;
  if (!module.database.empty()) database_ = module.database;
  profile_release(profile);
  // libkdb5 logs an entry's keys only where their version numbers change, which they do not here.
  if (logged && purpose != Purpose::kRead)
    return fail("iprop_enable is set for realm " + realm_ +
                ", and the log of incremental propagation would not carry these keys: set it to "
                "false in kdc.conf and restart kadmind; when all is done set it again, restart "
                "kadmind and run `kproplog -R`, so that replicas take the whole database");
  return served_by_ktkdc(module, realm_);
}

Result<void> RealmDb::open_with_master_key(Purpose purpose) {
  const int mode =
      (purpose == Purpose::kRead ? KRB5_KDB_OPEN_RO : KRB5_KDB_OPEN_RW) | KRB5_KDB_SRV_TYPE_ADMIN;
  char keep[] = "keep_displaced";
  char* arguments[] = {keep, nullptr};
  krb5_error_code code =
      krb5_db_open(context_, purpose == Purpose::kExport ? arguments : nullptr, mode);
  if (code != 0) return error("the database of " + realm_ + " cannot be opened", code);
  open_ = true;
  char* name = master_name_.empty() ? nullptr : master_name_.data();
  code = krb5_db_setup_mkey_name(context_, name, realm_.c_str(), nullptr, &master_);
  if (code == 0)
    code = krb5_db_fetch_mkey(context_, master_, master_enctype_, FALSE, FALSE,
                              stash_.empty() ? nullptr : stash_.data(), nullptr, nullptr,
                              &master_key_);
  if (code != 0)
    return error("the master key cannot be had from its stash; `kdb5_util stash` makes one", code);
  code = krb5_db_fetch_mkey_list(context_, master_, &master_key_);
  if (code != 0) return error("the list of master keys cannot be read", code);
  return {};
}

std::string RealmDb::journal_path() const {
  return database_.empty() ? std::string() : database_ + ".tkdc-import";
}

// Empty, or why it cannot be read.
std::string RealmDb::read_key(const krb5_keyblock* master, const krb5_key_data& kd,
                              StoredKey& out) {
  out.kvno = kd.key_data_kvno;
  out.enctype = kd.key_data_type[0];
  out.stored = contents_of(kd);
  krb5_keyblock key{};
  const krb5_error_code code = krb5_dbe_decrypt_key_data(context_, master, &kd, &key, nullptr);
  if (code != 0)
    return error("version " + std::to_string(out.kvno) + ", " + enctype_name(out.enctype), code)
        .message;
  std::uint8_t octets[TKDC_HANDLE_BYTES];
  out.is_handle = key.length == sizeof octets &&
                  tkdc_preload_api.unstamp(key.contents, sizeof octets, octets) &&
                  tkdc_handle_decode(octets, sizeof octets, &out.handle);
  if (!out.is_handle) out.plain.assign(key.contents, key.contents + key.length);
  wipe(context_, key);
  return {};
}

EntryKeys RealmDb::keys_of(krb5_db_entry* entry) {
  EntryKeys out;
  char* text = nullptr;
  if (krb5_unparse_name(context_, entry->princ, &text) != 0) throw std::bad_alloc();
  out.name = text;
  krb5_free_unparsed_name(context_, text);
  out.is_master = krb5_principal_compare(context_, entry->princ, master_) != 0;
  out.may_serve = entry->princ->length == 1 && (entry->attributes & KRB5_KDB_DISALLOW_SVR) == 0;
  read_history(entry, out);
  if (out.is_master || entry->n_key_data == 0) return out;
  krb5_keyblock* master = nullptr;
  if (const krb5_error_code code = krb5_dbe_find_mkey(context_, entry, &master); code != 0) {
    out.trouble = error("its master key", code).message;
    return out;
  }
  for (krb5_int16 i = 0; i < entry->n_key_data; ++i) {
    const krb5_key_data& kd = entry->key_data[i];
    if (kd.key_data_ver < 1 || kd.key_data_contents[0] == nullptr) continue;
    StoredKey key;
    const std::string trouble = read_key(master, kd, key);
    if (!trouble.empty()) out.trouble = trouble;
    out.newest_kvno = std::max(out.newest_kvno, key.kvno);
    out.keys.push_back(std::move(key));
  }
  return out;
}

Result<void> RealmDb::each(const std::function<void(const EntryKeys&)>& visit) {
  const std::function<void(krb5_db_entry*)> entry = [&](krb5_db_entry* e) { visit(keys_of(e)); };
  Visiting visiting{entry, nullptr};
  const krb5_error_code code = krb5_db_iterate(context_, nullptr, visit_entry, &visiting, 0);
  if (visiting.thrown) std::rethrow_exception(visiting.thrown);
  if (code != 0) return error("the database cannot be read to its end", code);
  return {};
}

// Null: no such principal.
Result<krb5_db_entry*> RealmDb::get(const std::string& name) {
  krb5_principal principal = nullptr;
  krb5_db_entry* entry = nullptr;
  krb5_error_code code = krb5_parse_name(context_, name.c_str(), &principal);
  if (code == 0) code = krb5_db_get_principal(context_, principal, 0, &entry);
  krb5_free_principal(context_, principal);
  if (code == KRB5_KDB_NOENTRY) return static_cast<krb5_db_entry*>(nullptr);
  if (code != 0) return error(name, code);
  return entry;
}

Result<std::optional<EntryKeys>> RealmDb::read(const std::string& name) {
  auto entry = get(name);
  if (!entry) return entry.error();
  if (*entry == nullptr) return std::optional<EntryKeys>();
  std::optional<EntryKeys> keys = keys_of(*entry);
  krb5_db_free_principal(context_, *entry);
  return keys;
}

Result<bool> RealmDb::lock() {
  const krb5_error_code code = krb5_db_lock(context_, KRB5_DB_LOCKMODE_EXCLUSIVE);
  if (code == KRB5_PLUGIN_OP_NOTSUPP) return false;
  if (code != 0) return error("the database cannot be locked", code);
  return true;
}

void RealmDb::unlock() { (void)krb5_db_unlock(context_); }

}  // namespace tkdc::migrate
