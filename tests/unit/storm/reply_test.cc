// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storm/fake_kdc.h"
#include "storm/replies.h"

namespace tkdc::storm {
namespace {

class ReplyTest : public testing::Test {
 protected:
  ReplyTest() {
    user.key = Key(user.raw);
    terms.realm = "R.TEST";
    terms.client = "alice/admin";
    terms.service = "krbtgt/R.TEST";
    terms.nonce = 77;
    terms.session = random_key(18);
    terms.end = std::time(nullptr) + 36'000;
    asked = {ReplyKind::kAs, &user,   "R.TEST",          "krbtgt/R.TEST", 77,
             &user.key,      nullptr, std::time(nullptr)};
  }
  std::string check(const Bytes& packet) { return check_inside(parse_reply(packet), asked); }
  Bytes packet() { return make_reply(terms, user.key, &service); }

  User user{"alice/admin", random_key(18), {}};
  Key service{random_key(18)};
  FakeReply terms;
  Asked asked;
};

TEST_F(ReplyTest, AGoodOneGivesTheTicketAndItsKey) {
  Bytes made = packet();
  Ticket ticket;
  asked.service_key = &service;
  EXPECT_EQ(check_inside(parse_reply(made), asked, &ticket), "");
  EXPECT_EQ(ticket.session_raw, terms.session);
  bool failed = false;
  DerReader(ticket.encoded, failed).whole(tag::application(1));
  EXPECT_FALSE(failed);
}

TEST_F(ReplyTest, ATicketsNonceIsItsCiphertextsBeginning) {
  const Bytes made = packet(), other = packet();
  const Reply one = parse_reply(made), two = parse_reply(other);
  const ByteSpan nonce = ticket_nonce(one.ticket);
  ASSERT_EQ(nonce.size(), kNonceBytes);
  EXPECT_NE(Bytes(nonce.begin(), nonce.end()),
            Bytes(ticket_nonce(two.ticket).begin(), ticket_nonce(two.ticket).end()));
  EXPECT_NE(std::search(made.begin(), made.end(), nonce.begin(), nonce.end()), made.end());
  EXPECT_TRUE(ticket_nonce(one.ticket.first(one.ticket.size() - 1)).empty());
}

// So that storm-responder, which seals no ticket, can be asked with --fresh-tickets.
TEST_F(ReplyTest, TicketsOfAnotherNumberHaveAnotherNonce) {
  auto nonce = [&] {
    const Bytes made = make_reply(terms, user.key, nullptr);
    const ByteSpan found = ticket_nonce(parse_reply(made).ticket);
    return Bytes(found.begin(), found.end());
  };
  const Bytes first = nonce();
  EXPECT_EQ(nonce(), first);
  terms.number = 1ULL << 40;
  EXPECT_NE(nonce(), first);
}

TEST_F(ReplyTest, TgsRepliesComeUnderTheSubkey) {
  terms.tgs = true;
  terms.service = asked.service = "host/a.test";
  asked.kind = ReplyKind::kTgs;
  asked.service_key = &service;
  EXPECT_EQ(check(packet()), "");
  Key other(random_key(18));
  asked.reply_key = &other;
  EXPECT_EQ(check(packet()), "reply does not open under the client's key");
}

TEST_F(ReplyTest, WhatWasNotAskedForIsRefused) {
  auto differing = [&](auto change) {
    FakeReply kept = terms;
    change();
    std::string wrong = check(packet());
    terms = kept;
    return wrong;
  };
  asked.service_key = &service;
  EXPECT_EQ(differing([&] { terms.nonce = 78; }), "another nonce");
  EXPECT_EQ(differing([&] { terms.client = "alice"; }), "reply for another client");
  EXPECT_EQ(differing([&] { terms.realm = "S.TEST"; }), "reply for another client");
  EXPECT_EQ(differing([&] { terms.service = "krbtgt/S.TEST"; }), "another service");
  EXPECT_EQ(differing([&] { terms.end = 1000; }), "ticket has expired");
  EXPECT_EQ(differing([&] { terms.tgs = true; }), "reply to another kind of request");
  EXPECT_EQ(differing([&] { terms.session.octets.pop_back(); }),
            "session key of a wrong length or kind");
}

TEST_F(ReplyTest, TheChecksumOverTheRequestIsCompared) {
  const Bytes right(12, 5);
  Bytes other = right;
  other.back() ^= 1;
  const std::string wrong = "reply confirms another request than was sent";
  asked.request_checksum = right;
  EXPECT_EQ(check(packet()), "") << "a KDC that does not know of it";
  terms.confirms = true;
  EXPECT_EQ(check(packet()), wrong) << "the flag without the checksum";
  terms.request_checksum = right;
  EXPECT_EQ(check(packet()), "");
  terms.request_checksum = other;
  EXPECT_EQ(check(packet()), wrong);
  terms.request_checksum = Bytes(right.begin(), right.end() - 1);
  EXPECT_EQ(check(packet()), wrong);
  terms.confirms = false;
  EXPECT_EQ(check(packet()), wrong) << "also without the flag";
  asked.request_checksum = {};
  EXPECT_EQ(check(packet()), "") << "not asked for";
}

TEST_F(ReplyTest, ATicketUnderAnotherKeyIsRefused) {
  Key other(random_key(18));
  asked.service_key = &other;
  EXPECT_EQ(check(packet()), "ticket does not open under the service's key");
}

TEST_F(ReplyTest, AnyFlippedBitOfTheSealedPartIsNoticed) {
  Bytes good = packet();
  std::size_t sealed = parse_reply(good).cipher.size();
  for (std::size_t i = good.size() - sealed; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 1;
    EXPECT_NE(check(bad), "") << i;
  }
}

TEST_F(ReplyTest, NoPrefixAndNothingAppendedIsTaken) {
  Bytes good = packet();
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(parse_reply(ByteSpan(good).first(n)).kind, ReplyKind::kMalformed) << n;
  good.push_back(0);
  EXPECT_EQ(parse_reply(good).kind, ReplyKind::kMalformed);
  EXPECT_EQ(parse_reply(Bytes(70'000, 0x6b)).kind, ReplyKind::kMalformed);
}

TEST_F(ReplyTest, NoOctetChangedAnywhereReachesMemoryOrPassesUnnoticed) {
  asked.service_key = &service;
  Bytes good = packet();
  int passed = 0;
  for (std::size_t i = 0; i < good.size(); ++i)
    for (std::uint8_t mask : {0x01, 0x20, 0x80, 0xff}) {
      Bytes bad = good;
      bad[i] ^= mask;
      if (check(bad).empty()) ++passed;
    }
  // kvno and name type, of reply and ticket, are not compared: ten octets at most.
  EXPECT_LE(passed, 40);
}

TEST_F(ReplyTest, Errors) {
  Bytes made = make_error("R.TEST", 24);
  Reply reply = parse_reply(made);
  EXPECT_EQ(reply.kind, ReplyKind::kError);
  EXPECT_EQ(reply.error, 24);
  EXPECT_EQ(error_name(24), "PREAUTH_FAILED");
  EXPECT_EQ(error_name(9999), "error 9999");
  for (std::size_t n = 0; n < made.size(); ++n)
    EXPECT_EQ(parse_reply(ByteSpan(made).first(n)).kind, ReplyKind::kMalformed);
}

// An AS-REP's beginning as MIT krb5kdc 1.20 sends it: etype-info2 stands before the realm.
TEST(Replies, PadataIsSteppedOver) {
  Bytes out, cipher(60, 9);
  DerWriter w(out);
  auto named = [&](const char* name) {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(1); });
      w.element(tag::context(1), [&] { w.element(tag::kSequence, [&] { w.text(name); }); });
    });
  };
  auto sealed = [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(18); });
      w.element(tag::context(2), [&] { w.octets(cipher); });
    });
  };
  w.element(tag::application(11), [&] {
    w.element(tag::kSequence, [&] {
      w.element(tag::context(0), [&] { w.integer(5); });
      w.element(tag::context(1), [&] { w.integer(11); });
      w.element(tag::context(2), [&] { w.element(tag::kSequence, [] {}); });
      w.element(tag::context(3), [&] { w.text("R"); });
      w.element(tag::context(4), [&] { named("bob"); });
      w.element(tag::context(5), [&] { w.element(tag::application(1), [&] { sealed(); }); });
      w.element(tag::context(6), sealed);
    });
  });
  Reply reply = parse_reply(out);
  EXPECT_EQ(reply.kind, ReplyKind::kAs);
  EXPECT_EQ(reply.client, "bob");
  EXPECT_EQ(reply.enctype, 18);
  EXPECT_EQ(reply.cipher.size(), 60U);
}

}  // namespace
}  // namespace tkdc::storm
