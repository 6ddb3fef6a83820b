// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tkdc::cli {
namespace {

Error system_error(const std::string& path) { return fail(path + ": " + std::strerror(errno)); }

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd && errno == EEXIST)
    return fail(path + ": exists; remove it if a run was interrupted, or name another");
  if (!fd) return system_error(path);
  return OutputFile(path, std::move(fd));
}

OutputFile::~OutputFile() {
  if (fd_) ::unlink(path_.c_str());
}

Result<void> OutputFile::finish(ByteSpan contents) {
  while (!contents.empty()) {
    const ssize_t n = ::write(fd_.get(), contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error(path_);
    contents = contents.subspan(static_cast<std::size_t>(n));
  }
  if (::fsync(fd_.get()) != 0) return system_error(path_);
  // The name too: what was handed over or locked once is not made again.
  const auto folder = std::filesystem::absolute(path_).parent_path();
  const UniqueFd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) return system_error(folder.string());
  fd_ = UniqueFd();
  return {};
}

}  // namespace tkdc::cli
