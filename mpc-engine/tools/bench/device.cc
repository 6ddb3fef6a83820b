// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/device.h"

#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <mutex>

#include "cuda/device/select.h"

namespace tkdc::bench {

int refuse_bench(const std::string& why, int status) {
  std::cerr << "tkdc bench: " << why << "\n";
  return status;
}

namespace {

struct Trouble {
  std::mutex mutex;
  std::string first;
};
Trouble& trouble() {
  static Trouble of_this_process;
  return of_this_process;
}

}  // namespace

std::string device_trouble() {
  std::lock_guard lock(trouble().mutex);
  return trouble().first;
}

void use_devices_for_bench() {
  cuda::DevicesOptions options;
  options.report = [](const std::string& what) {
    std::lock_guard lock(trouble().mutex);
    if (trouble().first.empty()) trouble().first = what;
  };
  options.allow_shared = true;  // by the three parties of one machine
  options.least = {1, 1};       // what is measured is what was asked for
  static cuda::Devices devices(options);
  set_device_backends(&devices);
}

BackendProbe probe_backend(const std::string& backend) {
  constexpr Representation kBytes = Representation::kBytes;
  BackendProbe probe{false, "the process that looks for a GPU cannot be made or died"};
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return probe;
  const pid_t child = fork();
  if (child == 0) {
    use_devices_for_bench();
    const std::string reason = rep3_backend_reason(backend, kBytes);
    static_cast<void>(!::write(pipe_ends[1], reason.data(), reason.size()));
    _exit(choose_rep3_backend(backend, kBytes).ok() ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string reason;
  char piece[512];
  for (ssize_t n; (n = ::read(pipe_ends[0], piece, sizeof piece)) > 0 && reason.size() < 65536;)
    reason.append(piece, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || reason.empty())
    return probe;
  return {WEXITSTATUS(status) == 0, reason};
}

}  // namespace tkdc::bench
