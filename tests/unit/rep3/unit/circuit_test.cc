// SPDX-License-Identifier: Apache-2.0
// Circuits as data on replicated shares against the same circuits in the clear: random ones and
// those of the catalogue, any number of instances, both securities; counts of rounds and octets.
#include "rep3/unit/circuit/circuit_run.h"

#include <gtest/gtest.h>

#include <set>

#include "../../circuit/random_circuit.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using circuit::Schedule;
using test::ThreeParties;

// A string of each port for each instance, one port behind the other.
using Strings = std::vector<SecretVector>;

Strings random_inputs(std::mt19937_64& rng, const Schedule& schedule, std::size_t instances) {
  Strings inputs;
  for (const circuit::Port& port : schedule.inputs) {
    const std::size_t each = port_octets(port);
    SecretVector strings = test::random_bytes(rng, instances * each);
    if (port.bits % 8 != 0)
      for (std::size_t n = 1; n <= instances; ++n)
        strings[n * each - 1] &= static_cast<std::uint8_t>((1u << port.bits % 8) - 1);
    inputs.push_back(std::move(strings));
  }
  return inputs;
}

Strings in_the_clear(const Schedule& schedule, const Strings& inputs, std::size_t instances) {
  Strings outputs;
  for (const circuit::Port& port : schedule.outputs)
    outputs.emplace_back(instances * port_octets(port));
  for (std::size_t n = 0; n < instances; ++n) {
    std::vector<circuit::SecretSlices> slices;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const std::size_t each = port_octets(schedule.inputs[k]);
      slices.push_back(circuit::slices_of(ByteSpan(inputs[k]).subspan(n * each, each)));
      slices.back().resize(schedule.inputs[k].bits);
    }
    const auto values = circuit::evaluate(schedule, slices);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const SecretVector one = circuit::octets_of(values[k], 0);
      std::copy(one.begin(), one.end(),
                outputs[k].begin() + static_cast<std::ptrdiff_t>(n * one.size()));
    }
  }
  return outputs;
}

struct OnShares {
  Strings outputs;
  std::uint64_t rounds = 0, message_bytes = 0;
};

Task<void> run_at(Rep3& rep3, const Schedule& schedule, std::vector<SharedBytes> inputs,
                  std::size_t instances, std::vector<SharedBytes>& outputs) {
  outputs = co_await compute_circuit(rep3, schedule, std::move(inputs), instances);
}
Task<void> run_verified(Rep3Protocol& c, const Schedule& schedule, std::vector<SharedBytes> inputs,
                        std::size_t instances, std::vector<SharedBytes>& outputs) {
  co_await run_at(c.rep3, schedule, std::move(inputs), instances, outputs);
  co_await c.rep3.verified();
}

OnShares on_shares(const Schedule& schedule, const Strings& inputs, std::size_t instances,
                   Security security) {
  test::PartiesWithCiphers parties(11, rep3_backend_scalar(), security);
  std::vector<SharedBytes> in[3], out[3];
  for (const SecretVector& input : inputs) {
    const auto shares = parties.net.share(input);
    for (std::size_t p = 0; p < 3; ++p) in[p].push_back(shares[p]);
  }
  parties.run_all(1, [&](Rep3Protocol& c, int p, std::size_t) -> Task<void> {
    const auto party = static_cast<std::size_t>(p);
    return security == Security::kMalicious
               ? run_verified(c, schedule, std::move(in[party]), instances, out[party])
               : run_at(c.rep3, schedule, std::move(in[party]), instances, out[party]);
  });
  OnShares result;
  result.rounds = parties.net.party[0]->lane.rounds();
  result.message_bytes = parties.net.party[0]->layer_bytes();
  for (std::size_t k = 0; k < schedule.outputs.size(); ++k) {
    const std::array<SharedBytes, 3> shares = {out[0][k], out[1][k], out[2][k]};
    EXPECT_TRUE(ThreeParties::consistent(shares));
    const Bytes value = ThreeParties::rebuild(shares);
    result.outputs.emplace_back(value.begin(), value.end());
  }
  return result;
}

void expect_alike(const Schedule& schedule, std::size_t instances, Security security,
                  const std::string& what) {
  std::mt19937_64 rng(instances);
  const Strings inputs = random_inputs(rng, schedule, instances);
  const OnShares got = on_shares(schedule, inputs, instances, security);
  EXPECT_TRUE(got.outputs == in_the_clear(schedule, inputs, instances))
      << what << ", " << instances << " instances";
}

TEST(CircuitOnShares, RandomCircuitsAgreeWithTheClear) {
  std::mt19937_64 rng(3);
  for (int k = 0; k < 200; ++k) {
    const Schedule schedule = schedule_of(circuit::random_circuit(rng));
    expect_alike(schedule, 1 + rng() % 140,
                 k % 2 == 0 ? Security::kSemiHonest : Security::kMalicious,
                 "circuit " + std::to_string(k));
  }
}

TEST(CircuitOnShares, TheCatalogueAgreesWithTheClear) {
  for (const circuits::Named& named : circuits::catalogue()) {
    const Schedule schedule = schedule_of(circuits::record({&named, named.least}));
    for (const std::size_t instances : {1u, 33u})
      expect_alike(schedule, instances,
                   instances == 1 ? Security::kMalicious : Security::kSemiHonest,
                   std::string(named.name));
  }
}

// A round for each AND layer, and a bit for each AND and instance, each layer in whole octets.
TEST(CircuitOnShares, CostsARoundForEachLayerAndABitForEachAnd) {
  const Schedule schedule = schedule_of(circuit::circuit_named("aes128-encrypt"));
  std::mt19937_64 rng(5);
  for (const std::size_t instances : {1u, 3u, 64u}) {
    std::size_t rounds = 0, octets = 0, most = 0;
    for (const Schedule::Layer& layer : schedule.layers) {
      rounds += layer.ands > 0 ? 1 : 0;
      const std::size_t bytes = (layer.ands * instances + 7) / 8;
      octets += bytes;
      most = std::max(most, bytes);
    }
    const OnShares got = on_shares(schedule, random_inputs(rng, schedule, instances), instances,
                                   Security::kSemiHonest);
    EXPECT_EQ(got.rounds, rounds);
    EXPECT_EQ(got.message_bytes, octets);
    EXPECT_EQ(most_layer_bytes(schedule, instances), most);
  }
}

// 64 instances of one input have one output, in shares that have nothing in common: each message
// bit is masked by a zero-share of its own.
TEST(CircuitOnShares, OutputsAreFreshShares) {
  const Schedule schedule = schedule_of(circuit::circuit_named("aes-sbox"));
  test::ThreeParties net(Representation::kBytes, 7);
  const auto shares = net.share(SecretVector(64, 0x53));
  std::vector<SharedBytes> out[3];
  const auto ran = net.run([&](int p) {
    return run_at(*net.party[p], schedule, {shares[static_cast<std::size_t>(p)]}, 64, out[p]);
  });
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ThreeParties::rebuild({out[0][0], out[1][0], out[2][0]}), Bytes(64, 0xed));
  for (std::size_t p = 0; p < 3; ++p) {
    const SecretVector& component = out[p][0].component[0];
    EXPECT_GT(std::set<std::uint8_t>(component.begin(), component.end()).size(), 40u);
  }
}

}  // namespace
}  // namespace tkdc
