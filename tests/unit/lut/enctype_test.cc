// SPDX-License-Identifier: Apache-2.0
// SEAL and OPEN of enctypes 17 to 20 by tables and a circuit around them, from end to end: both
// servers have the key's record stored, an agent deals message and pad and takes the answer, and
// libkrb5 has the key.
#include "lut/held_aes.h"
#include "lut/norm_tables.h"
#include "pair/dealt_entry.h"
#include "pair/stored_enctype.h"

namespace tkdc::lut {
namespace {

using pair::Bits;
using pair::Held;

constexpr std::size_t kPlainBytes = 61, kConfounderBits = 128;

const circuits::Named& around(const std::string& name) {
  for (const circuits::Named& named : circuits::around_tables())
    if (named.name == name) return named;
  throw std::out_of_range(name);
}

Held joined(const Held& first, const Held& second) {
  Held out = first;
  out.bits.insert(out.bits.end(), second.bits.begin(), second.bits.end());
  return out;
}

class TablesEnctype : public testing::TestWithParam<std::uint32_t>, protected pair::StoredEnctype {
 protected:
  TablesEnctype() : StoredEnctype(GetParam()) {}

  std::size_t mac_bits() const { return GetParam() <= 18 ? 96 : GetParam() == 19 ? 128 : 192; }
  bool mac_of_plain() const { return GetParam() <= 18; }

  // What one server has made ahead of a job whose AES is of so many octets.
  struct Ahead {
    NormTables schedule, tables;
    BitsOut out;
    pair::EntryMasks entry;
  };
  Result<Ahead> make_ahead(PairDealer& dealer, bool seals, std::size_t octets, std::size_t dealt) {
    auto schedule = NormTables::make(dealer, schedule_lookups(key.size()));
    const std::size_t lookups = cts_lookups(key.size(), octets);
    auto tables =
        seals ? NormTables::make(dealer, lookups) : NormTables::make_inverse(dealer, lookups);
    auto out = BitsOut::make(dealer, octets);
    auto entry = pair::EntryMasks::draw(dealer.session(), dealt);
    if (!schedule || !tables || !out || !entry) return fail("nothing made ahead");
    return Ahead{std::move(*schedule), std::move(*tables), std::move(*out), std::move(*entry)};
  }

  // A circuit's inputs but the pad, once tables have done AES.
  Result<pair::Inputs> by_tables(PairDealer& dealer, Ahead& ahead, bool seals, const Held& of_ke,
                                 const Held& of_ki, const Held& input) {
    auto keys = RoundKeys::expand(dealer, ahead.schedule, of_ke);
    if (!keys) return keys.error();
    pair::Inputs inputs;
    inputs.held(of_ki);
    if (seals) {
      Held confounder{dealer.session().id(), AuthBits(kConfounderBits)};
      if (auto drawn = dealer.draw(std::span(confounder.bits)); !drawn) return drawn.error();
      const Held message = joined(confounder, input);
      auto made = seal_held(dealer, ahead.tables, ahead.out, *keys, message);
      if (!made) return made.error();
      if (mac_of_plain()) inputs.held(message);
      inputs.held(*made);
      return inputs;
    }
    const std::size_t sealed = input.bits.size() - mac_bits();
    auto text = pair::part_of(input, 0, sealed), mac = pair::part_of(input, sealed, mac_bits());
    if (!text || !mac) return fail("too short");
    auto made = open_held(dealer, ahead.tables, ahead.out, *keys, *text);
    if (!made) return made.error();
    inputs.held(*made);
    if (!mac_of_plain()) inputs.held(*text);
    inputs.held(*mac);
    return inputs;
  }

