// SPDX-License-Identifier: Apache-2.0
// A store on a slow disk: preparing a key takes as long as a test says. Or on one that fails.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "service/store/dropped_table.h"
#include "service/store/mac_table.h"
#include "service/store/refresh_table.h"
#include "service/store/store.h"

namespace tkdc {

class SlowStore final : public Store, private DroppedTable {
 public:
  explicit SlowStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  std::atomic<int> prepare_ms{0};
  std::atomic<bool> full{false};  // for seal marks and revoked windows
  std::atomic<bool> refuses_first{false}, refuses_rest{false};  // steps of a change of keys
  std::function<void()> prepared_hook;                          // called when a record was prepared
  std::function<void()> revoked_hook;         // called while revoked windows are written
  std::function<void(KeyRecord&)> read_hook;  // what is read is what it makes of it
  ValueTable* values_over = nullptr;          // in the place of the store's own
  MacTable* macs_over = nullptr;              // in the place of the store's own
  RefreshTable* refresh_over = nullptr;       // the same

  Result<void> prepare(const KeyRecord& record) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(prepare_ms));
    if (refuses_first) return fail("store: no first step");
    auto prepared = store_->prepare(record);
    if (prepared_hook) prepared_hook();
    return prepared;
  }
  Result<void> commit(const KeyId& id) override {
    return refuses_rest ? no_more() : store_->commit(id);
  }
  Result<void> abandon(const KeyId& id) override {
    return refuses_rest ? no_more() : store_->abandon(id);
  }
  Result<void> condemn(const KeyId& id) override {
    if (refuses_first) return fail("store: no first step");
    return store_->condemn(id);
  }
  Result<void> pardon(const KeyId& id) override {
    return refuses_rest ? no_more() : store_->pardon(id);
  }
  Result<void> destroy(const KeyId& id) override {
    return refuses_rest ? no_more() : store_->destroy(id);
  }
  Result<std::shared_ptr<const KeyRecord>> get(const KeyId& id) override {
    auto record = store_->get(id);
    if (!read_hook || !record || !*record) return record;
    KeyRecord changed = **record;
    read_hook(changed);
    return std::make_shared<const KeyRecord>(std::move(changed));
  }
  Result<std::vector<KeyId>> prepared() override { return store_->prepared(); }
  Result<std::vector<KeyId>> condemned() override { return store_->condemned(); }
  Result<bool> committed(const KeyId& id) override { return store_->committed(id); }
  Result<bool> buried(const KeyId& id) override { return store_->buried(id); }
  std::size_t count() override { return store_->count(); }
  Result<std::vector<KeyId>> ids_behind(const KeyId& after, std::size_t most) override {
    return store_->ids_behind(after, most);
  }
  MacTable* macs() override { return macs_over ? macs_over : store_->macs(); }
  RefreshTable* refresh() override { return refresh_over ? refresh_over : store_->refresh(); }
  ValueTable* values() override { return values_over ? values_over : store_->values(); }
  MoveTable* moves() override { return store_->moves(); }
  RepairTable* repair() override { return store_->repair(); }
  DroppedTable* dropped() override { return store_->dropped() == nullptr ? nullptr : this; }
  Result<Digest> inventory() override { return store_->inventory(); }
  Result<std::uint64_t> seal_mark(const KeyId& id) override { return store_->seal_mark(id); }
  Result<void> set_seal_mark(const KeyId& id, std::uint64_t mark) override {
    if (full) return fail("store: full");
    return store_->set_seal_mark(id, mark);
  }
  Result<Bytes> revoked() override { return store_->revoked(); }
  Result<void> set_revoked(ByteSpan state) override {
    if (full) return fail("store: full");
    if (revoked_hook) revoked_hook();
    return store_->set_revoked(state);
  }
  Epochs epochs() override { return store_->epochs(); }
  Result<void> set_epochs(const Epochs& epochs) override { return store_->set_epochs(epochs); }

 private:
  Result<void> condemn_to_drop(const KeyId& id, std::uint64_t at_s) override {
    if (refuses_first) return fail("store: no first step");
    return store_->dropped()->condemn_to_drop(id, at_s);
  }
  Result<void> prepare_change(const KeyId& id, DroppedChange change) override {
    if (refuses_first) return fail("store: no first step");
    return store_->dropped()->prepare_change(id, change);
  }
  Result<std::vector<DroppedKey>> dropped_behind(const KeyId& after, std::size_t most) override {
    return store_->dropped()->dropped_behind(after, most);
  }
  std::size_t dropped_count() override { return store_->dropped()->dropped_count(); }
  Result<std::optional<std::uint64_t>> dropped_first_at() override {
    return store_->dropped()->dropped_first_at();
  }
  Result<std::shared_ptr<const KeyRecord>> dropped_record(const KeyId& id) override {
    return store_->dropped()->dropped_record(id);
  }

  static Error no_more() { return fail("store: no more steps"); }

  std::unique_ptr<Store> store_;
};

}  // namespace tkdc
