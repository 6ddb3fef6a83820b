// SPDX-License-Identifier: Apache-2.0
// From leaky ANDs to ANDs: buckets of some of them, which a permutation that nobody chose fills
// once all have been checked (Katz, Ranellucci, Rosulek, Wang 2018, section 5.2).
//
// Of a bucket (x_0, y_0, z_0), (x_1, y_1, z_1), …: d_j = y_0 ⊕ y_j is opened under MACs, and
//
//   x = ⊕ x_j      y = y_0      z = z_0 ⊕ ⊕_{j > 0} (z_j ⊕ d_j x_j)
//
// x is as hidden as the best of its parts. A changed party that guesses t of the N = n B values of
// x gets through with 2^-t, and fills some bucket with guessed ones with probability at most
//
//   n C(t, B) / C(n B, B) · 2^-t      bound(n, B) is its largest value over t
//
// Calls block; one thread. Secret: as in leaky_and.h. Error: the session's.
#pragma once

#include "pair/leaky_and.h"

namespace tkdc::pair {

inline constexpr double kWantedBound = -56;                     // log2
inline constexpr std::size_t kLeastAnds = 1'000;                // fewer are padded to so many
inline constexpr std::size_t kMostAnds = std::size_t{1} << 18;  // of a batch

// log2 of the bound above, for n ANDs in buckets of B.
double bucket_bound(std::size_t ands, std::size_t bucket);

// How many ANDs are made where `ands` are asked for, and in which buckets: 4 from 2^18 on, 5 from
// 5,600, else 6. Its bound is at most kWantedBound.
struct BucketPlan {
  std::size_t ands, bucket;
  double bound;
};
BucketPlan plan_buckets(std::size_t ands);

// At most kMostAnds, else an error; exactly `ands` of them come back.
Result<AuthAnds> make_ands(Session& session, std::size_t ands);

// A permutation of 0 … count − 1 from a seed: the same at both.
std::vector<std::uint32_t> permutation_of(const Label& seed, std::size_t count);

}  // namespace tkdc::pair
