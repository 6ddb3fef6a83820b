// SPDX-License-Identifier: Apache-2.0
// A party that changes what it sends: every octet of T, m1, m2 and m3, and what it can compute from
// its own secrets. For each fixed change the rate of aborts over random secrets is 0 or 1, and
// where nobody aborts the result is right. The controls leave a check out: then rates are between.
//
// Whoever deviates would not veto what it did: so in m3 it says "good" here, whatever its own lane
// thinks, and the two honest ones are judged alone.
#include <cstdlib>

#include "trio.h"

namespace tkdc::threegarble {
namespace {

int secrets() {
  const char* asked = std::getenv("TKDC_SECRETS");
  return asked != nullptr ? std::atoi(asked) : 4;
}

struct Rate {
  int aborts = 0, runs = 0, wrong = 0;
  bool is_zero_or_one() const { return aborts == 0 || aborts == runs; }
};

// What a deviating party does, before a run.
using Deviate = std::function<void(Trio&)>;

Rate rate_of(const circuit::Circuit& circuit, const Shape& shape, std::uint64_t n,
             const Deviate& deviate, int runs) {
  Rate rate;
  for (int run = 0; run < runs; ++run) {
    std::uint64_t seed = 0;
    randombytes_buf(&seed, sizeof seed);
    Trio trio(seed);
    deviate(trio);
    const Bytes input = random_octets(shape.in_bytes());
    const auto result = trio.compute(shape, n, input);
    ++rate.runs;
    rate.aborts += result ? 0 : 1;
    rate.wrong += result && *result != in_the_clear(circuit, input) ? 1 : 0;
  }
  return rate;
}

// An octet of a message of the lane: whose, in which tick, to which side.
struct Place {
  Role role;
  std::size_t tick;
  bool to_next;
  std::size_t octet;
};

Deviate change_of(const Place& place, std::uint64_t n, Bytes mask) {
  return [=](Trio& trio) {
    auto messages = std::make_shared<std::size_t>(0);
    trio.lanes.tamper = [=](int p, SecretVector& prev, SecretVector& next) {
      const std::size_t tick = (*messages)++ / 3;
      if (p != Trio::party_of(place.role, n)) return;
      if (tick == kM3 && place.tick != kM3)
        for (SecretVector* m3 : {&prev, &next}) m3->at(kDigestBytes) = 1;
      if (tick != place.tick) return;
      SecretVector& packet = place.to_next ? next : prev;
      // What goes to the next neighbour with m1 and m2 has a mark before it.
      const std::size_t at = place.octet + (place.to_next && tick < 2 ? 1 : 0);
      ASSERT_LE(at + mask.size(), packet.size());
      for (std::size_t k = 0; k < mask.size(); ++k) packet[at + k] ^= mask[k];
    };
  };
}

class Deviations : public testing::Test {
 protected:
  const circuit::Circuit circuit = small_circuit();
  const Shape shape = shape_for(circuit);

  void expect_caught(const Deviate& deviate, std::uint64_t n, const std::string& what,
                     int runs = secrets()) {
    const Rate rate = rate_of(circuit, shape, n, deviate, runs);
    ASSERT_EQ(rate.aborts, rate.runs) << what;
    ASSERT_EQ(rate.wrong, 0) << what;
  }

