// SPDX-License-Identifier: Apache-2.0
// Text that others wrote, for an administrator's terminal, which it cannot steer: every octet
// outside 0x20 to 0x7e is shown as \x and two digits.
#pragma once

#include <string>
#include <string_view>

namespace tkdc::cli {

std::string printable(std::string_view text);

// As one word of a shell's command line that an administrator is to type: a name that somebody else
// chose ends no command and begins none.
std::string shell_word(std::string_view text);

}  // namespace tkdc::cli
