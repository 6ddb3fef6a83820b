// SPDX-License-Identifier: Apache-2.0
// What somebody who knows no key may cost. Anyone can send a "ticket" of octets that he made up,
// of any length; each length has a circuit of its own, none of which stands ready. So an OPEN or a
// VERIFY whose kind has never ended well here, nor was sealed or signed before, counts its ANDs
// against a bucket, and has to wait where that is empty. Kept over sessions. One thread.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/machine.h"
#include "service/wire/message.h"

namespace tkdc {

class PairProved {
 public:
  using Clock = SteadyClock;
  static constexpr std::size_t kMostKinds = 4'096;
  static constexpr double kBack_s = 48;  // the whole burst

  explicit PairProved(std::uint64_t burst) : burst_(static_cast<double>(burst)), left_(burst_) {}

  bool has(const std::string& kind) const {
    return always_.contains(kind) || kinds_.contains(kind);
  }
  // Where there are too many, the one that was proved longest ago is not any more.
  void note(const std::string& kind) {
    kinds_[kind] = ++noted_;
    if (kinds_.size() > kMostKinds)
      kinds_.erase(
          std::ranges::min_element(kinds_, {}, [](const auto& one) { return one.second; }));
  }
  // Of few kinds, whose lengths no sender chooses.
  void always(const std::string& kind) { always_.insert(kind); }
  // The same for a job that is named again and again until both servers have it: it counts once.
  bool may_try(const JobName& job, std::uint64_t ands) {
    const auto known = tried_.find(job);
    if (known != tried_.end()) return known->second;
    if (tried_.size() >= kMostKinds) tried_.clear();
    return tried_[job] = may_try(ands);
  }
  // Whether so many ANDs of a kind that nothing has proved may be made now.
  bool may_try(std::uint64_t ands, Clock::time_point now = Clock::now()) {
    const std::chrono::duration<double> since = now - last_;
    left_ = std::min(burst_, left_ + burst_ / kBack_s * since.count());
    last_ = now;
    if (left_ < static_cast<double>(ands)) return false;
    left_ -= static_cast<double>(ands);
    return true;
  }

 private:
  std::set<std::string> always_;
  std::map<std::string, std::uint64_t> kinds_;
  std::map<JobName, bool> tried_;
  std::uint64_t noted_ = 0;
  const double burst_;
  double left_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace tkdc
