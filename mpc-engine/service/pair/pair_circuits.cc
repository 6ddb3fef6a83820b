// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_circuits.h"

#include <charconv>

#include "circuits/catalogue.h"

namespace tkdc {
namespace {

using circuit::Circuit;

constexpr std::string_view kAnswer = "answer ", kStore = "store ",
                           kCopy = "copy:", kAround = "around-";
constexpr std::size_t kMostCopied = 64;  // octets: keys
constexpr std::size_t kMostKnown = 1024;
constexpr const char* kHolds = "holds";

// What a name means.
struct Meaning {
  bool stored = false;
  std::size_t copied = 0;  // octets; else of the catalogue
  std::optional<circuits::Chosen> chosen;
};

Result<Meaning> meaning_of(std::string_view kind) {
  Meaning out;
  out.stored = kind.starts_with(kStore);
  if (!out.stored && !kind.starts_with(kAnswer)) return fail("pair: no such kind of circuit");
  kind.remove_prefix(out.stored ? kStore.size() : kAnswer.size());
  if (kind.starts_with(kCopy)) {
    const std::string_view octets = kind.substr(kCopy.size());
    const auto [end, error] =
        std::from_chars(octets.data(), octets.data() + octets.size(), out.copied);
    if (error != std::errc() || end != octets.data() + octets.size() || out.copied == 0 ||
        out.copied > kMostCopied)
      return fail("pair: no key has so many octets");
    return out;
  }
  const bool around = !out.stored && kind.starts_with(kAround);
  auto chosen = around ? circuits::find_around(kind) : circuits::find_named(kind);
  if (!chosen) return chosen.error();
  out.chosen = *chosen;
  return out;
}

Circuit recorded(const Meaning& meaning) {
  if (meaning.chosen) return circuits::record(*meaning.chosen);
  circuit::Recorder recorder;
  const auto value = recorder.input("value", 8 * meaning.copied);
  recorder.output("value", circuit::BitSpan<circuit::Recorder>(value));
  return recorder.finish();
}

}  // namespace

std::string answer_kind(const std::string& circuit) { return std::string(kAnswer) + circuit; }
std::string store_kind(const std::string& circuit) { return std::string(kStore) + circuit; }

std::string around_kind(const std::string& circuit) {
  return answer_kind(std::string(kAround) + circuit);
}

PairKind::PairKind(std::string of, const Circuit& plain, const pair::PadRule& rule,
                   const Circuit& padded)
    : name(std::move(of)), circuit(circuit::schedule_of(padded)) {
  for (const circuit::Port& port : plain.inputs) input_bits.push_back(port.bits);
  for (std::size_t k = 0; k < rule.bare; ++k) bare_bits += plain.outputs[k].bits;
  pad_bits = padded.input_bits() - plain.input_bits();
}

std::size_t PairKind::layout_bytes() const {
  return 2 * sizeof(circuit::ScheduledGate) * circuit.schedule.gates.size();
}

// Counting takes no memory; what it counts is no less than what is laid out.
Result<std::uint64_t> PairCircuits::look_up(const std::string& kind) {
  static constexpr const char* kTooLong =
      "two servers take no operation of that length: it is longer than they can prepare";
  auto known = known_.find(kind);
  if (known == known_.end()) {
    auto meaning = meaning_of(kind);
    if (!meaning) return meaning.error();
    circuit::Counter counter;
    if (meaning->chosen) meaning->chosen->named->count(counter, meaning->chosen->size);
    if (known_.size() == kMostKnown) known_.clear();
    known = known_.emplace(kind, counter.counts().ands).first;
  }
  if (known->second > kMostPairAnds) return fail(kTooLong);
  return known->second;
}

Result<PairKindPtr> PairCircuits::get(const std::string& kind) {
  if (const auto entry = entries_.find(kind); entry != entries_.end()) {
    entry->second.asked = ++asked_;
    return entry->second.kind;
  }
  if (auto known = look_up(kind); !known) return known.error();
  auto meaning = meaning_of(kind);
  if (!meaning) return meaning.error();
  const Circuit plain = recorded(*meaning);
  pair::PadRule rule;
  rule.whole_blocks = meaning->stored;
  rule.bare = plain.outputs.front().name == kHolds ? 1 : 0;
  auto made = std::make_shared<const PairKind>(kind, plain, rule, pair::with_pad(plain, rule));
  make_room(made->layout_bytes());
  entries_[kind] = {made, ++asked_};
  return made;
}

// Copies are given out by this thread alone, so what only stands here stays so.
void PairCircuits::make_room(std::size_t bytes) {
  for (const auto& [name, entry] : entries_) bytes += entry.kind->layout_bytes();
  while (bytes > kMostBytes) {
    auto oldest = entries_.end();
    for (auto one = entries_.begin(); one != entries_.end(); ++one)
      if (one->second.kind.use_count() == 1 &&
          (oldest == entries_.end() || one->second.asked < oldest->second.asked))
        oldest = one;
    if (oldest == entries_.end()) return;
    bytes -= oldest->second.kind->layout_bytes();
    entries_.erase(oldest);
  }
}

}  // namespace tkdc
