// SPDX-License-Identifier: Apache-2.0
#include "pair/prepared.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "garble/instances.h"
#include "pair/steps.h"

namespace tkdc::pair {
namespace {

using circuit::ScheduledGate;
using garble::kAndsPerKey;
using garble::kTableBytes;

constexpr std::uint64_t kDigestPurpose = 3;
constexpr std::size_t kAtOnce = 4096;  // ANDs whose bits or tables travel together

std::size_t slot_of(std::uint32_t operand) { return operand & ~ScheduledGate::kComplement; }

// Masks of all wires: of the gates' operands and of outputs.
void spread_masks(const Deltas& deltas, const PairCircuit& circuit, std::span<const AuthBit> masks,
                  Prepared& out) {
  const circuit::Schedule& schedule = circuit.schedule;
  AuthBits slots(schedule.slots);
  std::copy_n(masks.begin(), circuit.input_bits(), slots.begin());
  const AuthBit* fresh = masks.data() + circuit.input_bits();
  const ScheduledGate* gate = schedule.gates.data();
  GateMasks* to = out.gates.data();
  for (const circuit::Schedule::Layer& layer : schedule.layers) {
    for (std::uint32_t k = 0; k < layer.xors; ++k, ++gate)
      slots[gate->out] = slots[gate->a] ^ slots[gate->b];
    for (std::uint32_t k = 0; k < layer.ands; ++k, ++gate, ++to) {
      to->a = deltas.plus(slots[slot_of(gate->a)], gate->a >> 31);
      to->b = deltas.plus(slots[slot_of(gate->b)], gate->b >> 31);
      to->c = slots[gate->out] = *fresh++;
    }
  }
  for (const circuit::Schedule::Output& output : schedule.output_bits)
    out.outputs.push_back(output.slot == circuit::Schedule::Output::kConstant ? AuthBit()
                                                                              : slots[output.slot]);
}

// λ_c = λ_γ ⊕ λ_α λ_β by ready ANDs.
Result<void> multiply_masks(Session& session, std::span<const AuthAnd> ands, Prepared& out) {
  constexpr std::size_t kLag = 4;
  AuthBits differ[kLag + 1];
  const std::size_t pieces = (ands.size() + kAtOnce - 1) / kAtOnce;
  const auto count = [&](std::size_t t) { return std::min(kAtOnce, ands.size() - t * kAtOnce); };
  for (std::size_t t = 0; t < pieces + kLag; ++t) {
    if (t < pieces) {
      AuthBits& told = differ[t % (kLag + 1)];
      told.resize(2 * count(t));
      for (std::size_t k = 0; k < count(t); ++k) {
        const std::size_t g = t * kAtOnce + k;
        told[2 * k] = out.gates[g].a ^ ands[g].x;
        told[2 * k + 1] = out.gates[g].b ^ ands[g].y;
      }
      if (auto done = session.tell(told); !done) return done;
    }
    if (t < kLag) continue;
    const AuthBits& told = differ[(t - kLag) % (kLag + 1)];
    auto heard = session.hear(told);
    if (!heard) return heard.error();
    for (std::size_t k = 0; k < count(t - kLag); ++k) {
      const std::size_t g = (t - kLag) * kAtOnce + k;
      const std::uint64_t x = told[2 * k].own() ^ (*heard)[2 * k],
                          y = told[2 * k + 1].own() ^ (*heard)[2 * k + 1];
      const AuthBit product = ands[g].z ^ ands[g].y.where(x) ^ ands[g].x.where(y);
      out.gates[g].c = out.gates[g].c ^ session.deltas().plus(product, x & y);
    }
  }
  return {};
}

// X of a mask at the garbler.
Label offset(const AuthBit& mask, const Label& delta) { return mask.key ^ delta.where(mask.own()); }

class Garbling {
 public:
  Garbling(Session& session, const PairCircuit& circuit, Prepared& out)
      : session_(session), circuit_(circuit), out_(out), kernel_(garble::fastest_kernel()),
        slots_((circuit.plain.slots * kLabelBytes + 63) / 64 * 64), tables_(kAtOnce * kTableBytes) {
    for (Label& one : deltas_.of) one = session.delta();
  }
  ~Garbling() {
    sodium_memzero(&deltas_, sizeof deltas_);
    garble::wipe_stack();
  }

  Result<void> run() {
    out_.input_labels.resize(circuit_.input_bits());
    randombytes_buf(out_.input_labels.data(), out_.input_labels.size() * kLabelBytes);
    for (Label& one : out_.input_labels) one.low &= ~std::uint64_t{1};
    std::copy(out_.input_labels.begin(), out_.input_labels.end(), labels());
    garble::Walk walk;
    walk.begin(circuit_.plain);
    while (!walk.done()) {
      kernel_.add(walk.take_xors(), labels(), 1);
      if (walk.ands() == 0) continue;
      const std::size_t room = kAndsPerKey - done_ % kAndsPerKey;
      if (done_ % kAndsPerKey == 0)
        if (auto sent = send_key(); !sent) return sent;
      const std::size_t some = std::min({walk.ands(), kAtOnce - waiting_, room});
      garble(walk.take_ands(some));
      if (waiting_ == kAtOnce || done_ % kAndsPerKey == 0)
        if (auto sent = send_tables(); !sent) return sent;
    }
    return send_tables();
  }

