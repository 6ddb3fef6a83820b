// SPDX-License-Identifier: Apache-2.0
#include "agent/listener.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/system_error.h"

namespace tkdc::agent {
namespace {

constexpr int kBacklog = 1024;

bool to_address(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

bool somebody_listens(const std::string& path) {
  sockaddr_un address;
  if (!to_address(path, address)) return false;
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  bool answered =
      ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  ::close(fd);
  return answered;
}

constexpr gid_t kOverflow = 65'534;  // nogroup, and what groups look like that have no number here

// Whether nogroup itself has none: in a user namespace that maps some groups alone.
bool stands_for_others() {
  std::ifstream map("/proc/self/gid_map");
  std::uint64_t first = 0, outside = 0, groups = 0;
  bool any = false;
  while (map >> first >> outside >> groups) {
    any = true;
    if (kOverflow >= first && kOverflow - first < groups) return false;
  }
  return any;
}

// In a unit with PrivateUsers= all groups but its own look like this one, and no file can be given
// to them. There a folder with the set-group-ID bit, which root has made, says which group it is.
bool has_folders_group(const std::string& path, const struct stat& made) {
  struct stat folder {};
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return made.st_gid == kOverflow && stands_for_others() &&
         ::stat(parent.empty() ? "." : parent.c_str(), &folder) == 0 &&
         (folder.st_mode & S_ISGID) != 0 && folder.st_gid == kOverflow;
}

Result<void> set_access(const std::string& path, const std::string& group, SocketFor whom) {
  if (group.empty()) {
    if (::chmod(path.c_str(), 0600) != 0) return system_error(path);
    return {};
  }
  const struct group* entry = ::getgrnam(group.c_str());
  if (entry == nullptr)
    return fail("agent.socket_group or agent.status_group: there is no group " + group);
  // Made with the process's own group, it has the unit's already: there chown() is forbidden.
  struct stat made {};
  const bool given = ::lstat(path.c_str(), &made) == 0 &&
                     (made.st_gid == entry->gr_gid ||
                      (whom == SocketFor::kMonitoring && has_folders_group(path, made)) ||
                      ::chown(path.c_str(), uid_t(-1), entry->gr_gid) == 0);
  if (!given || ::chmod(path.c_str(), 0660) != 0)
    return system_error("cannot give " + path + " to group " + group,
                        "the agent's user must be a member of it");
  return {};
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(const std::string& path, const std::string& group,
                                                 SocketFor whom) {
  std::string fresh = path + "." + std::to_string(::getpid());
  sockaddr_un address;
  if (!to_address(fresh, address)) return fail("the socket's path is too long: " + path);
  if (somebody_listens(path))
    return fail("another agent answers on " + path + "; stop it or choose another path");

  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return system_error("cannot make a Unix socket");
  std::unique_ptr<Listener> listener(new Listener(fd, path));
  ::unlink(fresh.c_str());
  ::fchmod(fd, 0600);  // bind() takes the mode from here, before anyone can connect
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return system_error("cannot bind " + path,
                        "the directory must exist and belong to the agent's user");
  Result<void> access = set_access(fresh, group, whom);
  struct stat info {};
  if (access && (::listen(fd, kBacklog) != 0 || ::stat(fresh.c_str(), &info) != 0 ||
                 ::rename(fresh.c_str(), path.c_str()) != 0))  // house-rule: a socket
    access = system_error("cannot listen on " + path);
  if (!access) {
    ::unlink(fresh.c_str());
    return access.error();
  }
  listener->inode_ = info.st_ino;
  return listener;
}

Listener::~Listener() {
  struct stat info {};
  if (inode_ != 0 && ::lstat(path_.c_str(), &info) == 0 && info.st_ino == inode_)
    ::unlink(path_.c_str());
  ::close(fd_);
}

int Listener::accept() { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); }

}  // namespace tkdc::agent
