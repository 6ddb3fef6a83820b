// SPDX-License-Identifier: Apache-2.0
// What keyscan searches: the memory image of a running process, read through
// /proc/PID/mem page by page (only pages that exist), and files.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>

namespace keyscan {

struct Piece {
  std::span<const std::uint8_t> memory;
  std::string where;          // mapping or file, for the report
  std::uint64_t address = 0;  // of memory[0]
};

using Visit = std::function<void(const Piece&)>;

// Both hand out pieces that overlap by `overlap` octets and return the number
// of octets read. Error (std::runtime_error): not allowed to read, or gone.
//
// Process: every readable mapping. Mappings shared with a file are left to the
// search of that file, except those in memory only.
std::uint64_t visit_process(pid_t pid, std::size_t overlap, const Visit& visit);
std::uint64_t visit_path(const std::string& path, std::size_t overlap, const Visit& visit);

}  // namespace keyscan
