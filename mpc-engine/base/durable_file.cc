// SPDX-License-Identifier: Apache-2.0
#include "base/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace tkdc {
namespace {

constexpr mode_t kOwnerOnly = 0600;

ByteSpan octets_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool write_all(int fd, ByteSpan contents) {
  while (!contents.empty()) {
    const ssize_t n = ::write(fd, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;
    if (n <= 0) return false;
    contents = contents.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

bool write_durably(const std::string& path, int flags, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, kOwnerOnly));
  return fd && write_synced(fd.get(), text) && sync_folder_of(path);
}

}  // namespace

UniqueFd create_file(const std::string& path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  return UniqueFd(::open(path.c_str(), flags, kOwnerOnly));
}

bool write_synced(int fd, ByteSpan contents) { return write_all(fd, contents) && ::fsync(fd) == 0; }

bool write_synced(int fd, std::string_view text) { return write_synced(fd, octets_of(text)); }

bool sync_folder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd && ::fsync(fd.get()) == 0;
}

bool sync_folder_of(const std::string& path) {
  std::filesystem::path named(path);
  if (!named.has_filename()) named = named.parent_path();  // of a folder with a slash behind it
  const std::string folder = named.parent_path().string();
  return sync_folder(folder.empty() ? "." : folder);
}

bool overwrite_durably(const std::string& path, std::string_view text) {
  return write_durably(path, O_TRUNC, text);
}

bool append_durably(const std::string& path, std::string_view text) {
  return write_durably(path, O_APPEND | O_NOFOLLOW, text);
}

bool remove_durably(const std::string& path) {
  return ::unlink(path.c_str()) == 0 && sync_folder_of(path);
}

}  // namespace tkdc
