// SPDX-License-Identifier: Apache-2.0
// Leaky authenticated ANDs (Katz, Ranellucci, Rosulek, Wang, "Optimizing Authenticated Garbling",
// CRYPTO 2018, ePrint 2018/578, sections 4 and 5.1): random shared bits x, y, z with z = x y, of
// which a changed party may have guessed x, and is caught with each wrong guess.
//
// With C = own Δ·y_own ⊕ key(y) ⊕ mac(y), so that C_A ⊕ C_B = y (Δ_A ⊕ Δ_B):
//
//   G   = H(key(x), i) ⊕ H(key(x) ⊕ Δ, i) ⊕ C                     16 octets each way
//   S   = H(key(x), i) ⊕ H(mac(x), i) ⊕ x_own (G_peer ⊕ C) ⊕ z_own Δ ⊕ key(z) ⊕ mac(z)
//   d   = bit 1 of S_A ⊕ S_B, and z becomes z ⊕ d                 a bit each way
//   S ⊕ d Δ is equal at both if and only if z = x y
//
// of which SHA-256 over the batch is compared at its end. Nothing of a batch may be used before.
//
// Calls block; one thread. Secret: everything but d. Error: the session's.
#pragma once

#include "pair/session.h"

namespace tkdc::pair {

struct AuthAnd {
  AuthBit x, y, z;
};
using AuthAnds = std::vector<AuthAnd, WipingAllocator<AuthAnd>>;

// The batch's equality has been found true. They stand in the session's scratch memory, until it
// is asked for again.
Result<std::span<AuthAnd>> leaky_ands(Session& session, std::size_t count);
// The same of x, y and z that have been drawn; z becomes x y.
Result<void> multiply(Session& session, std::span<AuthAnd> drawn);

}  // namespace tkdc::pair
