// SPDX-License-Identifier: Apache-2.0
#include "base/copy_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/system_error.h"
#include "base/unique_fd.h"

namespace tkdc {
namespace {

constexpr const char* kList = "system.posix_acl_access";  // as the kernel keeps it
constexpr mode_t kModeBits = 07777;
constexpr mode_t kOwnersBits = 0700;

bool has_none() { return errno == ENODATA || errno == EOPNOTSUPP; }

// An access control list, or none.
bool copy_list(int from, int to) {
  const ssize_t bytes = ::fgetxattr(from, kList, nullptr, 0);
  if (bytes < 0) return has_none() && (::fremovexattr(to, kList) == 0 || has_none());
  std::vector<char> list(static_cast<std::size_t>(bytes));
  return ::fgetxattr(from, kList, list.data(), list.size()) == bytes &&
         ::fsetxattr(to, kList, list.data(), list.size(), 0) == 0;
}

}  // namespace

Result<void> copy_access(const std::string& from, const std::string& to) {
  const UniqueFd before(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const UniqueFd fresh(::open(to.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat old {
  }, made{};
  if (!before || !fresh || ::fstat(before.get(), &old) != 0 || ::fstat(fresh.get(), &made) != 0)
    return system_error("cannot look at " + from + " and " + to);
  const bool same = made.st_uid == old.st_uid && made.st_gid == old.st_gid;
  if (!same && ::fchown(fresh.get(), old.st_uid, old.st_gid) != 0) {
    const Error error = system_error("cannot give " + to + " owner and group of " + from);
    // Its group's bits would be another group's.
    (void)::fchmod(fresh.get(), old.st_mode & kOwnersBits);
    return error;
  }
  if (!copy_list(before.get(), fresh.get()) || ::fchmod(fresh.get(), old.st_mode & kModeBits) != 0)
    return system_error("cannot let those read " + to + " who may read " + from);
  return {};
}

}  // namespace tkdc
