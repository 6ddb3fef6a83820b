// SPDX-License-Identifier: Apache-2.0
#include "base/credential.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include "base/system_error.h"
#include "base/unique_fd.h"

namespace tkdc {
namespace {

constexpr const char* kProgram = "/usr/bin/systemd-creds";
constexpr std::size_t kMostBytes = 64 * 1024;  // also what a pipe takes at once
constexpr int kTimeoutMs = 60'000;             // a TPM may take seconds
constexpr std::string_view kNoFolder = "/run/credentials/none/";

struct Pipe {
  UniqueFd out, in;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("no pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

int start(const std::vector<std::string>& words, int input, int output, pid_t& pid) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  const int error = ::posix_spawn(&pid, kProgram, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// All that comes until the other end is closed; false: too much, or too late.
bool drain(int fd, SecretVector& out) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(kTimeoutMs);
  out.resize(kMostBytes);
  std::size_t got = 0;
  while (got < out.size()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd one{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&one, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t n = ::read(fd, out.data() + got, out.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) {
      out.resize(got);
      return true;
    }
    got += static_cast<std::size_t>(n);
  }
  return false;
}

// What it writes; its complaints go where ours go.
Result<SecretVector> run(const std::vector<std::string>& words, ByteSpan input) {
  if (input.size() > kMostBytes) return fail("a credential of more than 64 KiB");
  auto to = make_pipe(), from = make_pipe();
  if (!to) return to.error();
  if (!from) return from.error();
  // It fits into the pipe, so that nobody waits for anybody.
  if (::write(to->in.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size()))
    return system_error("cannot write into a pipe");
  to->in = UniqueFd();
  pid_t pid = 0;
  const int error = start(words, to->out.get(), from->in.get(), pid);
  if (error != 0) return system_error(std::string(kProgram) + " cannot be started", {}, error);
  from->in = UniqueFd();
  SecretVector out;
  const bool all = drain(from->out.get(), out);
  if (!all) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!all) return fail(std::string(kProgram) + " did not end, or wrote too much");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(std::string(kProgram) + " " + words[1] + " failed; what it said stands above");
  return out;
}

}  // namespace

bool can_make_credentials() {
  return ::geteuid() == 0 && ::access(kProgram, X_OK) == 0 &&
         ::access("/run/systemd/system", F_OK) == 0;
}

Result<std::string> encrypt_credential(const std::string& name, ByteSpan secret,
                                       const std::string& with) {
  if (::geteuid() != 0) return fail("only root makes credentials of this host");
  auto credential =
      run({"systemd-creds", "encrypt", "--with-key=" + with, "--name=" + name, "-", "-"}, secret);
  if (!credential) return credential.error();
  return std::string(credential->begin(), credential->end());
}

Result<SecretVector> decrypt_credential(const std::string& name, ByteSpan credential) {
  return run({"systemd-creds", "decrypt", "--name=" + name, "-", "-"}, credential);
}

Result<SecretVector> decrypt_credential_file(const std::string& name, const std::string& path) {
  if (::geteuid() != 0)
    return fail("only root opens " + path + ", a credential of this host: run this as root");
  return run({"systemd-creds", "decrypt", "--name=" + name, path, "-"}, {});
}

std::string credential_not_given(const std::string& path) {
  return path.starts_with(kNoFolder) ? path.substr(kNoFolder.size()) : std::string();
}

}  // namespace tkdc
