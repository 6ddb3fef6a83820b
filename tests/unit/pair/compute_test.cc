// SPDX-License-Identifier: Apache-2.0
// What two parties compute, against the clear and OpenSSL.
#include <openssl/evp.h>

#include "circuit/random_circuit.h"
#include "pair/pair_parties.h"

namespace tkdc::pair {
namespace {

TEST(Pair, DrawsBitsThatAreAuthenticated) {
  AuthBits bits[2];
  Label deltas[2];
  const auto body = [&](int p) {
    return [&, p](Session& session) -> Result<void> {
      deltas[p] = session.delta();
      auto drawn = session.draw(5000);
      if (!drawn) return drawn.error();
      bits[p] = std::move(*drawn);
      return {};
    };
  };
  ASSERT_TRUE(with_sessions(body(0), body(1)).ok());
  EXPECT_EQ(deltas[0].low & 3, 3u);
  EXPECT_EQ(deltas[1].low & 3, 1u);
  for (const int p : {0, 1})
    for (std::size_t k = 0; k < bits[p].size(); ++k) {
      ASSERT_EQ(bits[p][k].mac, bits[1 - p][k].key ^ deltas[1 - p].where(bits[p][k].own()));
      ASSERT_EQ(bits[p][k].key.colour(), 0u);
    }
}

TEST(Pair, ConstantsAndOpenings) {
  Bits opened[2];
  AuthBits bits[2];
  const auto body = [&](int p) {
    return [&, p](Session& session) -> Result<void> {
      auto drawn = session.draw(300);
      if (!drawn) return drawn.error();
      for (std::size_t k = 0; k < 300; ++k) (*drawn)[k] = session.deltas().plus((*drawn)[k], k & 1);
      auto heard = session.open(*drawn);
      if (!heard) return heard.error();
      opened[p] = *heard;
      bits[p] = *drawn;
      return {};
    };
  };
  ASSERT_TRUE(with_sessions(body(0), body(1)).ok());
  for (const int p : {0, 1})
    for (std::size_t k = 0; k < 300; ++k) EXPECT_EQ(opened[p][k], bits[1 - p][k].own());
}

TEST(Pair, MakesAnds) {
  AuthAnds ands[2];
  Label deltas[2];
  const auto body = [&](int p) {
    return [&, p](Session& session) -> Result<void> {
      deltas[p] = session.delta();
      auto made = make_ands(session, 1500);
      if (!made) return made.error();
      ands[p] = std::move(*made);
      return {};
    };
  };
  ASSERT_TRUE(with_sessions(body(0), body(1)).ok());
  std::size_t ones = 0;
  const auto value = [&](AuthBit AuthAnd::*which, std::size_t k) {
    for (const int p : {0, 1})
      EXPECT_EQ((ands[p][k].*which).mac,
                (ands[1 - p][k].*which).key ^ deltas[1 - p].where((ands[p][k].*which).own()));
    return (ands[0][k].*which).own() ^ (ands[1][k].*which).own();
  };
  for (std::size_t k = 0; k < ands[0].size(); ++k) {
    const std::uint64_t x = value(&AuthAnd::x, k), y = value(&AuthAnd::y, k);
    ASSERT_EQ(value(&AuthAnd::z, k), x & y) << k;
    ones += x & y;
  }
  EXPECT_NEAR(static_cast<double>(ones), 375, 80);
}

TEST(Pair, ComputesRandomCircuits) {
  std::mt19937_64 generator(1);
  for (int turn = 0; turn < 8; ++turn) {
    const PairCircuit circuit(circuit::schedule_of(circuit::random_circuit(generator)));
    const Bits inputs = random_bits(generator, circuit.input_bits());
    Computed out;
    const Outcome outcome = compute_pair(circuit, inputs, out);
    ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
    const Bits expected = in_the_clear(circuit, inputs);
    EXPECT_EQ(out.outputs[0], expected);
    EXPECT_EQ(out.outputs[1], expected);
  }
}

Bits bits_of(ByteSpan octets) { return unpacked(octets, 8 * octets.size()); }

Bytes random_octets(std::size_t bytes) {
  Bytes out(bytes);
  randombytes_buf(out.data(), out.size());
  return out;
}

TEST(Pair, EncryptsAsOpenSslDoes) {
  const PairCircuit circuit = circuit_named("aes128");
  const Bytes key = random_octets(16), block = random_octets(16);
  Bits inputs = bits_of(key);
  const Bits text = bits_of(block);
  inputs.insert(inputs.end(), text.begin(), text.end());
  Computed out;
  ASSERT_TRUE(compute_pair(circuit, inputs, out).ok());
  Bytes expected(32);
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                          EVP_CIPHER_CTX_free);
  int bytes = 0;
  ASSERT_EQ(EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, key.data(), nullptr), 1);
  ASSERT_EQ(EVP_EncryptUpdate(context.get(), expected.data(), &bytes, block.data(), 16), 1);
  expected.resize(16);
  EXPECT_EQ(packed(out.outputs[0]), expected);
  EXPECT_EQ(packed(out.outputs[1]), expected);
}

