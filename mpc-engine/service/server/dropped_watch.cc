// SPDX-License-Identifier: Apache-2.0
#include "service/server/dropped_watch.h"

#include "base/utc_time.h"
#include "service/store/dropped_table.h"

namespace tkdc {
namespace {

constexpr std::int64_t kDayS = 86'400, kLateS = 8 * kDayS, kAskS = 3'600;

}  // namespace

std::optional<std::int64_t> DroppedWatch::oldest_s(DroppedTable* table, std::int64_t now_s) {
  if (table == nullptr) return std::nullopt;
  Asked now{table->dropped_count(), now_s, {}};
  {
    std::lock_guard lock(mutex_);
    const std::int64_t since_s = now_s - last_.at_s;
    if (now.count == last_.count && since_s >= 0 && since_s < kAskS) return last_.oldest_s;
  }
  auto oldest = table->dropped_first_at();
  if (!oldest) return std::nullopt;  // it is complained of where the store is used
  if (*oldest) now.oldest_s = static_cast<std::int64_t>(**oldest);
  std::lock_guard lock(mutex_);
  last_ = now;
  return now.oldest_s;
}

std::string dropped_alarm(std::optional<std::int64_t> oldest_s, std::uint32_t keep_days,
                          std::int64_t now_s) {
  if (!oldest_s) return {};
  const std::int64_t due_s = *oldest_s + std::int64_t{keep_days} * kDayS;
  if (now_s - due_s <= kLateS) return {};
  return "a removed key was to end on " + format_utc_spaced(due_s) +
         " by this server's store.keep_dropped_days, and is still stored: on the KDC's host, tkdc "
         "reconcile purge --due (the longest of the servers' counts; --realm for another realm)";
}

}  // namespace tkdc
