// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/run_whole.h"

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

JobOutcome copies_differ() {
  return refuse(TKDC_STATUS_INCONSISTENT, "the servers hold different copies of this job's input");
}

}  // namespace

Task<std::optional<JobOutcome>> run_whole(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                          threegarble::JobTag tag, const SharedBytes& input) {
  const auto whole = whole_of(context.record, op, context.usage, input.size());
  if (!whole) co_return std::nullopt;
  const auto kind = garbled.kinds.find(whole->circuit);
  if (!kind) co_return std::nullopt;
  threegarble::LaneSide& side = garbled.side;
  threegarble::Reserve& reserve = side.reserve();
  if (reserve.counts(*kind).ready == 0) co_return std::nullopt;

  SharedBytes all = gather(context, *whole, input);
  auto admitted = co_await threegarble::admit(side.lane(), side.number(), tag, std::move(all));
  if (!admitted) co_return copies_differ();
  // Whoever's copies differ has taken none from the others. Jobs between may have taken the last.
  auto instance = reserve.take(*kind);
  if (!instance) co_return std::nullopt;
  threegarble::Outcome outcome = co_await threegarble::run(
      side, reserve.shape(*kind), std::move(*instance), std::move(*admitted));
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
  co_return co_await run_plain(context, op, std::move(input));
}

}  // namespace tkdc
