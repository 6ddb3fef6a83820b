// SPDX-License-Identifier: Apache-2.0
// What a KDC answered: read in full without trusting any of it, then, for the
// replies of the sample, decrypted and compared with what was asked.
#pragma once

#include "storm/messages.h"

namespace tkdc::storm {

constexpr std::size_t kMaxReply = 64 * 1024;

enum class ReplyKind { kMalformed, kAs, kTgs, kError };

// Views into the packet.
struct Reply {
  ReplyKind kind = ReplyKind::kMalformed;
  std::string client;  // empty in an error that names none
  std::string_view client_realm;
  ByteSpan ticket;
  std::int32_t enctype = 0;
  ByteSpan cipher;
  std::int32_t error = 0;
};

// Malformed unless every element is as RFC 4120 has it.
Reply parse_reply(ByteSpan packet);

// What the reply must fit.
struct Asked {
  ReplyKind kind = ReplyKind::kAs;
  const User* user = nullptr;
  std::string realm;
  std::string service;  // krbtgt/REALM for an AS-REQ
  std::uint32_t nonce = 0;
  const Key* reply_key = nullptr;    // the user's key; the subkey for a TGS-REQ
  const Key* service_key = nullptr;  // opens the ticket, where it is known
  std::time_t now = 0;
  // Over the AS-REQ under the reply's key, when the request asked for it.
  ByteSpan request_checksum{};
};

// Empty when all is right, else what is wrong. Without decryption: kind and
// client, which also keeps a stray answer from being taken for this one.
std::string check_outside(const Reply& reply, const Asked& asked);
// With decryption. On success `ticket`, where wanted, takes ticket and session key.
std::string check_inside(const Reply& reply, const Asked& asked, Ticket* ticket = nullptr);

// What the ticket's ciphertext begins with: the nonce of tkdc's own-realm tickets
// (docs/protocols/08), of other tickets part of an encrypted random confounder. Empty when the
// ticket is malformed.
constexpr std::size_t kNonceBytes = 12;
ByteSpan ticket_nonce(ByteSpan ticket);

// A name of RFC 4120's for an error code, or "error N".
std::string error_name(std::int32_t code);

}  // namespace tkdc::storm
