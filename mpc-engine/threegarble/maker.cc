// SPDX-License-Identifier: Apache-2.0
#include "threegarble/maker.h"

namespace tkdc::threegarble {
namespace {

constexpr std::chrono::hours kAnyTime{1};

}  // namespace

Maker::Maker(Seat seat, LaneStreams streams, int timeout_ms, Pace* pace)
    : seat_(seat), streams_(std::move(streams)), timeout_ms_(timeout_ms), pace_(pace),
      thread_(machine().start([this] { work(); })) {}

void Maker::give_up(const std::string& reason) {
  for (BulkEnd* end :
       std::initializer_list<BulkEnd*>{streams_.to_prev.get(), streams_.to_next.get(),
                                       streams_.from_prev.get(), streams_.from_next.get()})
    end->abort(reason);
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  if (why_.empty()) why_ = reason;
}

Maker::~Maker() {
  give_up("no instances are made any more");
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_one();
  thread_.reset();
}

void Maker::begin(const Shape& shape, const InstanceId& id) {
  {
    const std::lock_guard lock(mutex_);
    if (given_up_) return;
    assert(state_ != State::kMaking && !made_);
    state_ = State::kMaking;
    order_ = {&shape, id};
  }
  changed_.notify_one();
}

Maker::State Maker::poll() {
  const std::lock_guard lock(mutex_);
  return given_up_ && state_ != State::kWrong ? State::kBroken : state_;
}

void Maker::wait(std::chrono::microseconds most) {
  std::unique_lock lock(mutex_);
  machine().wait(through_, lock, most, [this] { return given_up_ || state_ != State::kMaking; });
}

Instance Maker::take() {
  const std::lock_guard lock(mutex_);
  assert(made_);
  Instance out = std::move(*made_);
  made_.reset();
  return out;
}

std::string Maker::why() {
  const std::lock_guard lock(mutex_);
  return why_;
}

void Maker::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    while (!stops_ && !order_)
      machine().wait(changed_, lock, kAnyTime, [this] { return stops_ || order_; });
    if (stops_) return;
    const auto [shape, id] = *order_;
    order_.reset();
    lock.unlock();
    std::optional<Instance> out;
    const State state = make(*shape, id, out);
    lock.lock();
    state_ = state;
    made_ = std::move(out);
    through_.notify_one();
  }
}

Maker::State Maker::make(const Shape& shape, const InstanceId& id, std::optional<Instance>& out) {
  const auto broken = [&](const Error& error) {
    const std::lock_guard lock(mutex_);
    why_ = error.message;
    return State::kBroken;
  };
  const Role role = seat_.role(id);
  if (role != Role::kEvaluator) {
    // E is A's previous party, and B's next one.
    BulkWriter& to = role == Role::kGarblerA ? *streams_.to_prev : *streams_.to_next;
    auto kept = send_tables(seat_, shape, id, to, timeout_ms_, pace_);
    if (!kept) return broken(kept.error());
    out = std::move(*kept);
    return State::kMade;
  }
  auto received = receive_tables(shape, id, *streams_.from_next, *streams_.from_prev, timeout_ms_);
  if (!received) return broken(received.error());
  auto checked = check_tables(seat_, shape, std::move(*received));
  if (!checked) return broken(checked.error());
  if (!*checked) return State::kWrong;
  out = std::move(**checked);
  return State::kMade;
}

}  // namespace tkdc::threegarble
