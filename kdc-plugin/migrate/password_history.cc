// SPDX-License-Identifier: Apache-2.0
#include "migrate/password_history.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "be32.h"

namespace tkdc::migrate {
namespace {

constexpr std::size_t kXdrUnit = 4;
constexpr std::size_t kNumbersOfKey = 6;
// next, the key's version, the count of passwords; behind the header.
constexpr std::size_t kNumbersOfRecord = 3;

Bytes bytes_of(const tkdc_span& span) { return {span.data, span.data + span.len}; }

std::size_t padded(std::size_t size) { return (size + kXdrUnit - 1) / kXdrUnit * kXdrUnit; }

void put_number(Bytes& out, std::uint32_t number) {
  std::uint8_t octets[kXdrUnit];
  tkdc_put_u32(octets, number);
  out.insert(out.end(), octets, octets + sizeof octets);
}

void put_octets(Bytes& out, const Bytes& in) {
  put_number(out, static_cast<std::uint32_t>(in.size()));
  out.insert(out.end(), in.begin(), in.end());
  out.resize(out.size() + padded(in.size()) - in.size());
}

void put_key(Bytes& out, const RememberedKey& key) {
  put_number(out, key.version);
  put_number(out, key.kvno);
  put_number(out, static_cast<std::uint32_t>(key.enctype));
  put_number(out, key.salt_type);
  put_number(out, static_cast<std::uint32_t>(key.octets.size()));
  put_number(out, static_cast<std::uint32_t>(key.salt.size()));
  put_octets(out, key.octets);
  put_octets(out, key.salt);
}

std::size_t bytes_of_key(const RememberedKey& key) {
  return kXdrUnit * (kNumbersOfKey + 2) + padded(key.octets.size()) + padded(key.salt.size());
}

}  // namespace

std::optional<PasswordHistory> PasswordHistory::read(ByteSpan record) {
  PasswordHistory out;
  if (record.empty()) return out;
  history_record at;
  if (!history_record_open(&at, record.data(), record.size())) return std::nullopt;
  const std::size_t numbers = kXdrUnit * kNumbersOfRecord;
  out.header_.assign(record.begin(),
                     record.end() - static_cast<std::ptrdiff_t>(at.at.left + numbers));
  out.next_ = at.next;
  out.history_kvno = at.kvno;
  if (at.passwords > at.at.left / kXdrUnit) return std::nullopt;  // each has its number of keys
  out.passwords.resize(at.passwords);
  for (history_key key; history_record_key(&at, &key);) {
    RememberedKey& old = out.passwords[key.password].emplace_back();
    old.form = key.form;
    old.version = key.version;
    old.kvno = key.kvno;
    old.enctype = static_cast<std::int32_t>(key.enctype);
    old.salt_type = key.salt_type;
    old.octets = bytes_of(key.octets);
    old.salt = bytes_of(key.salt);
    old.handle = key.id;
  }
  if (at.at.bad) return std::nullopt;
  return out;
}

std::optional<PasswordHistory> PasswordHistory::of(const krb5_db_entry* entry) {
  const krb5_tl_data* tl = entry->tl_data;
  while (tl != nullptr && tl->tl_data_type != KRB5_TL_KADM_DATA) tl = tl->tl_data_next;
  if (tl == nullptr) return PasswordHistory();
  return read({tl->tl_data_contents, tl->tl_data_length});
}

std::size_t PasswordHistory::bytes() const {
  std::size_t size = header_.size() + kXdrUnit * kNumbersOfRecord;
  for (const auto& password : passwords) {
    size += kXdrUnit;
    for (const RememberedKey& key : password) size += bytes_of_key(key);
  }
  return size;
}

Bytes PasswordHistory::encode() const {
  Bytes out = header_;
  out.reserve(bytes());
  put_number(out, next_);
  put_number(out, history_kvno);
  put_number(out, static_cast<std::uint32_t>(passwords.size()));
  for (const auto& password : passwords) {
    put_number(out, static_cast<std::uint32_t>(password.size()));
    for (const RememberedKey& key : password) put_key(out, key);
  }
  return out;
}

// libkadm5srv writes at `next`, where the oldest stands, and moves on; what follows is younger.
std::size_t PasswordHistory::fit() {
  if (bytes() <= kMaxBytes) return 0;
  const std::size_t oldest = next_ < passwords.size() ? next_ : 0;
  std::rotate(passwords.begin(), passwords.begin() + static_cast<std::ptrdiff_t>(oldest),
              passwords.end());
  next_ = 0;
  std::size_t dropped = 0;
  while (bytes() > kMaxBytes && !passwords.empty()) {
    passwords.erase(passwords.begin());
    ++dropped;
  }
  return dropped;
}

std::vector<std::size_t> PasswordHistory::without_room() const {
  PasswordHistory then = *this;
  for (auto& password : then.passwords)
    for (RememberedKey& key : password)
      if (key.form == HISTORY_STOCK) remember(key, nullptr);
  const std::size_t dropped = then.fit();
  const std::size_t oldest = next_ < passwords.size() ? next_ : 0;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < dropped; ++i) out.push_back((oldest + i) % passwords.size());
  return out;
}

void remember(RememberedKey& key, const tkdc_wire_key* handle) {
  krb5_key_data made{};
  made.key_data_ver = 1;
  if (history_store(handle, static_cast<int>(key.kvno), key.enctype, &made) != 0) {
    std::free(made.key_data_contents[0]);
    throw std::bad_alloc();
  }
  remember(key, made);
  key.form = handle == nullptr ? HISTORY_NONE : HISTORY_HANDLE;
  key.handle = handle == nullptr ? tkdc_wire_key{} : *handle;
}

void remember(RememberedKey& key, const krb5_key_data& stored) {
  const krb5_octet* at = stored.key_data_contents[0];
  key.form = HISTORY_STOCK;
  key.version = static_cast<std::uint32_t>(stored.key_data_ver);
  key.octets.assign(at, at + stored.key_data_length[0]);
  key.salt_type = 0;
  key.salt.clear();
  std::free(stored.key_data_contents[0]);
}

}  // namespace tkdc::migrate
