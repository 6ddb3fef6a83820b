// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/lane_garbling.h"

#include <future>

#include "protocol/offer.h"
#include "threegarble/fill.h"
#include "threegarble/three_words.h"
#include "threegarble/wire_format.h"

namespace tkdc {
namespace {

constexpr std::string_view kName = "threegarble";
constexpr int kStreamMs = 10'000;  // how long a stream may stand still

}  // namespace

OfferedProtocol LaneGarbling::offered(const GarblingOptions& options, std::string_view build) {
  Bytes said;
  Writer w(said);
  w.u64(threegarble_wire_format());
  w.text(build);
  w.u64(options.most_bytes);
  w.u64(kMostKinds);
  w.u64(kInstancesOfKind);
  threegarble::Digest digest{};
  crypto_generichash(digest.data(), digest.size(), said.data(), said.size(), nullptr, 0);
  return {std::string(kName), Reader(digest).u64()};
}

Result<std::unique_ptr<LaneGarbling>> LaneGarbling::join(
    Lane& lane, std::uint32_t number, const PairwiseKeys& session_keys, std::size_t most_bytes,
    LaneStreams streams, WholeShapes& shapes, std::function<void(const std::string&)> say) {
  std::unique_ptr<LaneGarbling> out(new LaneGarbling(lane, shapes, std::move(say)));
  auto side =
      threegarble::LaneSide::join(lane, number, keys_for(kName, session_keys), {{}, most_bytes});
  if (!side) return side.error();
  out->side_ = std::move(*side);
  out->use(std::move(streams));
  return out;
}

// While an instance is being made all three are at it, and all of them find the old streams gone.
void LaneGarbling::use(std::optional<LaneStreams> streams) {
  std::unique_ptr<threegarble::Maker> fresh;
  if (streams)
    fresh = std::make_unique<threegarble::Maker>(side_->seat(), std::move(*streams), kStreamMs);
  if (filling_) {
    maker_->give_up("the session goes on over other connections");
    next_maker_ = std::move(fresh);
    return;
  }
  broken_ = false;
  maker_ = std::move(fresh);
}

void LaneGarbling::note(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                        std::size_t input_bytes) {
  const auto circuit = circuit_of(record, op, usage, input_bytes);
  if (!circuit || known_.size() >= kMostKinds || !known_.insert(*circuit).second) return;
  noted_.push_back(*circuit);
}

// To lay a circuit out takes a thread up to some seconds. The lane turns meanwhile, and the three
// have the kind from the tick on in which all have heard that all are through.
Task<void> LaneGarbling::learn() {
  enum : std::uint8_t { kAtIt, kThrough };
  constexpr std::chrono::microseconds kIdle{500};
  const std::string circuit = std::move(noted_.front());
  noted_.pop_front();
  Bytes about;
  Writer w(about);
  w.text("threegarble 1 kind");
  w.text(circuit);
  threegarble::ThreeWords words(lane_, std::move(about));
  auto laid_out =
      std::async(std::launch::async, [circuit, &shapes = shapes_] { return shapes.get(circuit); });
  const auto through = [&](std::chrono::microseconds most) {
    return laid_out.wait_for(most) == std::future_status::ready ? kThrough : kAtIt;
  };
  while (!words.all(kThrough)) {
    const std::uint8_t mine = through(lane_.tasks() == 1 ? kIdle : kIdle.zero());
    co_await words.say(mine);
  }
  co_await words.say(kThrough);
  // One that is too long is computed by sharing, at all three servers alike.
  auto shape = laid_out.get();
  if (!shape || kinds_.has((*shape)->digest)) co_return;
  side_->reserve().add({*shape, kInstancesOfKind});
  kinds_.add(circuit, std::move(*shape), kInstancesOfKind);
}

bool LaneGarbling::serves(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                          std::size_t input_bytes) {
  const auto circuit = circuit_of(record, op, usage, input_bytes);
  const auto kind = circuit ? kinds_.find(*circuit) : std::nullopt;
  if (!kind) return false;
  const bool ready = side_->reserve().counts(*kind).ready > 0;
  missed_ += ready ? 0 : 1;
  return ready;
}

void LaneGarbling::prepare(std::function<bool()> busy) {
  if (filling_ || broken_ || !maker_) return;
  if (noted_.empty() && !side_->reserve().next()) return;
  filling_ = true;
  lane_.spawn(fill_up(std::move(busy)));
}

Task<void> LaneGarbling::fill_up(std::function<bool()> busy) {
  if (!noted_.empty()) co_await learn();
  // One that cannot be had keeps none of those behind it waiting.
  while (!noted_.empty() && !side_->reserve().next() && !busy()) co_await learn();
  const threegarble::Filled filled = co_await threegarble::fill(*side_, *maker_, busy);
  filling_ = false;
  broken_ = filled == threegarble::Filled::kBroken;
  if (broken_ && !next_maker_ && say_)
    say_(
        "garbled circuits: no more are made over these connections, and operations are computed "
        "by sharing: " +
        maker_->why());
  if (next_maker_) {
    maker_ = std::move(next_maker_);
    broken_ = false;
  }
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
