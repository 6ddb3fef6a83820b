// SPDX-License-Identifier: Apache-2.0
#include "service/server/latch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "link/socket.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxReasonBytes = 4096;

std::string read_reason(std::ifstream& in) {
  std::string text(kMaxReasonBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "the latch's file is empty" : text;
}

}  // namespace

Result<void> Latch::close(const std::string& reason) {
  unwritten_ = reason;
  UniqueFd fd(::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::string text = reason + "\n";
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(fd.get()) != 0)
    return fail("the latch " + file_ + " cannot be written: " + std::strerror(errno) +
                "; this server stays latched only until it is restarted: do not restart it "
                "before docs/operations.md, section Deviations, is done");
  // The file's name has to survive a crash too.
  const std::string folder = std::filesystem::path(file_).parent_path().string();
  UniqueFd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) (void)::fsync(directory.get());
  unwritten_.clear();
  return {};
}

// A file that is there but cannot be read counts as closed.
std::string Latch::reason() {
  if (!unwritten_.empty()) return unwritten_;
  if (::access(file_.c_str(), F_OK) != 0 && errno == ENOENT) return {};
  std::ifstream in(file_, std::ios::binary);
  return read_reason(in);
}

Result<bool> release_latch(const std::string& file) {
  if (::unlink(file.c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  return fail("the latch " + file + " cannot be removed: " + std::strerror(errno));
}

}  // namespace tkdc
