// SPDX-License-Identifier: Apache-2.0
// Who may read a file, given to the one that takes its place: owner, group, mode and access control
// list. An administrator who lets a program read a log says so once, not for each file of it.
//
// Called by whoever replaces files that others read. Any thread. Nothing here is secret.
#pragma once

#include <string>

#include "base/result.h"

namespace tkdc {

// Both are there, and neither is a link. Error: this process may not give it all of that; what it
// may give it has then given, and nobody may read it who may not read `from`.
Result<void> copy_access(const std::string& from, const std::string& to);

}  // namespace tkdc
