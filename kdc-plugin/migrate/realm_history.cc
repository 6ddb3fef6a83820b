// SPDX-License-Identifier: Apache-2.0
// What password histories remember in stock form, and which of it an import can take along:
// RealmDb's part. See realm_db.h.
#include <algorithm>
#include <new>

#include "enctype.h"
#include "migrate/realm_db.h"

namespace tkdc::migrate {
namespace {

// What is stored starts with the key's length, in two octets.
constexpr std::size_t kLengthBytes = 2;

}  // namespace

void RealmDb::forget_history_keys() {
  for (krb5_keyblock& key : history_keys_) {
    sodium_memzero(key.contents, key.length);
    krb5_free_keyblock_contents(context_, &key);
  }
  history_keys_.clear();
}

void RealmDb::keep_history_key(std::int32_t enctype, const SecretVector& key) {
  krb5_keyblock block{};
  block.magic = KV5M_KEYBLOCK;
  block.enctype = enctype;
  block.length = static_cast<unsigned>(key.size());
  block.contents = const_cast<krb5_octet*>(key.data());
  if (krb5_copy_keyblock_contents(context_, &block, &history_keys_.emplace_back()) != 0) {
    history_keys_.pop_back();
    throw std::bad_alloc();
  }
}

// libkadm5srv takes the first key's version and encrypts with that key; it decrypts with any.
Result<void> RealmDb::take_history_keys(const KeyOf& key_of) {
  forget_history_keys();
  auto entry = read(history_principal());
  if (!entry) return entry.error();
  if (!*entry || (*entry)->keys.empty()) return {};
  history_kvno_ = (*entry)->keys.front().kvno;
  for (const StoredKey& key : (*entry)->keys) {
    const SecretVector* plain = key.is_handle ? nullptr : &key.plain;
    KeyId id;
    std::ranges::copy(key.handle.key_id, id.begin());
    if (key.is_handle && key_of) plain = key_of(id).key;
    // One that cannot be read is in the way as any principal's is: the survey says so.
    if (plain != nullptr && !plain->empty()) keep_history_key(key.enctype, *plain);
  }
  return {};
}

// Not through ktkdc.so: neither the key nor what it opens is a handle.
bool RealmDb::open_remembered(const RememberedKey& old, SecretVector& plain) {
  if (old.octets.size() <= kLengthBytes) return false;
  krb5_key_data kd{};
  kd.key_data_ver = 1;
  kd.key_data_kvno = static_cast<krb5_ui_2>(old.kvno);
  kd.key_data_type[0] = static_cast<krb5_int16>(old.enctype);
  kd.key_data_length[0] = static_cast<krb5_ui_2>(old.octets.size());
  kd.key_data_contents[0] = const_cast<krb5_octet*>(old.octets.data());
  return std::ranges::any_of(history_keys_, [&](const krb5_keyblock& history_key) {
    krb5_keyblock key{};
    if (krb5_dbe_def_decrypt_key_data(context_, &history_key, &kd, &key, nullptr) != 0)
      return false;
    plain.assign(key.contents, key.contents + key.length);
    sodium_memzero(key.contents, key.length);
    krb5_free_keyblock_contents(context_, &key);
    return plain.size() == tkdc_enctype_of(static_cast<std::uint32_t>(old.enctype))->key_bytes;
  });
}

void RealmDb::read_history(const krb5_db_entry* entry, EntryKeys& out) {
  history_record record;
  (void)history_record_of(entry, &record);
  for (tkdc_wire_key old; history_record_next(&record, &old);) out.remembered.push_back(old);
  const std::optional<PasswordHistory> history = PasswordHistory::of(entry);
  out.history_damaged = !history;
  if (!history) return;
  const std::vector<std::size_t> without_room = history->without_room();
  for (std::size_t i = 0; i < history->passwords.size(); ++i) {
    const bool room = std::ranges::find(without_room, i) == without_room.end();
    const bool handle = std::ranges::any_of(
        history->passwords[i], [](const RememberedKey& old) { return old.form == HISTORY_HANDLE; });
    for (const RememberedKey& old : history->passwords[i]) {
      if (old.form != HISTORY_STOCK) continue;
      RememberedPlain& found = out.remembered_plain.emplace_back();
      found.password = i;
      found.beside_handle = handle;
      found.key.kvno = old.kvno;
      found.key.enctype = old.enctype;
      found.key.stored = old.octets;
      if (history->history_kvno != history_kvno_)
        found.loss = Loss::kOtherVersion;
      else if (!is_served(old.enctype))
        found.loss = Loss::kLegacy;
      else if (!open_remembered(old, found.key.plain))
        found.loss = Loss::kUnreadable;
      else if (!room)
        found.loss = Loss::kNoRoom;
    }
  }
}

}  // namespace tkdc::migrate
