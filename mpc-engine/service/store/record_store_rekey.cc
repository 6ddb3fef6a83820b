// SPDX-License-Identifier: Apache-2.0
// The store's keys are changed: a new one is drawn, every value is rewritten under it, and the old
// one is forgotten. Between any two steps the store may be closed, by a crash too, and be used by
// its server or taken up again here: values under either key are read (store_cipher.h).
#include <algorithm>
#include <utility>
#include <vector>

#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr const char* kChanging = "changing the store's keys";

}  // namespace

Result<void> RecordStore::begin_rekey(const SecretBuffer& wrapping, const SecretBuffer& next) {
  std::lock_guard lock(write_mutex_);
  if (!keyring_) return fail("store: " + options_.path + " has no folder for its keys");
  // One that was begun before is ended with the key that was drawn then.
  StoreKeys both = copy_of(keys_);
  if (!both.previous) both.previous = std::exchange(both.current, draw_store_key());
  // Both wrapping keys: which of them the unit has is decided by whoever calls this.
  if (auto written = keyring_->write(both, {&wrapping, &next}); !written) return written;
  keys_ = std::move(both);
  two_levels_ = epoch_keys_ = true;
  use_keys();
  // From here on a release that knows no such keys refuses the store by its format.
  auto said = write(kChanging, [&](Txn& txn) {
    return txn->put(kMeta, meta::kOwner, owner_record(refresh_.is.epoch > 0, has_dropped_));
  });
  return said.ok() ? name_epoch_keys(wrapping, next) : said;
}

// Where shares are under the store's key itself they get keys of epochs: what a later refresh
// replaces would else be under a key that stays. One that nothing names, as a change that was cut
// leaves it, is as good as another: so `keys` does not fill up.
Result<void> RecordStore::name_epoch_keys(const SecretBuffer& wrapping, const SecretBuffer& next) {
  StoreKeys keys = copy_of(keys_);
  Refresh named = refresh_;
  const auto free_key = [&] {
    const auto found = std::ranges::find_if(keys.epochs, [&](const EpochKey& one) {
      return one.id != named.key && one.id != named.other_key;
    });
    return found != keys.epochs.end() ? found->id : keys.epochs.emplace_back(draw_epoch_key()).id;
  };
  if (named.key == EpochKeyId{}) named.key = free_key();
  if (named.other_key == EpochKeyId{} && named.other != Other::kNothing)
    named.other_key = free_key();
  if (named.key == refresh_.key && named.other_key == refresh_.other_key) return {};
  if (auto written = keyring_->write(keys, {&wrapping, &next}); !written) return written;
  keys_ = std::move(keys);
  auto put = change_refresh(kChanging, named);
  use_epoch_keys();
  return put;
}

Result<std::size_t> RecordStore::values_to_rewrite() {
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed(kChanging, txn.begun());
  std::size_t all = 0;
  for (int table = 0; table < kTables; ++table) {
    std::size_t some = 0;
    if (const int rc = txn->count(static_cast<Table>(table), some); rc != 0)
      return failed(kChanging, rc);
    all += some;
  }
  return all;
}

Result<std::size_t> RecordStore::rewrite(std::size_t most, RekeyAt& at) {
  std::lock_guard lock(write_mutex_);
  Txn txn(*tables_, true);
  if (txn.begun() != 0) return failed(kChanging, txn.begun());
  std::size_t seen = 0;
  while (at.table < kTables) {
    auto some = rewrite_table(txn, most - seen, at);
    if (!some) return some.error();
    seen += *some;
    if (seen == most) break;
    at.table++;
    at.name.clear();
  }
  if (int rc = txn->commit(); rc != 0) return failed(kChanging, rc);
  return seen;
}

// From behind `at.name` on, at most so many; `at.name` is then the last one seen.
Result<std::size_t> RecordStore::rewrite_table(Txn& txn, std::size_t most, RekeyAt& at) {
  const auto table = static_cast<Table>(at.table);
  std::vector<std::pair<Bytes, Bytes>> some;
  const ByteSpan behind(at.name);
  const int rc = txn->each(table, [&](ByteSpan name, ByteSpan value) {
    if (!behind.empty() && !std::ranges::lexicographical_compare(behind, name)) return true;
    some.emplace_back(Bytes(name.begin(), name.end()), Bytes(value.begin(), value.end()));
    return some.size() < most;
  });
  if (rc != 0) return failed(kChanging, rc);
  for (const auto& [name, value] : some)
    if (auto done = rewrite_value(txn, table, name, value); !done) return done.error();
  if (!some.empty()) at.name = some.back().first;
  return some.size();
}

Result<void> RecordStore::rewrite_value(Txn& txn, Table table, const Bytes& name, ByteSpan value) {
  if (table == kMeta && std::ranges::equal(name, meta::kOwner)) return {};  // in the clear
  const std::string_view where = Tables::kNames[table];
  const auto rows = row_ciphers();
  const StoreCipher* of_row = rows->of(table, name);
  const StoreCipher& cipher = of_row != nullptr ? *of_row : cipher_;
  SecretVector plain;
  if (cipher.decrypt(where, name, value, plain, StoreCipher::Under::kCurrent)) return {};
  if (!cipher.decrypt(where, name, value, plain)) {
    if (table == kValues) return corrupt_value(name);
    KeyId id{};
    std::copy_n(name.begin(), std::min(name.size(), id.size()), id.begin());
    return corrupt(table, id);
  }
  const ByteSpan header = value.subspan(1, value[0]);
  const int rc = txn->put(table, name, cipher.encrypt(where, name, header, plain));
  if (rc != 0) return failed(kChanging, rc);
  return {};
}

// With the store's key of before go epochs' keys that nothing names: a database of another moment
// that would need one is under that key, too.
Result<void> RecordStore::end_rekey(const SecretBuffer& next) {
  std::lock_guard lock(write_mutex_);
  StoreKeys only = needed_keys();
  only.previous.reset();
  if (auto written = keyring_->write(only, {&next}); !written) return written;
  keys_ = std::move(only);
  use_keys();
  return {};
}

}  // namespace tkdc
