// SPDX-License-Identifier: Apache-2.0
#include "circuits/command/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/hex.h"
#include "base/system_error.h"
#include "base/unique_fd.h"
#include "circuit/bristol.h"
#include "circuit/schedule.h"
#include "circuits/catalogue.h"

namespace tkdc::circuits {
namespace {

Result<std::string> read_text(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0) return system_error(path);
  if (!S_ISREG(about.st_mode)) return fail(path + ": is no file");
  if (about.st_size < 0 || static_cast<std::size_t>(about.st_size) > kMaxCircuitFileBytes)
    return fail(path + ": is longer than " + std::to_string(kMaxCircuitFileBytes) + " octets");
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ::ssize_t more = ::read(fd.get(), text.data() + got, text.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return system_error(path);
    if (more == 0) return fail(path + ": became shorter while it was read");
    got += static_cast<std::size_t>(more);
  }
  return text;
}

std::string with_commas(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, 1, ',');
  return out;
}

}  // namespace

Result<circuit::Circuit> read_circuit(const std::string& source) {
  const auto chosen = circuits::find_named(source);
  if (chosen.ok()) return circuits::record(*chosen);
  const bool has_size = source.find(':') != std::string::npos;
  if (has_size && circuits::find_named(source.substr(0, source.find(':'))).ok())
    return chosen.error();
  if (::access(source.c_str(), F_OK) != 0)
    return fail(chosen.error().message + ", and no file has it");
  auto text = read_text(source);
  if (!text) return text.error();
  auto circuit = circuit::read_bristol(*text);
  if (!circuit) return fail(source + ": " + circuit.error().message);
  return circuit;
}

Result<circuit::SecretSlices> parse_value(std::string_view digits, const circuit::Port& port,
                                          Digits how) {
  const std::size_t bytes = (port.bits + 7) / 8;
  Bytes octets(bytes);
  if (!from_hex(digits, octets))
    return fail(port.name + " has " + std::to_string(port.bits) + " bits: give " +
                std::to_string(2 * bytes) + " hexadecimal digits");
  if (how == Digits::kIntegers) std::reverse(octets.begin(), octets.end());
  circuit::SecretSlices slices = circuit::slices_of(ByteSpan(octets));
  if (std::any_of(slices.begin() + static_cast<std::ptrdiff_t>(port.bits), slices.end(),
                  [](circuit::Slice slice) { return slice != 0; }))
    return fail(port.name + " has " + std::to_string(port.bits) +
                " bits: the bits above them are zero");
  slices.resize(port.bits);
  return slices;
}

std::string print_value(std::span<const circuit::Slice> value, Digits how) {
  SecretVector octets = circuit::octets_of(value, 0);
  if (how == Digits::kIntegers) std::reverse(octets.begin(), octets.end());
  return to_hex(octets);
}

std::string circuit_table() {
  std::string out =
      "| circuit | computes | size | ANDs | published ANDs | XORs | AND depth | slots |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const circuits::Named& named : circuits::catalogue()) {
    const circuit::Circuit circuit = circuits::record({&named, named.usual});
    const circuit::GateCounts counts = circuit::counts_of(circuit);
    std::string size, published;
    if (!named.unit.empty()) size = std::to_string(named.usual) + " " + std::string(named.unit);
    if (named.usual == 1 && !size.empty()) size.pop_back();
    if (named.published_ands != 0)
      published = with_commas(named.published_ands) + " (" + std::string(named.published) + ")";
    out += "| " + std::string(named.name) + " | " + std::string(named.meaning) + " (" +
           std::string(named.source) + ") | " + size + " | " + with_commas(counts.ands) + " | " +
           published + " | " + with_commas(counts.xors) + " | " + with_commas(counts.and_depth) +
           " | " + with_commas(circuit::schedule_of(circuit).slots) + " |\n";
  }
  return out;
}

}  // namespace tkdc::circuits