  // The agent's answer.
  Bytes compute_for_agent(bool seals, std::size_t size, const Bytes& message) {
    const circuits::Named& named = around((seals ? "around-seal" : "around-open") + number);
    const pair::PairCircuit circuit(
        circuit::schedule_of(pair::with_pad(circuits::record({&named, size}))));
    std::mt19937_64 generator(1);
    const Bits pad = pair::random_bits(generator, circuit.schedule.output_bits.size());
    Bits secret = pair::bits_of(message);
    secret.insert(secret.end(), pad.begin(), pad.end());
    auto dealt = pair::deal_input(secret, Label{}, pair::draw_coin());
    const std::size_t octets = seals ? size + kConfounderBits / 8 : size - mac_bits() / 8;
    Bits answers[2];
    const auto server = [&](std::size_t p) {
      return [&, p](pair::Session& session) -> Result<void> {
        pair::MemoryPosition position;
        auto reserved = pair::reserve(session, pair::pools()[p], position, 1);
        if (!reserved) return reserved.error();
        auto held = pair::bridge(session, *reserved, record[p], pair::kKeyName);
        if (!held) return held.error();
        auto of_ke = ke(*held), of_ki = ki(*held);
        auto prepared = pair::prepared_for(session, circuit);
        if (!of_ke || !of_ki || !prepared)
          return fail("the record is too short, or nothing prepared");
        PairDealer dealer(session, std::size_t{32} * 15 * 128);
        auto ahead = make_ahead(dealer, seals, octets, secret.size());
        if (!ahead) return ahead.error();
        dealt[p].session = session.id();
        auto entered =
            pair::enter_dealt(session, std::move(ahead->entry), std::move(dealt[p]), pad.size());
        if (!entered) return entered.error();
        auto inputs = by_tables(dealer, *ahead, seals, *of_ke, *of_ki, entered->input);
        if (!inputs) return inputs.error();
        auto answer = compute(session, *prepared, inputs->held(std::move(entered->pad)));
        if (!answer) return answer.error();
        answers[p] = std::move(*answer);
        return {};
      };
    };
    const auto outcome = pair::with_sessions(server(0), server(1), 0, {}, {});
    EXPECT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
    auto taken = pair::output_of_both(answers[0], answers[1], pad);
    return taken ? pair::packed(*taken) : Bytes();
  }
};

TEST_P(TablesEnctype, SealsWhatLibkrb5Opens) {
  const Bytes plain = pair::drawn_octets(kPlainBytes);
  const Bytes sealed = compute_for_agent(true, kPlainBytes, plain);
  ASSERT_EQ(sealed.size(), kPlainBytes + 16 + mac_bits() / 8);
  EXPECT_EQ(whole.open(kUsage, sealed), plain);
}

TEST_P(TablesEnctype, OpensWhatLibkrb5SealedAndNothingWhereTheMacDoesNotHold) {
  const Bytes plain = pair::drawn_octets(kPlainBytes);
  Bytes sealed = whole.seal(kUsage, plain);
  const Bytes answer = compute_for_agent(false, sealed.size(), sealed);
  ASSERT_EQ(answer.size(), 1 + kPlainBytes);
  EXPECT_EQ(answer[0], 1);  // it holds
  EXPECT_EQ(Bytes(answer.begin() + 1, answer.end()), plain);
  sealed[20] ^= 4;
  EXPECT_EQ(compute_for_agent(false, sealed.size(), sealed), Bytes(1 + kPlainBytes));
}

// What page 29 reckons with: a circuit around tables has the ANDs of the whole but AES's.
TEST_P(TablesEnctype, AroundTablesIsTheWholeWithoutAes) {
  constexpr std::size_t kTicket = 249, kBlocks = 17, kOfSbox = 32;
  const auto ands = [](const circuits::Named& named, std::size_t size) {
    circuit::Counter counter;
    named.count(counter, size);
    return counter.counts().ands;
  };
  const std::uint64_t aes =
      kOfSbox * (kBlocks * block_lookups(key.size()) + schedule_lookups(key.size()));
  for (const bool seals : {true, false}) {
    const std::string what = (seals ? "seal" : "open") + number;
    const std::size_t size = seals ? kTicket : kTicket + 16 + mac_bits() / 8;
    const auto all = circuits::find_named(what + ":" + std::to_string(size));
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(ands(around("around-" + what), size) + aes, ands(*all->named, size)) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Enctypes, TablesEnctype, testing::Values(17u, 18u, 19u, 20u));

}  // namespace
}  // namespace tkdc::lut
