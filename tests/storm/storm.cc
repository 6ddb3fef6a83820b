// SPDX-License-Identifier: Apache-2.0
#include "storm/storm.h"

#include <algorithm>

namespace tkdc::storm {
namespace {

constexpr int kBurst = 64;  // requests sent before answers are looked for again
constexpr Nanoseconds kMaxPause = 100'000'000;

}  // namespace

Storm::Storm(StormTerms terms, Workload& workload, Transport& transport, Noise& noise)
    : terms_(std::move(terms)), workload_(workload), transport_(transport), noise_(noise),
      flights_(transport.free_slots()), delays_(terms_.retransmit_after) {
  delays_.push_back(terms_.timeout);
  alarms_.resize(delays_.size());
  transport_.on_packet = [this](Slot slot, ByteSpan packet) { arrived(slot, packet); };
  transport_.on_broken = [this](Slot) {
    if (recorder_ != nullptr) ++recorder_->counts().broken_connections;
  };
}

void Storm::launch(Slot slot, const Demand& demand, Nanoseconds now) {
  Flight& flight = flights_[slot];
  flight.demand = demand;
  flight.busy = true;
  ++flight.serial;
  ++in_flight_;
  if (!workload_.begin(demand.client, flight.attempt, transport_.request(slot))) {
    recorder_->wrong("the request could not be encrypted");
    return land(slot, Outcome::kWrong, now, false);
  }
  transport_.send(slot);
  for (std::uint32_t i = 1; i < terms_.copies; ++i) transport_.resend(slot);
  flight.datagrams = terms_.copies;
  ++recorder_->counts().sent;
  recorder_->counts().retransmits += terms_.copies - 1;
  if (noise_.after(transport_.request(slot))) ++recorder_->counts().noise;
  for (std::size_t i = 0; i < alarms_.size(); ++i)
    alarms_[i].push_back({now + delays_[i], slot, flight.serial});
}

void Storm::send_due(Nanoseconds now) {
  recorder_->counts().unsent += schedule_->drop_before(now - terms_.timeout);
  if (stopped_ != 0) return;
  for (int i = 0; i < kBurst && transport_.free_slots() > 0; ++i) {
    std::optional<Demand> demand = schedule_->pop(now);
    if (!demand) return;
    launch(*transport_.take(), *demand, monotonic());
  }
}

void Storm::ring_alarms(Nanoseconds now) {
  for (std::size_t i = 0; i < alarms_.size(); ++i) {
    bool give_up = i + 1 == alarms_.size();
    while (!alarms_[i].empty()) {
      const Alarm alarm = alarms_[i].front();
      Flight& flight = flights_[alarm.slot];
      bool done = !flight.busy || flight.serial != alarm.serial;
      if (!done && alarm.at > now) break;
      alarms_[i].pop_front();
      if (done) continue;
      if (give_up) {
        land(alarm.slot, Outcome::kLost, now, false);
      } else {
        transport_.resend(alarm.slot);
        ++flight.datagrams;
        ++recorder_->counts().retransmits;
      }
    }
  }
}

void Storm::arrived(Slot slot, ByteSpan packet) {
  Flight& flight = flights_[slot];
  if (!flight.busy) return;
  Nanoseconds now = monotonic();
  last_answer_ = now;
  Outcome outcome = workload_.judge(flight.attempt, packet, *recorder_);
  land(slot, outcome, now, flight.datagrams == 1);
}

void Storm::land(Slot slot, Outcome outcome, Nanoseconds now, bool clean) {
  Flight& flight = flights_[slot];
  flight.busy = false;
  --in_flight_;
  recorder_->finish(outcome, flight.demand.intended, now);
  transport_.release(slot, clean);
  schedule_->finished(flight.demand.client, now);
}

Nanoseconds Storm::pause(Nanoseconds now, Nanoseconds next_tick) const {
  Nanoseconds until = std::min(next_tick, now + kMaxPause);
  if (transport_.free_slots() > 0 && stopped_ == 0)
    until = std::min(until, schedule_->next().value_or(until));
  for (const auto& queue : alarms_)
    if (!queue.empty()) until = std::min(until, queue.front().at);
  return std::max<Nanoseconds>(0, until - now);
}

void Storm::run(Schedule& schedule, double rate, Recorder& recorder) {
  schedule_ = &schedule;
  recorder_ = &recorder;
  Nanoseconds start = monotonic(), now = start, next_tick = start + kSecond;
  last_answer_ = start;
  Nanoseconds scheduled_end = 0;
  while (!((schedule.over(now) || stopped_ != 0) && in_flight_ == 0)) {
    send_due(now);
    transport_.poll(pause(monotonic(), next_tick));
    now = monotonic();
    ring_alarms(now);
    if (scheduled_end == 0 && schedule.over(now)) scheduled_end = now;
    while (now >= next_tick) {
      const Second& row = recorder.tick(scheduled_end == 0 ? rate : 0, in_flight_);
      if (on_second) on_second(row);
      next_tick += kSecond;
    }
  }
  recorder.counts().strays += transport_.strays();
  Nanoseconds end = std::max(last_answer_, scheduled_end == 0 ? now : scheduled_end);
  recorder.duration_s += static_cast<double>(end - start) / kSecond;
  recorder.tick(rate, 0);
  for (auto& queue : alarms_) queue.clear();
  recorder_ = nullptr;
}

}  // namespace tkdc::storm
