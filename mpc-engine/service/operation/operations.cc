// SPDX-License-Identifier: Apache-2.0
#include "service/operation/operations.h"

#include "service/operation/derived.h"

namespace tkdc {

tkdc_status check_lengths(const JobRequest& request, const KeyRecord& record) {
  if (is_derived(request.op)) return check_derived(request, record);
  const std::size_t bytes = request.input_bytes();
  const auto part = part_of(request);
  if (!part) return TKDC_STATUS_BAD_REQUEST;
  if (part->kind == Part::Kind::kTail) return check_tail(request.op, request.usage, bytes, record);
  return check_input(request.op, request.usage, bytes, record);
}

Task<JobOutcome> run_operation(JobContext context, tkdc_wire_op op, SharedBytes input) {
  if (is_derived(op)) return run_derived(context, op, std::move(input));
  if (lacks_keys(context.record, op, context.usage)) return run_late(context, op, std::move(input));
  return run_plain(context, op, std::move(input));
}

JobCost cost_of(const Protocol& protocol, const KeyRecord& record, const JobRequest& request,
                std::size_t input_bytes, const Part& part) {
  if (!is_derived(request.op))
    return lacks_keys(record, request.op, request.usage)
               ? cost_of_late(protocol, record, request.op, request.usage, input_bytes)
               : cost_of(protocol, record, request.op, request.usage, input_bytes, part);
  const auto by = decode_derivation(request.public_data);
  return by ? cost_of_derived(protocol, record, request.op, request.usage, *by, input_bytes)
            : JobCost();
}

}  // namespace tkdc