  // Both honest ones latch, and neither has a result.
  void expect_both_latch(const Deviate& deviate, Role deviating, std::uint64_t n,
                         const std::string& what) {
    for (int run = 0; run < secrets(); ++run) {
      Trio trio(random_seed());
      deviate(trio);
      SecretVector m2;
      std::size_t messages = 0;
      trio.lanes.record = [&](int p, const SecretVector&, const SecretVector& next) {
        if (messages++ / 3 == kM2 && role_of(p, n) == Role::kEvaluator) m2 = next;
      };
      ASSERT_FALSE(trio.compute(shape, n, random_octets(shape.in_bytes())).has_value()) << what;
      for (int p = 0; p < 3; ++p) {
        // Whatever became of it, its number is gone.
        ASSERT_FALSE(trio.side(p).ledger().burn(Trio::id_of(shape, n))) << what;
        if (role_of(p, n) == deviating) continue;
        ASSERT_TRUE(trio.lanes.lane[p]->deviation().has_value()) << what;
        ASSERT_EQ(trio.outcomes[static_cast<std::size_t>(p)].share.size(), 0u) << what;
      }
      // E evaluates nothing of an m1 that is not the right one: what A hears of it is zeros.
      if (deviating == Role::kEvaluator) continue;
      ASSERT_EQ(m2.size(), 1 + m2_bytes(shape));
      if (m1_is_changed) {
        ASSERT_TRUE(sodium_is_zero(m2.data() + 1, m2.size() - 1)) << what;
      }
    }
  }
  static std::uint64_t random_seed() {
    std::uint64_t seed = 0;
    randombytes_buf(&seed, sizeof seed);
    return seed;
  }
  bool m1_is_changed = false;
};

TEST_F(Deviations, HonestRunsEnd) {
  const Rate rate = rate_of(
      circuit, shape, 0, [](Trio&) {}, 20);
  EXPECT_EQ(rate.aborts + rate.wrong, 0);
}

TEST_F(Deviations, EveryOctetOfWhatIsSentAhead) {
  const std::size_t tag = TableCheck::kBytes, labels = shape.out_bits * garble::kLabelBytes;
  const std::size_t from_a = shape.first_half_bytes + tag,
                    from_b = shape.all_bytes - shape.first_half_bytes + tag + labels;
  for (std::size_t octet = 0; octet < from_a + from_b; ++octet) {
    const std::uint8_t mask = static_cast<std::uint8_t>(1u << octet % 8);
    const Deviate deviate = [&](Trio& trio) {
      trio.change_ahead = [&](Ahead& sent) {
        ASSERT_EQ(sent.from_a.size(), from_a);
        ASSERT_EQ(sent.from_b.size(), from_b);
        (octet < from_a ? sent.from_a[octet] : sent.from_b[octet - from_a]) ^= mask;
      };
    };
    expect_caught(deviate, octet % 3, "ahead " + std::to_string(octet), 3);
  }
}

TEST_F(Deviations, EveryOctetOfM1) {
  m1_is_changed = true;
  for (std::size_t octet = 0; octet < m1_bytes(shape); ++octet)
    for (const std::uint8_t mask : {0x01, 0x80, 0xff}) {
      const std::uint64_t n = (octet + mask) % 3;
      const std::string what = "m1 " + std::to_string(octet);
      const Role a = Role::kGarblerA, b = Role::kGarblerB;
      expect_both_latch(change_of({a, kM1, false, octet}, n, {mask}), a, n, "A " + what);
      expect_both_latch(change_of({b, kM1, true, octet}, n, {mask}), b, n, "B " + what);
    }
}

TEST_F(Deviations, EveryOctetOfM2) {
  const std::tuple<Role, bool, std::size_t> messages[] = {
      {Role::kEvaluator, true, m2_bytes(shape)},
      {Role::kGarblerA, true, kDigestBytes},
      {Role::kGarblerB, false, kDigestBytes},
  };
  for (const auto& [role, to_next, bytes] : messages)
    for (std::size_t octet = 0; octet < bytes; ++octet)
      for (const std::uint8_t mask : {0x01, 0x80, 0xff}) {
        const std::uint64_t n = (octet + mask) % 3;
        const std::string what = "m2 of role " + std::to_string(static_cast<int>(role));
        expect_both_latch(change_of({role, kM2, to_next, octet}, n, {mask}), role, n,
                          what + " octet " + std::to_string(octet));
      }
}

// One honest server is told another m3 than the other one: it latches, and what the other ends
// with is right, by all that the honest two hold.
TEST_F(Deviations, AnM3ForOneAloneLatchesItAndTheOtherIsRight) {
  for (const Role role : {Role::kEvaluator, Role::kGarblerA, Role::kGarblerB})
    for (const bool to_next : {false, true})
      for (const std::size_t octet : {std::size_t{0}, kDigestBytes - 1, kDigestBytes})
        for (std::uint64_t n = 0; n < 3; ++n) {
          Trio trio(random_seed());
          change_of({role, kM3, to_next, octet}, n, {0x01})(trio);
          ASSERT_TRUE(trio.prepare(shape, n));
          const Bytes input = random_octets(2);
          const auto y = right_components(trio, shape, n, in_the_clear(circuit, input));
          ASSERT_FALSE(trio.run_job(shape, JobTag(), input).ok());
          const int liar = Trio::party_of(role, n);
          const int told = (liar + (to_next ? 1 : 2)) % 3, other = (liar + (to_next ? 2 : 1)) % 3;
          EXPECT_TRUE(trio.lanes.lane[told]->deviation().has_value());
          const auto at = static_cast<std::size_t>(other);
          ASSERT_EQ(trio.outcomes[at].ending, Ending::kDone);
          for (const std::size_t component : {0u, 1u})
            EXPECT_EQ(trio.outcomes[at].share.component[component], y[(at + component) % 3]);
        }
}

TEST_F(Deviations, EveryOctetOfM3) {
  const std::size_t m3 = kDigestBytes + 1;
  const std::tuple<Role, std::size_t, bool, std::size_t> messages[] = {
      {Role::kEvaluator, 2, true, m3}, {Role::kEvaluator, 2, false, m3},
      {Role::kGarblerA, 2, true, m3},  {Role::kGarblerA, 2, false, m3},
      {Role::kGarblerB, 2, true, m3},  {Role::kGarblerB, 2, false, m3},
  };
  for (const auto& [role, tick, to_next, bytes] : messages)
    for (std::size_t octet = 0; octet < bytes; ++octet)
      for (const std::uint8_t mask : {0x01, 0x80, 0xff}) {
        const std::uint64_t n = (octet + mask) % 3;
        expect_caught(change_of({role, tick, to_next, octet}, n, {mask}), n,
                      "role " + std::to_string(static_cast<int>(role)) + " tick " +
                          std::to_string(tick) + " octet " + std::to_string(octet));
      }
}

TEST_F(Deviations, AMarkThatIsNone) {
  for (const Role role : {Role::kEvaluator, Role::kGarblerA, Role::kGarblerB})
    for (const std::size_t tick : {0u, 1u})
      expect_caught(change_of({role, tick, true, ~std::size_t{0}}, 1, {0x02}), 1, "mark");
}

// ---- what a garbler can compute from Δ

Bytes delta_octets(Trio& trio, const Shape& shape, std::uint64_t n) {
  const Drawn drawn(trio.seat_of(Role::kGarblerA, n), shape, Trio::id_of(shape, n));
  const auto* at = reinterpret_cast<const std::uint8_t*>(&drawn.delta());
  return {at, at + garble::kLabelBytes};
}

// The other label of a wire, in a garbler's own message. Alone, and with the colour beside it that
// it would have to have: that colour is in the other garbler's message.
TEST_F(Deviations, ALabelOfTheOtherValue) {
  const std::size_t labels_at = kDigestBytes + kKeyBytes;
  const std::size_t bits_at = labels_at + shape.in_bits * garble::kLabelBytes;
  for (std::size_t bit = 0; bit < shape.in_bits; ++bit)
    for (const Role role : {Role::kGarblerA, Role::kGarblerB})
      for (const bool colour_too : {false, true}) {
        const std::uint64_t n = bit % 3;
        const Deviate deviate = [&](Trio& trio) {
          const std::size_t at = labels_at + bit * garble::kLabelBytes;
          Bytes mask(bits_at + shape.in_bytes() - at, 0);
          std::ranges::copy(delta_octets(trio, shape, n), mask.begin());
          if (colour_too) put_bit(mask, 8 * (bits_at - at) + bit, 1);
          change_of({role, 0, role == Role::kGarblerB, at}, n, mask)(trio);
        };
        expect_caught(deviate, n, "bit " + std::to_string(bit));
      }
}

// The other label of ρ: T has its colour, and E knows ρ.
TEST_F(Deviations, AMaskOfTheOtherValue) {
  for (std::size_t bit = 0; bit < shape.out_bits; ++bit) {
    const std::uint64_t n = bit % 3;
    const Deviate deviate = [&](Trio& trio) {
      trio.change_ahead = [&, at = delta_octets(trio, shape, n)](Ahead& sent) {
        std::uint8_t* label =
            sent.from_b.data() + sent.from_b.size() - (shape.out_bits - bit) * garble::kLabelBytes;
        for (std::size_t k = 0; k < at.size(); ++k) label[k] ^= at[k];
      };
    };
    expect_caught(deviate, n, "mask " + std::to_string(bit));
  }
}

// E that claims another result, with a digest of what it has.
TEST_F(Deviations, AColourWithoutItsLabel) {
  for (std::size_t bit = 0; bit < shape.out_bits; ++bit) {
    Bytes mask(shape.out_bytes(), 0);
    put_bit(mask, bit, 1);
    const std::uint64_t n = bit % 3;
    expect_caught(change_of({Role::kEvaluator, 1, true, 0}, n, mask), n, std::to_string(bit));
  }
}

// ---- controls

// E that took tables as they come would fail for some values and not for others.
TEST_F(Deviations, WithoutTheHashesATableFailsSelectively) {
  int between = 0;
  for (std::size_t octet = garble::kLabelBytes; octet < garble::kLabelBytes + 64; octet += 7) {
    const Deviate deviate = [&](Trio& trio) {
      trio.unchecked = true;
      trio.change_ahead = [&](Ahead& sent) { sent.from_a[octet] ^= 1; };
    };
    const Rate rate = rate_of(circuit, shape, 0, deviate, 40);
    between += rate.is_zero_or_one() ? 0 : 1;
  }
  EXPECT_GT(between, 5);
}

}  // namespace
}  // namespace tkdc::threegarble
