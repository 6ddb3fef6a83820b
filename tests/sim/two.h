// SPDX-License-Identifier: Apache-2.0
// What must be true of a realm on two servers, beside what holds of three: blocks of pools serve
// once, what both have stored of a key fits and is that key, and a refresh comes to its end.
#pragma once

#include <cstdint>

#include "pair/auth_bit.h"

namespace tkdc::sim {

void new_two();
// A server's session uses these blocks of a pool from now on.
void note_reserved(int server, const pair::Label& pool, std::uint64_t first, std::uint64_t blocks);
// Once nothing is wrong any more.
void finish_refresh();
// Of both stores, at the end.
void judge_two();

}  // namespace tkdc::sim
