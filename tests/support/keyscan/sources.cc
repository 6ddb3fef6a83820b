// SPDX-License-Identifier: Apache-2.0
#include "sources.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace keyscan {
namespace {

constexpr std::size_t kPieceOctets = std::size_t{16} << 20;
constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;  // /proc/PID/pagemap

struct Mapping {
  std::uint64_t begin = 0, end = 0;
  std::string name;
};

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ssize_t read_at(void* out, std::size_t n, std::uint64_t at) const {
    return pread(fd_, out, n, static_cast<off_t>(at));
  }

 private:
  int fd_;
};

std::vector<Mapping> mappings(pid_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  if (!maps) throw std::runtime_error("process " + std::to_string(pid) + " is gone");
  std::vector<Mapping> found;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, modes, offset, device, inode, name;
    fields >> range >> modes >> offset >> device >> inode;
    std::getline(fields >> std::ws, name);
    bool file_backed = inode != "0" && !name.starts_with("/dev/shm") && !name.starts_with("/memfd");
    if (modes[0] != 'r' || (modes[3] == 's' && file_backed) || name == "[vvar]" ||
        name == "[vsyscall]")
      continue;
    std::size_t dash = range.find('-');
    found.push_back({std::stoull(range.substr(0, dash), nullptr, 16),
                     std::stoull(range.substr(dash + 1), nullptr, 16), name});
  }
  return found;
}

// Stretches of a mapping whose pages exist in memory or in swap.
std::vector<Mapping> resident(const File& pagemap, const Mapping& mapping) {
  static const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<std::uint64_t> entries((mapping.end - mapping.begin) / page);
  ssize_t got = pagemap.read_at(entries.data(), entries.size() * 8, mapping.begin / page * 8);
  if (got != static_cast<ssize_t>(entries.size() * 8)) return {mapping};
  std::vector<Mapping> runs;
  for (std::size_t i = 0; i < entries.size(); i++) {
    if ((entries[i] & kPresentOrSwapped) == 0) continue;
    std::uint64_t at = mapping.begin + i * page;
    if (!runs.empty() && runs.back().end == at) {
      runs.back().end += page;
    } else {
      runs.push_back({at, at + page, mapping.name});
    }
  }
  return runs;
}

std::uint64_t visit_range(const File& file, const Mapping& range, std::size_t overlap,
                          const Visit& visit) {
  std::vector<std::uint8_t> buffer(
      std::min<std::uint64_t>(kPieceOctets + overlap, range.end - range.begin));
  std::uint64_t read = 0;
  for (std::uint64_t at = range.begin; at < range.end;) {
    std::size_t want = std::min<std::uint64_t>(buffer.size(), range.end - at);
    std::size_t have = 0;
    while (have < want) {
      ssize_t n = file.read_at(buffer.data() + have, want - have, at + have);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      have += static_cast<std::size_t>(n);
    }
    if (have > 0) visit({{buffer.data(), have}, range.name, at});
    if (have < want || at + have >= range.end) return read + have;
    read += have - overlap;
    at += have - overlap;
  }
  return read;
}

}  // namespace

std::uint64_t visit_process(pid_t pid, std::size_t overlap, const Visit& visit) {
  const std::string root = "/proc/" + std::to_string(pid);
  const File memory(root + "/mem");
  const File pagemap(root + "/pagemap");
  std::uint64_t octets = 0;
  for (const Mapping& mapping : mappings(pid))
    for (const Mapping& run : resident(pagemap, mapping))
      octets += visit_range(memory, run, overlap, visit);
  if (octets == 0)
    throw std::runtime_error("process " + std::to_string(pid) +
                             " shows no memory: it is gone, "
                             "or was not started with TKDC_ALLOW_DUMP=1");
  return octets;
}

std::uint64_t visit_path(const std::string& path, std::size_t overlap, const Visit& visit) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(path)) {
    const File file(path);
    return visit_range(file, {0, fs::file_size(path), path}, overlap, visit);
  }
  if (!fs::is_directory(path)) throw std::runtime_error("no file or directory " + path);
  std::uint64_t octets = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file() || entry.is_symlink() || entry.file_size() == 0) continue;
    const File file(entry.path());
    octets += visit_range(file, {0, entry.file_size(), entry.path()}, overlap, visit);
  }
  return octets;
}

}  // namespace keyscan
