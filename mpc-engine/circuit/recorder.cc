// SPDX-License-Identifier: Apache-2.0
#include "circuit/recorder.h"

#include <stdexcept>

namespace tkdc::circuit {

namespace {

constexpr std::size_t kFirstPlaces = 1024;  // a power of two, as all sizes of the table

// Multiplied by 2^64 over the golden ratio (Knuth, volume 3, section 6.4), the high half.
std::uint32_t hash_of(std::uint32_t a, std::uint32_t b, bool is_and) {
  const std::uint64_t mixed =
      ((std::uint64_t{a} << 32 | b) ^ (is_and ? std::uint64_t{1} << 63 : 0)) * 0x9e3779b97f4a7c15;
  return static_cast<std::uint32_t>((mixed ^ mixed >> 29) >> 16);
}

}  // namespace

Recorder::Recorder() : known_(kFirstPlaces) { nodes_.push_back({0, 0, Kind::kLeaf}); }

std::size_t Recorder::place_of(const Node& node, std::uint32_t hash) const {
  const std::size_t last = known_.size() - 1;
  std::size_t at = hash & last;
  while (known_[at].node != 0 && (known_[at].hash != hash || nodes_[known_[at].node] != node))
    at = (at + 1) & last;
  return at;
}

void Recorder::grow() {
  MappedVector<Known> before(2 * known_.size());
  before.swap(known_);
  const std::size_t last = known_.size() - 1;
  for (const Known& one : before) {
    if (one.node == 0) continue;
    std::size_t at = one.hash & last;
    while (known_[at].node != 0) at = (at + 1) & last;
    known_[at] = one;
  }
}

Recorder::Bit Recorder::node_of(Kind kind, std::uint32_t a, std::uint32_t b) {
  if (a > b) std::swap(a, b);
  const Node node{a, b, kind};
  const std::uint32_t hash = hash_of(a, b, kind == Kind::kAnd);
  std::size_t at = place_of(node, hash);
  if (known_[at].node == 0) {
    if (nodes_.size() == kMaxNodes) throw std::length_error("a circuit of too many gates");
    if (2 * ++gates_ > known_.size()) {
      grow();
      at = place_of(node, hash);
    }
    known_[at] = {static_cast<std::uint32_t>(nodes_.size()), hash};
    nodes_.push_back(node);
  }
  return {2 * known_[at].node};
}

Recorder::Bit Recorder::xor_of(Bit a, Bit b) {
  const std::uint32_t complement = (a.literal ^ b.literal) & 1;
  const std::uint32_t x = a.literal & ~1u, y = b.literal & ~1u;
  if (x == 0 || y == 0) return {(x | y) ^ complement};
  if (x == y) return {complement};
  // (x ^ u) ^ x = u.
  for (const auto& [whole, part] : {std::pair{x, y}, std::pair{y, x}}) {
    const Node& node = nodes_[whole / 2];
    if (node.kind == Kind::kXor && node.a == part) return {node.b ^ complement};
    if (node.kind == Kind::kXor && node.b == part) return {node.a ^ complement};
  }
  return {node_of(Kind::kXor, x, y).literal ^ complement};
}

Recorder::Bit Recorder::and_of(Bit a, Bit b) {
  if (a.literal > b.literal) std::swap(a, b);
  if (a.literal == 0) return a;
  if (a.literal == 1 || a == b) return b;
  if ((a.literal ^ b.literal) == 1) return constant(false);
  return node_of(Kind::kAnd, a.literal, b.literal);
}

Bits<Recorder> Recorder::input(const std::string& name, std::size_t bits) {
  assert(gates_ == 0);
  if (bits > kMaxNodes - nodes_.size()) throw std::length_error("an input of too many bits");
  inputs_.push_back({name, bits});
  Bits<Recorder> out;
  for (std::size_t k = 0; k < bits; ++k) {
    out.push_back({static_cast<std::uint32_t>(2 * nodes_.size())});
    nodes_.push_back({0, 0, Kind::kLeaf});
  }
  return out;
}

void Recorder::output(const std::string& name, BitSpan<Recorder> value) {
  outputs_.push_back({name, value.size()});
  for (const Bit& bit : value) output_literals_.push_back(bit.literal);
}

MappedVector<bool> Recorder::needed() const {
  MappedVector<bool> found(nodes_.size(), false);
  for (const std::uint32_t literal : output_literals_) found[literal / 2] = true;
  for (std::size_t k = nodes_.size(); k-- > 0;)
    if (found[k] && nodes_[k].kind != Kind::kLeaf)
      found[nodes_[k].a / 2] = found[nodes_[k].b / 2] = true;
  return found;
}

Circuit Recorder::finish() const {
  Circuit circuit{inputs_, outputs_, {}, {}};
  const std::size_t inputs = circuit.input_bits();
  const MappedVector<bool> kept = needed();
  MappedVector<Wire> wire(2 * nodes_.size(), kNoWire);  // of each literal
  for (std::size_t k = 0; k < inputs; ++k) wire[2 * (k + 1)] = static_cast<Wire>(k);
  const auto emit = [&](Op op, Wire a, Wire b) {
    circuit.gates.push_back({op, a, b});
    return static_cast<Wire>(inputs + circuit.gates.size() - 1);
  };
  // A complement, and a constant output, is made where it is first read.
  const auto wire_of = [&](std::uint32_t literal) {
    if (wire[literal] == kNoWire)
      wire[literal] = literal < 2 ? emit(literal == 1 ? Op::kOne : Op::kZero, 0, 0)
                                  : emit(Op::kNot, wire[literal ^ 1], 0);
    return wire[literal];
  };
  for (std::size_t k = inputs + 1; k < nodes_.size(); ++k) {
    if (!kept[k]) continue;
    const Wire a = wire_of(nodes_[k].a), b = wire_of(nodes_[k].b);
    wire[2 * k] = emit(nodes_[k].kind == Kind::kXor ? Op::kXor : Op::kAnd, a, b);
  }
  for (const std::uint32_t literal : output_literals_)
    circuit.output_wires.push_back(wire_of(literal));
  return circuit;
}

Circuit folded(const Circuit& circuit) {
  Recorder recorder;
  Bits<Recorder> inputs;
  for (const Port& port : circuit.inputs)
    append<Recorder::Bit>(inputs, recorder.input(port.name, port.bits));
  const Bits<Recorder> outputs = apply(recorder, circuit, BitSpan<Recorder>(inputs));
  std::size_t at = 0;
  for (const Port& port : circuit.outputs) {
    recorder.output(port.name, BitSpan<Recorder>(outputs).subspan(at, port.bits));
    at += port.bits;
  }
  return recorder.finish();
}

}  // namespace tkdc::circuit
