// SPDX-License-Identifier: Apache-2.0
// That bits of a session are those that a party has MACs of under another Δ: a client's for one
// job, or a pool's (docs/protocols/26-two-server-keys.md).
//
// Blocks X_1 … X_m and a random block R, which serves once, are authenticated under both. Once the
// prover has said which bits of the session they are, the verifier draws a coin c:
//
//   prover → verifier   V = Σ c^(m+1−k) X_k ⊕ R, and the same sums W, W' of both kinds of MACs
//   verifier            W = Σ c^(m+1−k) key_k ⊕ key_R ⊕ V Δ, and the same with the other keys and Δ
//
// V is masked by R; W and W' follow from V and what the verifier has. Secret: blocks, MACs, keys.
#pragma once

#include "pair/auth_block.h"
#include "pair/session.h"

namespace tkdc::pair {

// As it travels.
struct Proof {
  Label value, session_mac, other_mac;
};
static_assert(sizeof(Proof) == 48);

// Both begin with X_1 and end with R.
struct Proved {
  AuthBlocks in_session;
  Labels other_macs;  // of own blocks
  Labels other_keys;  // of the peer's
  Label other_delta;
  Proved() = default;
  Proved(const Proved&) = delete;
  Proved& operator=(const Proved&) = delete;
  Proved(Proved&&) = default;
  Proved& operator=(Proved&&) = default;
  ~Proved() { sodium_memzero(&other_delta, sizeof other_delta); }
};

Label draw_coin();
Proof prove(const Proved& of, const Label& coin);

// Whether it fits the session's MACs, and the others.
struct Found {
  bool session = false, other = false;
};
Found verify(const Proved& of, const Deltas& deltas, const Label& coin, const Proof& proof);

}  // namespace tkdc::pair
