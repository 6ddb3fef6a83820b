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

// `unit`: so much of what was counted is 1 there.
template <std::uint64_t kFirstBound>
nlohmann::json bounds_json(const Histogram<kFirstBound> &of, double unit = 1)
{
    nlohmann::json bounds = nlohmann::json::array();
    for (std::size_t k = 0; k < of.kBounds; ++k)
        bounds.push_back(static_cast<double>(of.bound(k)) / unit);
    return bounds;
}

inline nlohmann::json bounds_ms_json()
{
    return bounds_json(TimeHistogram{}, 1e3);
}

inline double seconds_of(const TimeHistogram &times)
{
    return static_cast<double>(times.sum) / 1e6;
}

// Operations of which there was none are left out. The last count is of what was beyond the last
// bound.
inline nlohmann::json times_json(const OperationTotals &totals)
{
    nlohmann::json by = nlohmann::json::object();
    for (std::size_t op = 0; op < totals.by_op.size(); ++op) {
        const OperationTotals::One &one = totals.by_op[op];
        if (one.microseconds.count() == 0)
            continue;
        by[tkdc_wire_op_name(static_cast<std::uint8_t>(op))] = {
            {"counts", one.microseconds.counts},
            {"seconds", seconds_of(one.microseconds)},
            {"rounds", one.rounds.sum},
            {"rounds_counts", one.rounds.counts},
            {"message_bytes", one.message_bytes.sum},
            {"message_bytes_counts", one.message_bytes.counts}};
    }
    return {{"bounds_ms", bounds_ms_json()},
            {"bounds_rounds", bounds_json(RoundHistogram{})},
            {"bounds_message_bytes", bounds_json(ByteHistogram{})},
            {"by", std::move(by)}};
}

} // namespace tkdc
