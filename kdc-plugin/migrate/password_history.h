// SPDX-License-Identifier: Apache-2.0
// libkadm5's record of an entry's password history, to be changed and written again: keys under
// kadmin/history's key become handles, and handles such keys. Passwords keep their places and keys
// theirs, so that libkadm5srv's queue of them stays what it is.
//
// Pure functions; the record comes from the database and every length is checked
// (kdb/history_record.h). Nothing in it is secret without kadmin/history's key.
#pragma once

#include <optional>
#include <vector>

#include "base/secret.h"
#include "migrate/kdb.h"

// After libkdb5's header, which is C's.
#include "kdb/history_record.h"

namespace tkdc::migrate {

// As it is stored.
struct RememberedKey {
  history_form form = HISTORY_STOCK;
  std::uint32_t version = 1;  // 2: with a salt
  std::uint32_t kvno = 0;
  std::int32_t enctype = 0;
  std::uint32_t salt_type = 0;
  Bytes octets, salt;
  tkdc_wire_key handle{};  // of HISTORY_HANDLE
};

class PasswordHistory {
 public:
  static constexpr std::size_t kMaxBytes = UINT16_MAX;  // libkadm5 keeps the length in 16 bits

  // No value: it is malformed. An empty record, or none, remembers nothing.
  static std::optional<PasswordHistory> read(ByteSpan record);
  static std::optional<PasswordHistory> of(const krb5_db_entry* entry);

  Bytes encode() const;
  std::size_t bytes() const;
  // Drops the oldest passwords until the record fits: how many.
  std::size_t fit();
  // The places of those that fit() would drop if every stock key were a handle or none.
  std::vector<std::size_t> without_room() const;

  std::uint32_t history_kvno = 0;  // of kadmin/history's key
  std::vector<std::vector<RememberedKey>> passwords;

 private:
  Bytes header_;  // version, policy's name, attributes
  std::uint32_t next_ = 0;
};

// In the form that ktkdc.so stores, without a salt. Without a handle: equal to none.
void remember(RememberedKey& key, const tkdc_wire_key* handle);
// As stock libkadm5srv does; takes what `stored` holds.
void remember(RememberedKey& key, const krb5_key_data& stored);

}  // namespace tkdc::migrate