 private:
  Label* labels() { return reinterpret_cast<Label*>(slots_.data()); }

  Result<void> send_key() {
    Label key;
    randombytes_buf(&key, sizeof key);
    garble::expand_keys(std::span(&key, 1), keys_);
    return session_.channel().write_all(std::span<const Label>(&key, 1));
  }

  void garble(garble::Walk::Gates gates) {
    std::uint8_t* tables = tables_.data() + waiting_ * kTableBytes;
    kernel_.garble({gates, labels(), 1, &keys_, 2 * (done_ % kAndsPerKey)}, deltas_, &tables);
    for (std::size_t k = 0; k < gates.size(); ++k, tables += kTableBytes) {
      const GateMasks& masks = out_.gates[done_ + k];
      Label table[2];
      std::memcpy(table, tables, kTableBytes);
      table[0] = table[0] ^ offset(masks.b, session_.delta());
      table[1] = table[1] ^ offset(masks.a, session_.delta());
      std::memcpy(tables, table, kTableBytes);
      Label& label = labels()[gates[k].out];
      label = label ^ offset(masks.c, session_.delta());
      turns_.push_back(static_cast<std::uint8_t>(label.colour()));
      label.low &= ~std::uint64_t{1};
      out_.gate_labels.push_back(label);
    }
    done_ += gates.size();
    waiting_ += gates.size();
  }

  Result<void> send_tables() {
    if (waiting_ == 0) return {};
    auto sent = session_.channel().write(ByteSpan(tables_).first(waiting_ * kTableBytes));
    if (sent) sent = session_.channel().write(packed(turns_));
    turns_.clear();
    waiting_ = 0;
    return sent;
  }

  Session& session_;
  const PairCircuit& circuit_;
  Prepared& out_;
  const garble::Kernel& kernel_;
  garble::Deltas deltas_;
  garble::RoundKeys keys_;
  SecretBuffer slots_;
  Bytes tables_;
  Bits turns_;
  std::size_t done_ = 0, waiting_ = 0;
};

// What Garbling sends, in pieces that follow from the circuit alone.
Result<void> receive_tables(Session& session, const PairCircuit& circuit, Prepared& out) {
  out.tables.resize(circuit.ands * kTableBytes);
  for (std::size_t done = 0; done < circuit.ands;) {
    if (done % kAndsPerKey == 0) {
      Label key;
      if (auto got = session.channel().read_all(std::span(&key, 1)); !got) return got;
      out.keys.push_back(key);
    }
    const std::size_t some =
        std::min<std::size_t>({circuit.ands - done, kAtOnce, kAndsPerKey - done % kAndsPerKey});
    const MutableByteSpan tables(out.tables.data() + done * kTableBytes, some * kTableBytes);
    Bytes turns((some + 7) / 8);
    if (auto got = session.channel().read(tables); !got) return got;
    if (auto got = session.channel().read(turns); !got) return got;
    const Bits bits = unpacked(turns, some);
    out.turns.insert(out.turns.end(), bits.begin(), bits.end());
    for (std::size_t k = 0; k < some; ++k) {
      Label table[2];
      std::memcpy(table, tables.data() + k * kTableBytes, kTableBytes);
      table[0] = table[0] ^ out.gates[done + k].b.mac;
      table[1] = table[1] ^ out.gates[done + k].a.mac;
      std::memcpy(tables.data() + k * kTableBytes, table, kTableBytes);
    }
    done += some;
  }
  return {};
}

}  // namespace

PairCircuit::PairCircuit(circuit::Schedule of)
    : schedule(std::move(of)), plain(schedule), ands(garble::ands_of(schedule)) {
  for (ScheduledGate& gate : plain.gates) {
    gate.a &= ~ScheduledGate::kComplement;
    gate.b &= ~ScheduledGate::kComplement;
  }
}

Result<Prepared> prepare(Session& session, const PairCircuit& circuit,
                         std::span<const AuthAnd> ands, std::span<const AuthBit> masks) {
  if (auto good = session.stands(); !good) return good.error();
  if (session.steps() != nullptr) return session.steps()->prepare(session, circuit, masks);
  if (ands.size() != circuit.ands || masks.size() != masks_of(circuit))
    return fail("pair: a circuit of " + std::to_string(circuit.ands) + " ANDs is prepared from " +
                std::to_string(ands.size()) + " of them and " + std::to_string(masks.size()) +
                " masks");
  Prepared out;
  out.session = session.id();
  out.circuit = &circuit;
  out.digest_seed = session.seed_of(kDigestPurpose, session.next_number(), Side::kGarbler);
  out.gates.resize(circuit.ands);
  const auto of_block = masks.first(kBlockBits),
             of_inputs = masks.subspan(kBlockBits, circuit.input_bits());
  out.proof_mask.assign(of_block.begin(), of_block.end());
  out.inputs.assign(of_inputs.begin(), of_inputs.end());
  spread_masks(session.deltas(), circuit, masks.subspan(kBlockBits), out);
  if (auto done = multiply_masks(session, ands, out); !done) return done.error();
  Result<void> done;
  if (session.side() == Side::kGarbler)
    done = Garbling(session, circuit, out).run();
  else
    done = receive_tables(session, circuit, out);
  if (!done) return session.end(done.error().message);
  return out;
}

}  // namespace tkdc::pair
