// SPDX-License-Identifier: Apache-2.0
// What must be true of a realm on two servers, beside what holds of three: blocks of pools serve
// once, what both have stored of a key fits and is that key, and a refresh comes to its end.
#pragma once

#include <cstdint>

#include "pair/auth_bit.h"
#include "sim/fibers.h"

namespace tkdc::sim {

struct Moves {
  std::uint32_t last = 0, prepared = 0;  // their numbers; 0: none
};
// Of keys into another pool, and of ends of refreshes.
Moves moves_of(const Host& host);

bool is_refreshing(const Host& host);

void new_two();
// A server's session uses these blocks of a pool from now on.
void note_reserved(int server, const pair::Label& pool, std::uint64_t first, std::uint64_t blocks);
// A store says that its refresh has ended.
void judge_end_of_refresh(const Host& host);
// Once nothing is wrong any more.
void finish_refresh();
// Of both stores, at the end.
void judge_two();

}  // namespace tkdc::sim
