// SPDX-License-Identifier: Apache-2.0
#include "sim/pair_steps.h"

#include <algorithm>
#include <cstring>

#include "circuit/evaluate.h"
#include "pair/online.h"
#include "sim/liar.h"
#include "sim/random.h"
#include "sim/two.h"
#include "sim/world.h"

namespace tkdc::sim {
namespace {

using pair::AuthBit;
using pair::Bits;
using pair::Label;
using pair::Prepared;
using pair::Side;

constexpr std::uint64_t kBits = 1'001, kDigests = 1'002;  // purposes of seeds

// The outputs of a circuit, in the clear.
Bits computed(const circuit::Schedule& of, std::span<const std::uint8_t> inputs) {
  circuit::SecretSlices slots(of.slots);
  std::copy(inputs.begin(), inputs.end(), slots.begin());
  circuit::execute(of, slots);
  Bits out(of.output_bits.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<std::uint8_t>(circuit::output_slice(of, slots, k) & 1);
  return out;
}

// `of` ⊕ the masks of inputs and outputs from `first` on, which both know.
Bits with_masks(const Prepared& prepared, std::size_t first, std::span<const std::uint8_t> of) {
  Bits out(of.begin(), of.end());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] ^= prepared.turns[first + k];
  return out;
}

Bits values_for(const Prepared& prepared, std::span<const std::uint8_t> inputs) {
  const Bits in = with_masks(prepared, 0, inputs);
  return with_masks(prepared, inputs.size(), computed(prepared.circuit->schedule, in));
}

Label digest_of(const Prepared& prepared, std::span<const std::uint8_t> values) {
  Label out;
  const Bytes octets = pair::packed(values);
  crypto_generichash(reinterpret_cast<std::uint8_t*>(&out), sizeof out, octets.data(),
                     octets.size(), reinterpret_cast<const std::uint8_t*>(&prepared.digest_seed),
                     sizeof prepared.digest_seed);
  return out;
}

class PlainSteps final : public pair::Steps {
 public:
  Result<void> set_up(pair::Session& session) override {
    const Label own = session.delta(), seed = session.seed_of(kBits, 0, Side::kGarbler);
    auto done = session.channel().write_all(std::span<const Label>(&own, 1));
    if (done) done = session.channel().read_all(std::span(&peers_delta_, 1));
    random_ = Random(seed.low ^ (seed.high << 1));
    return done;
  }

  // Both say how many they have drawn, so that a link that breaks here breaks here.
  Result<void> draw(pair::Session& session, std::span<AuthBit> out) override {
    const Label own{drawn_ += out.size(), 0};
    Label peers;
    auto done = session.channel().write_all(std::span<const Label>(&own, 1));
    if (done) done = session.channel().read_all(std::span(&peers, 1));
    if (done && !(peers == own)) done = fail("the other server has drawn other bits");
    if (!done) return done;
    const bool first = session.side() == Side::kGarbler;
    for (AuthBit& one : out) {
      const Label keys[] = {key(), key()};
      const std::uint64_t bits = random_.next();
      one.key = keys[first ? 0 : 1];
      one.mac = keys[first ? 1 : 0] ^ peers_delta_.where(first ? bits & 1 : bits >> 1 & 1);
    }
    return {};
  }

  Result<pair::AuthAnds> make_ands(pair::Session& session, std::size_t ands) override {
    if (auto good = check(session); !good) return good.error();
    return pair::AuthAnds(ands);
  }
  // As ANDs have one: it is where a link that breaks may be a check that failed.
  Result<void> check(pair::Session& session) {
    auto coin = session.coins();
    if (!coin) return coin.error();
    const Label of = session.seed_of(kBits, session.next_number(), Side::kGarbler);
    pair::Digest all{};
    std::memcpy(all.data(), &of, sizeof of);
    return session.equal(all);
  }

  Result<Prepared> prepare(pair::Session& session, const pair::PairCircuit& circuit,
                           std::span<const AuthBit> masks) override {
    if (auto good = check(session); !good) return good.error();
    Prepared out;
    out.session = session.id();
    out.circuit = &circuit;
    out.digest_seed = session.seed_of(kDigests, session.next_number(), Side::kGarbler);
    const auto of_block = masks.first(pair::kBlockBits),
               of_inputs = masks.subspan(pair::kBlockBits, circuit.input_bits());
    out.proof_mask.assign(of_block.begin(), of_block.end());
    out.inputs.assign(of_inputs.begin(), of_inputs.end());
    auto drawn = session.draw(circuit.schedule.output_bits.size());
    if (!drawn) return drawn.error();
    out.outputs = std::move(*drawn);
    pair::AuthBits all(out.inputs);
    all.insert(all.end(), out.outputs.begin(), out.outputs.end());
    auto peers = session.open(all);
    if (!peers) return peers.error();
    for (std::size_t k = 0; k < all.size(); ++k)
      out.turns.push_back(static_cast<std::uint8_t>((*peers)[k] ^ all[k].own()));
    // An input is another one then, and both compute with it.
    if (lies_about_a_bit(world().here().number))
      out.inputs[world().random.below(out.inputs.size())].mac.low ^= 1;
    return out;
  }

  Result<void> give_labels(pair::Session& session, const Prepared& prepared) override {
    return session.channel().write_all(std::span<const Label>(&prepared.digest_seed, 1));
  }
  Result<pair::Evaluated> evaluate(pair::Session& session, const Prepared& prepared,
                                   std::span<const std::uint8_t> inputs) override {
    Label said;
    auto got = session.channel().read_all(std::span(&said, 1));
    if (!got) return session.end(got.error().message);
    if (!(said == prepared.digest_seed)) return session.end("it gives other labels");
    pair::Evaluated out{values_for(prepared, inputs), {}};
    out.digest = digest_of(prepared, out.values);
    return out;
  }
  std::size_t values(const Prepared& prepared) const override { return prepared.outputs.size(); }
  Label expected(const Prepared& prepared, std::span<const std::uint8_t> inputs,
                 std::span<const std::uint8_t> values) override {
    const Bits own = values_for(prepared, inputs);
    return std::ranges::equal(own, values) ? digest_of(prepared, values) : Label{1, 1};
  }
  Bits outputs(const Prepared&, std::span<const std::uint8_t> values) const override {
    return {values.begin(), values.end()};
  }

 private:
  // Of a bit: with colour 0.
  Label key() {
    const std::uint64_t low = random_.next();
    return {low & ~std::uint64_t{1}, random_.next()};
  }

  Label peers_delta_;
  Random random_{0};
  std::uint64_t drawn_ = 0;
};

}  // namespace

std::shared_ptr<const PairParts> pair_parts() {
  static const auto circuits = std::make_shared<PairCircuits>();
  auto out = std::make_shared<PairParts>();
  out->circuits = circuits;
  out->reserved = [](const Label& pool, std::uint64_t first, std::uint64_t blocks) {
    const Host& host = world().here();
    if (!host.dead) note_reserved(host.number, pool, first, blocks);
  };
  out->pool_blocks = static_cast<std::size_t>(world().plan.pool_blocks);
  if (world().plan.protocol == kPairPlain)
    out->steps = [] { return std::make_unique<PlainSteps>(); };
  return out;
}

}  // namespace tkdc::sim
