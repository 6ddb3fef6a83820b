// SPDX-License-Identifier: Apache-2.0
// Whether the functions that libtkdc-k5.so puts itself before are all by which krb5's programs
// reach a key.
//
// Used by tkdc-check-krb5, which the package runs when krb5's libraries change. Nothing is secret.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "check/elf_names.h"

namespace tkdc::check {

using Files = std::map<std::string, ElfNames>;  // by path

// One line for each name that is gone, or that is called and not known here. Empty: all is as it
// was.
std::vector<std::string> differences(const Files& files);

}  // namespace tkdc::check
