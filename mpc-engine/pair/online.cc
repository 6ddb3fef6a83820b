// SPDX-License-Identifier: Apache-2.0
#include "pair/online.h"

#include <algorithm>
#include <string>

#include "base/now_public.h"
#include "garble/instances.h"
#include "pair/label_check.h"
#include "pair/steps.h"

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

// What a use says, by the session's own way or in its place (pair/steps.h).
Result<void> send_labels(Session& session, const Prepared& prepared,
                         std::span<const std::uint8_t> inputs) {
  if (session.steps() != nullptr) return session.steps()->give_labels(session, prepared);
  Labels labels = prepared.input_labels;
  for (std::size_t k = 0; k < labels.size(); ++k)
    labels[k] = labels[k] ^ session.delta().where(inputs[k]);
  return session.channel().write_all(std::span<const Label>(labels));
}

std::size_t values_of(const Session& session, const Prepared& prepared) {
  return session.steps() != nullptr ? session.steps()->values(prepared) : prepared.circuit->ands;
}

Label expected_digest(const Session& session, const Prepared& prepared,
                      std::span<const std::uint8_t> inputs, std::span<const std::uint8_t> values) {
  if (session.steps() != nullptr) return session.steps()->expected(prepared, inputs, values);
  return label_digest(prepared, session.delta(), values);
}

// The digest of MACs, and Λ of outputs. Where nothing is garbled there is none of ANDs.
Label checked_ands(const Session& session, const Prepared& prepared,
                   std::span<const std::uint8_t> inputs, std::span<const std::uint8_t> values,
                   Bits& outputs) {
  if (session.steps() != nullptr) {
    outputs = session.steps()->outputs(prepared, values);
    return {};
  }
  const Bits operands = operands_of(*prepared.circuit, inputs, values, outputs);
  return mac_digest(session, prepared, operands);
}

constexpr char kDropped[] =
    "pair: what the client dealt does not fit what both servers have: this job is dropped, and the "
    "session goes on";

// One party's part in proofs of what a client dealt: nothing where there is nothing dealt.
class DealtProofs {
 public:
  DealtProofs(Session& session, const Entered& entered)
      : session_(session), proved_(entered.dealt ? &*entered.dealt : nullptr) {}

  Result<void> send_coin() {
    return proved_ == nullptr ? Result<void>() : send(coin_ = draw_coin());
  }
  Result<void> read_coin() { return proved_ == nullptr ? Result<void>() : read(peers_coin_); }
  Result<void> send_proof() {
    return proved_ == nullptr ? Result<void>() : send(prove(*proved_, peers_coin_));
  }
  Result<void> read_proof() { return proved_ == nullptr ? Result<void>() : read(peers_proof_); }
  // That the peer's bits in this session are no others than its MACs of the client say. Error: that
  // they are not those which it has in the session, which no client can bring about.
  Result<void> check() {
    if (proved_ == nullptr) return {};
    const Found found = verify(*proved_, session_.deltas(), coin_, peers_proof_);
    if (!found.session) return session_.end("it proves other inputs than it has masked");
    good_ = found.other;
    return {};
  }
  // What it found, to the peer; whether both go on.
  Result<bool> send_verdict() {
    if (proved_ == nullptr) return true;
    if (auto sent = send(static_cast<std::uint8_t>(good_)); !sent) return sent.error();
    return good_;
  }
  Result<bool> read_verdict() {
    if (proved_ == nullptr) return true;
    std::uint8_t verdict = 0;
    if (auto got = read(verdict); !got) return got.error();
    if (verdict > 1) return fail("its verdict is none");
    return verdict == 1;
  }

 private:
  template <class T>
  Result<void> send(const T& what) {
    return session_.channel().write_all(std::span<const T>(&what, 1));
  }
  template <class T>
  Result<void> read(T& what) {
    return session_.channel().read_all(std::span(&what, 1));
  }

  Session& session_;
  const Proved* const proved_;
  Label coin_, peers_coin_;
  Proof peers_proof_;
  bool good_ = true;
};

