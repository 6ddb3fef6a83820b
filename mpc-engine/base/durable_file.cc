// SPDX-License-Identifier: Apache-2.0
#include "base/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/disk.h"

namespace tkdc {
namespace {

constexpr mode_t kOwnerOnly = 0600;

ByteSpan octets_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

template <class Write>
bool write_all(const Write& write, ByteSpan contents) {
  while (!contents.empty()) {
    const ssize_t n = write(contents);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;
    if (n <= 0) return false;
    contents = contents.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

bool write_durably(const std::string& path, Disk::How how, std::string_view text) {
  const auto file = disk().open(path, how, kOwnerOnly);
  if (!file) return false;
  const auto write = [&](ByteSpan rest) { return file->write(rest); };
  return write_all(write, octets_of(text)) && file->sync() && sync_folder_of(path);
}

}  // namespace

UniqueFd create_file(const std::string& path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  return UniqueFd(::open(path.c_str(), flags, kOwnerOnly));
}

bool write_synced(int fd, ByteSpan contents) {
  const auto write = [fd](ByteSpan rest) { return ::write(fd, rest.data(), rest.size()); };
  return write_all(write, contents) && ::fsync(fd) == 0;
}

bool write_synced(int fd, std::string_view text) { return write_synced(fd, octets_of(text)); }

bool sync_folder(const std::string& folder) { return disk().sync_folder(folder); }

bool sync_folder_of(const std::string& path) {
  std::filesystem::path named(path);
  if (!named.has_filename()) named = named.parent_path();  // of a folder with a slash behind it
  const std::string folder = named.parent_path().string();
  return sync_folder(folder.empty() ? "." : folder);
}

bool overwrite_durably(const std::string& path, std::string_view text) {
  return write_durably(path, Disk::How::kOverwrite, text);
}

bool append_durably(const std::string& path, std::string_view text) {
  return write_durably(path, Disk::How::kAppend, text);
}

bool remove_durably(const std::string& path) { return disk().remove(path) && sync_folder_of(path); }

}  // namespace tkdc
