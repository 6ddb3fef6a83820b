// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/run_whole.h"

#include "service/operation/operations.h"
#include "threegarble/run.h"

namespace tkdc {
namespace {

SharedBytes gather(const JobContext& context, const Whole& whole, const SharedBytes& input) {
  SharedBytes all;
  for (const std::string& name : whole.held) all.append(context.record.fields.at(name));
  if (whole.confounder > 0) all.append(context.protocol.random(whole.confounder));
  all.append(input);
  return all;
}

}  // namespace

Task<std::optional<JobOutcome>> run_whole(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                          threegarble::JobTag tag, const SharedBytes& input) {
  if (context.part != Part()) co_return std::nullopt;
  const auto whole = whole_of(context.record, op, context.usage, input.size());
  if (!whole) co_return std::nullopt;
  const auto kind = garbled.kinds.find(whole->circuit);
  if (!kind) co_return std::nullopt;
  threegarble::LaneSide& side = garbled.side;
  threegarble::Reserve& reserve = side.reserve();
  const threegarble::Shape& shape = reserve.shape(*kind);
  const std::size_t message = shape.in_bits * garble::kLabelBytes;
  if (garbled.at_work > 0 && garbled.at_work + message > kMostAtWork) co_return std::nullopt;

  SharedBytes all = gather(context, *whole, input);
  if (all.size() != shape.in_bytes()) co_return std::nullopt;  // a record of another build's
  auto instance = reserve.take(*kind);
  if (!instance) co_return std::nullopt;
  garbled.at_work += message;
  threegarble::Outcome outcome = co_await threegarble::run(
      side, shape, std::move(*instance), threegarble::Admitted::by_owner(tag, std::move(all)));
  garbled.at_work -= message;
  if (outcome.ending != threegarble::Ending::kDone)
    co_return refuse(TKDC_STATUS_UNAVAILABLE, "a garbled circuit's number was used before");
  SharedBytes result = std::move(outcome.share);
  if (!whole->holds) co_return JobOutcome(std::move(result));
  const Bytes holds = co_await context.protocol.open(result.slice(0, 1));
  if (holds[0] != 1)
    co_return refuse(TKDC_STATUS_INTEGRITY, op == TKDC_OP_VERIFY
                                                ? "the checksum does not hold"
                                                : "the message's checksum does not hold");
  co_return JobOutcome(result.slice(1, result.size() - 1));
}

Task<JobOutcome> run_garbled_or_shared(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                       threegarble::JobTag tag, SharedBytes input) {
  auto outcome = co_await run_whole(context, garbled, op, tag, input);
  if (outcome) co_return std::move(*outcome);
  co_return co_await run_operation(context, op, std::move(input));
}

}  // namespace tkdc