Result<Bits> garbler_side(Session& session, Prepared& prepared, const Entered& entered) {
  ot::Channel& channel = session.channel();
  DealtProofs proofs(session, entered);
  auto done = send_labels(session, prepared, entered.values);
  if (done) done = proofs.send_coin();
  const std::size_t count = values_of(session, prepared);
  Bytes octets((count + 7) / 8);
  Label said;
  if (done) done = proofs.read_coin();
  if (done) done = proofs.read_proof();
  if (done) done = channel.read(octets);
  if (done) done = channel.read_all(std::span(&said, 1));
  if (!done) return session.end(done.error().message);
  const Bits values = unpacked(octets, count);
  if (!labels_fit(expected_digest(session, prepared, entered.values, values), said))
    return session.end("its masked values are not those of its labels");
  if (auto good = proofs.check(); !good) return good.error();
  auto go = proofs.send_verdict();
  if (!go) return session.end(go.error().message);
  if (!*go) return fail(kDropped);
  Bits outputs;
  const Label digest = checked_ands(session, prepared, entered.values, values, outputs);
  done = proofs.send_proof();
  if (done) done = channel.write_all(std::span<const Label>(&digest, 1));
  if (!done) return session.end(done.error().message);
  session.tells_outputs();
  if (auto told = session.tell(prepared.outputs); !told) return told.error();
  go = proofs.read_verdict();
  if (!go) return session.end(go.error().message);
  if (!*go) return fail(kDropped);
  auto peers = session.hear(prepared.outputs);
  if (!peers) return peers.error();
  return unmasked(prepared, outputs, *peers);
}

Result<Bits> evaluator_side(Session& session, Prepared& prepared, const Entered& entered) {
  ot::Channel& channel = session.channel();
  DealtProofs proofs(session, entered);
  auto evaluated = session.steps() != nullptr
                       ? session.steps()->evaluate(session, prepared, entered.values)
                       : evaluate(session, prepared, entered.values);
  if (!evaluated) return evaluated.error();
  auto done = proofs.read_coin();
  if (done) done = proofs.send_coin();
  if (done) done = proofs.send_proof();
  if (done) done = channel.write(packed(evaluated->values));
  if (done) done = channel.write_all(std::span<const Label>(&evaluated->digest, 1));
  if (!done) return session.end(done.error().message);
  Bits outputs;
  const Label expected =
      checked_ands(session, prepared, entered.values, evaluated->values, outputs);
  auto go = proofs.read_verdict();
  if (!go) return session.end(go.error().message);
  if (!*go) return fail(kDropped);
  Label said;
  done = proofs.read_proof();
  if (done) done = channel.read_all(std::span(&said, 1));
  if (!done) return session.end(done.error().message);
  if (!digests_equal(expected, said)) return session.end("it garbled another circuit");
  if (auto good = proofs.check(); !good) return good.error();
  auto peers = session.hear(prepared.outputs);
  if (!peers) return peers.error();
  go = proofs.send_verdict();
  if (!go) return session.end(go.error().message);
  if (!*go) return fail(kDropped);
  session.tells_outputs();
  if (auto told = session.tell(prepared.outputs); !told) return told.error();
  return unmasked(prepared, outputs, *peers);
}

// What is looked at before a word is said.
Result<void> job_fits(const Session& session, const Prepared& prepared, const Inputs& inputs) {
  if (prepared.used) return fail("pair: what was prepared has been used");
  if (prepared.circuit == nullptr || !session.is(prepared.session))
    return fail("pair: what was prepared belongs to another session");
  return inputs_fit(session, prepared, inputs);
}

}  // namespace

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

JobResult compute(Session& session, Prepared& prepared, Inputs& inputs) {
  if (auto good = session.stands(); !good) return {good.error(), Went::kEnded};
  if (auto good = job_fits(session, prepared, inputs); !good) return {good.error(), Went::kRefused};
  prepared.used = true;
  auto entered = exchange_inputs(session, prepared, inputs);
  if (!entered) return {entered.error(), Went::kEnded};
  auto done = session.side() == Side::kGarbler ? garbler_side(session, prepared, *entered)
                                               : evaluator_side(session, prepared, *entered);
  if (done) return std::move(*done);
  return {done.error(), session.stands() ? Went::kDropped : Went::kEnded};
}

}  // namespace tkdc::pair
