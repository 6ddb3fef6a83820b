// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/owner.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system_error.h"

namespace tkdc::cli {

Result<void> become_owner_of(const std::string& folder) {
  struct stat st {};
  if (::stat(folder.c_str(), &st) != 0) return system_error("cannot look at " + folder);
  if (::geteuid() != 0 || st.st_uid == 0) return {};
  if (::setgroups(0, nullptr) != 0 || ::setresgid(st.st_gid, st.st_gid, st.st_gid) != 0 ||
      ::setresuid(st.st_uid, st.st_uid, st.st_uid) != 0)
    return system_error("cannot become the owner of " + folder);
  return {};
}

}  // namespace tkdc::cli
