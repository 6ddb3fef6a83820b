// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/owner.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/system_error.h"

namespace tkdc::cli {

Result<void> become(const Owner& owner) {
  if (::geteuid() != 0 || owner.uid == 0) return {};
  if (::setgroups(0, nullptr) != 0 || ::setresgid(owner.gid, owner.gid, owner.gid) != 0 ||
      ::setresuid(owner.uid, owner.uid, owner.uid) != 0)
    return system_error("cannot become the user " + std::to_string(owner.uid));
  return {};
}

Result<void> become_owner_of(const std::string& folder) {
  struct stat st {};
  if (::stat(folder.c_str(), &st) != 0) return system_error("cannot look at " + folder);
  return become({st.st_uid, st.st_gid});
}

Result<Owner> owner_of_store(const std::string& config, const std::string& store) {
  namespace fs = std::filesystem;
  const std::string parent = fs::path(store).parent_path().string();
  const std::string folder = fs::absolute(config).parent_path().string();
  struct stat st {};
  if (::stat(store.c_str(), &st) != 0 && ::stat(parent.c_str(), &st) != 0)
    return system_error("cannot look at " + parent,
                        "start the server's unit once, and stop it: that makes it");
  const Owner owner{st.st_uid, st.st_gid};
  if (::geteuid() != 0) return owner;
  for (const std::string& one : {config, folder, parent}) {
    if (::stat(one.c_str(), &st) != 0) return system_error("cannot look at " + one);
    if (st.st_uid != owner.uid && st.st_uid != 0)
      return fail("the store's place, " + store + ", belongs to another user than " + one +
                  ": correct [store] path, or whose they are");
  }
  return owner;
}

}  // namespace tkdc::cli
