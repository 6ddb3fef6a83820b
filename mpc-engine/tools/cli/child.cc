// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/system_error.h"
#include "base/unique_fd.h"
#include "link/socket.h"

namespace tkdc::cli {
namespace {

constexpr std::size_t kMaxOutputBytes = 4 << 20;

// Empty when there is none.
std::string find_in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path != nullptr ? path : "") + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = folder + "/" + name;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string name_of(const std::string& variable) { return variable.substr(0, variable.find('=')); }

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> out = more;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    bool replaced = false;
    for (const std::string& mine : more) replaced |= name_of(mine) == name_of(*variable);
    if (!replaced) out.emplace_back(*variable);
  }
  return out;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// Until its end. False: the time is over.
bool read_all(int fd, std::optional<std::chrono::milliseconds> most, std::string& text) {
  const long long deadline = most ? monotonic_ms() + most->count() : 0;
  std::array<char, 4096> part{};
  for (;;) {
    if (most && !wait_ready(fd, POLLIN, deadline)) return false;
    const ssize_t n = ::read(fd, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    // The rest is read too, so that the program does not wait for us.
    if (text.size() < kMaxOutputBytes) text.append(part.data(), static_cast<std::size_t>(n));
  }
}

int spawn(const std::string& program, const std::vector<std::string>& argv,
          const std::vector<std::string>& environment, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  const std::vector<char*> arguments = pointers(argv), variables = pointers(environment);
  const int error =
      ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<ChildResult> run_child(const std::vector<std::string>& argv,
                              const std::vector<std::string>& environment,
                              std::optional<std::chrono::milliseconds> most) {
  const std::string program = find_in_path(argv.front());
  if (program.empty()) return fail(argv.front() + " is not in PATH; is it installed on this host?");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("no pipe");
  UniqueFd mine(ends[0]), its(ends[1]);
  pid_t pid = 0;
  const int error = spawn(program, argv, environment_with(environment), its.get(), pid);
  if (error != 0) return system_error(program + " cannot be started", {}, error);
  its = UniqueFd();
  ChildResult result;
  const bool ended = read_all(mine.get(), most, result.output);
  if (!ended) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended)
    return fail(program + " did not end within " + std::to_string(most->count() / 1000) + " s");
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace tkdc::cli
