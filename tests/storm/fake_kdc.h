// SPDX-License-Identifier: Apache-2.0
// The KDC's side of the messages, as far as tests of the generator need it: the
// responder, which measures the generator alone, and known answers for the unit
// tests. It asks for no preauthentication and checks nothing.
#pragma once

#include "storm/messages.h"

namespace tkdc::storm {

struct FakeReply {
  bool tgs = false;
  std::string realm, client, service;
  std::uint32_t nonce = 0;
  RawKey session;
  std::time_t end = 0;
  bool confirms = false;     // the flag
  Bytes request_checksum{};  // none if empty
  std::uint64_t number = 0;  // tickets that are not sealed begin with it
};

// `reply_key` is the client's key (AS) or the subkey (TGS); the ticket is sealed
// under `service_key`. Where that is absent it is octets of no meaning, the same
// ones for the same number.
Bytes make_reply(const FakeReply& terms, const Key& reply_key, const Key* service_key);
Bytes make_error(const std::string& realm, std::int32_t code);

struct FakeRequest {
  std::string client, service;
  std::uint32_t nonce = 0;
  ByteSpan timestamp;  // ciphertext of the preauthentication
};
// False unless it is a whole AS-REQ as this program makes them.
bool parse_as_request(ByteSpan packet, FakeRequest& out);

}  // namespace tkdc::storm
