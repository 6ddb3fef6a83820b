// SPDX-License-Identifier: Apache-2.0
// A realm's database as `tkdc import` and `tkdc export` see it: through libkdb5 and ktkdc.so, like
// kadmin.local, with the master key from the stash.
//
// One thread. Secret: StoredKey::plain, where a long-term key stands in the clear, and
// kadmin/history's key, which opens what histories remember; both wiped. Errors name the
// principal or the setting, and what to do.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "migrate/kdb.h"
#include "migrate/password_history.h"
#include "service/wire/message.h"
#include "wire.h"

namespace tkdc::migrate {

// A key of an entry, decrypted under the master key.
struct StoredKey {
  std::uint32_t kvno = 0;
  std::int32_t enctype = 0;
  bool is_handle = false;
  tkdc_wire_key handle{};  // if it is one
  SecretVector plain;      // if it is none
  Bytes stored;            // as it lies in the database; the confounder makes it unique
};

// Why a key that a password history remembers cannot be taken along.
enum class Loss {
  kNone,
  kLegacy,        // its enctype does not exist as shares
  kOtherVersion,  // kadmin/history has another one since: stock kadmind compares nothing with it
  kUnreadable,    // no key of kadmin/history opens it: as before
  kNoRoom,        // as a handle: the oldest of more than an entry's record holds
};

// A key that a password history remembers in stock form.
struct RememberedPlain {
  StoredKey key;
  std::size_t password = 0;    // which one, by its place in the history
  bool beside_handle = false;  // of the same password
  Loss loss = Loss::kNone;
};

// What an entry's keys are, and why they cannot be read if they cannot.
struct EntryKeys {
  std::string name;
  bool is_master = false;  // K/M: its keys stay what they are
  bool may_serve = false;  // a name of one component without DISALLOW_SVR
  std::uint32_t newest_kvno = 0;
  std::vector<StoredKey> keys;
  std::string trouble;
  std::vector<tkdc_wire_key> remembered;          // by its password history, as handles
  std::vector<RememberedPlain> remembered_plain;  // by it, as stock kadmind does
  bool history_damaged = false;
};

// Whether the entry of a name, as RealmDb::read() gave it, has this handle.
enum class Holds { kYes, kNo, kUnreadable };
Holds holds(const Result<std::optional<EntryKeys>>& entry, const tkdc_wire_key& key);

// A key that now exists as shares, in place of the octets `stored`.
struct Replacement {
  Bytes stored;
  // With the principal's digest. None: a remembered key that is forgotten.
  std::optional<tkdc_wire_key> handle;
};

enum class Replaced { kDone, kChanged, kGone };

// What an export knows of a handle: its key, or that it has none to give (own-realm form).
// Neither: the handle was made since the request.
struct Leaving {
  const SecretVector* key = nullptr;
  bool stays = false;
};
using KeyOf = std::function<Leaving(const KeyId&)>;

// Handles of an entry that became keys (those of its history among them), stay, or are unknown;
// those that its history remembers for good; and whether a new version was drawn.
struct RestoredEntry {
  std::size_t restored = 0, staying = 0, unknown = 0, left_remembered = 0;
  bool fresh = false;
};

// What a database is opened for. An export leaves keys whose handles it overwrites at the servers,
// which are not asked at all. The log of incremental propagation would not carry what an import or
// an export writes, so they refuse a realm that keeps one.
enum class Purpose { kRead, kImport, kExport };

class RealmDb {
 public:
  // `realm`: empty for the default one. Changes nothing.
  static Result<std::unique_ptr<RealmDb>> open(const std::string& realm, Purpose purpose);
  ~RealmDb();
  RealmDb(const RealmDb&) = delete;

  const std::string& realm() const { return realm_; }
  // Whose key is that of all password histories.
  std::string history_principal() const { return "kadmin/history@" + realm_; }
  const std::string& agent_socket() const { return socket_; }
  // Beside the database where that is a file.
  std::string journal_path() const;

