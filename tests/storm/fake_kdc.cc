// SPDX-License-Identifier: Apache-2.0
#include "storm/fake_kdc.h"

namespace tkdc::storm {
namespace {

constexpr std::size_t kTicketOctets = 300;  // about what a ticket with a PAC has

void put_name(DerWriter& w, const std::string& name) {
  w.element(tag::kSequence, [&] {
    w.element(tag::context(0), [&] { w.integer(1); });
    w.element(tag::context(1), [&] {
      w.element(tag::kSequence, [&] {
        for (std::string_view part : components(name)) w.text(part);
      });
    });
  });
}

void put_encrypted(DerWriter& w, std::int32_t enctype, ByteSpan cipher) {
  w.element(tag::kSequence, [&] {
    w.element(tag::context(0), [&] { w.integer(enctype); });
    w.element(tag::context(1), [&] { w.integer(1); });
    w.element(tag::context(2), [&] { w.octets(cipher); });
  });
}

void put_key(DerWriter& w, const RawKey& key) {
  w.element(tag::kSequence, [&] {
    w.element(tag::context(0), [&] { w.integer(key.enctype); });
    w.element(tag::context(1), [&] { w.octets(key.octets); });
  });
}

Bytes ticket_part(const FakeReply& terms) {
  Bytes plain;
  DerWriter w(plain);
  w.element(tag::application(3), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.flags(0x00400000); });
      w.element(tag::context(1), [&] { put_key(w, terms.session); });
      w.element(tag::context(2), [&] { w.text(terms.realm); });
      w.element(tag::context(3), [&] { put_name(w, terms.client); });
    });
  });
  return plain;
}

// encrypted-pa-data: something unknown, then the checksum.
void put_confirmation(DerWriter& w, ByteSpan checksum) {
  Bytes value;
  DerWriter inner(value);
  inner.element(tag::kSequence, [&] {
    inner.element(tag::context(0), [&] { inner.integer(16); });
    inner.element(tag::context(1), [&] { inner.octets(checksum); });
  });
  auto put = [&](int type, ByteSpan octets) {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(1), [&] { w.integer(type); });
      w.element(tag::context(2), [&] { w.octets(octets); });
    });
  };
  w.element(tag::context(12), [&] {
    w.element(tag::kSequence, [&] {
      put(136, {});
      put(149, value);
    });
  });
}

Bytes reply_part(const FakeReply& terms) {
  Bytes plain;
  DerWriter w(plain);
  std::time_t now = terms.end - 36'000;
  w.element(tag::application(terms.tgs ? 26 : 25), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { put_key(w, terms.session); });
      w.element(tag::context(1), [&] { w.element(tag::kSequence, [] {}); });
      w.element(tag::context(2), [&] { w.integer(terms.nonce); });
      w.element(tag::context(4), [&] { w.flags(terms.confirms ? 0x00410000 : 0x00400000); });
      w.element(tag::context(5), [&] { w.time(now); });
      w.element(tag::context(7), [&] { w.time(terms.end); });
      w.element(tag::context(9), [&] { w.text(terms.realm); });
      w.element(tag::context(10), [&] { put_name(w, terms.service); });
      if (!terms.request_checksum.empty()) put_confirmation(w, terms.request_checksum);
    });
  });
  return plain;
}

void put_ticket(DerWriter& w, const FakeReply& terms, const Key* service_key) {
  Bytes cipher(kTicketOctets, 0x5a);
  for (std::size_t i = 0; i < sizeof terms.number; ++i)
    cipher[i] = static_cast<std::uint8_t>(terms.number >> (8 * i));
  bool sealed =
      service_key != nullptr && service_key->encrypt(kUsageTicket, ticket_part(terms), cipher);
  w.element(tag::application(1), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(5); });
      w.element(tag::context(1), [&] { w.text(terms.realm); });
      w.element(tag::context(2), [&] { put_name(w, terms.service); });
      w.element(tag::context(3),
                [&] { put_encrypted(w, sealed ? service_key->enctype() : 18, cipher); });
    });
  });
}

std::string read_name(DerReader r) {
  DerReader name = r.inside(tag::kSequence);
  name.inside(tag::context(0)).integer();
  DerReader parts = name.inside(tag::context(1)).inside(tag::kSequence);
  std::string joined(parts.text());
  while (!parts.empty()) joined += "/" + std::string(parts.text());
  return joined;
}

}  // namespace

Bytes make_reply(const FakeReply& terms, const Key& reply_key, const Key* service_key) {
  Bytes out, cipher;
  if (!reply_key.encrypt(terms.tgs ? kUsageTgsReplySubkey : kUsageAsReply, reply_part(terms),
                         cipher))
    return out;
  int kind = terms.tgs ? 13 : 11;
  DerWriter w(out);
  w.element(tag::application(kind), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(5); });
      w.element(tag::context(1), [&] { w.integer(kind); });
      w.element(tag::context(3), [&] { w.text(terms.realm); });
      w.element(tag::context(4), [&] { put_name(w, terms.client); });
      w.element(tag::context(5), [&] { put_ticket(w, terms, service_key); });
      w.element(tag::context(6), [&] { put_encrypted(w, reply_key.enctype(), cipher); });
    });
  });
  return out;
}

Bytes make_error(const std::string& realm, std::int32_t code) {
  Bytes out;
  DerWriter w(out);
  w.element(tag::application(30), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(5); });
      w.element(tag::context(1), [&] { w.integer(30); });
      w.element(tag::context(4), [&] { w.time(std::time(nullptr)); });
      w.element(tag::context(5), [&] { w.integer(0); });
      w.element(tag::context(6), [&] { w.integer(code); });
      w.element(tag::context(9), [&] { w.text(realm); });
      w.element(tag::context(10), [&] { put_name(w, "krbtgt/" + realm); });
    });
  });
  return out;
}

bool parse_as_request(ByteSpan packet, FakeRequest& out) {
  bool failed = false;
  DerReader r(packet, failed);
  DerReader request = r.inside(tag::application(10)).inside(tag::kSequence);
  r.end();
  request.skip(tag::context(1));
  request.skip(tag::context(2));
  DerReader padata = request.inside(tag::context(3)).inside(tag::kSequence).inside(tag::kSequence);
  padata.skip(tag::context(1));
  DerReader sealed(padata.inside(tag::context(2)).octets(), failed);
  DerReader data = sealed.inside(tag::kSequence);
  data.skip(tag::context(0));
  data.skip(tag::context(1));
  out.timestamp = data.inside(tag::context(2)).octets();
  DerReader body = request.inside(tag::context(4)).inside(tag::kSequence);
  body.skip(tag::context(0));
  out.client = read_name(body.inside(tag::context(1)));
  body.skip(tag::context(2));
  out.service = read_name(body.inside(tag::context(3)));
  body.skip(tag::context(4));
  body.skip(tag::context(5));
  body.skip(tag::context(6));
  out.nonce = static_cast<std::uint32_t>(body.inside(tag::context(7)).integer());
  return !failed;
}

}  // namespace tkdc::storm
