// SPDX-License-Identifier: Apache-2.0
// Additions modulo 2^32 on shares, u + v with bit 0 of v zero, as a carry-save's is:
// one for each instance, 5 layers. Everything is shares.
//
// With g = u v and p = u ^ v, let G[a..i] be the carry that bits a..i generate and
// P[a..i] the product of p over them. Carries come from bits 1 to 30, in groups: one
// of 2k+1 bits are two of k and a bit e above them. Within the lower k nothing
// changes; the upper ones, from bit a, take the lower one's carry in; and e, since a
// layer gives any quadratic form at one message bit, takes both in:
//   G[1..i] = G[a..i] + P[a..i] G[1..a-1]
//   G[1..e] = g[e] + p[e] G[a..e-1] + P[a..e] G[1..a-1]
// Groups are of 3, 7 and 15 bits after layers 2, 3 and 4; layer 5 joins bits 1..15
// and 16..30. So 16 carries change in a layer, and P is made for these bits alone, one
// layer ahead: 107 and 56 products, 149 bits, where all bits' carries at every
// distance take 321 and 223. Words that would be half empty share one:
//   layer 1: g; and in its bits 0 and 31 p[8] p[15] and p[23] p[30]
//            pairs P[i-1..i]
//   layer 2: G of bits 2 and 3 of each group of 3; P of 3 and 4 bits
//   layer 3: G of the upper half of each group of 7; P of 4 to 8 bits
//   layer 4: G of the upper half of each group of 15; P[16..i], i > 22
//   layer 5: G of bits 16 to 30
// 21 octets in all. Bits that no sum needs are 0 times 0.
#pragma once

#include "rep3/unit/sha1/layer_words.h"

namespace tkdc::sha1 {

class Adders {
 public:
  static constexpr int kLayers = 5;

  // Then the summands are to be set, of every instance.
  void start(std::size_t instances);
  void set(std::size_t n, int c, std::uint32_t u, std::uint32_t v) {
    assert(((v & 1) == 0));
    column(u_, c)[n] = u;
    column(v_, c)[n] = v;
  }

  // Adds the fields of layer k = 1..kLayers; call finish_layer() after they were read.
  void add_fields(int k, LayerWords& layer);
  void finish_layer(int k, ClaimSink& claims);

  std::uint32_t sum(std::size_t n, int c) const {
    return column(p_, c)[n] ^ column(carry_, c)[n] << 1;
  }

 private:
  void prepare_first(int c);
  void prepare(int k, int c);
  void take(int k, int c);
  void keep_tops(int layer);
  void record_main(int layer, ClaimSink& claims);
  void record_last(ClaimSink& claims);

  std::size_t instances_ = 0;
  Words u_, v_;
  // g at first, then the carries of the groups; P of each bit's group up to it; pairs.
  Words p_, carry_, span_, pairs_;
  Words ends_;             // P of the first three bits of 8..15 and 23..30, with the last
  Quadratic main_, also_;  // this layer's words; layer 1's pairs
  Words top_, below_;      // the second product of the bits e
  // The claims of the bits e, which are others in each layer, in one word.
  std::array<Words, 5> tops_;
  std::array<Column, 3> halves_[2];
};

}  // namespace tkdc::sha1
