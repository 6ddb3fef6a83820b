// SPDX-License-Identifier: Apache-2.0
// Golden circuits (circuits/wire-format.txt): servers that garble must have the same gates in the
// same order, and compare this file's digest in their handshake. `make golden` writes it anew.
#include "base/hex.h"
#include "circuit/schedule_digest.h"
#include "circuits/catalogue.h"
#include "ot/fixed_random.h"

namespace tkdc::circuits {
namespace {

// Recording is cheap; laying out is what costs time, and one way for all circuits.
constexpr std::uint64_t kMostLaidOut = 12'000;  // ANDs

std::string digest_of_gates(const circuit::Circuit& circuit) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, 32);
  const auto add = [&](std::uint64_t value) {
    crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(&value), sizeof value);
  };
  for (const auto* ports : {&circuit.inputs, &circuit.outputs})
    for (const circuit::Port& port : *ports) add(port.bits);
  for (const circuit::Gate& gate : circuit.gates) {
    add(static_cast<std::uint64_t>(gate.op));
    add(std::uint64_t{gate.a} << 32 | gate.b);
  }
  for (const circuit::Wire wire : circuit.output_wires) add(wire);
  circuit::ScheduleDigest out;
  crypto_generichash_final(&state, out.data(), out.size());
  return to_hex(out);
}

// Of the smallest size.
TEST(CircuitsGolden, GatesAndSchedules) {
  ot::Hashes hashes;
  for (const auto& list : {catalogue(), derivations()})
    for (const Named& named : list) {
      const circuit::Circuit recorded = record({&named, named.least});
      const std::string name = std::string(named.name) + ":" + std::to_string(named.least);
      hashes[name + " gates"] = digest_of_gates(recorded);
      if (counts_of(recorded).ands <= kMostLaidOut)
        hashes[name + " schedule"] = to_hex(digest_of(schedule_of_folded(recorded)));
    }
  ot::compare_golden(TKDC_CIRCUITS_WIRE_FORMAT_FILE, hashes);
}

TEST(CircuitsGolden, AnotherOrderIsAnotherDigest) {
  const auto adder = find_named("add64");
  ASSERT_TRUE(adder.ok());
  circuit::Schedule schedule = schedule_of_folded(record(*adder));
  const auto before = digest_of(schedule);
  EXPECT_EQ(digest_of(schedule), before);
  std::swap(schedule.gates[0].a, schedule.gates[0].b);
  EXPECT_NE(digest_of(schedule), before);
}

}  // namespace
}  // namespace tkdc::circuits
