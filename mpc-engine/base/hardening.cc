// SPDX-License-Identifier: Apache-2.0
#include "base/hardening.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/log.h"
#include "base/system_error.h"

namespace tkdc {
namespace {

// The mappings of `file`, from /proc/self/maps: "from-to perms offset dev inode path".
void unlock_mappings(const std::string& file) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.size() < file.size() ||
        line.compare(line.size() - file.size(), file.size(), file) != 0)
      continue;
    char* end = nullptr;
    unsigned long from = std::strtoul(line.c_str(), &end, 16);
    unsigned long to = *end == '-' ? std::strtoul(end + 1, nullptr, 16) : 0;
    if (to > from) munlock(reinterpret_cast<void*>(from), to - from);
  }
}

}  // namespace

void forbid_dumps() {
  const char* allowed = std::getenv("TKDC_ALLOW_DUMP");
  if (allowed != nullptr && std::strcmp(allowed, "1") == 0) {
    log_line(LogLevel::kWarning,
             "TKDC_ALLOW_DUMP=1: this process' memory, and the secrets in it, can be dumped; "
             "remove it from the environment of a real installation");
    return;
  }
  rlimit none{0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0)
    log_line(LogLevel::kWarning, system_error("core dumps could not be forbidden").message);
}

void lock_memory(const char* unlocked_file) {
  // MCL_ONFAULT: what is never touched, such as most of a thread's stack, is
  // not made resident only to be locked.
  if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
    log_line(LogLevel::kWarning,
             "memory cannot be locked (" + errno_text() +
                 "): secrets in it may reach swap; raise the limit (LimitMEMLOCK=infinity in a "
                 "unit, ulimit -l), or turn swap off on this host");
    return;
  }
  if (unlocked_file != nullptr) unlock_mappings(unlocked_file);
}

}  // namespace tkdc
