// SPDX-License-Identifier: Apache-2.0
// The names in an ELF file's dynamic symbol table: what it offers, and what it wants of others.
// Nothing of the file is run. Bounds are checked: a damaged file is an error.
#pragma once

#include <set>
#include <string>

#include "base/result.h"

namespace tkdc::check {

struct ElfNames {
  std::set<std::string> defined, wanted;
};

Result<ElfNames> read_elf_names(const std::string& path);

}  // namespace tkdc::check
