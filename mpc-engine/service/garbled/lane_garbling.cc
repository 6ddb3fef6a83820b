// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/lane_garbling.h"

#include "base/machine.h"
#include "circuits/wire_format.h"
#include "protocol/offer.h"
#include "threegarble/fill.h"
#include "threegarble/shape.h"
#include "threegarble/three_words.h"
#include "threegarble/wire_format.h"

namespace tkdc {
namespace {

constexpr std::string_view kName = "threegarble";
constexpr int kStreamMs = 10'000;  // how long a stream may stand still
// Jobs that wait at once, and kinds that wait to be learned; more are computed by sharing.
constexpr std::size_t kMostWaiters = 16, kMostNoted = 4;
// Instances that others get before one that waits: then it is computed by sharing.
constexpr std::uint64_t kMostMadeBefore = 4 * LaneGarbling::kMostKinds;
// How often in a row the three may find that they are not on the same streams: they are, a tick
// later, unless one of them has lost its connections again.
constexpr std::size_t kMostApart = 3;
// Counted up with each change of what three servers decide alike without saying it: which circuit
// serves an operation, which kinds are learned, in which order instances are made, who waits for
// one.
constexpr std::uint64_t kRules = 1;

// Its lengths are those of what somebody sent who may know no key.
bool checks_something(tkdc_wire_op op) { return op == TKDC_OP_OPEN || op == TKDC_OP_VERIFY; }

// A circuit that another thread lays out.
class LayingOut {
 public:
  LayingOut(WholeShapes& shapes, const std::string& circuit)
      : thread_(machine().start([this, &shapes, circuit] {
          auto shape = shapes.get(circuit);
          const std::lock_guard lock(mutex_);
          shape_ = std::move(shape);
          through_.notify_one();
        })) {}
  // At most so long. Whether it is through.
  bool wait(std::chrono::microseconds most) {
    std::unique_lock lock(mutex_);
    const auto through = [this] { return shape_.has_value(); };
    return through() || (most.count() > 0 && machine().wait(through_, lock, most, through));
  }
  // Once it is through.
  Result<WholeKinds::ShapePtr> take() {
    const std::lock_guard lock(mutex_);
    return std::move(*shape_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable through_;
  std::optional<Result<WholeKinds::ShapePtr>> shape_;
  std::unique_ptr<Machine::Thread> thread_;  // last: everything else exists when it starts
};

struct Waiting {
  std::vector<std::coroutine_handle<>>& waiting;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const { waiting.push_back(h); }
  void await_resume() const noexcept {}
};

}  // namespace

OfferedProtocol LaneGarbling::offered(const GarblingOptions& options, std::uint64_t wire_format,
                                      std::uint64_t circuits) {
  Bytes said;
  Writer w(said);
  w.u64(wire_format);
  w.u64(circuits);
  w.u64(kRules);
  for (const std::size_t bound :
       {options.most_bytes, options.instances, kMostKinds, kMostOpeningKinds, kMostWaiters,
        kMostNoted, std::size_t{kMostMadeBefore}, kMostApart, threegarble::kMostWires,
        threegarble::kMostBytes})
    w.u64(bound);
  for (const std::size_t bytes : threegarble::Shape::kLayoutBytes) w.u64(bytes);
  threegarble::Digest digest{};
  crypto_generichash(digest.data(), digest.size(), said.data(), said.size(), nullptr, 0);
  return {std::string(kName), Reader(digest).u64()};
}

OfferedProtocol LaneGarbling::offered(const GarblingOptions& options) {
  return offered(options, threegarble_wire_format(), circuits_wire_format());
}

Result<std::unique_ptr<LaneGarbling>> LaneGarbling::join(Lane& lane, std::uint32_t number,
                                                         const PairwiseKeys& session_keys,
                                                         LaneStreams streams, Common common) {
  std::unique_ptr<LaneGarbling> out(new LaneGarbling(lane, std::move(common)));
  auto side = threegarble::LaneSide::join(lane, number, keys_for(kName, session_keys),
                                          {{}, out->common_.options.most_bytes});
  if (!side) return side.error();
  out->side_ = std::move(*side);
  out->side_->watch(out->common_.watch);
  out->use(std::move(streams));
  return out;
}

// Another server may be a tick before or behind this one. So nothing is begun here; the three agree
// on the streams for each instance (threegarble/fill.h).
void LaneGarbling::use(std::optional<LaneStreams> streams) {
  if (maker_) maker_->give_up("the session goes on over other connections");
  next_maker_.reset();
  if (!streams) return;
  next_streams_ = streams->handshake;
  next_maker_ = std::make_unique<threegarble::Maker>(side_->seat(), std::move(*streams), kStreamMs,
                                                     &common_.pace);
  if (!filling_) take_next_maker();
}

void LaneGarbling::take_next_maker() {
  if (!next_maker_) return;
  maker_ = std::move(next_maker_);
  streams_ = next_streams_;
  said_broken_ = false;
}

void LaneGarbling::note(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                        std::size_t input_bytes) {
  broken_ = false;
  const auto circuit = circuit_of(record, op, usage, input_bytes);
  if (!circuit || !is_room_for_kind(op) || !known_.insert(*circuit).second) return;
  opening_kinds_ += checks_something(op) ? 1 : 0;
  noted_.push_back({*circuit, checks_something(op)});
}

bool LaneGarbling::is_room_for_kind(tkdc_wire_op op) const {
  return known_.size() < kMostKinds &&
         (!checks_something(op) || opening_kinds_ < kMostOpeningKinds);
}

// Layouts stand beside instances, within as many octets. What strangers can send leaves half of
// them to the other kinds.
bool LaneGarbling::is_room_for_layout(std::size_t bytes, bool opens) const {
  const std::size_t most = common_.options.most_bytes;
  return layout_bytes_ + bytes <= most && (!opens || opening_layout_bytes_ + bytes <= most / 2);
}

// To lay a circuit out takes a thread up to some seconds. The lane turns meanwhile, and the three
// have the kind from the tick on in which all have heard that all are through.
Task<void> LaneGarbling::learn() {
  enum : std::uint8_t { kAtIt, kThrough };
  constexpr std::chrono::microseconds kIdle{500};
  const std::string circuit = std::move(noted_.front().circuit);
  const bool opens = noted_.front().opens;
  noted_.pop_front();
  learning_ = circuit;
  Bytes about;
  Writer w(about);
  w.text("threegarble 1 kind");
  w.text(circuit);
  threegarble::ThreeWords words(lane_, std::move(about));
  LayingOut laid_out(common_.shapes, circuit);
  while (!words.all(kThrough)) {
    const bool idle = lane_.tasks() <= 1 + waiters_;
    const std::uint8_t mine = laid_out.wait(idle ? kIdle : kIdle.zero()) ? kThrough : kAtIt;
    co_await words.say(mine);
  }
  co_await words.say(kThrough);
  // One that is too long is computed by sharing, at all three servers alike: their layouts and
  // bounds are the same.
  auto shape = laid_out.take();
  learning_.clear();
  if (!shape || kinds_.has((*shape)->digest)) co_return;
  const std::size_t bytes = (*shape)->layout_bytes();
  if (!is_room_for_layout(bytes, opens)) co_return;
  layout_bytes_ += bytes;
  opening_layout_bytes_ += opens ? bytes : 0;
  side_->reserve().add({*shape, common_.options.instances});
  kinds_.add(circuit, std::move(*shape), common_.options.instances);
}

bool LaneGarbling::serves(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                          std::size_t input_bytes, Garbled garbled) {
  const auto circuit = circuit_of(record, op, usage, input_bytes);
  if (!circuit || garbled == Garbled::kNo) return false;
  if (ready(*circuit) > 0) return true;
  if (kinds_.find(*circuit)) note_missed();
  if (garbled != Garbled::kMade || broken_) return false;
  // Many that wait would have sharing's rounds in common.
  if (waiters_ >= kMostWaiters || noted_.size() >= kMostNoted) return false;
  return known_.contains(*circuit) ? can_be_made(*circuit) : is_room_for_kind(op);
}

std::size_t LaneGarbling::held(const std::string& circuit) const {
  const auto one = held_.find(circuit);
  return one == held_.end() ? 0 : one->second;
}

void LaneGarbling::note_missed() {
  ++missed_;
  side_->note(threegarble::Step::kMissed, {side_->number(), {}, 0});
}

// And held for nobody.
std::size_t LaneGarbling::ready(const std::string& circuit) const {
  const auto kind = kinds_.find(circuit);
  if (!kind) return 0;
  return side_->reserve().counts(*kind).ready - held(circuit);
}

std::optional<InstanceSupply> LaneGarbling::supply(const KeyRecord& record, tkdc_wire_op op,
                                                   std::uint32_t usage, std::size_t input_bytes,
                                                   Garbled garbled) const {
  const auto circuit = circuit_of(record, op, usage, input_bytes);
  if (!circuit) return std::nullopt;
  InstanceSupply all{*circuit, ready(*circuit), common_.options.instances, 0};
  if (garbled == Garbled::kMade) all.places = kMostWaiters;
  return all;
}

InstanceHold LaneGarbling::hold_one(const std::string& circuit) {
  if (ready(circuit) == 0) return {};
  ++held_[circuit];
  return InstanceHold([this, circuit] {
    if (--held_[circuit] == 0) held_.erase(circuit);
    let_go_ = true;
  });
}

// Of one that has been noted. What is being made may end without it: `ends_`.
bool LaneGarbling::can_be_made(const std::string& circuit) const {
  if (broken_) return false;
  if (is_noted(circuit) || learning_ == circuit) return true;
  const auto kind = kinds_.find(circuit);
  return kind && side_->reserve().fits(*kind);
}

bool LaneGarbling::is_noted(const std::string& circuit) const {
  return std::ranges::find(noted_, circuit, &Noted::circuit) != noted_.end();
}

void LaneGarbling::wake() { lane_.ready_all(waiting_); }

Task<InstanceHold> LaneGarbling::hold(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                                      std::size_t input_bytes, Garbled garbled) {
  const auto circuit = circuit_of(record, op, usage, input_bytes);
  if (!circuit) co_return InstanceHold();
  std::uint64_t ends = ends_;
  const std::uint64_t most_made = counts().made + kMostMadeBefore;
  InstanceHold one = hold_one(*circuit);
  if (garbled != Garbled::kMade && !one.any()) note_missed();
  if (garbled != Garbled::kMade || one.any()) co_return one;
  ++waiters_;
  while (ends == ends_ && counts().made < most_made && can_be_made(*circuit)) {
    Waiting until{waiting_};
    co_await until;
    one = hold_one(*circuit);
    if (one.any()) break;
    // What is held is taken soon, and then made again.
    if (held(*circuit) > 0) ends = ends_;
  }
  --waiters_;
  co_return one;
}

// Of who waits, the first ones see first what stands ready.
void LaneGarbling::prepare(std::function<bool()> busy) {
  if (std::exchange(let_go_, false)) wake();
  if (filling_ || broken_) return;
  if (noted_.empty() && !side_->reserve().next()) return;
  filling_ = true;
  lane_.spawn(fill_up(std::move(busy)));
}

// Who waits is woken before each instance, when the one before it has been put on the shelf. A kind
// that is noted meanwhile is learned after one instance.
Task<void> LaneGarbling::fill_up(std::function<bool()> busy) {
  const auto in_the_way = [this, &busy] { return busy() && waiters_ == 0; };
  if (!noted_.empty()) co_await learn();
  // One that cannot be had keeps none of those behind it waiting.
  while (!noted_.empty() && !side_->reserve().next() && !in_the_way()) co_await learn();
  std::size_t asked = 0;
  const auto stop = [this, &in_the_way, &asked] {
    wake();
    return in_the_way() || (asked++ > 0 && !noted_.empty() && waiters_ > 0);
  };
  threegarble::FillOptions options;
  options.stop = stop;
  options.waiting = [this] { return waiters_; };
  options.streams = streams_;
  options.renewed = [this] { return next_maker_ != nullptr; };
  const threegarble::Filled filled =
      co_await threegarble::fill(*side_, *maker_, std::move(options));
  filling_ = false;
  apart_ = filled == threegarble::Filled::kApart ? apart_ + 1 : 0;
  broken_ = filled == threegarble::Filled::kBroken || apart_ > kMostApart;
  if (broken_ && !next_maker_ && common_.say && !std::exchange(said_broken_, true))
    common_.say(
        "garbled circuits: no more are made before the next operation, and operations are computed "
        "by sharing: " +
        (apart_ > kMostApart ? "the servers are not on the same connections" : maker_->why()));
  take_next_maker();
  if (noted_.empty() && !side_->reserve().next()) ++ends_;
  wake();
}

threegarble::JobTag LaneGarbling::next_job(const threegarble::Digest& about) {
  threegarble::JobTag tag;
  tag.job = jobs_++;
  tag.about = about;
  return tag;
}

LaneGarbling::Counts LaneGarbling::counts() const {
  Counts all;
  all.missed = missed_;
  const threegarble::Reserve& reserve = side_->reserve();
  for (std::size_t kind = 0; kind < reserve.kinds(); ++kind) {
    const auto one = reserve.counts(kind);
    all.ready += one.ready;
    all.made += one.made;
    all.taken += one.taken;
    all.missed += one.missed;
  }
  all.kinds = reserve.kinds();
  all.bytes = reserve.bytes();
  return all;
}

}  // namespace tkdc