  // All entries, in the database's order, while it is locked for reading: be quick.
  Result<void> each(const std::function<void(const EntryKeys&)>& visit);
  // No value: there is no such principal any more.
  Result<std::optional<EntryKeys>> read(const std::string& name);

  // Exclusive. False: this kind of database has no lock.
  Result<bool> lock();
  void unlock();
  // In one write: each replacement's octets become its handle, among the keys and in the password
  // history, and with `drop_legacy` keys of other enctypes go where the newest version has a
  // served one. Nothing else of the entry changes. kChanged, and nothing is written: a served or
  // a remembered key is not among the replacements, so somebody made it meanwhile.
  Result<Replaced> replace(const std::string& name, const std::vector<Replacement>& keys,
                           bool drop_legacy);

  // Before restore(): kadmin/history's keys, as the database or `key_of` has them.
  Result<void> take_history_keys(const KeyOf& key_of);
  // In one write: handles become the keys that `key_of` has for them, under the master key, and
  // remembered ones under kadmin/history's as a stock kadmind stores them.
  // Where a handle of the newest version stays, a version is drawn above it (krbtgt).
  Result<RestoredEntry> restore(const std::string& name, const KeyOf& key_of);
  // The handles of an entry go; how many there were.
  Result<std::size_t> drop_handles(const std::string& name);

 private:
  struct Close {
    void operator()(krb5_context context) const;
  };
  RealmDb() = default;
  Result<void> configure(const std::string& realm, Purpose purpose);
  Result<void> open_with_master_key(Purpose purpose);
  void keep_history_key(std::int32_t enctype, const SecretVector& key);
  void forget_history_keys();
  void read_history(const krb5_db_entry* entry, EntryKeys& out);
  bool open_remembered(const RememberedKey& old, SecretVector& plain);
  Error error(const std::string& what, krb5_error_code code) const;
  EntryKeys keys_of(krb5_db_entry* entry);
  std::string read_key(const krb5_keyblock* master, const krb5_key_data& kd, StoredKey& out);
  Result<krb5_db_entry*> get(const std::string& name);
  krb5_error_code put_handle(const krb5_keyblock* master, const tkdc_wire_key& handle,
                             krb5_key_data& kd);
  krb5_error_code put_history(krb5_db_entry* entry, const PasswordHistory& history);
  krb5_error_code put_handles(krb5_db_entry* entry, const std::vector<Replacement>& keys,
                              Replaced& out);
  krb5_error_code put_keys(krb5_db_entry* entry, const KeyOf& key_of, RestoredEntry& out);
  krb5_error_code put_remembered(krb5_db_entry* entry, const KeyOf& key_of, RestoredEntry& out);
  krb5_error_code add_fresh_version(krb5_db_entry* entry, const krb5_keyblock* master);
  krb5_error_code encrypt_plain(const krb5_keyblock* master, const krb5_key_data& like,
                                unsigned kvno, const SecretVector& key, krb5_key_data& made);
  bool handle_of(const krb5_keyblock* master, const krb5_key_data& kd, KeyId& id);

  krb5_context context_ = nullptr;
  std::string realm_, socket_, database_, stash_, master_name_;
  krb5_enctype master_enctype_ = 0;
  krb5_principal master_ = nullptr;
  krb5_keyblock master_key_{};
  // kadmin/history's, in plain: what libkadm5srv tries on what is remembered. They are kept when
  // they have become handles. And the version under which it compares at all.
  std::vector<krb5_keyblock> history_keys_;
  std::uint32_t history_kvno_ = 0;
  bool open_ = false;
};

// Exists as shares (RFC 3962, RFC 8009)?
bool is_served(std::int32_t enctype);
std::string enctype_name(std::int32_t enctype);
// What is stored of a key, with the confounder that makes it unique.
Bytes contents_of(const krb5_key_data& kd);

}  // namespace tkdc::migrate
