// SPDX-License-Identifier: Apache-2.0
// Circuits in Bristol Fashion behind the programming interface.
#include "trio.h"

namespace tkdc::mpc {
namespace {

// sum = a + b modulo 2^width by full adders, and the carry: a circuit as others would write it.
std::string adder(std::size_t width) {
  std::string gates;
  std::size_t next = 2 * width, count = 0;
  const auto gate = [&](const std::string& operation, std::size_t a, std::size_t b) {
    gates += "2 1 " + std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(next) +
             " " + operation + "\n";
    ++count;
    return next++;
  };
  std::vector<std::size_t> sum;
  std::size_t carry = gate("AND", 0, width);
  sum.push_back(gate("XOR", 0, width));
  for (std::size_t k = 1; k < width; ++k) {
    const std::size_t ac = gate("XOR", k, carry), bc = gate("XOR", width + k, carry);
    sum.push_back(gate("XOR", ac, width + k));
    carry = gate("XOR", gate("AND", ac, bc), carry);
  }
  for (const std::size_t wire : sum)
    gates += "1 1 " + std::to_string(wire) + " " + std::to_string(next++) + " EQW\n", ++count;
  gates += "1 1 " + std::to_string(carry) + " " + std::to_string(next++) + " EQW\n", ++count;
  return std::to_string(count) + " " + std::to_string(next) + "\n2 " + std::to_string(width) + " " +
         std::to_string(width) + "\n2 " + std::to_string(width) + " 1\n\n" + gates;
}

TEST(Circuits, AnAdderAddsManyPairsAtOnce) {
  const Circuit circuit = need(Circuit::from_bristol(adder(12)));
  ASSERT_EQ(circuit.inputs().size(), 2u);
  EXPECT_EQ(circuit.inputs()[0].octets(), 2u);
  EXPECT_EQ(circuit.ands(), 12u);
  EXPECT_EQ(circuit.rounds(), 12u);
  constexpr std::size_t kPairs = 100;
  for (Security security : {Security::kSemiHonest, Security::kMalicious})
    as_three(security, [&](Party& party) {
      const Bytes a = some_octets(1, 2 * kPairs), b = some_octets(2, 2 * kPairs);
      const Shares x = need(party.share(0, Ring::kBits, a.size(), a));
      const Shares y = need(party.share(1, Ring::kBits, b.size(), b));
      const std::uint64_t before = party.rounds();
      const std::vector<Shares> out = need(party.evaluate(circuit, {x, y}, kPairs));
      EXPECT_EQ(party.rounds() - before, circuit.rounds());
      ASSERT_EQ(out.size(), 2u);
      const Bytes sums = need(party.open(out[0])), carries = need(party.open(out[1]));
      ASSERT_EQ(carries.size(), kPairs);
      for (std::size_t n = 0; n < kPairs; ++n) {
        const auto word = [n](const Bytes& from) {
          return (from[2 * n] | from[2 * n + 1] << 8) & 0xfff;
        };
        const int sum = word(a) + word(b);
        EXPECT_EQ(sums[2 * n] | sums[2 * n + 1] << 8, sum & 0xfff);
        EXPECT_EQ(carries[n], sum >> 12);
      }
    });
}

// Refused before anything is sent, and the party goes on.
TEST(Circuits, WhatDoesNotFitIsRefused) {
  auto wrong = Circuit::from_bristol("1 3\n1 2\n1 1\n\n2 1 0 2 2 AND\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("line 5"), std::string::npos) << wrong.error().message;
  const Circuit circuit = need(Circuit::from_bristol(adder(8)));
  as_three(Security::kMalicious, [&](Party& party) {
    const Bytes octets = some_octets(3, 4);
    const Shares x = need(party.constant(Ring::kBits, octets));
    const auto says = [&](const std::vector<Shares>& inputs, std::size_t instances) {
      const auto out = party.evaluate(circuit, inputs, instances);
      return out.ok() ? std::string() : out.error().message;
    };
    EXPECT_NE(says({x}, 4).find("1 inputs; the circuit has 2"), std::string::npos);
    EXPECT_NE(says({x, x}, 3).find("input in0 of 3 instances of 8 bits has 3 octets, not 4"),
              std::string::npos);
    EXPECT_NE(says({x, x}, 0).find("0 instances"), std::string::npos);
    EXPECT_NE(says({x, x}, std::size_t{1} << 40).find("1 GiB"), std::string::npos);
    const Shares words = need(party.constant(Ring::kZ2_32, octets));
    EXPECT_NE(says({words, x}, 4).find("binary ring"), std::string::npos);
    EXPECT_EQ(need(party.open(need(party.evaluate(circuit, {x, x}, 4))[0]))[0],
              static_cast<std::uint8_t>(2 * octets[0]));
  });
}

}  // namespace
}  // namespace tkdc::mpc
