// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operation_time.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "service/wire/operation_times.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBounds = 64;

const json* entry_of(const json& object, const char* field) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(field);
  return it == object.end() ? nullptr : &*it;
}

std::uint64_t count_in(const json& object, const char* field) {
  const json* value = entry_of(object, field);
  return value != nullptr && value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
}

// Empty: they are no bounds.
std::vector<double> bounds_in(const json& times) {
  const json* said = entry_of(times, "bounds_ms");
  if (said == nullptr || !said->is_array() || said->empty() || said->size() > kMostBounds)
    return {};
  std::vector<double> bounds;
  for (const json& one : *said) {
    if (!one.is_number()) return {};
    const double bound = one.get<double>();
    if (!(bound > (bounds.empty() ? 0 : bounds.back()))) return {};
    bounds.push_back(bound);
  }
  return bounds;
}

// Empty: they are not of so many buckets.
std::vector<std::uint64_t> counts_in(const json& operation, std::size_t buckets) {
  const json* said = entry_of(operation, "counts");
  if (said == nullptr || !said->is_array() || said->size() != buckets) return {};
  std::vector<std::uint64_t> counts;
  for (const json& one : *said) {
    if (!one.is_number_unsigned()) return {};
    counts.push_back(one.get<std::uint64_t>());
  }
  return counts;
}

// Nothing: its counts are not of these bounds.
std::optional<OperationTime> time_in(const json& said, const std::vector<double>& bounds) {
  OperationTime one;
  one.bounds_ms = bounds;
  one.counts = counts_in(said, bounds.size() + 1);
  if (bounds.empty() || one.counts.empty()) return std::nullopt;
  if (const json* seconds = entry_of(said, "seconds"); seconds != nullptr && seconds->is_number())
    one.seconds = seconds->get<double>();
  one.rounds = count_in(said, "rounds");
  one.message_bytes = count_in(said, "message_bytes");
  return one;
}

}  // namespace

std::uint64_t OperationTime::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<OperationTime> times_of(const json& object) {
  std::vector<OperationTime> out;
  const json* times = entry_of(object, "times");
  const json* by = times != nullptr ? entry_of(*times, "by") : nullptr;
  if (by == nullptr) return out;
  const std::vector<double> bounds = bounds_in(*times);
  if (bounds.empty()) return out;
  for (std::size_t op = 0; op < OperationTotals::kOperations; ++op) {
    const char* operation = tkdc_wire_op_name(static_cast<std::uint8_t>(op));
    const json* said = entry_of(*by, operation);
    auto one = said == nullptr ? std::nullopt : time_in(*said, bounds);
    if (!one) continue;
    one->operation = operation;
    const bool twice = std::ranges::any_of(
        out, [&](const OperationTime& other) { return other.operation == operation; });
    if (!twice) out.push_back(std::move(*one));  // "unknown" is the name of many
  }
  return out;
}

std::optional<VerificationTime> verification_of(const json& server) {
  const json* said = entry_of(server, "verification");
  if (said == nullptr) return std::nullopt;
  auto time = time_in(*said, bounds_in(*said));
  if (!time) return std::nullopt;
  return VerificationTime{std::move(*time), count_in(*said, "claims")};
}

std::vector<OperationTime> times_since(std::vector<OperationTime> now,
                                       const std::vector<OperationTime>& before) {
  for (OperationTime& one : now) {
    const auto was = std::ranges::find(before, one.operation, &OperationTime::operation);
    if (was == before.end() || was->bounds_ms != one.bounds_ms) continue;
    const bool anew = !std::ranges::equal(was->counts, one.counts, std::less_equal<>()) ||
                      was->rounds > one.rounds || was->message_bytes > one.message_bytes;
    if (anew) continue;
    for (std::size_t k = 0; k < one.counts.size(); ++k) one.counts[k] -= was->counts[k];
    one.seconds -= was->seconds;
    one.rounds -= was->rounds;
    one.message_bytes -= was->message_bytes;
  }
  return now;
}

OperationTime together(const std::vector<OperationTime>& times) {
  OperationTime all;
  for (const OperationTime& one : times) {
    if (all.counts.empty()) {
      all = one;
      all.operation.clear();
    } else if (one.bounds_ms == all.bounds_ms) {
      for (std::size_t k = 0; k < all.counts.size(); ++k) all.counts[k] += one.counts[k];
      all.seconds += one.seconds;
      all.rounds += one.rounds;
      all.message_bytes += one.message_bytes;
    }
  }
  return all;
}

double quantile_ms(const OperationTime& of, double part) {
  const auto all = static_cast<double>(of.count());
  if (all == 0) return 0;
  const double rank = part * all;
  double below = 0;
  for (std::size_t k = 0; k < of.bounds_ms.size(); ++k) {
    const auto here = static_cast<double>(of.counts[k]);
    if (here > 0 && below + here >= rank) {
      const double from = k == 0 ? 0 : of.bounds_ms[k - 1];
      return from + (of.bounds_ms[k] - from) * (rank - below) / here;
    }
    below += here;
  }
  return of.bounds_ms.back();
}

}  // namespace tkdc::cli
