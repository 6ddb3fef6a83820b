// SPDX-License-Identifier: Apache-2.0
#include "link/certificate.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

TEST(Certificate, FingerprintMatchesItsPem) {
  auto made = make_certificate("tkdc server 0");
  ASSERT_TRUE(made.ok()) << made.error().message;
  auto again = certificate_fingerprint(made->certificate_pem);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, made->sha256);
  std::string key(made->private_key_pem.begin(), made->private_key_pem.end());
  EXPECT_EQ(key.rfind("-----BEGIN PRIVATE KEY-----", 0), 0u);
}

TEST(Certificate, TwoAreNeverTheSame) {
  auto a = make_certificate("same name");
  auto b = make_certificate("same name");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->sha256, b->sha256);
}

TEST(Certificate, RefusesWhatIsNone) {
  EXPECT_FALSE(certificate_fingerprint("").ok());
  EXPECT_FALSE(certificate_fingerprint("-----BEGIN CERTIFICATE-----\nAAAA\n").ok());
}

}  // namespace
}  // namespace tkdc
