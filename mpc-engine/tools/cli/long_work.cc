// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/long_work.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <memory>

#include "base/progress_line.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace tkdc::cli {

Watch watched(const std::string& what, std::uint64_t unit) {
  handle_signals();
  auto line = std::make_shared<ProgressLine>();
  return [line, what, unit](std::uint64_t done, std::uint64_t of) {
    line->show(done / unit, (of + unit - 1) / unit, what);
    if (done >= of || stop_asked()) line->clear();
    return !stop_asked();
  };
}

Result<int> in_another_process(const std::function<int()>& work) {
  handle_signals();
  sigset_t asks;
  sigset_t before;
  ::sigemptyset(&asks);
  ::sigaddset(&asks, SIGINT);
  ::sigaddset(&asks, SIGTERM);
  // They come in ppoll() alone: one between it and fork() would be told to nobody.
  ::sigprocmask(SIG_BLOCK, &asks, &before);
  std::cout << std::flush;
  const pid_t child = ::fork();
  if (child == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    const int status = work();
    std::cout << std::flush;
    ::_exit(status);
  }
  if (child < 0) {
    const Error error = system_error("cannot fork");
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return error;
  }
  const UniqueFd it(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  pollfd ends{.fd = it.get(), .events = POLLIN, .revents = 0};
  while (it && ::ppoll(&ends, 1, nullptr, &before) < 0 && errno == EINTR)
    if (stop_asked()) ::kill(child, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  int ended = 0;
  while (::waitpid(child, &ended, 0) < 0) {
    if (errno != EINTR)
      return system_error("cannot learn how the process ended that does the work");
    if (stop_asked()) ::kill(child, SIGTERM);
  }
  if (WIFEXITED(ended)) return WEXITSTATUS(ended);
  return fail("the process that does the work was killed by signal " +
              std::to_string(WTERMSIG(ended)));
}

}  // namespace tkdc::cli
