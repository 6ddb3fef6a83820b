// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/run_whole.h"

#include "service/garbled/garbled_gcm.h"
#include "service/operation/operations.h"

namespace tkdc {
namespace {

SharedBytes gather(const JobContext& context, const Whole& whole, const SharedBytes& input) {
  SharedBytes all;
  for (const Whole::Held& held : whole.held) {
    const SharedBytes& field = context.record.fields.at(held.field);
    all.append(field.slice(0, std::min(held.bytes, field.size())));
  }
  if (whole.confounder > 0) all.append(context.protocol.random(whole.confounder));
  all.append(input);
  return all;
}

// Nothing: by sharing; `input` is as it was.
Task<std::optional<JobOutcome>> run_whole(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                          threegarble::JobTag tag, const SharedBytes& input) {
  const auto whole = whole_of(context.record, op, context.usage, input.size());
  if (!whole) co_return std::nullopt;
  auto taken = TakenInstance::take(garbled, whole->circuit);
  if (!taken) co_return std::nullopt;
  auto result = co_await taken->run(tag, gather(context, *whole, input));
  if (!result) co_return std::nullopt;
  if (!whole->holds) co_return JobOutcome(std::move(*result));
  const Bytes holds = co_await context.protocol.open(result->slice(0, 1));
  if (holds[0] != 1)
    co_return refuse(TKDC_STATUS_INTEGRITY, op == TKDC_OP_VERIFY
                                                ? "the checksum does not hold"
                                                : "the message's checksum does not hold");
  co_return JobOutcome(result->slice(1, result->size() - 1));
}

}  // namespace

// Servers decide this alike: count kRules (lane_garbling.cc) up when it changes.
std::optional<std::string> circuit_of(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                                      std::size_t input_bytes) {
  if (in_gcm_form(record, usage)) return gcm_circuit_of(record, op, usage, input_bytes);
  auto whole = whole_of(record, op, usage, input_bytes);
  if (!whole) return std::nullopt;
  return std::move(whole->circuit);
}

Task<JobOutcome> run_garbled_or_shared(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                       threegarble::JobTag tag, SharedBytes input) {
  if (context.part != Part()) co_return co_await run_operation(context, op, std::move(input));
  if (in_gcm_form(context.record, context.usage)) {
    GarbledGcm cipher(context, garbled, tag);
    context.gcm = &cipher;
    co_return co_await run_operation(context, op, std::move(input));
  }
  auto outcome = co_await run_whole(context, garbled, op, tag, input);
  if (outcome) co_return std::move(*outcome);
  co_return co_await run_operation(context, op, std::move(input));
}

}  // namespace tkdc
