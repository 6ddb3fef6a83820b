// SPDX-License-Identifier: Apache-2.0
// A repair (docs/protocols/25-repair.md): a refresh in which one server's shares of before come
// from the two others, page by page, each checked before it is used. What it stores are the new
// shares only; they take their place at all three servers or at none. No key is put together
// anywhere.
#include "service/job/repair_talk.h"
#include "service/job/share_work.h"

namespace tkdc {

// What refresh_page() takes: nothing of it is audited here. Shares that the newcomer got were
// proved when they came, and the new ones are audited before they are stored.
Task<void> ShareWork::repair_page(RepairTalk& talk, MacKeys& keys, const SecretVector& seed) {
  Page page;
  Result<void> sent = co_await talk.records(page.without.records);
  const bool everywhere = co_await in_step(std::move(sent), "take these records");
  if (!everywhere) co_return;
  counted_.looked_at = page.without.records.size();
  if (page.without.records.empty()) co_return;
  co_await refresh_page(page, keys, seed);
}

Task<bool> ShareWork::repair() {
  RepairTalk talk(lane_, macs_, store_, alarm_, *lost_);
  Result<void> done = co_await talk.compare_stores();
  co_await in_step(std::move(done), "begin the repair");
  if (trouble_.empty()) {
    upkeep_.begun(task_, talk.keys());
    Result<void> handed = co_await talk.hand_keys();
    co_await in_step(std::move(handed), "hand over MAC keys");
  }
  while (trouble_.empty() && !talk.over()) {
    Result<void> sent = co_await talk.tombstones();
    co_await in_step(std::move(sent), "take the list of keys that were destroyed");
  }
  talk.from_the_first();
  std::unique_ptr<MacKeys> keys;
  SecretVector seed;
  if (trouble_.empty()) co_await draw_for_refresh(keys, seed);
  while (trouble_.empty() && !talk.over()) {
    counted_ = {};
    co_await repair_page(talk, *keys, seed);
    upkeep_.page(counted_);
  }
  if (trouble_.empty()) {
    Result<void> alike = co_await talk.compare_inventories();
    co_await in_step(std::move(alike), "make its store like the others'");
  }
  if (!trouble_.empty()) co_return false;
  if (talk.newcomer()) filled_ = talk.keys();
  co_return co_await commit_refresh();
}

}  // namespace tkdc
