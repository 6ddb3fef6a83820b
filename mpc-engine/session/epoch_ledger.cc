// SPDX-License-Identifier: Apache-2.0
#include "session/epoch_ledger.h"

#include <algorithm>

#include "base/machine.h"

namespace tkdc {
namespace {

// An epoch is so many units of `spent`: then a second gives back per_day of them exactly.
constexpr std::uint64_t kUnits = 86'400;

}  // namespace

EpochLedger::Clocks EpochLedger::system_clocks() {
  return {wall_s, [] { return static_cast<std::uint64_t>(monotonic_ms() / 1000); }};
}

EpochLedger::EpochLedger(Entries& entries, std::uint32_t per_day, SessionAdvice advice,
                         Clocks clocks)
    : entries_(entries), per_day_(std::max(per_day, kMinPerDay)), advice_(std::move(advice)),
      clocks_(std::move(clocks)) {
  const Epochs epochs = entries_.epochs();
  const std::uint64_t now_s = clocks_.wall_s();
  const std::uint64_t away_s = now_s > epochs.spent_at_s ? now_s - epochs.spent_at_s : 0;
  // Whoever lowers the limit is not shut out for what was spent under the old one.
  spent_ = std::min(epochs.spent, per_day_ * kUnits);
  spent_ -= std::min(spent_, std::min(away_s, kUnits) * per_day_);
  seen_s_ = clocks_.running_s();
}

void EpochLedger::give_back() {
  const std::uint64_t now_s = clocks_.running_s();
  if (now_s <= seen_s_) return;
  spent_ -= std::min(spent_, std::min(now_s - seen_s_, kUnits) * per_day_);
  seen_s_ = now_s;
}

Result<void> EpochLedger::reserve(std::uint32_t epoch, std::uint32_t vouched) {
  std::lock_guard lock(mutex_);
  Epochs epochs = entries_.epochs();
  if (epoch <= epochs.used)
    return fail("session: nonce epoch " + std::to_string(epoch) +
                " was used by this server before" + followed_by(advice_.epoch_reused));
  if (epoch <= epochs.reserved) return {};
  give_back();
  const std::uint32_t known = std::max(epochs.reserved, vouched);
  const std::uint64_t cost = (epoch > known ? epoch - known : 0) * kUnits;
  if (spent_ + cost > per_day_ * kUnits) {
    const std::uint64_t wait_s = (spent_ + cost - per_day_ * kUnits) / per_day_;
    return fail("session: this start would use up " + std::to_string(cost / kUnits) +
                " nonce epochs, and the allowance of " + std::to_string(per_day_) +
                " a day is spent; possible within " + std::to_string(wait_s / 60 + 1) + " min" +
                followed_by(advice_.allowance_spent));
  }
  epochs.reserved = epoch;
  epochs.spent = spent_ + cost;
  epochs.spent_at_s = std::max(epochs.spent_at_s, clocks_.wall_s());
  auto stored = entries_.set_epochs(epochs);
  if (!stored.ok()) return stored;
  spent_ = epochs.spent;
  return {};
}

Result<void> EpochLedger::begin(std::uint32_t epoch) {
  std::lock_guard lock(mutex_);
  Epochs epochs = entries_.epochs();
  epochs.used = epoch;
  return entries_.set_epochs(epochs);
}

EpochReport EpochLedger::report() {
  std::lock_guard lock(mutex_);
  give_back();
  EpochReport out;
  out.epochs = entries_.epochs();
  out.per_day = per_day_;
  out.spent = static_cast<std::uint32_t>((spent_ + kUnits - 1) / kUnits);
  out.left = kMaxEpoch - out.epochs.reserved;
  return out;
}

}  // namespace tkdc
