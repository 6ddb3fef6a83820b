// SPDX-License-Identifier: Apache-2.0
// What the three servers' own administrators do on their hosts: times of sealing are revoked by
// one of them and lifted by all three; two of them give keys back.
#pragma once

#include <cstdint>

namespace tkdc::sim {

void start_operators();

// In force: no ticket of that time is opened any more.
bool is_revoked(std::uint32_t sealed_at);
// Somebody asked for it, in force or not, or lifted or not.
bool was_to_be_revoked(std::uint32_t sealed_at);
// Or a liar may have had it revoked.
bool may_be_revoked(std::uint32_t sealed_at);

}  // namespace tkdc::sim
