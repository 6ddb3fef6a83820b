// SPDX-License-Identifier: Apache-2.0
#include "base/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
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

bool write_durably(const std::string& path, Disk::How how, ByteSpan contents,
                   mode_t mode = kOwnerOnly) {
  const auto file = disk().open(path, how, mode);
  if (!file) return false;
  const auto write = [&](ByteSpan rest) { return file->write(rest); };
  return write_all(write, contents) && file->sync() && sync_folder_of(path);
}

// Whose octets are to be wiped; null: they are not, or there is none.
std::unique_ptr<Disk::File> old_file(const std::string& path, OldFile old) {
  return old == OldFile::kWiped ? disk().open(path, Disk::How::kOld, 0) : nullptr;
}

// Best effort, and errno stays.
void discard(const std::string& draft, OldFile old) {
  const int why = errno;
  const auto before = old_file(draft, old);
  (void)disk().remove(draft);
  if (before) before->wipe_if_nameless();
  errno = why;
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
  return write_durably(path, Disk::How::kOverwrite, octets_of(text));
}

bool replace_kept(const std::string& path, std::string_view text) {
  const std::string draft = path + ".new";
  if (write_durably(draft, Disk::How::kOverwrite, octets_of(text)) && disk().rename(draft, path) &&
      sync_folder_of(path))
    return true;
  const int why = errno;
  (void)disk().remove(draft);
  errno = why;
  return false;
}

bool write_draft(const std::string& draft, ByteSpan contents, mode_t mode, OldFile old) {
  discard(draft, old);
  return write_durably(draft, Disk::How::kNew, contents, mode);
}

// Where the folder is not synced, the old file may have its name again after a loss of power.
bool put_in_place(const std::string& draft, const std::string& path, OldFile old) {
  const auto before = old_file(path, old);
  if (!disk().rename(draft, path) || !sync_folder_of(path)) return false;
  if (before) before->wipe_if_nameless();
  return true;
}

bool replace_durably(const std::string& path, ByteSpan contents, mode_t mode, OldFile old) {
  const std::string draft = path + ".new";
  if (write_draft(draft, contents, mode, old) && put_in_place(draft, path, old)) return true;
  discard(draft, old);
  return false;
}

bool replace_durably(const std::string& path, std::string_view text, mode_t mode) {
  return replace_durably(path, octets_of(text), mode);
}

bool create_durably(const std::string& path, std::string_view text, const FileOwner& owner) {
  const std::string draft = path + "." + std::to_string(::getpid());
  ::unlink(draft.c_str());
  const UniqueFd fd = create_file(draft);
  const bool mine = owner.user == ::geteuid();
  // A link, unlike a rename, takes no other file's place.
  const bool placed = fd && (mine || ::fchown(fd.get(), owner.user, owner.group) == 0) &&
                      write_synced(fd.get(), text) && ::link(draft.c_str(), path.c_str()) == 0;
  const int why = errno;
  if (fd) ::unlink(draft.c_str());
  errno = why;
  return placed && sync_folder_of(path);
}

bool put_in_free_place(const std::string& draft, const std::string& path) {
  if (::link(draft.c_str(), path.c_str()) != 0) return false;
  return ::unlink(draft.c_str()) == 0 && sync_folder_of(path);
}

bool exchange_folders(const std::string& one, const std::string& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0 &&
         sync_folder_of(one);
}

bool append_durably(const std::string& path, std::string_view text) {
  return write_durably(path, Disk::How::kAppend, octets_of(text));
}

bool remove_durably(const std::string& path) { return disk().remove(path) && sync_folder_of(path); }

bool remove_wiped(const std::string& path) {
  const auto before = old_file(path, OldFile::kWiped);
  if (!disk().remove(path)) return false;
  const bool synced = sync_folder_of(path);
  if (before) before->wipe_if_nameless();
  return synced;
}

}  // namespace tkdc
