// SPDX-License-Identifier: Apache-2.0
#include "service/server/certificate_watch.h"

#include <nlohmann/json.hpp>

#include "base/utc_time.h"

namespace tkdc {
namespace {

constexpr std::int64_t kCertificateDayS = 86'400, kWarnDays = 30;

}  // namespace

std::string certificate_alarm(std::int64_t end_s, std::int64_t now_s) {
  constexpr const char* kRemedy =
      "; it goes on working; make another in its time (docs/operations.md, Changing keys)";
  const std::int64_t left_s = end_s - now_s;
  if (left_s > kWarnDays * kCertificateDayS) return {};
  if (left_s <= 0)
    return "this server's certificate ended on " + format_utc_spaced(end_s) + kRemedy;
  return "this server's certificate ends in " + std::to_string(left_s / kCertificateDayS) +
         " days, on " + format_utc_spaced(end_s) + kRemedy;
}

void tell_certificate(nlohmann::json& json, std::int64_t end_s, std::int64_t now_s) {
  json["certificate_until"] = format_utc(end_s);
  const std::string alarm = certificate_alarm(end_s, now_s);
  if (!alarm.empty()) json["certificate_warning"] = alarm;
}

}  // namespace tkdc
