// SPDX-License-Identifier: Apache-2.0
// Requests as RFC 4120 has them: AS-REQ with an encrypted timestamp, TGS-REQ
// with an AP-REQ. Each is built afresh: new nonce, new timestamp, new subkey.
#pragma once

#include "storm/users.h"

namespace tkdc::storm {

// What names a principal in a message; `name` without the realm.
struct Ticket {
  Bytes encoded;  // as the KDC sent it
  RawKey session_raw;
  Key session;
};

struct RequestTerms {
  std::string realm;
  std::vector<std::int32_t> enctypes;  // of the reply and the session key
  std::uint32_t options = 0;           // KDCOptions
  std::uint32_t lifetime_s = 36'000;
  // AS-REQ ask for a checksum over themselves in the reply (PA-REQ-ENC-PA-REP), as clients do.
  bool confirmed = true;
};

constexpr std::uint32_t kOptionRenewableOk = 0x10;

struct Moment {
  std::time_t seconds;
  std::int32_t microseconds;
};
Moment wall_clock();

std::uint32_t fresh_nonce();

// Replaces `out`. Empty when encryption fails, which is reported once at start.
void build_as_request(const RequestTerms& terms, const User& user, const Key& key,
                      std::uint32_t nonce, const Moment& now, Bytes& out);
// `subkey` is put into the authenticator; the reply comes under it.
void build_tgs_request(const RequestTerms& terms, const User& user, const Ticket& ticket,
                       const std::string& service, const RawKey& subkey, std::uint32_t nonce,
                       const Moment& now, Bytes& out);

}  // namespace tkdc::storm
