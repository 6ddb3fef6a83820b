// SPDX-License-Identifier: Apache-2.0
#include "storm/replies.h"

#include <algorithm>
#include <map>

namespace tkdc::storm {
namespace {

constexpr int kTicket = 1, kTicketPart = 3, kAsReply = 11, kTgsReply = 13, kAsPart = 25,
              kTgsPart = 26, kError = 30;
constexpr std::int64_t kPadataConfirm = 149;
constexpr std::uint32_t kFlagConfirmed = 0x00010000;  // of a ticket: enc-pa-rep
constexpr std::size_t kMaxComponents = 16;
constexpr std::time_t kSkew_s = 300;

std::string principal(DerReader r) {
  DerReader name = r.inside(tag::kSequence);
  r.end();
  name.inside(tag::context(0)).integer();
  DerReader parts = name.inside(tag::context(1)).inside(tag::kSequence);
  name.end();
  std::string joined;
  for (std::size_t n = 0; n < kMaxComponents && !parts.empty(); ++n) {
    if (n > 0) joined += '/';
    joined += parts.text();
  }
  parts.end();
  return joined;
}

RawKey encryption_key(DerReader r) {
  DerReader key = r.inside(tag::kSequence);
  RawKey raw;
  raw.enctype = static_cast<std::int32_t>(key.inside(tag::context(0)).integer());
  ByteSpan octets = key.inside(tag::context(1)).octets();
  raw.octets.assign(octets.begin(), octets.end());
  key.end();
  return raw;
}

void encrypted(DerReader r, std::int32_t& enctype, ByteSpan& cipher) {
  DerReader data = r.inside(tag::kSequence);
  enctype = static_cast<std::int32_t>(data.inside(tag::context(0)).integer());
  data.skip(tag::context(1));  // kvno
  cipher = data.inside(tag::context(2)).octets();
  data.end();
}

Reply parse_kdc_reply(DerReader r, int kind) {
  Reply reply;
  DerReader body = r.inside(tag::application(kind)).inside(tag::kSequence);
  r.end();
  bool right = body.inside(tag::context(0)).integer() == 5;
  right = body.inside(tag::context(1)).integer() == kind && right;
  body.skip(tag::context(2));  // padata
  reply.client_realm = body.inside(tag::context(3)).text();
  reply.client = principal(body.inside(tag::context(4)));
  reply.ticket = body.inside(tag::context(5)).whole(tag::application(kTicket));
  encrypted(body.inside(tag::context(6)), reply.enctype, reply.cipher);
  body.end();
  if (right) reply.kind = kind == kAsReply ? ReplyKind::kAs : ReplyKind::kTgs;
  return reply;
}

Reply parse_error(DerReader r) {
  Reply reply;
  DerReader body = r.inside(tag::application(kError)).inside(tag::kSequence);
  r.end();
  bool right = body.inside(tag::context(0)).integer() == 5;
  right = body.inside(tag::context(1)).integer() == kError && right;
  body.skip(tag::context(2));
  body.skip(tag::context(3));
  body.inside(tag::context(4)).time();
  body.inside(tag::context(5)).integer();
  reply.error = static_cast<std::int32_t>(body.inside(tag::context(6)).integer());
  if (body.next_is(tag::context(7))) reply.client_realm = body.inside(tag::context(7)).text();
  if (body.next_is(tag::context(8))) reply.client = principal(body.inside(tag::context(8)));
  body.inside(tag::context(9)).text();
  principal(body.inside(tag::context(10)));
  body.skip(tag::context(11));
  body.skip(tag::context(12));
  body.end();
  if (right) reply.kind = ReplyKind::kError;
  return reply;
}

struct Part {
  RawKey session;
  std::int64_t nonce = 0;
  std::time_t end = 0;
  std::string_view realm;
  std::string service;
  bool confirms = false;  // says that the request is confirmed
  ByteSpan request_checksum;
};

// METHOD-DATA inside the reply: the checksum over the request (RFC 6806, section 11).
ByteSpan find_confirmation(DerReader data) {
  ByteSpan checksum;
  while (!data.empty()) {
    DerReader one = data.inside(tag::kSequence);
    const std::int64_t type = one.inside(tag::context(1)).integer();
    DerReader value = one.inside(tag::context(2));
    if (type != kPadataConfirm) continue;
    DerReader octets = value.inside(tag::kOctets);
    DerReader found = octets.inside(tag::kSequence);
    found.inside(tag::context(0)).integer();
    checksum = found.inside(tag::context(1)).octets();
  }
  return checksum;
}

// EncKDCRepPart. Implementations use either tag for either reply.
Part parse_part(ByteSpan plain, bool& failed) {
  DerReader r(plain, failed);
  Part part;
  int kind = r.next_is(tag::application(kAsPart)) ? kAsPart : kTgsPart;
  DerReader body = r.inside(tag::application(kind)).inside(tag::kSequence);
  part.session = encryption_key(body.inside(tag::context(0)));
  body.value(tag::context(1));  // last-req
  part.nonce = body.inside(tag::context(2)).integer();
  body.skip(tag::context(3));
  part.confirms = (body.inside(tag::context(4)).flags() & kFlagConfirmed) != 0;
  body.inside(tag::context(5)).time();
  body.skip(tag::context(6));
  part.end = body.inside(tag::context(7)).time();
  body.skip(tag::context(8));
  part.realm = body.inside(tag::context(9)).text();
  part.service = principal(body.inside(tag::context(10)));
  body.skip(tag::context(11));
  if (body.next_is(tag::context(12)))
    part.request_checksum = find_confirmation(body.inside(tag::context(12)).inside(tag::kSequence));
  return part;
}

// A KDC that does not know the checksum neither sends it nor sets the flag.
std::string check_confirmation(const Part& part, ByteSpan asked) {
  if (asked.empty() || (part.request_checksum.empty() && !part.confirms)) return {};
  return std::ranges::equal(part.request_checksum, asked)
             ? ""
             : "reply confirms another request than was sent";
}

// The ticket itself, opened with the service's key: its session key and client.
std::string check_ticket(ByteSpan ticket, const Asked& asked, const RawKey& session) {
  bool failed = false;
  DerReader r(ticket, failed);
  DerReader body = r.inside(tag::application(kTicket)).inside(tag::kSequence);
  bool right = body.inside(tag::context(0)).integer() == 5;
  right = body.inside(tag::context(1)).text() == asked.realm && right;
  right = principal(body.inside(tag::context(2))) == asked.service && right;
  if (failed || !right) return "ticket of another service";
  if (asked.service_key == nullptr) return {};
  std::int32_t enctype = 0;
  ByteSpan cipher;
  encrypted(body.inside(tag::context(3)), enctype, cipher);
  Bytes plain;
  if (failed || enctype != asked.service_key->enctype() ||
      !asked.service_key->decrypt(kUsageTicket, cipher, plain))
    return "ticket does not open under the service's key";
  DerReader inner(plain, failed);
  DerReader part = inner.inside(tag::application(kTicketPart)).inside(tag::kSequence);
  part.inside(tag::context(0)).flags();
  RawKey key = encryption_key(part.inside(tag::context(1)));
  right = part.inside(tag::context(2)).text() == asked.realm;
  right = principal(part.inside(tag::context(3))) == asked.user->name && right;
  if (failed || !right) return "ticket names another client";
  return key == session ? "" : "ticket and reply differ in the session key";
}

}  // namespace

Reply parse_reply(ByteSpan packet) {
  if (packet.empty() || packet.size() > kMaxReply) return {};
  bool failed = false;
  DerReader r(packet, failed);
  Reply reply;
  if (r.next_is(tag::application(kAsReply)))
    reply = parse_kdc_reply(r, kAsReply);
  else if (r.next_is(tag::application(kTgsReply)))
    reply = parse_kdc_reply(r, kTgsReply);
  else if (r.next_is(tag::application(kError)))
    reply = parse_error(r);
  return failed ? Reply{} : reply;
}

std::string check_outside(const Reply& reply, const Asked& asked) {
  if (reply.kind == ReplyKind::kMalformed) return "malformed";
  if (reply.kind == ReplyKind::kError) return {};
  if (reply.kind != asked.kind) return "reply to another kind of request";
  if (reply.client != asked.user->name || reply.client_realm != asked.realm)
    return "reply for another client";
  return {};
}

std::string check_inside(const Reply& reply, const Asked& asked, Ticket* ticket) {
  if (std::string wrong = check_outside(reply, asked); !wrong.empty()) return wrong;
  if (reply.kind == ReplyKind::kError) return "an error has nothing inside";
  Bytes plain;
  Usage usage = asked.kind == ReplyKind::kAs ? kUsageAsReply : kUsageTgsReplySubkey;
  if (reply.enctype != asked.reply_key->enctype() ||
      !asked.reply_key->decrypt(usage, reply.cipher, plain))
    return "reply does not open under the client's key";
  bool failed = false;
  Part part = parse_part(plain, failed);
  if (failed) return "encrypted part is malformed";
  if (part.nonce != asked.nonce) return "another nonce";
  if (part.realm != asked.realm || part.service != asked.service) return "another service";
  if (part.end + kSkew_s < asked.now) return "ticket has expired";
  if (std::string wrong = check_confirmation(part, asked.request_checksum); !wrong.empty())
    return wrong;
  Key session(part.session);
  if (!session.valid()) return "session key of a wrong length or kind";
  if (std::string wrong = check_ticket(reply.ticket, asked, part.session); !wrong.empty())
    return wrong;
  if (ticket != nullptr)
    *ticket = {{reply.ticket.begin(), reply.ticket.end()}, part.session, session};
  return {};
}

ByteSpan ticket_nonce(ByteSpan ticket) {
  bool failed = false;
  DerReader r(ticket, failed);
  DerReader body = r.inside(tag::application(kTicket)).inside(tag::kSequence);
  body.skip(tag::context(0));
  body.skip(tag::context(1));
  body.skip(tag::context(2));
  std::int32_t enctype = 0;
  ByteSpan cipher;
  encrypted(body.inside(tag::context(3)), enctype, cipher);
  return failed || cipher.size() < kNonceBytes ? ByteSpan{} : cipher.first(kNonceBytes);
}

std::string error_name(std::int32_t code) {
  static const std::map<std::int32_t, const char*> kNames = {{6, "C_PRINCIPAL_UNKNOWN"},
                                                             {7, "S_PRINCIPAL_UNKNOWN"},
                                                             {14, "ETYPE_NOSUPP"},
                                                             {18, "CLIENT_REVOKED"},
                                                             {23, "KEY_EXPIRED"},
                                                             {24, "PREAUTH_FAILED"},
                                                             {25, "PREAUTH_REQUIRED"},
                                                             {29, "SVC_UNAVAILABLE"},
                                                             {31, "BAD_INTEGRITY"},
                                                             {32, "TKT_EXPIRED"},
                                                             {33, "TKT_NYV"},
                                                             {34, "REPEAT"},
                                                             {37, "SKEW"},
                                                             {41, "MODIFIED"},
                                                             {52, "RESPONSE_TOO_BIG"},
                                                             {60, "GENERIC"},
                                                             {68, "WRONG_REALM"}};
  auto found = kNames.find(code);
  return found != kNames.end() ? found->second : "error " + std::to_string(code);
}

}  // namespace tkdc::storm
