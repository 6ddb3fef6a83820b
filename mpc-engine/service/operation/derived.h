// SPDX-License-Identifier: Apache-2.0
// Operations with a key that is derived from a record's key for this operation
// alone: RFC 6113's KRB-FX-CF2 with a key that the KDC knows, and PRF+ (RFC 6113,
// section 5.1). docs/protocols/14-fast.md.
//
// The agent sends the recipe (public: kind, enctype, pepper; shared: the known
// half) with the operation. PRF+ of the long-term key, the derived
// key and all that follows from it stay shared and are gone when the operation
// ends; nothing of them is opened to anyone. Which recipe goes with which usage is
// a table here, as strict as the policy's.
#pragma once

#include "service/admit/policy.h"
#include "service/operation/plain.h"
#include "service/wire/recipe.h"

namespace tkdc {

// Whether this recipe goes with this usage of this key; for an admitted (class,
// role, operation, usage).
bool derivation_fits(const KeyRecord& record, std::uint32_t usage, const Derivation& by);

// The plain operation that is done with the derived key.
tkdc_wire_op operation_of(tkdc_wire_op derived);

// The record of a key of this enctype, without fields: what operations ask of it.
KeyRecord derived_record(const KeyRecord& record, std::uint32_t enctype);

// As check_lengths(), cost_of() and run_operation() of operations.h, for derived operations.
tkdc_status check_derived(const JobRequest& request, const KeyRecord& record);
JobCost cost_of_derived(const Protocol& protocol, const KeyRecord& record, tkdc_wire_op op,
                        std::uint32_t usage, const Derivation& by, std::size_t input_bytes);
Task<JobOutcome> run_derived(JobContext context, tkdc_wire_op op, SharedBytes input);

// A plain operation whose usage was not its class's yet when the record was made: the
// usage's keys are derived from the record's key for this operation alone.
JobCost cost_of_late(const Protocol& protocol, const KeyRecord& record, tkdc_wire_op op,
                     std::uint32_t usage, std::size_t input_bytes);
Task<JobOutcome> run_late(JobContext context, tkdc_wire_op op, SharedBytes input);

}  // namespace tkdc
