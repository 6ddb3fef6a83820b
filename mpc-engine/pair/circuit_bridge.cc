// SPDX-License-Identifier: Apache-2.0
#include "pair/circuit_bridge.h"

#include <string>

#include "base/now_public.h"
#include "circuit/predicates.h"
#include "circuit/recorder.h"
#include "pair/buckets.h"
#include "pair/input_check.h"
#include "pair/online.h"

namespace tkdc::pair {
namespace {

using circuit::Recorder;
using Wires = circuit::Bits<Recorder>;
using WireSpan = circuit::BitSpan<Recorder>;

constexpr std::string_view kLabelInCircuit = "tkdc pair, name in a circuit";

// Polynomials over GF(2) with n coefficients each, n a power of two, by Karatsuba: 2 n of them.
Wires product(Recorder& recorder, WireSpan a, WireSpan b) {
  const std::size_t n = a.size(), half = n / 2;
  if (n == 1) return {recorder.and_of(a[0], b[0]), recorder.constant(false)};
  const auto sum = [&](WireSpan x) {
    return circuit::xor_bits(recorder, x.first(half), x.last(half));
  };
  const Wires low = product(recorder, a.first(half), b.first(half));
  const Wires high = product(recorder, a.last(half), b.last(half));
  const Wires a_sum = sum(a), b_sum = sum(b);
  Wires middle = product(recorder, a_sum, b_sum);
  Wires out(low);
  out.insert(out.end(), high.begin(), high.end());
  for (std::size_t k = 0; k < n; ++k) {
    const auto once = recorder.xor_of(middle[k], recorder.xor_of(low[k], high[k]));
    out[half + k] = recorder.xor_of(out[half + k], once);
  }
  return out;
}

// Modulo X^128 + X^7 + X^2 + X + 1.
Wires reduced(Recorder& recorder, Wires of) {
  for (std::size_t k = of.size(); k-- > kBlockBits;)
    for (const std::size_t power : {0, 1, 2, 7}) {
      auto& to = of[k - kBlockBits + power];
      to = recorder.xor_of(to, of[k]);
    }
  of.resize(kBlockBits);
  return of;
}

// For the garbler's blocks and for the evaluator's V, W ⊕ Q and Δ; and a bit ρ. Whether the
// evaluator's fit; whether the garbler's do, ⊕ ρ.
const PairCircuit& comparison() {
  static const PairCircuit circuit = [] {
    Recorder recorder;
    std::array<Wires, 6> in;
    for (std::size_t k = 0; k < in.size(); ++k)
      in[k] = recorder.input("in" + std::to_string(k), kBlockBits);
    const Wires mask = recorder.input("mask", 1);
    const auto fits = [&](std::size_t first) {
      const Wires sum = reduced(recorder, product(recorder, in[first], in[first + 2]));
      return circuit::equal(recorder, WireSpan(sum), WireSpan(in[first + 1]));
    };
    const Wires out{fits(3), recorder.xor_of(fits(0), mask[0])};
    recorder.output("fits", WireSpan(out));
    return PairCircuit(circuit::schedule_of(recorder.finish()));
  }();
  return circuit;
}

template <class FieldOf>
Label sum_of(const AuthBlocks& blocks, const Label& coin, FieldOf field) {
  Label sum;
  for (const AuthBlock& block : blocks) sum = ot::field().product(sum ^ field(block), coin);
  return sum;
}

Bits bits_of(const Label& of) {
  Bits out(kBlockBits);
  for (std::size_t j = 0; j < kBlockBits; ++j) out[j] = bit_of(of, j);
  return out;
}

// V of this party's own bits, or of the other one's, as bits of which the other party has none.
Held sum_in_session(const Session& session, const AuthBits& bits, Label AuthBit::*half,
                    const Label& coin) {
  Labels labels;
  for (const AuthBit& bit : bits) labels.push_back(bit.*half);
  const Labels sums = labels_of_sum(labels, coin);
  Held out{session.id(), AuthBits(kBlockBits)};
  for (std::size_t j = 0; j < kBlockBits; ++j) out.bits[j].*half = sums[j];
  return out;
}

struct Coins {
  Label own = draw_coin(), peers;
};

// The garbler's blocks first.
Inputs inputs_of(const Session& session, const Pool& pool, const StoredBlocks& stored,
                 const AuthBits& bits, const Coins& coins) {
  const bool garbles = session.side() == Side::kGarbler;
  const auto proves = [&](Inputs& to) {
    to.held(sum_in_session(session, bits, &AuthBit::mac, coins.peers));
    to.own(bits_of(sum_of(stored.blocks, coins.peers, [](const auto& one) { return one.mac; })));
    to.own(Bits(kBlockBits));
  };
  const auto verifies = [&](Inputs& to) {
    to.held(sum_in_session(session, bits, &AuthBit::key, coins.own));
    to.own(bits_of(sum_of(stored.blocks, coins.own, [](const auto& one) { return one.key; })));
    to.own(bits_of(pool.deltas.delta));
  };
  Inputs out;
  garbles ? proves(out) : verifies(out);
  garbles ? verifies(out) : proves(out);
  return out;
}

// Only the garbler's part of a bit.
AuthBit garblers_part(const Session& session, const AuthBit& of) {
  return session.side() == Side::kGarbler ? AuthBit{of.mac, {}} : AuthBit{{}, of.key};
}

Error was_changed(Session& session) {
  return session.end(
      "what it has stored of a key is not what was stored: a store that was changed");
}

// Its outputs; ρ comes into `mask`.
Result<Bits> outputs_of(Session& session, Inputs inputs, AuthBit& mask) {
  auto ands = make_ands(session, comparison().ands);
  if (!ands) return ands.error();
  auto masks = session.draw(masks_of(comparison()) + 1);
  if (!masks) return masks.error();
  mask = garblers_part(session, masks->back());
  masks->pop_back();
  auto prepared = prepare(session, comparison(), *ands, *masks);
  if (!prepared) return prepared.error();
  inputs.held(Held{session.id(), AuthBits(1, mask)});
  const std::uint64_t told = session.outputs_told();
  auto fits = compute(session, *prepared, inputs);
  session.told_nothing_since(told);  // of a job
  if (!fits && session.stands()) return session.end(fits.error().message, EndedBy::kState);
  if (!fits) return fits.error();
  return std::move(*fits);
}

}  // namespace

std::uint64_t bridge_circuit_ands() { return comparison().ands; }

// By Horner's rule, as the sum itself. c is public.
Labels labels_of_sum(std::span<const Label> labels, const Label& coin) {
  std::array<Label, kBlockBits> images;  // of X^j: c X^j
  images[0] = coin;
  for (std::size_t j = 1; j < kBlockBits; ++j) images[j] = ot::times_x(images[j - 1]);
  Labels sum(kBlockBits), next(kBlockBits);
  for (std::size_t first = 0; first + kBlockBits <= labels.size(); first += kBlockBits) {
    std::fill(next.begin(), next.end(), Label());
    for (std::size_t j = 0; j < kBlockBits; ++j) {
      const Label bit = sum[j] ^ labels[first + j];
      for (std::size_t to = 0; to < kBlockBits; ++to)
        if (bit_of(images[j], to) != 0) next[to] = next[to] ^ bit;
    }
    sum.swap(next);
  }
  return sum;
}

Result<Compared> compare_in_circuit(Session& session, const Pool& pool, const StoredBlocks& stored,
                                    ByteSpan name) {
  if (auto good = session.stands(); !good) return good.error();
  if (!one_delta(pool.id, stored.pool))
    return fail("pair: blocks of one pool cannot be compared under another's Δ");
  if (stored.blocks.empty() || stored.blocks.size() > kMostBridged)
    return fail("pair: " + std::to_string(stored.blocks.size()) +
                " blocks cannot be bridged at once");
  auto alike =
      session.alike(digest_of_name(kLabelInCircuit, stored.pool, 0, stored.blocks.size(), name));
  if (!alike) return alike.error();
  if (!*alike)
    return fail("pair with " + session.peer() +
                ": it has been asked for another key than this server: nothing was compared. "
                "Whoever asked has to ask both for the same");
  auto bits = enter_blocks(session, stored.blocks);
  if (!bits) return bits.error();
  Coins coins;
  auto done = session.channel().write_all(std::span<const Label>(&coins.own, 1));
  if (done) done = session.channel().read_all(std::span(&coins.peers, 1));
  if (!done) return session.end(done.error().message);
  Compared out;
  auto fits = outputs_of(session, inputs_of(session, pool, stored, *bits, coins), out.mask);
  if (!fits) return fits.error();
  out.fits = std::move(*fits);
  out.bits = std::move(*bits);
  return out;
}

// The garbler tells ρ once it has found that its own blocks fit: an evaluator that entered other
// keys than it has stored learns whether they fit from one that has latched it.
Result<void> look_at(Session& session, const Compared& compared) {
  const Bits& fits = compared.fits;
  const AuthBit& mask = compared.mask;
  now_public(fits.data(), 1);
  if (!stored_fits(fits[0])) return was_changed(session);
  const std::span<const AuthBit> one(&mask, 1);
  const bool garbles = session.side() == Side::kGarbler;
  auto bit = static_cast<std::uint8_t>(fits[1] ^ mask.own());
  if (!garbles) {
    auto heard = session.hear(one);
    if (!heard) return heard.error();
    bit = fits[1] ^ (*heard)[0];
  }
  now_public(&bit, sizeof bit);
  if (!stored_fits(bit)) return was_changed(session);
  return garbles ? session.tell(one) : Result<void>();
}

Result<Held> bridge_in_circuit(Session& session, const Pool& pool, const StoredBlocks& stored,
                               ByteSpan name) {
  const WipesStack wipes;
  auto compared = compare_in_circuit(session, pool, stored, name);
  if (!compared) return compared.error();
  if (auto good = look_at(session, *compared); !good) return good.error();
  return Held{session.id(), std::move(compared->bits)};
}

}  // namespace tkdc::pair
