// SPDX-License-Identifier: Apache-2.0
#include "circuit/bristol.h"

#include <charconv>
#include <optional>

namespace tkdc::circuit {
namespace {

// "1 1 0 1 EQ" and its line end: no gate is shorter.
constexpr std::size_t kShortestGate = 11;
constexpr std::string_view kBlanks = " \t\r";

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 24;
  std::string out = "'";
  for (const char letter : text.substr(0, kShown))
    out.push_back(letter >= ' ' && letter <= '~' ? letter : '?');
  return out + (text.size() > kShown ? "...'" : "'");
}

// Words of the lines that are not blank.
class Lines {
 public:
  explicit Lines(std::string_view text) : left_(text) {}

  // The words of the next line; at the end of the text none.
  bool next(std::vector<std::string_view>& words) {
    words.clear();
    while (words.empty() && !left_.empty()) {
      ++number_;
      const std::size_t end = left_.find('\n');
      split(left_.substr(0, end), words);
      left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    }
    return !words.empty();
  }
  Error error(const std::string& what) const {
    return fail("line " + std::to_string(number_) + ": " + what);
  }

 private:
  static void split(std::string_view line, std::vector<std::string_view>& words) {
    for (;;) {
      const std::size_t begin = line.find_first_not_of(kBlanks);
      if (begin == std::string_view::npos) return;
      line.remove_prefix(begin);
      const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
      words.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }
  std::string_view left_;
  std::size_t number_ = 0;
};

class Reader {
 public:
  Reader(std::string_view text, const BristolLimits& limits)
      : lines_(text), limits_(limits), text_bytes_(text.size()) {}

  Result<Circuit> read() {
    for (auto step : {&Reader::read_sizes, &Reader::read_inputs, &Reader::read_outputs,
                      &Reader::read_gates, &Reader::read_end})
      if (const Result<void> done = (this->*step)(); !done.ok()) return done.error();
    return std::move(circuit_);
  }

 private:
  Result<std::size_t> number(std::string_view word, std::size_t most, const char* what) const {
    std::size_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, problem] = std::from_chars(word.data(), end, value);
    if (problem == std::errc::invalid_argument || (stop != end && problem == std::errc()))
      return lines_.error(quoted(word) + " is no " + what);
    if (problem != std::errc() || value > most)
      return lines_.error(quoted(word) + " is more than the " + std::to_string(most) +
                          " allowed here as " + what);
    return value;
  }

  Result<void> read_sizes() {
    if (!lines_.next(words_)) return fail("the text has no line");
    if (words_.size() != 2) return lines_.error("expected the numbers of gates and of wires");
    auto gates = number(words_[0], limits_.gates, "number of gates");
    if (!gates) return gates.error();
    if (*gates > (text_bytes_ + 1) / kShortestGate)
      return lines_.error("more gates than a text of " + std::to_string(text_bytes_) +
                          " octets can have");
    auto wires = number(words_[1], limits_.gates + limits_.value_bits, "number of wires");
    if (!wires) return wires.error();
    gates_ = *gates;
    wires_ = *wires;
    return {};
  }

  Result<std::vector<Port>> read_values(const char* name) {
    if (!lines_.next(words_)) return fail(std::string("the text ends before the ") + name + "puts");
    auto count = number(words_[0], limits_.values, "number of values");
    if (!count) return count.error();
    if (words_.size() != *count + 1)
      return lines_.error("expected " + std::to_string(*count) + " widths behind the number");
    std::vector<Port> ports;
    std::size_t total = 0;
    for (std::size_t k = 0; k < *count; ++k) {
      auto bits = number(words_[k + 1], limits_.value_bits - total, "width");
      if (!bits) return bits.error();
      if (*bits == 0) return lines_.error("a value of no bits");
      total += *bits;
      ports.push_back({name + std::to_string(k), *bits});
    }
    return ports;
  }

  Result<void> read_inputs() {
    auto ports = read_values("in");
    if (!ports) return ports.error();
    circuit_.inputs = std::move(*ports);
    if (wires_ != circuit_.input_bits() + gates_)
      return lines_.error(std::to_string(wires_) + " wires are not the inputs' " +
                          std::to_string(circuit_.input_bits()) + " and one for each of " +
                          std::to_string(gates_) + " gates");
    return {};
  }

  Result<void> read_outputs() {
    auto ports = read_values("out");
    if (!ports) return ports.error();
    circuit_.outputs = std::move(*ports);
    if (circuit_.output_bits() > wires_) return lines_.error("more output bits than wires");
    return {};
  }

  // Of a wire's number in the text, its number in the circuit.
  Result<Wire> operand(std::string_view word) const {
    auto value = number(word, wires_ - 1, "wire");
    if (!value) return value.error();
    if (wire_[*value] == kNoWire)
      return lines_.error("wire " + std::to_string(*value) + " is used before it is defined");
    return wire_[*value];
  }
  Result<std::size_t> target(std::string_view word) const {
    auto value = number(word, wires_ - 1, "wire");
    if (!value) return value.error();
    if (wire_[*value] != kNoWire)
      return lines_.error("wire " + std::to_string(*value) + " is defined already");
    return value;
  }

