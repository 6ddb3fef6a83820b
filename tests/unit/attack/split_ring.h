// SPDX-License-Identifier: Apache-2.0
// Server 0 has two jobs run side by side: the next server is told "the first, not the second", the
// previous one "the second, not the first", and server 0 goes on with the first. What it then says
// and hears is kept. It lets the two others speak first, and when it has heard what it wants, it is
// gone.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "service/job/lane_packet.h"
#include "service/job/three_services.h"

namespace tkdc::test {

// What server 0 says to the previous server and hears, in one tick, less the lane's own part.
// The previous server speaks to it only where something is opened, exchanged or compared.
struct Tick {
  SecretVector said, from_next, from_prev;
};
using Ticks = std::vector<Tick>;

class SplitRing final : public MemoryRing {
 public:
  // It has enough `more` ticks after the `openings`-th one in which the previous server spoke.
  SplitRing(std::size_t openings, std::uint32_t more) : openings_(openings), more_(more) {}

  // False: it took longer.
  bool wait_until_split(std::chrono::seconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [&] { return told_ == kToBeTold; });
  }
  bool wait_until_heard(std::chrono::seconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [&] { return heard_all(); });
  }
  // From the first tick of the jobs on.
  Ticks ticks() {
    std::lock_guard lock(mutex_);
    Ticks out;
    for (const auto& [tick, packets] : packets_) {
      const bool full = !packets.from_prev.empty();
      out.push_back(
          {rest(packets.said, full), rest(packets.from_next, full), rest(packets.from_prev, full)});
    }
    return out;
  }
  // How many packets honest servers sent, to whomever, after the first tick in which they compare
  // or open anything.
  std::size_t sent_after_first_opening() {
    std::lock_guard lock(mutex_);
    const auto spoke = std::ranges::find_if(
        packets_, [](const auto& tick) { return !rest(tick.second.from_prev, true).empty(); });
    if (spoke == packets_.end()) return 0;
    const auto first = spoke->first;
    return static_cast<std::size_t>(
        std::ranges::count_if(honest_, [first](std::uint32_t tick) { return tick > first; }));
  }

 protected:
  void carry(int from, Neighbour side, SecretVector packet) override {
    {
      std::lock_guard lock(mutex_);
      const std::uint32_t tick = Reader(packet).u32();
      const int to = (from + (side == Neighbour::kNext ? 1 : 2)) % 3;
      if (!jobs_from_ || tick < *jobs_from_) tell_apart(from, to, tick, packet);
      if (jobs_from_ && tick >= *jobs_from_) keep(from, to, tick, packet);
      if (from == 0 && last_ && tick >= *last_) return;
    }
    deliver(from, side, std::move(packet));
  }

 private:
  static constexpr Verdict kNot = TKDC_STATUS_UNAVAILABLE;
  static constexpr int kToBeTold = 3;  // both others, and what server 0 hears of the next

  static SecretVector rest(const SecretVector& packet, bool full) {
    if (packet.empty()) return {};
    if (full) return parse_packet(packet)->rest;
    return {packet.begin() + sizeof(std::uint32_t), packet.end()};
  }

  void tell_apart(int from, int to, std::uint32_t tick, SecretVector& packet) {
    if (from == 2 || (from == 1 && to == 2)) return;
    auto parts = parse_packet(packet);
    auto said = parts ? said_in(*parts) : std::nullopt;
    if (!said || said->verdicts.size() != 2) return;
    said->verdicts[to == 2 ? 0 : 1] = kNot;
    packet = with(packet, *said);
    jobs_from_ = tick + 1;
    if (++told_ == kToBeTold) changed_.notify_all();
  }

  void keep(int from, int to, std::uint32_t tick, const SecretVector& packet) {
    if (from != 0) honest_.push_back(tick);
    Tick& kept = packets_[tick];
    if (from == 0 && to == 2) kept.said = packet;
    if (from == 1 && to == 0) kept.from_next = packet;
    if (from == 2 && to == 0) {
      kept.from_prev = packet;
      if (!last_ && !rest(packet, true).empty() && ++spoken_ == openings_) last_ = tick + more_;
    }
    if (heard_all()) changed_.notify_all();
  }
  bool heard_all() const {
    if (!last_) return false;
    const auto at = packets_.find(*last_);
    return at != packets_.end() && !at->second.said.empty() && !at->second.from_next.empty() &&
           !at->second.from_prev.empty();
  }

  const std::size_t openings_;
  const std::uint32_t more_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int told_ = 0;
  std::size_t spoken_ = 0;
  std::optional<std::uint32_t> jobs_from_, last_;  // ticks
  std::map<std::uint32_t, Tick> packets_;          // as they are
  std::vector<std::uint32_t> honest_;              // the ticks of their packets
};

}  // namespace tkdc::test
