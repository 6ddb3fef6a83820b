// SPDX-License-Identifier: Apache-2.0
// What two servers must have in common to work together: the order and length of all messages.
// Tests record every message that leaves a server, from fixed seeds, and compare the hashes with
// wire-format.txt; the build takes that file's digest, and HELLO compares it. So two releases work
// together exactly if they send the same, whatever else differs in their sources. What a protocol
// sends stands in a file of its own (rep3/wire-format.txt), whose digest goes with its name: two
// releases work together by those protocols that they have alike.
//
// `make golden` writes the file anew, when other octets are meant; docs/adr/0023 says what a
// version may change.
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t wire_format_digest();

}  // namespace tkdc
