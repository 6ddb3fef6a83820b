// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/garbled_lane.h"

#include "threegarble/run.h"

namespace tkdc {
namespace {

std::size_t m1_labels(const threegarble::Shape& shape) {
  return shape.in_bits * garble::kLabelBytes;
}

}  // namespace

std::optional<TakenInstance> TakenInstance::take(GarbledLane lane, const std::string& circuit) {
  const auto kind = lane.kinds.find(circuit);
  if (!kind) return std::nullopt;
  threegarble::Reserve& reserve = lane.side.reserve();
  const threegarble::Shape& shape = reserve.shape(*kind);
  if (lane.at_work > 0 && lane.at_work + m1_labels(shape) > kMostAtWork) return std::nullopt;
  if (lane.hold != nullptr && !lane.hold->any()) return std::nullopt;
  auto instance = reserve.take(*kind);
  if (lane.hold != nullptr) lane.hold->end();
  if (!instance) return std::nullopt;
  return TakenInstance(lane, *kind, std::move(*instance));
}

Task<std::optional<SharedBytes>> TakenInstance::run(threegarble::JobTag tag, SharedBytes input) {
  const threegarble::Shape& shape = lane_.side.reserve().shape(kind_);
  if (input.size() != shape.in_bytes()) co_return std::nullopt;
  lane_.at_work += m1_labels(shape);
  threegarble::Outcome outcome =
      co_await threegarble::run(lane_.side, shape, std::move(instance_),
                                threegarble::Admitted::by_owner(tag, std::move(input)));
  lane_.at_work -= m1_labels(shape);
  if (outcome.ending != threegarble::Ending::kDone) co_return std::nullopt;
  co_return std::move(outcome.share);
}

}  // namespace tkdc
