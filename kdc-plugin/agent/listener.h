// SPDX-License-Identifier: Apache-2.0
// The agent's listening Unix socket.
//
// Who can connect can use every key this agent's role reaches, so the file's
// mode is the access control: 0600, or 0660 with socket_group. It is made
// under another name and moved into place when its mode and group are right.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace tkdc::agent {

enum class SocketFor { kClients, kMonitoring };

class Listener {
 public:
  // Replaces a dead socket file; refuses when an agent answers on it.
  static Result<std::unique_ptr<Listener>> open(const std::string& path, const std::string& group,
                                                SocketFor whom = SocketFor::kClients);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return fd_; }
  // The next connection, non-blocking; -1 when none waits.
  int accept();

 private:
  Listener(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
  ino_t inode_ = 0;  // of our socket file: another agent's is not removed
};

}  // namespace tkdc::agent
