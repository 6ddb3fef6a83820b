// SPDX-License-Identifier: Apache-2.0
#include "check/elf_names.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/system_error.h"

namespace tkdc::check {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

// A copy of the T at `at`; false past the end.
template <class T>
bool copy_at(const std::vector<char>& file, std::uint64_t at, T& out) {
  if (at > file.size() || file.size() - at < sizeof(T)) return false;
  std::memcpy(&out, file.data() + at, sizeof(T));
  return true;
}

// From `at` to the next NUL within the file; empty past the end.
std::string text_at(const std::vector<char>& file, std::uint64_t at) {
  if (at >= file.size()) return {};
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
  return {begin, std::find(begin, file.end(), '\0')};
}

bool read_symbols(const std::vector<char>& file, const Elf64_Shdr& table, std::uint64_t strings,
                  ElfNames& out) {
  if (table.sh_offset > file.size() || file.size() - table.sh_offset < table.sh_size) return false;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!copy_at(file, table.sh_offset + at, symbol)) return false;
    std::string name = text_at(file, strings + symbol.st_name);
    if (name.empty()) continue;
    (symbol.st_shndx == SHN_UNDEF ? out.wanted : out.defined).insert(std::move(name));
  }
  return true;
}

bool read_names(const std::vector<char>& file, ElfNames& out) {
  Elf64_Ehdr header;
  if (!copy_at(file, 0, header) || !std::equal(header.e_ident, header.e_ident + SELFMAG, ELFMAG) ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, strings;
    if (!copy_at(file, header.e_shoff + i * sizeof table, table)) return false;
    if (table.sh_type != SHT_DYNSYM) continue;
    return copy_at(file, header.e_shoff + table.sh_link * sizeof strings, strings) &&
           read_symbols(file, table, strings.sh_offset, out);
  }
  return false;
}

}  // namespace

Result<ElfNames> read_elf_names(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return system_error("cannot open " + path);
  std::vector<char> file;
  for (std::istreambuf_iterator<char> at(stream), end; at != end && file.size() <= kMaxFileBytes;
       ++at)
    file.push_back(*at);
  ElfNames out;
  if (file.size() > kMaxFileBytes || !read_names(file, out))
    return fail(path + " is no program or library that can be read");
  return out;
}

}  // namespace tkdc::check
