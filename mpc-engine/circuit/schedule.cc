// SPDX-License-Identifier: Apache-2.0
#include "circuit/schedule.h"

#include "circuit/recorder.h"

namespace tkdc::circuit {
namespace {

// Gates without NOT: a wire is a node, or its complement.
struct Node {
  std::uint32_t a = 0, b = 0;  // literals: 2 node + complement
  bool is_and = false, is_leaf = true;
};

struct Graph {
  MappedVector<Node> nodes;            // inputs first
  std::vector<std::uint32_t> outputs;  // literals; kNoWire and kNoWire - 1 are constants
  std::size_t inputs = 0;
};
constexpr std::uint32_t kZeroLiteral = kNoWire - 1, kOneLiteral = kNoWire;

Graph graph_of(const Circuit& circuit) {
  Graph graph;
  graph.inputs = circuit.input_bits();
  graph.nodes.resize(graph.inputs);
  MappedVector<std::uint32_t> literal(graph.inputs);
  for (std::size_t k = 0; k < graph.inputs; ++k) literal[k] = static_cast<std::uint32_t>(2 * k);
  for (const Gate& gate : circuit.gates) {
    if (gate.op == Op::kZero || gate.op == Op::kOne) {
      literal.push_back(gate.op == Op::kOne ? kOneLiteral : kZeroLiteral);
    } else if (gate.op == Op::kNot) {
      literal.push_back(literal[gate.a] ^ 1);
    } else {
      literal.push_back(static_cast<std::uint32_t>(2 * graph.nodes.size()));
      graph.nodes.push_back({literal[gate.a], literal[gate.b], gate.op == Op::kAnd, false});
    }
  }
  for (const Wire wire : circuit.output_wires) graph.outputs.push_back(literal[wire]);
  return graph;
}

// Of each node, the ANDs on the longest path to it, itself included.
MappedVector<std::uint32_t> earliest_layers(const Graph& graph) {
  MappedVector<std::uint32_t> layer(graph.nodes.size(), 0);
  for (std::size_t k = graph.inputs; k < graph.nodes.size(); ++k) {
    const Node& node = graph.nodes[k];
    layer[k] = std::max(layer[node.a / 2], layer[node.b / 2]) + (node.is_and ? 1 : 0);
  }
  return layer;
}

// Of each node, the last layer in which it can be and the depth still be kept.
MappedVector<std::uint32_t> latest_layers(const Graph& graph, std::uint32_t depth) {
  MappedVector<std::uint32_t> layer(graph.nodes.size(), depth);
  for (std::size_t k = graph.nodes.size(); k-- > graph.inputs;) {
    const Node& node = graph.nodes[k];
    const std::uint32_t before = layer[k] - (node.is_and ? 1 : 0);
    for (const std::uint32_t operand : {node.a / 2, node.b / 2})
      layer[operand] = std::min(layer[operand], before);
  }
  return layer;
}

// The order of execution: of each layer XORs, each where it is first needed, then ANDs.
class Order {
 public:
  Order(const Graph& graph, const MappedVector<std::uint32_t>& layer_of, std::uint32_t depth)
      : graph_(graph), done_(graph.nodes.size(), false), rank_(graph.nodes.size(), 0) {
    for (std::size_t k = 0; k < graph.inputs; ++k) done_[k] = true;
    std::vector<std::vector<std::uint32_t>> ands(depth + 1);
    for (std::size_t k = graph.inputs; k < graph.nodes.size(); ++k)
      if (graph.nodes[k].is_and) ands[layer_of[k]].push_back(static_cast<std::uint32_t>(k));
    for (std::uint32_t layer = 1; layer <= depth; ++layer) add_layer(ands[layer]);
    add_outputs();
  }

  MappedVector<std::uint32_t> nodes;
  std::vector<Schedule::Layer> layers;

 private:
  void add_layer(const std::vector<std::uint32_t>& ands) {
    for (std::size_t at = 0; at < ands.size(); at += kPartAnds) {
      const std::size_t end = std::min(ands.size(), at + kPartAnds), before = nodes.size();
      for (std::size_t k = at; k < end; ++k) {
        add_xors(graph_.nodes[ands[k]].a / 2);
        add_xors(graph_.nodes[ands[k]].b / 2);
      }
      spread(before);
      layers.push_back({static_cast<std::uint32_t>(nodes.size() - before),
                        static_cast<std::uint32_t>(end - at)});
      for (std::size_t k = at; k < end; ++k) {
        nodes.push_back(ands[k]);
        done_[ands[k]] = true;
      }
    }
  }
  void add_outputs() {
    const std::size_t before = nodes.size();
    for (const std::uint32_t literal : graph_.outputs)
      if (literal < kZeroLiteral) add_xors(literal / 2);
    spread(before);
    if (nodes.size() > before)
      layers.push_back({static_cast<std::uint32_t>(nodes.size() - before), 0});
  }
  // A layer's XORs, from `from` on, by how many of them stand one upon the other: what a gate reads
  // was then written long before, and a CPU need not wait for its own stores (AES-128: half the
  // time). The layer's slots do not grow: most are taken where its ANDs begin.
  void spread(std::size_t from) {
    const auto of = [&](std::uint32_t literal) { return rank_[literal / 2]; };
    for (std::size_t k = from; k < nodes.size(); ++k)
      rank_[nodes[k]] = 1 + std::max(of(graph_.nodes[nodes[k]].a), of(graph_.nodes[nodes[k]].b));
    std::stable_sort(nodes.begin() + static_cast<std::ptrdiff_t>(from), nodes.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rank_[a] < rank_[b]; });
    for (std::size_t k = from; k < nodes.size(); ++k) rank_[nodes[k]] = 0;
  }
  // This node and the XORs below it that are not there yet. Without recursion: chains are long.
  void add_xors(std::uint32_t top) {
    std::vector<std::uint32_t> way{top};
    while (!way.empty()) {
      const std::uint32_t node = way.back();
      const std::uint32_t a = graph_.nodes[node].a / 2, b = graph_.nodes[node].b / 2;
      if (done_[node]) {
        way.pop_back();
      } else if (!done_[a]) {
        way.push_back(a);
      } else if (!done_[b]) {
        way.push_back(b);
      } else {
        nodes.push_back(node);
        done_[node] = true;
        way.pop_back();
      }
    }
  }

