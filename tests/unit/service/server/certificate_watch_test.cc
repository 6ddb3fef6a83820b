// SPDX-License-Identifier: Apache-2.0
#include "service/server/certificate_watch.h"

#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "link/certificate.h"
#include "service/server/alarms.h"

namespace tkdc {
namespace {

constexpr std::int64_t kDay = 86'400, kEnd = 2'000'000'000;

TEST(CertificateWatch, SpeaksFromThirtyDaysAheadOn) {
  EXPECT_EQ(certificate_alarm(kEnd, kEnd - 31 * kDay), "");
  EXPECT_EQ(certificate_alarm(kEnd, kEnd - 30 * kDay - 1), "");
  for (std::int64_t left : {30 * kDay, 7 * kDay, std::int64_t{1}})
    EXPECT_NE(certificate_alarm(kEnd, kEnd - left)
                  .find("ends in " + std::to_string(left / kDay) + " days, on 2033-05-18"),
              std::string::npos);
  for (std::int64_t past : {std::int64_t{0}, 400 * kDay})
    EXPECT_NE(certificate_alarm(kEnd, kEnd + past).find("ended on 2033-05-18"), std::string::npos);
}

TEST(CertificateWatch, StatusHasTheEndAlwaysAndTheWarningInTime) {
  nlohmann::json early, late;
  tell_certificate(early, kEnd, kEnd - 90 * kDay);
  tell_certificate(late, kEnd, kEnd - 9 * kDay);
  EXPECT_EQ(early["certificate_until"], "2033-05-18T03:33:20Z");
  EXPECT_FALSE(early.contains("certificate_warning"));
  EXPECT_TRUE(late.contains("certificate_warning"));
}

TEST(CertificateWatch, IsSaidOnceADay) {
  std::size_t lines = 0;
  Alarms alarms([&lines](const std::string&) { lines++; });
  const Alarms::Clock::time_point start{};
  for (int hour = 0; hour < 49; ++hour)
    alarms.look_at_certificate("soon", start + std::chrono::hours(hour));
  EXPECT_EQ(lines, 3u);
}

TEST(CertificateWatch, ReadsTheEndOfACertificate) {
  for (int days : {1, 3650}) {
    auto made = make_certificate("of a test", days);
    ASSERT_TRUE(made.ok());
    auto end = certificate_end(made->certificate_pem);
    ASSERT_TRUE(end.ok());
    EXPECT_NEAR(static_cast<double>(*end), static_cast<double>(std::time(nullptr) + days * kDay),
                60.0);
  }
  EXPECT_FALSE(certificate_end("no certificate").ok());
}

}  // namespace
}  // namespace tkdc
