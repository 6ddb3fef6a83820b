// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace tkdc::cli {
namespace {

namespace fs = std::filesystem;

Error system_error(const std::string& what) { return fail(what + ": " + std::strerror(errno)); }

Result<void> sync_folder(const fs::path& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_error("cannot open " + path.string());
  bool good = ::fsync(fd) == 0;
  ::close(fd);
  if (!good) return system_error("cannot sync " + path.string());
  return {};
}

bool write_all(int fd, ByteSpan contents) {
  while (!contents.empty()) {
    ssize_t n = ::write(fd, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    contents = contents.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Result<Tree> Tree::begin(const std::string& target) {
  fs::path path = fs::absolute(target).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  std::error_code error;
  if (fs::exists(path, error) && !(fs::is_directory(path, error) && fs::is_empty(path, error)))
    return fail(path.string() +
                " exists and is not empty; an installation is never overwritten, "
                "choose another --out");
  std::string draft = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  if (::mkdtemp(draft.data()) == nullptr)
    return system_error("cannot create a folder in " + path.parent_path().string());
  return Tree(path.string(), draft);
}

Tree::Tree(Tree&& other) noexcept
    : target_(std::move(other.target_)), draft_(std::exchange(other.draft_, {})) {}

Tree::~Tree() {
  std::error_code ignored;
  if (!draft_.empty()) fs::remove_all(draft_, ignored);
}

Result<void> Tree::folder(const std::string& name) {
  if (::mkdir((draft_ + "/" + name).c_str(), 0700) != 0)
    return system_error("cannot create the folder " + name);
  return {};
}

Result<void> Tree::file(const std::string& name, ByteSpan contents) {
  std::string path = draft_ + "/" + name;
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return system_error("cannot create " + name);
  bool good = ::fchmod(fd, 0600) == 0 && write_all(fd, contents) && ::fsync(fd) == 0;
  good = ::close(fd) == 0 && good;
  if (!good) return system_error("cannot write " + name);
  return {};
}

Result<void> Tree::publish() {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(draft_, error))
    if (entry.is_directory())
      if (Result<void> synced = sync_folder(entry.path()); !synced) return synced;
  if (Result<void> synced = sync_folder(draft_); !synced) return synced;
  // rename() replaces an empty folder and nothing else.
  if (::rename(draft_.c_str(), target_.c_str()) != 0)
    return system_error("cannot move the new installation to " + target_);
  draft_.clear();
  return sync_folder(fs::path(target_).parent_path());
}

}  // namespace tkdc::cli