  const Graph& graph_;
  MappedVector<bool> done_;
  MappedVector<std::uint32_t> rank_;  // of the layer's XORs, else 0
};

// Gives slots; one that is given back is the next to be given.
class Slots {
 public:
  explicit Slots(std::size_t nodes) : slot_(nodes, kNoWire), uses_(nodes, 0) {}

  void will_be_used(std::uint32_t node) { ++uses_[node]; }
  void take_input(std::uint32_t node) {
    slot_[node] = count_++;
    if (uses_[node] == 0) free_.push_back(slot_[node]);
  }
  std::uint32_t take(std::uint32_t node) {
    if (free_.empty()) return slot_[node] = count_++;
    slot_[node] = free_.back();
    free_.pop_back();
    return slot_[node];
  }
  void use(std::uint32_t node) {
    if (--uses_[node] == 0) free_.push_back(slot_[node]);
  }
  std::uint32_t of(std::uint32_t node) const { return slot_[node]; }
  std::uint32_t count() const { return count_; }

 private:
  MappedVector<std::uint32_t> slot_, uses_, free_;
  std::uint32_t count_ = 0;
};

std::uint32_t operand(const Slots& slots, [[maybe_unused]] const Node& node,
                      std::uint32_t literal) {
  // A complement below an XOR is the recorder's to move up.
  assert(node.is_and || literal % 2 == 0);
  return slots.of(literal / 2) | (literal % 2 == 1 ? ScheduledGate::kComplement : 0);
}

void place(const Graph& graph, const Order& order, Schedule& schedule) {
  Slots slots(graph.nodes.size());
  schedule.gates.reserve(order.nodes.size());
  for (const std::uint32_t k : order.nodes)
    for (const std::uint32_t literal : {graph.nodes[k].a, graph.nodes[k].b})
      slots.will_be_used(literal / 2);
  for (const std::uint32_t literal : graph.outputs)
    if (literal < kZeroLiteral) slots.will_be_used(literal / 2);
  for (std::uint32_t k = 0; k < graph.inputs; ++k) slots.take_input(k);

  auto next = order.nodes.begin();
  const auto add = [&](std::uint32_t a, std::uint32_t b, std::uint32_t node) {
    schedule.gates.push_back({a, b, slots.take(node)});
  };
  const auto release = [&](const Node& node) {
    slots.use(node.a / 2);
    slots.use(node.b / 2);
  };
  for (const Schedule::Layer& layer : order.layers) {
    for (std::uint32_t k = 0; k < layer.xors; ++k, ++next) {
      const Node& node = graph.nodes[*next];
      const std::uint32_t a = operand(slots, node, node.a), b = operand(slots, node, node.b);
      release(node);  // the result may stand where an operand was
      add(a, b, *next);
    }
    const auto first_and = next;
    for (std::uint32_t k = 0; k < layer.ands; ++k, ++next) {
      const Node& node = graph.nodes[*next];
      add(operand(slots, node, node.a), operand(slots, node, node.b), *next);
    }
    for (auto at = first_and; at != next; ++at) release(graph.nodes[*at]);
  }
  for (const std::uint32_t literal : graph.outputs)
    schedule.output_bits.push_back(
        literal >= kZeroLiteral
            ? Schedule::Output{Schedule::Output::kConstant, literal == kOneLiteral}
            : Schedule::Output{slots.of(literal / 2), literal % 2 == 1});
  schedule.slots = slots.count();
}

void cut(Schedule& schedule) {
  for (const Schedule::Layer& layer : schedule.layers) {
    if (schedule.parts.empty() || schedule.parts.back().ands + layer.ands > kPartAnds)
      schedule.parts.emplace_back();
    Schedule::Part& part = schedule.parts.back();
    ++part.layers;
    part.xors += layer.xors;
    part.ands += layer.ands;
  }
}

}  // namespace

Schedule schedule_of(const Circuit& circuit) { return schedule_of_folded(folded(circuit)); }

Schedule schedule_of_folded(const Circuit& circuit) {
  const Graph graph = graph_of(circuit);
  MappedVector<std::uint32_t> layer_of = earliest_layers(graph);
  std::uint32_t depth = 0;
  for (const std::uint32_t layer : layer_of) depth = std::max(depth, layer);
  Schedule best;
  for (const bool latest : {false, true}) {
    if (latest) layer_of = latest_layers(graph, depth);
    const Order order(graph, layer_of, depth);
    Schedule schedule{circuit.inputs, circuit.outputs, 0, {}, order.layers, {}, {}};
    place(graph, order, schedule);
    if (best.layers.empty() || schedule.slots < best.slots) best = std::move(schedule);
  }
  cut(best);
  return best;
}

}  // namespace tkdc::circuit
