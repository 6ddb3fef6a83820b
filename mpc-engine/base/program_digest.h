// SPDX-License-Identifier: Apache-2.0
// The SHA-256 of the program that is running, as sha256sum of its file says it: by it
// administrators see whether they run one program. A changed program can say what it likes; this
// finds mistakes.
//
// Called once, at the start: after forbid_dumps() a process cannot open its own /proc/self/exe.
#pragma once

#include <string>

#include "base/result.h"

namespace tkdc {

// 64 hexadecimal digits.
Result<std::string> program_digest();

}  // namespace tkdc
