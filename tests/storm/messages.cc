// SPDX-License-Identifier: Apache-2.0
#include "storm/messages.h"

#include <array>

namespace tkdc::storm {
namespace {

constexpr int kAsRequest = 10, kTgsRequest = 12, kApRequest = 14, kAuthenticator = 2;
constexpr int kPadataTgsRequest = 1, kPadataTimestamp = 2, kPadataConfirm = 149;

void principal(DerWriter& w, std::string_view name) {
  std::vector<std::string_view> parts = components(name);
  bool service = parts.size() > 1;
  w.element(tag::kSequence, [&] {
    w.element(tag::context(0), [&] { w.integer(service ? KRB5_NT_SRV_INST : KRB5_NT_PRINCIPAL); });
    w.element(tag::context(1), [&] {
      w.element(tag::kSequence, [&] {
        for (std::string_view part : parts) w.text(part);
      });
    });
  });
}

void encrypted(DerWriter& w, std::int32_t enctype, ByteSpan cipher) {
  w.element(tag::kSequence, [&] {
    w.element(tag::context(0), [&] { w.integer(enctype); });
    w.element(tag::context(2), [&] { w.octets(cipher); });
  });
}

void typed_octets(DerWriter& w, std::int32_t type, ByteSpan octets) {
  w.element(tag::kSequence, [&] {
    w.element(tag::context(0), [&] { w.integer(type); });
    w.element(tag::context(1), [&] { w.octets(octets); });
  });
}

Bytes request_body(const RequestTerms& terms, std::string_view client, std::string_view server,
                   std::uint32_t nonce, const Moment& now) {
  Bytes body;
  DerWriter w(body);
  w.element(tag::kSequence, [&] {
    w.element(tag::context(0), [&] { w.flags(terms.options); });
    if (!client.empty()) w.element(tag::context(1), [&] { principal(w, client); });
    w.element(tag::context(2), [&] { w.text(terms.realm); });
    w.element(tag::context(3), [&] { principal(w, server); });
    w.element(tag::context(5), [&] { w.time(now.seconds + terms.lifetime_s); });
    w.element(tag::context(7), [&] { w.integer(nonce); });
    w.element(tag::context(8), [&] {
      w.element(tag::kSequence, [&] {
        for (std::int32_t enctype : terms.enctypes) w.integer(enctype);
      });
    });
  });
  return body;
}

struct Padata {
  int type;
  ByteSpan octets;
};

void request(Bytes& out, int kind, std::initializer_list<Padata> padata, ByteSpan body) {
  out.clear();
  DerWriter w(out);
  auto put = [&](const Padata& one) {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(1), [&] { w.integer(one.type); });
      w.element(tag::context(2), [&] { w.octets(one.octets); });
    });
  };
  w.element(tag::application(kind), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(1), [&] { w.integer(5); });
      w.element(tag::context(2), [&] { w.integer(kind); });
      w.element(tag::context(3), [&] {
        w.element(tag::kSequence, [&] {
          for (const Padata& one : padata) put(one);
        });
      });
      w.element(tag::context(4), [&] { w.raw(body); });
    });
  });
}

Bytes authenticator(const RequestTerms& terms, const User& user, const RawKey& subkey,
                    std::int32_t checksum_type, ByteSpan checksum, const Moment& now) {
  Bytes plain;
  DerWriter w(plain);
  w.element(tag::application(kAuthenticator), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(5); });
      w.element(tag::context(1), [&] { w.text(terms.realm); });
      w.element(tag::context(2), [&] { principal(w, user.name); });
      w.element(tag::context(3), [&] { typed_octets(w, checksum_type, checksum); });
      w.element(tag::context(4), [&] { w.integer(now.microseconds); });
      w.element(tag::context(5), [&] { w.time(now.seconds); });
      w.element(tag::context(6), [&] { typed_octets(w, subkey.enctype, subkey.octets); });
    });
  });
  return plain;
}

}  // namespace

Moment wall_clock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return {now.tv_sec, static_cast<std::int32_t>(now.tv_nsec / 1000)};
}

// 31 bits: some KDCs take the nonce for a signed number.
std::uint32_t fresh_nonce() {
  static std::array<std::uint8_t, 4096> pool;
  static std::size_t used = pool.size();
  if (used == pool.size()) {
    fill_random(pool);
    used = 0;
  }
  std::uint32_t nonce = 0;
  for (int i = 0; i < 4; ++i) nonce = nonce << 8 | pool[used++];
  return nonce & 0x7fffffff;
}

void build_as_request(const RequestTerms& terms, const User& user, const Key& key,
                      std::uint32_t nonce, const Moment& now, Bytes& out) {
  Bytes plain, cipher, padata;
  DerWriter stamp(plain);
  stamp.element(tag::kSequence, [&] {
    stamp.element(tag::context(0), [&] { stamp.time(now.seconds); });
    stamp.element(tag::context(1), [&] { stamp.integer(now.microseconds); });
  });
  out.clear();
  if (!key.encrypt(kUsagePreauth, plain, cipher)) return;
  DerWriter w(padata);
  encrypted(w, key.enctype(), cipher);
  const Bytes body = request_body(terms, user.name, "krbtgt/" + terms.realm, nonce, now);
  if (terms.confirmed)
    request(out, kAsRequest, {{kPadataTimestamp, padata}, {kPadataConfirm, {}}}, body);
  else
    request(out, kAsRequest, {{kPadataTimestamp, padata}}, body);
}

void build_tgs_request(const RequestTerms& terms, const User& user, const Ticket& ticket,
                       const std::string& service, const RawKey& subkey, std::uint32_t nonce,
                       const Moment& now, Bytes& out) {
  Bytes body = request_body(terms, "", service, nonce, now), checksum, cipher, ap_request;
  std::int32_t type = 0;
  out.clear();
  if (!ticket.session.checksum(kUsageRequestChecksum, body, checksum, type)) return;
  if (!ticket.session.encrypt(kUsageAuthenticator,
                              authenticator(terms, user, subkey, type, checksum, now), cipher))
    return;
  DerWriter w(ap_request);
  w.element(tag::application(kApRequest), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(5); });
      w.element(tag::context(1), [&] { w.integer(kApRequest); });
      w.element(tag::context(2), [&] { w.flags(0); });
      w.element(tag::context(3), [&] { w.raw(ticket.encoded); });
      w.element(tag::context(4), [&] { encrypted(w, ticket.session.enctype(), cipher); });
    });
  });
  request(out, kTgsRequest, {{kPadataTgsRequest, ap_request}}, body);
}

}  // namespace tkdc::storm