// Bodies of what a KDC asks are compared with libkrb5 and OpenSSL in tests/unit/circuit; here the
// pair computes what they compute.
class EachOperation : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EachOperation,
                         testing::Values("sha1", "sha256", "hmac-sha1", "open-if-equal:60",
                                         "cts256-encrypt:40"));

TEST_P(EachOperation, IsThatOfTheClear) {
  std::mt19937_64 generator(2);
  const PairCircuit circuit = circuit_named(GetParam());
  const Bits inputs = random_bits(generator, circuit.input_bits());
  Computed out;
  ASSERT_TRUE(compute_pair(circuit, inputs, out).ok());
  EXPECT_EQ(out.outputs[0], in_the_clear(circuit, inputs));
  EXPECT_EQ(out.outputs[1], out.outputs[0]);
}

TEST(Pair, OutputsThatOnlyTheAgentCanRead) {
  std::mt19937_64 generator(3);
  const circuit::Circuit plain = circuits::record(*circuits::find_named("aes-sbox"));
  const PairCircuit circuit(circuit::schedule_of(with_pad(plain)));
  Bits inputs = random_bits(generator, 8);
  const Bits pad = random_bits(generator, 8);
  const Bits y = in_the_clear(PairCircuit(circuit::schedule_of(plain)), inputs);
  inputs.insert(inputs.end(), pad.begin(), pad.end());
  Computed out;
  ASSERT_TRUE(compute_pair(circuit, inputs, out).ok());
  auto taken = output_of_both(out.outputs[0], out.outputs[1], pad);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(*taken, y);
  out.outputs[1][3] ^= 1;
  EXPECT_NE(output_of_both(out.outputs[0], out.outputs[1], pad).error().message.find("differently"),
            std::string::npos);
  out.outputs[1].pop_back();
  EXPECT_FALSE(output_of_both(out.outputs[0], out.outputs[1], pad).ok());
}

// A bare output is what it is without a pad; a masked one is moved by its own bits of the pad, in
// whole blocks where it is to be stored.
TEST(Pair, MasksTheOutputsThatTheRuleSays) {
  std::mt19937_64 generator(4);
  const circuit::Circuit of = circuits::record(*circuits::find_named("open-if-equal:5"));
  const std::size_t value = 8 * 5;
  const Bits in = random_bits(generator, of.input_bits());
  const Bits y = in_the_clear(PairCircuit(circuit::schedule_of(of)), in);
  for (const PadRule& rule : {PadRule{0, false}, PadRule{1, false}, PadRule{1, true}}) {
    const PairCircuit circuit(circuit::schedule_of(with_pad(of, rule)));
    const std::size_t bare = rule.bare, masked = rule.whole_blocks ? kBlockBits : 1 - bare + value;
    const Bits pad = random_bits(generator, masked);
    ASSERT_EQ(circuit.input_bits(), in.size() + masked);
    Bits inputs = in;
    inputs.insert(inputs.end(), pad.begin(), pad.end());
    const Bits out = in_the_clear(circuit, inputs);
    ASSERT_EQ(out.size(), bare + masked);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const std::uint8_t of_y = k < y.size() ? y[k] : 0;
      EXPECT_EQ(out[k], k < bare ? of_y : of_y ^ pad[k - bare]) << k;
    }
  }
}

TEST(Pair, UsesWhatIsPreparedOnce) {
  const PairCircuit circuit = circuit_named("aes-sbox");
  const Bits share(8, 0);
  const auto body = [&](Session& session) -> Result<void> {
    auto prepared = prepared_for(session, circuit);
    if (!prepared) return prepared.error();
    auto first = compute(session, *prepared, Inputs().own(share));
    if (!first) return first.error();
    auto second = compute(session, *prepared, Inputs().own(share));
    EXPECT_NE(second.error().message.find("has been used"), std::string::npos);
    return {};
  };
  EXPECT_TRUE(with_sessions(body, body).ok());
}

}  // namespace
}  // namespace tkdc::pair
