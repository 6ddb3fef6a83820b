// SPDX-License-Identifier: Apache-2.0
#include "service/backup/place_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

// Of the store itself; its server's notes and orders are not.
bool of_the_store(const std::string& name) {
  constexpr std::string_view kOwn[] = {"data.mdb", "lock.mdb", "keys", "keys.new"};
  return std::ranges::find(kOwn, name) != std::end(kOwn);
}

// Best effort.
void wipe_keys(const std::string& folder) {
  for (const char* keys : {"/keys", "/keys.new"})
    if (const std::string path = folder + keys; ::access(path.c_str(), F_OK) == 0)
      (void)remove_wiped(path);
}

void remove_all(const std::string& folder) {
  wipe_keys(folder);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace

StorePlace::StorePlace(std::string path, UniqueFd lock, bool there)
    : path_(std::move(path)), draft_(path_ + ".restoring"), lock_(std::move(lock)), there_(there),
      occupied_(::access((path_ + "/data.mdb").c_str(), F_OK) == 0) {
  remove_all(draft_);
}

StorePlace::StorePlace(StorePlace&& other) noexcept
    : path_(std::move(other.path_)), draft_(std::exchange(other.draft_, {})),
      lock_(std::move(other.lock_)), there_(other.there_), occupied_(other.occupied_) {}

StorePlace::~StorePlace() {
  if (!draft_.empty()) remove_all(draft_);
}

UniqueFd open_folder(const fs::path& path, int flags) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
}

// As the server does it (lmdb_tables.cc): who has the lock has the store. Where there is no store,
// two that restore it still exclude each other, by the folder around it.
Result<StorePlace> StorePlace::hold(const std::string& path) {
  fs::path named = fs::absolute(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  UniqueFd lock = open_folder(named, O_NOFOLLOW);
  const bool there = static_cast<bool>(lock);
  if (!there && errno == ENOENT) lock = open_folder(named.parent_path(), 0);
  if (!lock) return system_error("cannot open " + named.string());
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(named.string() +
                " is in use: its server runs, or another tkdc command; stop it first");
  return StorePlace(named.string(), std::move(lock), there);
}

// A folder that holds other folders is no store's: nothing is moved.
Result<void> StorePlace::carry_over() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    if (of_the_store(name) || entry.is_socket(error)) continue;
    if (entry.is_symlink(error) || !entry.is_regular_file(error))
      return fail(path_ + " holds " + name +
                  ", which no server puts into its store's folder; "
                  "correct [store] path, or move that elsewhere");
    const std::string to = draft_ + "/" + name;
    if (::link(entry.path().c_str(), to.c_str()) != 0)  // house-rule: synced below
      return system_error("cannot carry " + entry.path().string() + " over");
  }
  if (error) return fail("cannot look into " + path_ + ": " + error.message());
  if (!sync_folder(draft_)) return system_error("cannot sync " + draft_);
  return {};
}

// Whether the folder that was there has this name.
bool StorePlace::is_held(const std::string& path) const {
  struct stat held {
  }, named{};
  return ::fstat(lock_.get(), &held) != 0 ||
         (::lstat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
          held.st_ino == named.st_ino);
}

// The new one gets the name under which the former is to lie; then both change their names. So no
// crash leaves the former one under the name of a draft, which goes.
Result<PlacedStore> StorePlace::replace(const std::string& former) {
  PlacedStore out;
  // The names have changed, and the folder around them was not synced.
  const auto not_on_disk = [&](int why) {
    const std::string folder = fs::path(path_).parent_path().string();
    out.unsynced = system_error("cannot sync " + folder, {}, why).message;
  };
  if (!there_) {
    if (!put_in_place(draft_, path_, OldFile::kLeft)) {
      const int why = errno;
      if (::access(draft_.c_str(), F_OK) == 0)
        return system_error("cannot move the restored store to " + path_, {}, why);
      not_on_disk(why);
    }
    draft_.clear();
    return out;
  }
  if (auto carried = carry_over(); !carried.ok()) return carried.error();
  if (!put_in_place(draft_, former, OldFile::kLeft)) {
    const int why = errno;
    if (::access(draft_.c_str(), F_OK) != 0) draft_ = former;
    return system_error("cannot move the restored store to " + former, {}, why);
  }
  draft_ = former;
  if (!exchange_folders(former, path_)) {
    const int why = errno;
    if (!is_held(former))
      return system_error("cannot put the restored store in the place of " + path_,
                          "the folder must be no mount point, on a file system that exchanges "
                          "folders (ext4, xfs, btrfs, tmpfs)",
                          why);
    not_on_disk(why);
  }
  draft_.clear();
  out.former = former;
  // It may be the store again: it keeps all that it has.
  if (!out.unsynced.empty()) return out;
  if (!occupied_) wipe_keys(former);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(former, error))
    if (!occupied_ || !of_the_store(entry.path().filename().string()))
      ::unlink(entry.path().c_str());
  if (!occupied_ && ::rmdir(former.c_str()) == 0) out.former.clear();
  return out;
}

}  // namespace tkdc
