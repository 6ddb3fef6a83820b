// SPDX-License-Identifier: Apache-2.0
#include "pair/online.h"

#include <algorithm>
#include <string>

#include "base/now_public.h"
#include "garble/instances.h"
#include "pair/label_check.h"

namespace tkdc::pair {
namespace {

using circuit::ScheduledGate;
using garble::kAndsPerKey;
using garble::kTableBytes;

constexpr std::size_t kAtOnce = 1024;  // labels that are hashed together
constexpr std::size_t kOperands = 3;   // of an AND in operands_of(): α, β, γ

// Labels and MACs are hashed under different keys.
Label seed_for(const Prepared& prepared, std::uint64_t what) {
  return prepared.digest_seed ^ Label { 0, what };
}

// ⊕ H of count labels; `label(k)` is asked for in order.
template <class LabelOf>
Label digest_of(const Label& seed, std::size_t count, LabelOf label) {
  LabelDigest digest(seed);
  Labels some(kAtOnce);
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    const std::size_t now = std::min(kAtOnce, count - first);
    for (std::size_t k = 0; k < now; ++k) some[k] = label(first + k);
    digest.add(std::span(some).first(now));
  }
  return digest.take();
}

Label label_digest(const Prepared& prepared, const Label& delta,
                   std::span<const std::uint8_t> values) {
  return digest_of(seed_for(prepared, 1), values.size(),
                   [&](std::size_t g) { return prepared.gate_labels[g] ^ delta.where(values[g]); });
}

// Values of outputs, of which both know Λ, once masks are open.
Bits unmasked(const Prepared& prepared, std::span<const std::uint8_t> lambda,
              std::span<const std::uint8_t> peers) {
  Bits out(lambda.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<std::uint8_t>(lambda[k] ^ peers[k] ^ prepared.outputs[k].own());
  return out;
}

Result<void> takes(const Prepared& prepared, std::span<const std::uint8_t> own) {
  if (own.size() == prepared.inputs.size()) return {};
  return fail("pair: " + std::to_string(own.size()) + " input bits for a circuit that takes " +
              std::to_string(prepared.inputs.size()));
}

Result<Bits> garbler_side(Session& session, Prepared& prepared,
                          std::span<const std::uint8_t> inputs) {
  const PairCircuit& circuit = *prepared.circuit;
  Labels labels = prepared.input_labels;
  for (std::size_t k = 0; k < labels.size(); ++k)
    labels[k] = labels[k] ^ session.delta().where(inputs[k]);
  if (auto sent = session.channel().write_all(std::span<const Label>(labels)); !sent)
    return session.end(sent.error().message);
  Bytes octets((circuit.ands + 7) / 8);
  Label said;
  auto got = session.channel().read(octets);
  if (got) got = session.channel().read_all(std::span(&said, 1));
  if (!got) return session.end(got.error().message);
  const Bits values = unpacked(octets, circuit.ands);
  if (!labels_fit(label_digest(prepared, session.delta(), values), said))
    return session.end("its masked values are not those of its labels");
  Bits outputs;
  const Bits operands = operands_of(circuit, inputs, values, outputs);
  const Label digest = mac_digest(session, prepared, operands);
  if (auto sent = session.channel().write_all(std::span<const Label>(&digest, 1)); !sent)
    return session.end(sent.error().message);
  if (auto told = session.tell(prepared.outputs); !told) return told.error();
  auto peers = session.hear(prepared.outputs);
  if (!peers) return peers.error();
  return unmasked(prepared, outputs, *peers);
}

Result<Bits> evaluator_side(Session& session, Prepared& prepared,
                            std::span<const std::uint8_t> inputs) {
  auto evaluated = evaluate(session, prepared, inputs);
  if (!evaluated) return evaluated.error();
  auto sent = session.channel().write(packed(evaluated->values));
  if (sent) sent = session.channel().write_all(std::span<const Label>(&evaluated->digest, 1));
  if (!sent) return session.end(sent.error().message);
  Bits outputs;
  const Bits operands = operands_of(*prepared.circuit, inputs, evaluated->values, outputs);
  const Label expected = mac_digest(session, prepared, operands);
  Label said;
  if (auto got = session.channel().read_all(std::span(&said, 1)); !got)
    return session.end(got.error().message);
  if (!digests_equal(expected, said)) return session.end("it garbled another circuit");
  auto peers = session.hear(prepared.outputs);
  if (!peers) return peers.error();
  if (auto told = session.tell(prepared.outputs); !told) return told.error();
  return unmasked(prepared, outputs, *peers);
}

}  // namespace

Result<Bits> exchange_inputs(Session& session, const Prepared& prepared,
                             std::span<const std::uint8_t> own) {
  if (auto good = takes(prepared, own); !good) return good.error();
  Bits masked(own.size());
  for (std::size_t k = 0; k < own.size(); ++k)
    masked[k] = static_cast<std::uint8_t>(own[k] ^ prepared.inputs[k].own());
  now_public(masked.data(), masked.size());
  Bytes octets((own.size() + 7) / 8);
  auto done = session.channel().write(packed(masked));
  if (done) done = session.channel().read(octets);
  if (!done) return session.end(done.error().message);
  const Bits peers = unpacked(octets, own.size());
  for (std::size_t k = 0; k < own.size(); ++k) masked[k] ^= peers[k];
  return masked;
}

Result<Evaluated> evaluate(Session& session, const Prepared& prepared,
                           std::span<const std::uint8_t> inputs) {
  const circuit::Schedule& schedule = prepared.circuit->plain;
  SecretBuffer octets((schedule.slots * kLabelBytes + 63) / 64 * 64);
  auto* slots = reinterpret_cast<Label*>(octets.data());
  if (auto got = session.channel().read_all(std::span(slots, prepared.inputs.size())); !got)
    return session.end(got.error().message);
  if (!colours_fit(std::span(slots, prepared.inputs.size()), inputs))
    return session.end("its labels of inputs are not those of the masked values");
  const garble::Kernel& kernel = garble::fastest_kernel();
  garble::RoundKeys keys;
  Labels gate_labels(prepared.circuit->ands);
  Evaluated out{Bits(prepared.circuit->ands), {}};
  garble::Walk walk;
  walk.begin(schedule);
  for (std::size_t done = 0; !walk.done();) {
    kernel.add(walk.take_xors(), slots, 1);
    if (walk.ands() == 0) continue;
    if (done % kAndsPerKey == 0)
      garble::expand_keys(std::span(&prepared.keys[done / kAndsPerKey], 1), keys);
    const auto gates =
        walk.take_ands(std::min<std::size_t>(walk.ands(), kAndsPerKey - done % kAndsPerKey));
    const std::uint8_t* tables = prepared.tables.data() + done * kTableBytes;
    kernel.evaluate({gates, slots, 1, &keys, 2 * (done % kAndsPerKey)}, &tables);
    for (std::size_t k = 0; k < gates.size(); ++k, ++done) {
      Label& label = slots[gates[k].out];
      label = label ^ prepared.gates[done].c.mac;
      label.low ^= prepared.turns[done];
      out.values[done] = static_cast<std::uint8_t>(label.colour());
      gate_labels[done] = label;
    }
  }
  out.digest = digest_of(seed_for(prepared, 1), gate_labels.size(),
                         [&](std::size_t g) { return gate_labels[g]; });
  now_public(out.values.data(), out.values.size());
  return out;
}

Bits operands_of(const PairCircuit& circuit, std::span<const std::uint8_t> inputs,
                 std::span<const std::uint8_t> values, Bits& outputs) {
  const circuit::Schedule& schedule = circuit.plain;
  Bits slots(schedule.slots), out(kOperands * circuit.ands);
  std::copy(inputs.begin(), inputs.end(), slots.begin());
  const ScheduledGate* gate = schedule.gates.data();
  std::uint8_t* to = out.data();
  const std::uint8_t* value = values.data();
  for (const circuit::Schedule::Layer& layer : schedule.layers) {
    for (std::uint32_t k = 0; k < layer.xors; ++k, ++gate)
      slots[gate->out] = slots[gate->a] ^ slots[gate->b];
    for (std::uint32_t k = 0; k < layer.ands; ++k, ++gate, to += kOperands) {
      to[0] = slots[gate->a];
      to[1] = slots[gate->b];
      to[2] = slots[gate->out] = *value++;
    }
  }
  outputs.clear();
  for (const circuit::Schedule::Output& output : schedule.output_bits) {
    const std::uint8_t slot =
        output.slot == circuit::Schedule::Output::kConstant ? 0 : slots[output.slot];
    outputs.push_back(slot ^ static_cast<std::uint8_t>(output.complement));
  }
  return out;
}

// (Λ_α ⊕ λ_α)(Λ_β ⊕ λ_β) ⊕ Λ_γ ⊕ λ_γ = Λ_α Λ_β ⊕ Λ_γ ⊕ Λ_α λ_β ⊕ Λ_β λ_α ⊕ λ_c
Label mac_digest(const Session& session, const Prepared& prepared,
                 std::span<const std::uint8_t> operands) {
  const Deltas& deltas = session.deltas();
  return digest_of(seed_for(prepared, 2), prepared.gates.size(), [&](std::size_t g) {
    const std::uint64_t a = operands[kOperands * g], b = operands[kOperands * g + 1],
                        c = operands[kOperands * g + 2];
    const GateMasks& masks = prepared.gates[g];
    const AuthBit zero = deltas.plus(masks.c ^ masks.b.where(a) ^ masks.a.where(b), (a & b) ^ c);
    // Both own bits of zero are equal, so the evaluator knows what the garbler's MAC has to be.
    return session.side() == Side::kGarbler ? zero.mac : deltas.expected(zero, zero.own());
  });
}

Result<Bits> compute(Session& session, Prepared& prepared, std::span<const std::uint8_t> own) {
  if (auto good = session.stands(); !good) return good.error();
  if (prepared.used) return fail("pair: what was prepared has been used");
  if (prepared.circuit == nullptr || !session.is(prepared.session))
    return fail("pair: what was prepared belongs to another session");
  if (auto good = takes(prepared, own); !good) return good.error();
  prepared.used = true;
  auto inputs = exchange_inputs(session, prepared, own);
  if (!inputs) return inputs.error();
  return session.side() == Side::kGarbler ? garbler_side(session, prepared, *inputs)
                                          : evaluator_side(session, prepared, *inputs);
}

}  // namespace tkdc::pair
