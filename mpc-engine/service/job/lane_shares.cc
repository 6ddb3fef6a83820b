// SPDX-License-Identifier: Apache-2.0
#include "service/job/lane_shares.h"

#include <algorithm>
#include <array>
#include <utility>

#include "service/job/features.h"

namespace tkdc {
namespace {

constexpr const char* kRefreshed = "shares have been refreshed: a new session begins, with the new";

}  // namespace

void LaneShares::join(const Session& session, const PairwiseKeys& keys) {
  if (!session.has(kShareMacs) || shared_.store.macs() == nullptr) return;
  repaired_ = session.newcomer;
  macs_ = std::make_unique<ShareMacs>(lane_, *shared_.store.macs(), shared_.share_alarm,
                                      ShareMacs::Seat{shared_.options.installation, session.id, 0},
                                      keys_for(kShareMacs, keys));
}

std::optional<ShareTask> LaneShares::say() {
  said_ = wanted() ? shared_.upkeep.wanted() : std::nullopt;
  return said_;
}

// The lowest party's wish, where several have one in the same tick: they all heard all three.
void LaneShares::hear(std::optional<ShareTask> prev, std::optional<ShareTask> next) {
  std::array<std::optional<ShareTask>, 3> by;
  const auto party = static_cast<std::size_t>(lane_.party());
  by[party] = said_;
  by[(party + 2) % 3] = prev;
  by[(party + 1) % 3] = next;
  const auto wish = std::ranges::find_if(by, [](const auto& one) { return one.has_value(); });
  if (wish == by.end() || work_ || !macs_) return;
  // Once in its session, whoever asks again: all three know in the same tick that it was begun.
  if (repaired_ && std::exchange(repair_begun_, true)) return;
  shared_.upkeep.heard(**wish);
  work_ = std::make_unique<ShareWork>(
      lane_, *macs_, shared_.store, shared_.upkeep, shared_.share_alarm,
      [this] { return checks_.manages(); }, repaired_);
  lane_.spawn(run(**wish));
}

Task<void> LaneShares::run(ShareTask task) {
  const bool session_ends = co_await work_->run(task);
  work_.reset();
  if (session_ends) shared_.end_session(kRefreshed);
}

}  // namespace tkdc
