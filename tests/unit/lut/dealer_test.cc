// SPDX-License-Identifier: Apache-2.0
// Dealers of one session: a check is of what all of them have opened, and an end is all theirs.
#include "lut/dealer.h"

#include <barrier>

#include "lut/aes.h"
#include "lut/lut_parties.h"
#include "lut/tables.h"

namespace tkdc::lut {
namespace {

constexpr std::uint8_t kOff = 0x10;

// Looked up by one dealer, which may be gone then; put out by another one. `cheat` sends its share
// of an opened octet wrong and goes on with what both have opened: entries of both are of the wrong
// octet and fit each other.
Outcome by_two_dealers(bool first_dies, int cheat, Bytes (&out)[2]) {
  const auto party = [&](int p) {
    return [&, p](pair::Session& session) -> Result<void> {
      std::optional<PairDealer> first(std::in_place, session, kFewBits);
      auto tables = Tables::make(*first, aes_sbox(), 4);
      if (!tables) return tables.error();
      Labels octets(4);
      if (p == cheat) octets[1].low ^= kOff;
      if (auto done = tables->look_up(*first, octets); !done) return done;
      if (first_dies) first.reset();
      PairDealer second(session, kFewBits);
      auto put = output(second, octets);
      if (!put) return put.error();
      out[p] = std::move(*put);
      return {};
    };
  };
  return pair::with_sessions(party(0), party(1));
}

TEST(LutDealer, ACheckIsOfAllThatItsSessionHasOpened) {
  for (const bool first_dies : {false, true}) {
    for (const int cheat : {0, 1}) {
      Bytes out[2];
      const Outcome outcome = by_two_dealers(first_dies, cheat, out);
      EXPECT_TRUE(outcome.error[1 - cheat]) << cheat << first_dies;
      EXPECT_EQ(out[1 - cheat], Bytes());
    }
    Bytes out[2];
    constexpr int kNobody = 2;
    EXPECT_TRUE(by_two_dealers(first_dies, kNobody, out).ok());
    for (const Bytes& one : out) EXPECT_EQ(one, Bytes(4, aes_sbox()[0]));
  }
}

TEST(LutDealer, AnEndedSessionGivesNoBitsAndExchangesNothing) {
  std::barrier both(2);
  const Outcome outcome = with_dealers([&](Dealer& dealer, int) -> Result<void> {
    Labels one(1);
    const auto drawn = dealer.draw(std::span(one));
    both.arrive_and_wait();
    if (!drawn) return drawn;
    (void)dealer.session().end("for a test");  // its message is not looked at
    PairDealer empty(dealer.session(), kFewBits);
    for (Dealer* each : std::initializer_list<Dealer*>{&dealer, &empty})
      for (int again = 0; again < 2; ++again) EXPECT_FALSE(each->draw(std::span(one)));
    std::uint8_t octet = 0;
    auto refused = dealer.exchange({&octet, 0});
    if (refused) return fail("it exchanged");
    EXPECT_NE(refused.error().message.find("this session has ended"), std::string::npos);
    return {};
  });
  EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("");
}

// A peer that goes while bits are made: none of those that are not there are given later.
TEST(LutDealer, BitsThatDidNotComeAreNotGiven) {
  const Outcome outcome = with_dealers(
      [](Dealer& dealer) -> Result<void> {
        Labels one(1);
        for (int again = 0; again < 2; ++again) EXPECT_FALSE(dealer.draw(std::span(one)));
        return fail("as it should");
      },
      [](Dealer& dealer) -> Result<void> { return dealer.session().end("for a test"); });
  EXPECT_EQ(outcome.error[0], "as it should");
}

}  // namespace
}  // namespace tkdc::lut
