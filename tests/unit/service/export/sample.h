// SPDX-License-Identifier: Apache-2.0
// A request for a few keys, shares of them at three servers, and everybody's key pairs.
#pragma once

#include <gtest/gtest.h>

#include "service/export/parcel.h"
#include "service/export/request.h"

namespace tkdc::test {

struct BoxPair {
  std::array<std::uint8_t, 32> public_key{};
  SecretBuffer secret{crypto_box_SECRETKEYBYTES};
  BoxPair() { crypto_box_keypair(public_key.data(), secret.data()); }
};

inline ExportKey sample_key(std::uint8_t id, std::uint32_t enctype, const std::string& principal) {
  ExportKey key;
  key.id.fill(id);
  key.kvno = id + 1u;
  key.enctype = enctype;
  key.principal = principal;
  return key;
}

inline ExportRequest sample_request(const BoxPair& recipient) {
  ExportRequest request;
  request.installation.fill(7);
  request.realm = "A.TEST";
  request.recipient = recipient.public_key;
  request.expires_at_s = 1'800'000'000;
  request.nonce.fill(9);
  request.keys = {sample_key(1, 17, "alice@A.TEST"), sample_key(2, 18, "odd\\ name@A.TEST"),
                  sample_key(3, 20, "krbtgt/A.TEST@A.TEST")};
  return request;
}

// `opens`: whether the recipient takes it.
template <class Opens>
void expect_no_changed_octet(const Bytes& file, Opens opens) {
  EXPECT_TRUE(opens(file)) << "the control";
  for (std::size_t at = 0; at < file.size(); ++at) {
    Bytes changed = file;
    changed[at] ^= 1;
    EXPECT_FALSE(opens(changed)) << at;
  }
  for (std::size_t bytes = 0; bytes < file.size(); bytes += 7)
    EXPECT_FALSE(opens(Bytes(file.begin(), file.begin() + static_cast<long>(bytes)))) << bytes;
}

}  // namespace tkdc::test
