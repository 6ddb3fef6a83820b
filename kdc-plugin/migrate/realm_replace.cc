// SPDX-License-Identifier: Apache-2.0
// Keys turn into handles: RealmDb's part of `tkdc import`. See realm_db.h.
#include <algorithm>
#include <cstdlib>

#include "api.h"
#include "handle.h"
#include "migrate/realm_db.h"

namespace tkdc::migrate {
namespace {

// An entry's keys as the replacements that were made for them: which were found.
class Replacing {
 public:
  explicit Replacing(const std::vector<Replacement>& keys) : keys_(keys), found_(keys.size()) {}

  // By its octets, not its place. Null: somebody made this key meanwhile.
  const Replacement* find(const Bytes& stored) {
    const Replacement* out = nullptr;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i].stored != stored) continue;
      found_[i] = true;
      out = &keys_[i];
    }
    changed_ = changed_ || out == nullptr;
    return out;
  }

  // Neither a key too many nor one too few.
  bool complete() const {
    return !changed_ && std::ranges::all_of(found_, [](bool found) { return found; });
  }

 private:
  const std::vector<Replacement>& keys_;
  std::vector<bool> found_;
  bool changed_ = false;
};

// What is stored starts with its length before encryption, least octet first.
bool is_plain(const krb5_key_data& kd) {
  if (kd.key_data_ver < 1 || kd.key_data_contents[0] == nullptr || kd.key_data_length[0] < 2)
    return false;
  return (kd.key_data_contents[0][0] | kd.key_data_contents[0][1] << 8) != TKDC_HANDLE_BYTES;
}

bool to_be_replaced(const krb5_key_data& kd) {
  return is_plain(kd) && is_served(kd.key_data_type[0]);
}

void free_key_data(krb5_key_data& kd) {
  for (int i = 0; i < kd.key_data_ver && i < KRB5_KDB_V1_KEY_DATA_ARRAY; ++i) {
    std::free(kd.key_data_contents[i]);
    kd.key_data_contents[i] = nullptr;
  }
}

// Legacy keys leave the entry, if its newest version has a key that stays.
void drop_legacy_keys(krb5_db_entry* entry) {
  krb5_key_data* first = entry->key_data;
  krb5_key_data* last = first + entry->n_key_data;
  unsigned newest = 0;
  for (auto* kd = first; kd != last; ++kd) newest = std::max<unsigned>(newest, kd->key_data_kvno);
  const bool has_other = std::any_of(first, last, [&](const krb5_key_data& kd) {
    return kd.key_data_kvno == newest && is_served(kd.key_data_type[0]);
  });
  if (!has_other) return;
  krb5_key_data* kept = first;
  for (auto* kd = first; kd != last; ++kd) {
    if (is_served(kd->key_data_type[0]))
      *kept++ = *kd;
    else
      free_key_data(*kd);
  }
  std::fill(kept, last, krb5_key_data{});
  entry->n_key_data = static_cast<krb5_int16>(kept - first);
}

// Handles, or none, for what the history remembers in stock form: whether there was any.
bool replace_remembered(PasswordHistory& history, Replacing& replacing) {
  bool any = false;
  for (auto& password : history.passwords)
    for (RememberedKey& old : password) {
      if (old.form != HISTORY_STOCK) continue;
      const Replacement* made = replacing.find(old.octets);
      if (made == nullptr) continue;
      remember(old, made->handle ? &*made->handle : nullptr);
      any = true;
    }
  history.fit();
  return any;
}

}  // namespace

// The handle's octets for the key's; version, enctype and salt of the key data stay untouched.
krb5_error_code RealmDb::put_handle(const krb5_keyblock* master, const tkdc_wire_key& handle,
                                    krb5_key_data& kd) {
  std::uint8_t octets[TKDC_HANDLE_BYTES];
  tkdc_handle_encode(octets, &handle);
  if (!tkdc_preload_api.stamp(octets, sizeof octets)) return ENOMEM;
  krb5_keyblock block{};
  block.enctype = kd.key_data_type[0];
  block.length = sizeof octets;
  block.contents = octets;
  krb5_key_data made{};
  const krb5_error_code code =
      krb5_dbe_encrypt_key_data(context_, master, &block, nullptr, kd.key_data_kvno, &made);
  if (code != 0) return code;
  std::free(kd.key_data_contents[0]);
  kd.key_data_contents[0] = made.key_data_contents[0];
  kd.key_data_length[0] = made.key_data_length[0];
  return 0;
}

krb5_error_code RealmDb::put_history(krb5_db_entry* entry, const PasswordHistory& history) {
  Bytes record = history.encode();
  krb5_tl_data tl{};
  tl.tl_data_type = KRB5_TL_KADM_DATA;
  tl.tl_data_length = static_cast<krb5_ui_2>(record.size());
  tl.tl_data_contents = record.data();
  if (!history.passwords.empty()) entry->mask |= KADM5_KEY_HIST;  // what kldap goes by
  return krb5_dbe_update_tl_data(context_, entry, &tl);
}

// Into the entry that was read, which is written if all of it was found.
krb5_error_code RealmDb::put_handles(krb5_db_entry* entry, const std::vector<Replacement>& keys,
                                     Replaced& out) {
  Replacing replacing(keys);
  std::vector<std::pair<krb5_key_data*, const Replacement*>> found;
  for (krb5_int16 i = 0; i < entry->n_key_data; ++i) {
    krb5_key_data& kd = entry->key_data[i];
    if (!to_be_replaced(kd)) continue;
    const Replacement* made = replacing.find(contents_of(kd));
    if (made != nullptr && made->handle) found.emplace_back(&kd, made);
  }
  std::optional<PasswordHistory> history = PasswordHistory::of(entry);
  const bool remembers = history && replace_remembered(*history, replacing);
  out = replacing.complete() ? Replaced::kDone : Replaced::kChanged;
  if (out == Replaced::kChanged) return 0;
  krb5_keyblock* master = nullptr;
  krb5_error_code code = found.empty() ? 0 : krb5_dbe_find_mkey(context_, entry, &master);
  for (const auto& [kd, made] : found)
    if (code == 0) code = put_handle(master, *made->handle, *kd);
  if (code == 0 && remembers) code = put_history(entry, *history);
  return code;
}

Result<Replaced> RealmDb::replace(const std::string& name, const std::vector<Replacement>& keys,
                                  bool drop_legacy) {
  auto entry = get(name);
  if (!entry) return entry.error();
  if (*entry == nullptr) return Replaced::kGone;
  Replaced out = Replaced::kChanged;
  krb5_error_code code = put_handles(*entry, keys, out);
  if (code == 0 && out == Replaced::kDone) {
    if (drop_legacy) drop_legacy_keys(*entry);
    (*entry)->mask |= KADM5_KEY_DATA;  // what kldap goes by
    code = krb5_db_put_principal(context_, *entry);
  }
  krb5_db_free_principal(context_, *entry);
  if (code != 0) return error(name, code);
  return out;
}

}  // namespace tkdc::migrate
