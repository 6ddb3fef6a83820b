// SPDX-License-Identifier: Apache-2.0
// What a simulator must come to, or its faults are not what they should be: the transitions of
// sessions, of two-phase changes, of the latch and of what operators do. World::reached() counts
// them by these names; a run of many seeds says which it never came to.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tkdc::sim {

std::span<const char* const> states();
bool is_a_state(const std::string& name);

void new_coverage();
// Of a server's log.
void hear(std::string_view text);
// At each start of a server, and each second: what was half made, and what became of it.
void look_at_half_made(int server, bool starts);

}  // namespace tkdc::sim