  Result<void> read_gates() {
    const std::size_t inputs = circuit_.input_bits();
    wire_.assign(wires_, kNoWire);
    for (std::size_t k = 0; k < inputs; ++k) wire_[k] = static_cast<Wire>(k);
    circuit_.gates.reserve(gates_);
    for (std::size_t read = 0; read < gates_; ++read) {
      if (!lines_.next(words_))
        return fail("the text ends after " + std::to_string(read) + " of " +
                    std::to_string(gates_) + " gates");
      if (Result<void> done = read_gate(); !done.ok()) return done;
    }
    for (std::size_t k = wires_ - circuit_.output_bits(); k < wires_; ++k)
      circuit_.output_wires.push_back(wire_[k]);
    return {};
  }

  Result<void> read_gate() {
    const std::string_view kind = words_.back();
    const bool two = kind == "XOR" || kind == "AND";
    if (!two && kind != "INV" && kind != "EQ" && kind != "EQW")
      return lines_.error("unknown gate " + quoted(kind) + "; known: XOR, AND, INV, EQ, EQW");
    if (words_.size() != (two ? 6 : 5) || words_[0] != (two ? "2" : "1") || words_[1] != "1")
      return lines_.error("expected '" + std::string(two ? "2 1 a b out " : "1 1 a out ") +
                          std::string(kind) + "'");
    Gate gate{Op::kZero};
    if (kind == "EQ") {
      auto value = number(words_[2], 1, "constant");
      if (!value) return value.error();
      gate.op = *value == 1 ? Op::kOne : Op::kZero;
    } else {
      auto a = operand(words_[2]);
      if (!a) return a.error();
      gate = {kind == "AND" ? Op::kAnd : two ? Op::kXor : Op::kNot, *a, 0};
    }
    if (two) {
      auto b = operand(words_[3]);
      if (!b) return b.error();
      gate.b = *b;
    }
    auto out = target(words_[two ? 4 : 3]);
    if (!out) return out.error();
    if (kind == "EQW") {
      wire_[*out] = gate.a;
      return {};
    }
    wire_[*out] = static_cast<Wire>(circuit_.wires());
    circuit_.gates.push_back(gate);
    return {};
  }

  Result<void> read_end() {
    if (lines_.next(words_)) return lines_.error("more lines than gates");
    return {};
  }

  Lines lines_;
  const BristolLimits& limits_;
  std::size_t text_bytes_, gates_ = 0, wires_ = 0;
  std::vector<std::string_view> words_;
  std::vector<Wire> wire_;
  Circuit circuit_;
};

// A circuit's wires as the text numbers them: outputs last.
class Writer {
 public:
  explicit Writer(const Circuit& circuit) : circuit_(circuit), wire_(circuit.wires(), kNoWire) {
    const std::size_t inputs = circuit.input_bits(), outputs = circuit.output_wires.size();
    std::vector<bool> own(outputs, false);  // outputs that are gates of their own
    std::size_t copies = 0;
    for (std::size_t k = 0; k < outputs; ++k) {
      const Wire wire = circuit.output_wires[k];
      own[k] = wire >= inputs && wire_[wire] == kNoWire;
      if (own[k]) wire_[wire] = 0;  // has its place among the outputs, below
      copies += own[k] ? 0 : 1;
    }
    wires_ = circuit.wires() + copies;
    gates_ = circuit.gates.size() + copies;
    for (std::size_t k = 0; k < outputs; ++k)
      if (own[k]) wire_[circuit.output_wires[k]] = static_cast<Wire>(wires_ - outputs + k);
    Wire next = 0;
    for (Wire& wire : wire_)
      if (wire == kNoWire) wire = next++;
    own_ = std::move(own);
  }

  std::string text() {
    line({gates_, wires_}, "");
    values(circuit_.inputs);
    values(circuit_.outputs);
    out_ += '\n';
    const std::size_t inputs = circuit_.input_bits();
    for (std::size_t k = 0; k < circuit_.gates.size(); ++k)
      gate(circuit_.gates[k], wire_[inputs + k]);
    const std::size_t outputs = own_.size();
    for (std::size_t k = 0; k < outputs; ++k)
      if (!own_[k]) line({1, 1, wire_[circuit_.output_wires[k]], wires_ - outputs + k}, "EQW");
    return std::move(out_);
  }

 private:
  void line(std::initializer_list<std::size_t> numbers, std::string_view kind) {
    for (const std::size_t one : numbers) {
      out_ += std::to_string(one);
      out_ += ' ';
    }
    if (kind.empty()) out_.pop_back();
    out_ += kind;
    out_ += '\n';
  }
  void values(const std::vector<Port>& ports) {
    out_ += std::to_string(ports.size());
    for (const Port& port : ports) out_ += ' ' + std::to_string(port.bits);
    out_ += '\n';
  }
  void gate(const Gate& gate, Wire out) {
    switch (gate.op) {
      case Op::kXor: line({2, 1, wire_[gate.a], wire_[gate.b], out}, "XOR"); break;
      case Op::kAnd: line({2, 1, wire_[gate.a], wire_[gate.b], out}, "AND"); break;
      case Op::kNot: line({1, 1, wire_[gate.a], out}, "INV"); break;
      case Op::kZero: line({1, 1, 0, out}, "EQ"); break;
      case Op::kOne: line({1, 1, 1, out}, "EQ"); break;
    }
  }

  const Circuit& circuit_;
  std::vector<Wire> wire_;
  std::vector<bool> own_;
  std::size_t wires_ = 0, gates_ = 0;
  std::string out_;
};

}  // namespace

Result<Circuit> read_bristol(std::string_view text, const BristolLimits& limits) {
  return Reader(text, limits).read();
}

std::string write_bristol(const Circuit& circuit) {
  assert(is_sound(circuit));
  return Writer(circuit).text();
}

}  // namespace tkdc::circuit
