// SPDX-License-Identifier: Apache-2.0
// Golden circuits (circuits/wire-format.txt): servers that garble must have the same gates in the
// same order, and compare this file's digest in their handshake. `make golden` writes it anew.
#include <set>

#include "base/hex.h"
#include "circuit/schedule_digest.h"
#include "circuits/catalogue.h"
#include "ot/fixed_random.h"

namespace tkdc::circuits {
namespace {

// Recording is cheap; laying out is what costs time, and one way for all circuits.
constexpr std::uint64_t kMostLaidOut = 12'000;  // ANDs

std::string digest_of_gates(const circuit::Circuit& circuit) {
  circuit::NumbersDigest of;
  for (const auto* ports : {&circuit.inputs, &circuit.outputs}) {
    of.add(ports->size());
    for (const circuit::Port& port : *ports) of.add(port.bits);
  }
  of.add(circuit.gates.size());
  for (const circuit::Gate& gate : circuit.gates) {
    of.add(static_cast<std::uint64_t>(gate.op));
    of.add(std::uint64_t{gate.a} << 32 | gate.b);
  }
  for (const circuit::Wire wire : circuit.output_wires) of.add(wire);
  return to_hex(of.end());
}

// Ciphertext stealing and the padding of a hash take another course with one block, with two of
// which the last is short, with whole ones and with many. A usage is no length: one of two octets.
std::set<std::size_t> sizes_of(const Named& named) {
  if (named.unit == "usages") return {named.least + 300};
  std::set<std::size_t> sizes{named.least};
  std::vector<std::size_t> further = {2};
  if (named.unit == "octets") further = {13, 32, 133};
  for (const std::size_t more : further)
    if (named.least + more <= named.most) sizes.insert(named.least + more);
  return sizes;
}

TEST(CircuitsGolden, GatesAndSchedules) {
  ot::Hashes hashes;
  for (const auto& list : {catalogue(), derivations()})
    for (const Named& named : list)
      for (const std::size_t size : sizes_of(named)) {
        const circuit::Circuit recorded = record({&named, size});
        const std::string name = std::string(named.name) + ":" + std::to_string(size);
        hashes[name + " gates"] = digest_of_gates(recorded);
        if (size == named.least && counts_of(recorded).ands <= kMostLaidOut)
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
