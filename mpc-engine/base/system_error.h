// SPDX-License-Identifier: Apache-2.0
// The Error of a system call that failed: what could not be done, why as errno says it, and what
// the administrator does next.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.h"

namespace tkdc {

// "No such file or directory".
inline std::string errno_text(int number = errno) { return std::strerror(number); }

// "what: No such file or directory; advice"; without advice it ends before the semicolon.
// `number`: of functions that return it and leave errno as it was.
inline Error system_error(const std::string& what, const std::string& advice = {},
                          int number = errno) {
  return fail(what + ": " + errno_text(number) + (advice.empty() ? "" : "; " + advice));
}

}  // namespace tkdc
