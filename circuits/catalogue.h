// SPDX-License-Identifier: Apache-2.0
// Circuits by name, for programs that take one by its name and for the table of counts.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "circuit/plain.h"
#include "circuit/recorder.h"

namespace tkdc::circuits {

struct Named {
  std::string_view name, meaning, source;
  // The size that `NAME:SIZE` sets, in which unit; 1 to 1 and no unit if there is none.
  std::string_view unit;
  std::size_t least, usual, most;
  // ANDs for the usual size to compare with, and whose number that is; 0 if there is none.
  std::uint64_t published_ands;
  std::string_view published;
  // The body in a context with input() and output().
  void (*record)(circuit::Recorder&, std::size_t);
  void (*count)(circuit::Counter&, std::size_t);
  void (*compute)(circuit::Plain&, std::size_t);
};

std::span<const Named> catalogue();

struct Chosen {
  const Named* named;
  std::size_t size;
};
// NAME, or NAME:SIZE. Errors: no such name, a size that is no number or out of its range.
Result<Chosen> find_named(std::string_view text);
// Recorded and folded.
circuit::Circuit record(const Chosen& chosen);

}  // namespace tkdc::circuits
