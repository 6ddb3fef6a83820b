// SPDX-License-Identifier: Apache-2.0
// Circuits by name, for programs that take one by its name and for the table of counts.
#pragma once

#include "base/result.h"
#include "circuits/catalogue_entry.h"

namespace tkdc::circuits {

std::span<const Named> catalogue();

struct Chosen {
  const Named* named;
  std::size_t size;
};
// NAME, or NAME:SIZE; of derivations() too.
// Errors: no such name, a size that is no number or out of its range.
Result<Chosen> find_named(std::string_view text);
// The same of around_tables() alone, of which no program's user asks.
Result<Chosen> find_around(std::string_view text);
// Recorded and folded; no AND has a constant operand.
circuit::Circuit record(const Chosen& chosen);

}  // namespace tkdc::circuits
