// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/tree.h"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/durable_file.h"
#include "base/system_error.h"

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;

Result<void> sync(const fs::path& folder) {
  if (sync_folder(folder.string())) return {};
  return system_error("cannot sync " + folder.string());
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
  return write(name, 0600, contents);
}

Result<void> Tree::public_file(const std::string& name, std::string_view text) {
  return write(name, 0644,
               ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Result<void> Tree::write(const std::string& name, unsigned mode, ByteSpan contents) {
  const UniqueFd fd = create_file(draft_ + "/" + name);
  if (!fd) return system_error("cannot create " + name);
  if (::fchmod(fd.get(), mode) != 0 || !write_synced(fd.get(), contents))
    return system_error("cannot write " + name);
  return {};
}

Result<void> Tree::publish() {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(draft_, error))
    if (entry.is_directory())
      if (Result<void> synced = sync(entry.path()); !synced) return synced;
  if (Result<void> synced = sync(draft_); !synced) return synced;
  // It replaces an empty folder and nothing else.
  if (::rename(draft_.c_str(), target_.c_str()) != 0)  // house-rule: a folder
    return system_error("cannot move the new installation to " + target_);
  draft_.clear();
  return sync(fs::path(target_).parent_path());
}

}  // namespace tkdc::setup
