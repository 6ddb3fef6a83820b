// SPDX-License-Identifier: Apache-2.0
// One run of ShareUpkeep's work in a session's lane 0 (docs/protocols/23-share-macs.md).
//
//   ask        a word in a full tick (service/job/lane_control.h): all three hear it in one tick
//   each page  listing: which keys, and of which dealing each server has MACs; then MACs are dealt
//              and audited, or audited; what was dealt is written in one transaction
//
// A page that fails is halved until the records are named. Nothing is mended but by being asked to
// deal. What is half done when a session ends is done in the next: keys that have MACs are passed
// over.
//
// Every step is taken by all three servers in the same tick; what each found in the other two is
// compared before it leads to anything. Used by the lane's thread. Secret: the records' shares.
#pragma once

#include <functional>
#include <span>

#include "service/job/share_upkeep.h"
#include "service/lifecycle/share_alarm.h"
#include "service/lifecycle/share_macs.h"
#include "service/store/store.h"

namespace tkdc {

class RepairTalk;

class ShareWork {
 public:
  // `keys_at_work`: whether jobs that make or remove keys are. `lost`: whose repair the session is
  // for.
  ShareWork(Lane& lane, ShareMacs& macs, Store& store, ShareUpkeep& upkeep, ShareAlarm& alarm,
            std::function<bool()> keys_at_work, std::optional<int> lost = std::nullopt)
      : lane_(lane), macs_(macs), store_(store), upkeep_(upkeep), alarm_(alarm),
        keys_at_work_(std::move(keys_at_work)), lost_(lost) {}

  // True: the session is to end, so that the next one has what was refreshed.
  Task<bool> run(ShareTask task);

 private:
  // Of a page, what one step is about: records, and what is authenticated of them.
  struct Batch {
    std::vector<std::shared_ptr<const KeyRecord>> records;
    std::vector<MacSubject> subjects;
    std::vector<bool> bad;
  };
  struct Page {
    Batch with, without;  // MACs that all three hold of one dealing
  };

  // Why this server's own work ends, where nothing was wrong here.
  static std::string another_could_not(const std::string& what);

  Task<bool> next_page(Page& page);
  Bytes my_listing(const std::vector<StoredKey>& keys, std::vector<Bytes>& names) const;
  void sort_page(std::vector<StoredKey> keys, std::vector<Bytes> names,
                 const std::array<Bytes, 3>& listings, Page& page);
  void tell_difference(const KeyRecord& record, const std::array<Bytes, 3>& listings,
                       std::size_t k);
  Task<void> find_bad(MacKeys& keys, Batch& batch, std::size_t from, std::size_t count,
                      MacFindings findings);
  Task<void> audit(Batch& batch);
  Task<void> deal(Batch& batch);
  Result<void> write(Batch& batch);
  void finish();
  // share_refresh.cc
  Task<void> wait_for_quiet();
  Task<void> refresh_page(Page& page, MacKeys& keys, const SecretVector& seed);
  Result<void> write_refreshed(std::vector<KeyRecord> records, std::vector<MacSubject> subjects);
  Task<bool> in_step(Result<void> mine, const char* what);
  Task<bool> commit_refresh();
  Task<void> draw_for_refresh(std::unique_ptr<MacKeys>& keys, SecretVector& seed);
  Task<bool> refresh();
  // share_repair.cc
  Task<void> repair_page(RepairTalk& talk, MacKeys& keys, const SecretVector& seed);
  Task<bool> repair();

  Lane& lane_;
  ShareMacs& macs_;
  Store& store_;
  ShareUpkeep& upkeep_;
  ShareAlarm& alarm_;
  const std::function<bool()> keys_at_work_;
  const std::optional<int> lost_;
  std::optional<std::uint64_t> filled_;  // so many keys, into this server's empty store
  ShareTask task_ = ShareTask::kAudit;
  std::optional<KeyId> at_;
  bool over_ = false;
  std::string trouble_;
  ShareUpkeepStatus counted_;  // of this page
};

}  // namespace tkdc
