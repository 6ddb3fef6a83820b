// SPDX-License-Identifier: Apache-2.0
// Counts instructions by single steps, between a program's SIGUSR1 and SIGUSR2:
// for code that Valgrind does not know (AVX-512, GFNI) and virtual machines
// without counters. One thread, own child, no privileges.
//
//   bench-steps PROGRAM ARGUMENTS...
//
// Prints "BASE ADDRESS COUNT" in hexadecimal and decimal for every address in the
// program's own file; what ran in libraries stands behind "other".
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>

namespace {

struct Range {
  std::uint64_t begin = UINT64_MAX, end = 0;
};

// Where the child's program file is mapped.
Range own_range(pid_t child, const char* program) {
  char real[PATH_MAX];
  Range range;
  if (realpath(program, real) == nullptr) return range;
  std::ifstream maps("/proc/" + std::to_string(child) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(real)) continue;
    char* rest = nullptr;
    const std::uint64_t begin = std::strtoull(line.c_str(), &rest, 16);
    const std::uint64_t end = std::strtoull(rest + 1, nullptr, 16);
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, end);
  }
  return range;
}

// Runs until the child stops by `signal`, which is not delivered.
bool run_until(pid_t child, int signal) {
  for (int status = 0; waitpid(child, &status, 0) == child && WIFSTOPPED(status);) {
    if (WSTOPSIG(status) == signal) return true;
    if (ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) return false;
  }
  return false;
}

bool count(pid_t child, const Range& own, std::unordered_map<std::uint64_t, std::uint64_t>& counts,
           std::uint64_t& other) {
  for (;;) {
    user_regs_struct registers;
    int status = 0;
    if (ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0) return false;
    if (registers.rip >= own.begin && registers.rip < own.end)
      ++counts[registers.rip];
    else
      ++other;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 ||
        waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
      return false;
    if (WSTOPSIG(status) == SIGUSR2) return true;
    if (WSTOPSIG(status) != SIGTRAP) return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: bench-steps PROGRAM ARGUMENTS...\n";
    return 2;
  }
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  std::uint64_t other = 0;
  Range own;
  bool done = child > 0 && run_until(child, SIGTRAP) &&
              ptrace(PTRACE_CONT, child, nullptr, nullptr) == 0 && run_until(child, SIGUSR1);
  if (done) own = own_range(child, argv[1]);
  done = done && own.end > 0 && count(child, own, counts, other);
  if (child > 0) {
    ptrace(PTRACE_CONT, child, nullptr, nullptr);
    int status = 0;
    waitpid(child, &status, 0);
    done = done && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  if (!done) {
    std::cerr << "bench-steps: " << argv[1] << " did not run to its end\n";
    return 1;
  }
  for (auto [address, n] : std::map(counts.begin(), counts.end()))
    std::cout << std::hex << address - own.begin << ' ' << std::dec << n << '\n';
  std::cout << "other " << other << '\n';
  return 0;
}
