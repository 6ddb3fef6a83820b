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
constexpr double kMsOfSecond = 1000;

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
std::vector<double> bounds_in(const json& times, const char* field) {
  const json* said = entry_of(times, field);
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
std::vector<std::uint64_t> counts_in(const json& operation, const char* field,
                                     std::size_t buckets) {
  const json* said = entry_of(operation, field);
  if (said == nullptr || !said->is_array() || said->size() != buckets) return {};
  std::vector<std::uint64_t> counts;
  for (const json& one : *said) {
    if (!one.is_number_unsigned()) return {};
    counts.push_back(one.get<std::uint64_t>());
  }
  return counts;
}

// Nothing: its counts are not of these bounds.
std::optional<Histogram> time_in(const json& said, const std::vector<double>& bounds) {
  Histogram ms{bounds, counts_in(said, "counts", bounds.size() + 1), 0};
  if (bounds.empty() || ms.counts.empty()) return std::nullopt;
  if (const json* seconds = entry_of(said, "seconds"); seconds != nullptr && seconds->is_number())
    ms.sum = seconds->get<double>() * kMsOfSecond;
  return ms;
}

// What operations cost, each one's in a bucket. `count`: so many there were.
Histogram cost_in(const json& said, const std::string& field, const std::vector<double>& bounds,
                  std::uint64_t count) {
  Histogram cost{bounds, counts_in(said, (field + "_counts").c_str(), bounds.size() + 1),
                 static_cast<double>(count_in(said, field.c_str()))};
  if (bounds.empty() || cost.counts.empty()) cost = {{}, {count}, cost.sum};
  return cost;
}

// False: it did not come after `was`, or has other bounds.
bool can_subtract(const Histogram& now, const Histogram& was) {
  return now.bounds == was.bounds && now.sum >= was.sum &&
         std::ranges::equal(was.counts, now.counts, std::less_equal<>());
}

void subtract(Histogram& now, const Histogram& was) {
  for (std::size_t k = 0; k < now.counts.size(); ++k) now.counts[k] -= was.counts[k];
  now.sum -= was.sum;
}

}  // namespace

std::uint64_t Histogram::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<OperationTime> times_of(const json& object) {
  std::vector<OperationTime> out;
  const json* times = entry_of(object, "times");
  const json* by = times != nullptr ? entry_of(*times, "by") : nullptr;
  if (by == nullptr) return out;
  const std::vector<double> bounds = bounds_in(*times, "bounds_ms"),
                            bounds_rounds = bounds_in(*times, "bounds_rounds"),
                            bounds_bytes = bounds_in(*times, "bounds_message_bytes");
  for (std::size_t op = 0; op < OperationTotals::kOperations; ++op) {
    const char* operation = tkdc_wire_op_name(static_cast<std::uint8_t>(op));
    const json* said = entry_of(*by, operation);
    auto ms = said == nullptr ? std::nullopt : time_in(*said, bounds);
    if (!ms) continue;
    const bool twice = std::ranges::any_of(
        out, [&](const OperationTime& other) { return other.operation == operation; });
    if (twice) continue;  // "unknown" is the name of many
    const std::uint64_t count = ms->count();
    out.push_back({operation, std::move(*ms), cost_in(*said, "rounds", bounds_rounds, count),
                   cost_in(*said, "message_bytes", bounds_bytes, count)});
  }
  return out;
}

std::optional<VerificationTime> verification_of(const json& server) {
  const json* said = entry_of(server, "verification");
  if (said == nullptr) return std::nullopt;
  auto ms = time_in(*said, bounds_in(*said, "bounds_ms"));
  if (!ms) return std::nullopt;
  return VerificationTime{std::move(*ms), count_in(*said, "claims")};
}

std::vector<OperationTime> times_since(std::vector<OperationTime> now,
                                       const std::vector<OperationTime>& before) {
  for (OperationTime& one : now) {
    const auto was = std::ranges::find(before, one.operation, &OperationTime::operation);
    if (was == before.end()) continue;
    const auto parts = {&OperationTime::ms, &OperationTime::rounds, &OperationTime::message_bytes};
    const bool anew = !std::ranges::all_of(
        parts, [&](auto part) { return can_subtract(one.*part, (*was).*part); });
    if (anew) continue;
    for (const auto part : parts) subtract(one.*part, (*was).*part);
  }
  return now;
}

Histogram together(const std::vector<OperationTime>& times) {
  Histogram all;
  for (const OperationTime& one : times) {
    if (all.counts.empty()) {
      all = one.ms;
    } else if (one.ms.bounds == all.bounds) {
      for (std::size_t k = 0; k < all.counts.size(); ++k) all.counts[k] += one.ms.counts[k];
      all.sum += one.ms.sum;
    }
  }
  return all;
}

double quantile(const Histogram& of, double part) {
  const auto all = static_cast<double>(of.count());
  if (all == 0 || of.bounds.empty()) return 0;
  const double rank = part * all;
  double below = 0;
  for (std::size_t k = 0; k < of.bounds.size(); ++k) {
    const auto here = static_cast<double>(of.counts[k]);
    if (here > 0 && below + here >= rank) {
      const double from = k == 0 ? 0 : of.bounds[k - 1];
      return from + (of.bounds[k] - from) * (rank - below) / here;
    }
    below += here;
  }
  return of.bounds.back();
}

}  // namespace tkdc::cli
