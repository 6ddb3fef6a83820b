// SPDX-License-Identifier: Apache-2.0
// Keys and what is done with them: a thin C++ side of libkrb5's krb5_k_* calls,
// and string-to-key by OpenSSL, which derives a hundred thousand users' keys
// about ten times faster than libk5crypto's own.
//
// Keys here are those of test users: they are not locked in memory nor wiped.
#pragma once

#include <krb5.h>

#include <memory>

#include "base/result.h"
#include "storm/der.h"

namespace tkdc::storm {

// Key usages of RFC 4120, section 7.5.1.
enum Usage {
  kUsagePreauth = 1,
  kUsageTicket = 2,
  kUsageAsReply = 3,
  kUsageRequestChecksum = 6,
  kUsageAuthenticator = 7,
  kUsageTgsReplySession = 8,
  kUsageTgsReplySubkey = 9,
  kUsageAsRequest = 56,  // RFC 6806, section 11
};

// The process's krb5_context.
krb5_context context();
std::string krb5_message(krb5_error_code code);

struct RawKey {
  std::int32_t enctype = 0;
  Bytes octets;
  bool operator==(const RawKey&) const = default;
};

// A key with its derived keys cached; copies share them.
class Key {
 public:
  Key() = default;
  explicit Key(const RawKey& raw);
  bool valid() const { return key_ != nullptr; }
  std::int32_t enctype() const;

  // Each replaces `out`; false when libkrb5 refuses.
  [[nodiscard]] bool encrypt(Usage usage, ByteSpan plain, Bytes& out) const;
  [[nodiscard]] bool decrypt(Usage usage, ByteSpan cipher, Bytes& out) const;
  // The enctype's required checksum (RFC 3961), and its type.
  [[nodiscard]] bool checksum(Usage usage, ByteSpan data, Bytes& out, std::int32_t& type) const;

 private:
  std::shared_ptr<krb5_key_st> key_;
};

RawKey random_key(std::int32_t enctype);
void fill_random(std::span<std::uint8_t> out);
Result<RawKey> string_to_key(std::int32_t enctype, std::string_view password,
                             std::string_view salt);
Result<std::int32_t> enctype_by_name(const std::string& name);

}  // namespace tkdc::storm
