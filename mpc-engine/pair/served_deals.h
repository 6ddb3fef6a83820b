// SPDX-License-Identifier: Apache-2.0
// Which deals a session has served: no deal serves twice, and what is remembered has a bound.
//
// A client that is started draws a run, and numbers its deals from 1 on within it. Of a run the
// highest number that has served is kept, and which of the kWindow numbers before it have, as
// IPsec does (RFC 6479): what lies further back is refused, whether it has served or not. Of an
// client the latest kRuns runs are kept so, and of runs before these that they were: all their
// deals are refused. A client that begins more than kMostRuns of them in one session has no more
// served in it.
//
// A client here is what the control plane has authenticated, so nobody uses another one's numbers
// up, and there are as many as are configured. Both servers serve the same deals in the same order
// and so refuse the same ones. One thread; nothing in it is secret.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace tkdc::pair {

class ServedDeals {
 public:
  static constexpr std::uint64_t kWindow = 65'536;
  static constexpr std::size_t kRuns = 8, kMostRuns = 4096;

  enum class Is : std::uint8_t {
    kNew,
    kServed,
    kTooOld,     // maybe served: overtaken by too many
    kOfTooMany,  // runs of one client: of one that is over, or one more than there may be
  };

  Is state_of(std::uint64_t client, std::uint64_t run, std::uint64_t number) const {
    const auto found = clients_.find(client);
    if (found == clients_.end()) return Is::kNew;
    const Client& of = found->second;
    if (const auto known = std::ranges::find(of.runs, run, &Run::run); known != of.runs.end())
      return known->window->state_of(number);
    if (of.over.contains(run)) return Is::kOfTooMany;
    return of.over.size() + of.runs.size() < kMostRuns ? Is::kNew : Is::kOfTooMany;
  }

  // It is new, and serves now.
  void serves(std::uint64_t client, std::uint64_t run, std::uint64_t number) {
    Client& of = clients_[client];
    auto known = std::ranges::find(of.runs, run, &Run::run);
    if (known == of.runs.end()) {
      if (of.runs.size() == kRuns) {
        of.over.insert(of.runs.front().run);
        of.runs.erase(of.runs.begin());
      }
      of.runs.push_back({run, std::make_unique<Window>()});
    } else {
      std::rotate(known, known + 1, of.runs.end());
    }
    of.runs.back().window->serves(number);
  }

 private:
  class Window {
   public:
    Is state_of(std::uint64_t number) const {
      if (number > highest_ || !any_) return Is::kNew;
      if (highest_ - number >= kWindow) return Is::kTooOld;
      return served_[number % kWindow] ? Is::kServed : Is::kNew;
    }
    void serves(std::uint64_t number) {
      if (!any_ || number > highest_) {
        const std::uint64_t passed = any_ ? std::min(number - highest_, kWindow) : 0;
        for (std::uint64_t k = 0; k < passed; ++k) served_[(number - k) % kWindow] = false;
        highest_ = number;
        any_ = true;
      }
      served_[number % kWindow] = true;
    }

   private:
    std::bitset<kWindow> served_;  // by number, of those in the window
    std::uint64_t highest_ = 0;
    bool any_ = false;
  };
  struct Run {
    std::uint64_t run;
    std::unique_ptr<Window> window;
  };
  struct Client {
    std::vector<Run> runs;  // the one that was served last at the end
    std::set<std::uint64_t> over;
  };
  std::map<std::uint64_t, Client> clients_;
};

}  // namespace tkdc::pair
