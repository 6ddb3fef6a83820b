// SPDX-License-Identifier: Apache-2.0
// Handles turn into keys again: RealmDb's part of `tkdc export`. See realm_db.h.
#include <algorithm>
#include <cstdlib>

#include "handle.h"
#include "migrate/realm_db.h"

namespace tkdc::migrate {
namespace {

constexpr unsigned kMaxKvno = UINT16_MAX;

// The octets that `made` holds take the place of the handle's; salt and version stay.
void take_contents(krb5_key_data& kd, krb5_key_data& made) {
  std::free(kd.key_data_contents[0]);
  kd.key_data_contents[0] = made.key_data_contents[0];
  kd.key_data_length[0] = made.key_data_length[0];
}

void free_contents(krb5_key_data& kd) {
  for (krb5_octet*& contents : kd.key_data_contents) {
    std::free(contents);
    contents = nullptr;
  }
}

unsigned newest_version(const krb5_db_entry* entry) {
  unsigned newest = 0;
  for (krb5_int16 i = 0; i < entry->n_key_data; ++i)
    newest = std::max<unsigned>(newest, entry->key_data[i].key_data_kvno);
  return newest;
}

}  // namespace

// Never through ktkdc.so, which would make a handle of it.
krb5_error_code RealmDb::encrypt_plain(const krb5_keyblock* master, const krb5_key_data& like,
                                       unsigned kvno, const SecretVector& key,
                                       krb5_key_data& made) {
  krb5_keyblock block{};
  block.magic = KV5M_KEYBLOCK;
  block.enctype = like.key_data_type[0];
  block.length = static_cast<unsigned>(key.size());
  block.contents = const_cast<krb5_octet*>(key.data());
  return krb5_dbe_def_encrypt_key_data(context_, master, &block, nullptr, static_cast<int>(kvno),
                                       &made);
}

bool RealmDb::handle_of(const krb5_keyblock* master, const krb5_key_data& kd, KeyId& id) {
  StoredKey key;
  if (kd.key_data_ver < 1 || kd.key_data_contents[0] == nullptr) return false;
  if (!read_key(master, kd, key).empty() || !key.is_handle) return false;
  std::ranges::copy(key.handle.key_id, id.begin());
  return true;
}

// A version above all others, of the newest one's enctypes and drawn here, before them.
krb5_error_code RealmDb::add_fresh_version(krb5_db_entry* entry, const krb5_keyblock* master) {
  const unsigned newest = newest_version(entry);
  if (newest >= kMaxKvno) return KRB5_KDB_CONSTRAINT_VIOLATION;
  std::vector<krb5_key_data> fresh;
  krb5_error_code code = 0;
  for (krb5_int16 i = 0; code == 0 && i < entry->n_key_data; ++i) {
    const krb5_key_data& like = entry->key_data[i];
    std::size_t bytes = 0, length = 0;
    if (like.key_data_kvno != newest || !is_served(like.key_data_type[0])) continue;
    code = krb5_c_keylengths(context_, like.key_data_type[0], &bytes, &length);
    SecretVector key(length);  // of AES: every octet string is a key
    randombytes_buf(key.data(), key.size());
    krb5_key_data made{};
    if (code == 0) code = encrypt_plain(master, like, newest + 1, key, made);
    if (code == 0) fresh.push_back(made);
  }
  const std::size_t count = static_cast<std::size_t>(entry->n_key_data) + fresh.size();
  krb5_key_data* grown = nullptr;
  if (code == 0) grown = static_cast<krb5_key_data*>(std::calloc(count, sizeof *grown));
  if (grown == nullptr) {
    for (krb5_key_data& kd : fresh) free_contents(kd);
    return code != 0 ? code : ENOMEM;
  }
  std::ranges::copy(fresh, grown);
  std::copy_n(entry->key_data, entry->n_key_data, grown + fresh.size());
  std::free(entry->key_data);
  entry->key_data = grown;
  entry->n_key_data = static_cast<krb5_int16>(count);
  return 0;
}

krb5_error_code RealmDb::put_keys(krb5_db_entry* entry, const KeyOf& key_of, RestoredEntry& out) {
  krb5_keyblock* master = nullptr;
  krb5_error_code code = krb5_dbe_find_mkey(context_, entry, &master);
  const unsigned newest = newest_version(entry);
  bool fresh_needed = false;
  for (krb5_int16 i = 0; code == 0 && i < entry->n_key_data; ++i) {
    krb5_key_data& kd = entry->key_data[i];
    KeyId id;
    if (!handle_of(master, kd, id)) continue;
    const Leaving leaving = key_of(id);
    if (leaving.key == nullptr) {
      ++(leaving.stays ? out.staying : out.unknown);
      fresh_needed = fresh_needed || (leaving.stays && kd.key_data_kvno == newest);
      continue;
    }
    krb5_key_data made{};
    code = encrypt_plain(master, kd, kd.key_data_kvno, *leaving.key, made);
    if (code != 0) break;
    take_contents(kd, made);
    ++out.restored;
  }
  if (code == 0 && fresh_needed) {
    code = add_fresh_version(entry, master);
    out.fresh = code == 0;
  }
  return code;
}

// Under the version of kadmin/history's key that the record names: with another one a stock kadmind
// compares nothing.
krb5_error_code RealmDb::put_remembered(krb5_db_entry* entry, const KeyOf& key_of,
                                        RestoredEntry& out) {
  std::optional<PasswordHistory> history = PasswordHistory::of(entry);
  if (!history) return 0;
  const bool compared = !history_keys_.empty() && history->history_kvno == history_kvno_;
  std::size_t restored = 0;
  for (auto& password : history->passwords)
    for (RememberedKey& old : password) {
      if (old.form != HISTORY_HANDLE) continue;
      KeyId id;
      std::ranges::copy(old.handle.key_id, id.begin());
      const SecretVector* key = compared ? key_of(id).key : nullptr;
      if (key == nullptr) {
        ++out.left_remembered;
        continue;
      }
      krb5_key_data like{}, made{};
      like.key_data_type[0] = static_cast<krb5_int16>(old.enctype);
      const krb5_error_code code =
          encrypt_plain(&history_keys_.front(), like, old.kvno, *key, made);
      if (code != 0) return code;
      remember(old, made);
      ++restored;
    }
  out.restored += restored;
  return restored > 0 ? put_history(entry, *history) : 0;
}

Result<RestoredEntry> RealmDb::restore(const std::string& name, const KeyOf& key_of) {
  RestoredEntry out;
  auto entry = get(name);
  if (!entry) return entry.error();
  if (*entry == nullptr) return out;
  krb5_error_code code = put_keys(*entry, key_of, out);
  if (code == 0) code = put_remembered(*entry, key_of, out);
  (*entry)->mask |= KADM5_KEY_DATA;  // what kldap goes by
  if (code == 0 && (out.restored > 0 || out.fresh)) code = krb5_db_put_principal(context_, *entry);
  krb5_db_free_principal(context_, *entry);
  if (code != 0) return error(name, code);
  return out;
}

Result<std::size_t> RealmDb::drop_handles(const std::string& name) {
  auto entry = get(name);
  if (!entry) return entry.error();
  if (*entry == nullptr) return std::size_t{0};
  krb5_keyblock* master = nullptr;
  krb5_error_code code = krb5_dbe_find_mkey(context_, *entry, &master);
  krb5_key_data* kept = (*entry)->key_data;
  krb5_key_data* const last = kept + (*entry)->n_key_data;
  for (krb5_key_data* kd = kept; code == 0 && kd != last; ++kd) {
    KeyId id;
    if (handle_of(master, *kd, id))
      free_contents(*kd);
    else
      *kept++ = *kd;
  }
  const auto dropped = static_cast<std::size_t>(code == 0 ? last - kept : 0);
  if (code == 0) {
    std::fill(kept, last, krb5_key_data{});
    (*entry)->n_key_data = static_cast<krb5_int16>(kept - (*entry)->key_data);
    (*entry)->mask |= KADM5_KEY_DATA;
  }
  if (dropped > 0) code = krb5_db_put_principal(context_, *entry);
  krb5_db_free_principal(context_, *entry);
  if (code != 0) return error(name, code);
  return dropped;
}

}  // namespace tkdc::migrate
