// SPDX-License-Identifier: Apache-2.0
// How a status says what operations took (docs/protocols/04-control-plane.md), and one word for
// each result.
#pragma once

#include <nlohmann/json.hpp>

#include "service/wire/operation_times.h"

namespace tkdc
{

inline const char *status_word(tkdc_status status)
{
    switch (status) {
    case TKDC_STATUS_OK:
        return "ok";
    case TKDC_STATUS_INTEGRITY:
        return "integrity";
    case TKDC_STATUS_UNAVAILABLE:
        return "unavailable";
    case TKDC_STATUS_DENIED:
        return "denied";
    case TKDC_STATUS_UNKNOWN_KEY:
        return "unknown_key";
    case TKDC_STATUS_BAD_REQUEST:
        return "bad_request";
    case TKDC_STATUS_INCONSISTENT:
        return "inconsistent";
    case TKDC_STATUS_LIMIT:
        return "limit";
    case TKDC_STATUS_INTERNAL:
        return "internal";
    case TKDC_STATUS_DEAL_AGAIN:
        return "deal_again";
    }
    return "unknown";
}

inline nlohmann::json bounds_json()
{
    nlohmann::json bounds = nlohmann::json::array();
    for (std::size_t k = 0; k < OperationTotals::kBounds; ++k)
        bounds.push_back(OperationTotals::bound_ms(k));
    return bounds;
}

// Operations of which there was none are left out. The last count is of what took longer than the
// last bound.
inline nlohmann::json times_json(const OperationTotals &totals)
{
    nlohmann::json by = nlohmann::json::object();
    for (std::size_t op = 0; op < totals.by_op.size(); ++op) {
        const OperationTotals::One &one = totals.by_op[op];
        if (!one.any())
            continue;
        by[tkdc_wire_op_name(static_cast<std::uint8_t>(op))] = {
            {"counts", one.counts},
            {"seconds", static_cast<double>(one.microseconds) / 1e6},
            {"rounds", one.rounds},
            {"message_bytes", one.message_bytes}};
    }
    return {{"bounds_ms", bounds_json()}, {"by", std::move(by)}};
}

} // namespace tkdc
