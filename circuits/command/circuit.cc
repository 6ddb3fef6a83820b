// SPDX-License-Identifier: Apache-2.0
// `tkdc circuit`: looks at circuits, runs them in the clear, and writes them in Bristol Fashion.
// For test values: a command line is no place for secrets.
#include <iostream>
#include <memory>

#include "base/output_file.h"
#include "circuit/bristol.h"
#include "circuit/evaluate.h"
#include "circuit/recorder.h"
#include "circuits/command/circuit.h"
#include "circuits/command/source.h"

namespace tkdc::circuits {
namespace {

struct CircuitOptions {
  std::string source, out;
  std::vector<std::string> inputs;
  bool integers = false;
};

void show_ports(const char* what, const std::vector<circuit::Port>& ports) {
  for (const circuit::Port& port : ports)
    std::cout << what << port.name << ", " << port.bits << " bits\n";
}

void show_counts(const char* what, const circuit::GateCounts& counts) {
  std::cout << what << counts.ands << " ANDs, " << counts.xors << " XORs, " << counts.nots
            << " NOTs, AND depth " << counts.and_depth << "\n";
}

Result<void> info(const CircuitOptions& options) {
  auto circuit = read_circuit(options.source);
  if (!circuit) return circuit.error();
  show_ports("input    ", circuit->inputs);
  show_ports("output   ", circuit->outputs);
  show_counts("gates    ", circuit::counts_of(*circuit));
  show_counts("folded   ", circuit::counts_of(circuit::folded(*circuit)));
  const circuit::Schedule schedule = circuit::schedule_of(*circuit);
  std::size_t ands = 0;
  for (const circuit::Schedule::Layer& layer : schedule.layers) ands += layer.ands;
  std::cout << "schedule " << schedule.gates.size() << " gates of "
            << sizeof(circuit::ScheduledGate) << " octets, " << schedule.slots << " slots, "
            << schedule.layers.size() << " layers, " << schedule.parts.size() << " parts\n"
            << "garbled  " << 32 * ands << " octets of tables (half-gates, 32 an AND)\n";
  return {};
}

Result<void> run(const CircuitOptions& options) {
  auto circuit = read_circuit(options.source);
  if (!circuit) return circuit.error();
  const Digits how = options.integers ? Digits::kIntegers : Digits::kOctets;
  if (options.inputs.size() != circuit->inputs.size()) {
    std::string names;
    for (const circuit::Port& port : circuit->inputs)
      names +=
          (names.empty() ? ": " : ", ") + port.name + " of " + std::to_string(port.bits) + " bits";
    return fail("the circuit has " + std::to_string(circuit->inputs.size()) + " inputs, --input " +
                std::to_string(options.inputs.size()) + names);
  }
  std::vector<circuit::SecretSlices> inputs;
  for (std::size_t k = 0; k < options.inputs.size(); ++k) {
    auto value = parse_value(options.inputs[k], circuit->inputs[k], how);
    if (!value) return value.error();
    inputs.push_back(std::move(*value));
  }
  const auto outputs = circuit::evaluate(circuit::schedule_of(*circuit), inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    std::cout << circuit->outputs[k].name << " " << print_value(outputs[k], how) << "\n";
  return {};
}

Result<void> convert(const CircuitOptions& options) {
  auto circuit = read_circuit(options.source);
  if (!circuit) return circuit.error();
  const std::string text = circuit::write_bristol(circuit::folded(*circuit));
  auto file = OutputFile::create(options.out);
  if (!file) return file.error();
  return file->finish(ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Result<void> table(const CircuitOptions&) {
  std::cout << circuit_table();
  return {};
}

}  // namespace

void add_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("circuit", "look at circuits and run them in the clear");
  command->require_subcommand(1);
  auto options = std::make_shared<CircuitOptions>();
  const auto add = [&](const char* name, const char* about, const char* example,
                       Result<void> (*work)(const CircuitOptions&)) {
    CLI::App* one = command->add_subcommand(name, about);
    one->footer(std::string("Example: ") + example);
    one->callback([options, work, name, &exit_status] {
      const Result<void> done = work(*options);
      if (!done.ok()) std::cerr << "tkdc circuit " << name << ": " << done.error().message << "\n";
      exit_status = done.ok() ? 0 : 1;
    });
    return one;
  };
  const auto add_source = [&](CLI::App* one) {
    one->add_option("source", options->source,
                    "NAME or NAME:SIZE as `tkdc circuit table` lists them, or a file in Bristol "
                    "Fashion")
        ->required();
  };
  add_source(add("info", "inputs, outputs, gates, depth, and memory to execute it",
                 "a ticket of 249 octets\n  tkdc circuit info open18:249", info));
  CLI::App* runs =
      add("run", "compute a circuit in the clear; for test values, not for secrets",
          "one number below another\n  tkdc circuit run less-than:8 --integers --input 03 05", run);
  add_source(runs);
  runs->add_option("--input", options->inputs,
                   "the inputs in their order, each in hexadecimal digits");
  runs->add_flag("--integers", options->integers,
                 "values are numbers, highest digit first; else octet strings, whose bits go into "
                 "wires from each octet's lowest on");
  CLI::App* converts =
      add("convert", "fold a circuit and write it in Bristol Fashion",
          "a compression of SHA-256\n  tkdc circuit convert sha256 --out sha256.txt", convert);
  add_source(converts);
  converts->add_option("--out", options->out, "the file, which is not there yet")->required();
  add("table", "all circuits by name: their gates beside published numbers, in Markdown",
      "all of them\n  tkdc circuit table", table);
}

}  // namespace tkdc::circuits
