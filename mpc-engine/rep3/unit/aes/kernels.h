// SPDX-License-Identifier: Apache-2.0
// One party's local work in the layers of the AES S-box, in bytes.
//
// A share of n S-box inputs is two arrays of n octets (component i, component
// i+1). Every layer turns shares into this party's terms of the layer's
// output bits, packed as they travel:
//   norm     a        -> d, nibbles: octet j holds S-boxes j (low), j + n/2 (high)
//   pair     d        -> q, two bits: octet j holds the pairs of nibble octets
//                        j (bits 0, 1, 4, 5) and j + n/4 (bits 2, 3, 6, 7)
//   invert   d, q     -> e, nibbles as d
//   product  a, e     -> a^-1, octets
// Split halves, so that every word width reads and writes contiguously. n is
// a multiple of 16. Derivation of the layers: circuits/sbox.py. Everything is
// secret: no branch and no index depends on it. Implementations: scalar (the
// reference) and gfni (AVX-512 with GFNI); one is picked once, at start.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tkdc {

// Blocks one after the other under one key; the expanded round keys on shares.
struct AesKeyRun {
  const std::uint8_t* round_keys[2];
  std::size_t blocks;
};

// Component c of round key `round` of runs that follow one another.
struct AesRoundKey {
  const AesKeyRun* runs;
  int c, round;
};

struct AesByteKernels {
  using Octets = const std::uint8_t*;

  const char* name;
  void (*norm)(std::size_t n, Octets a0, Octets a1, std::uint8_t* d);
  void (*pair)(std::size_t n, Octets d0, Octets d1, std::uint8_t* q);
  void (*invert)(std::size_t n, Octets d0, Octets d1, Octets q0, Octets q1, std::uint8_t* e);
  void (*product)(std::size_t n, Octets a0, Octets a1, Octets e0, Octets e1, std::uint8_t* out);

  // Linear parts of a round, on one component of `blocks` states of 16 octets
  // in FIPS 197's order. `constant`: what this component carries of the affine
  // constant (0x63 or 0; for the inverse 0x63 too, applied before its matrix).
  // sub_shift_mix: affine, ShiftRows, MixColumns unless `last`, and component c of
  // round key `round` of the runs, one after the other; out may be in.
  void (*sub_shift_mix)(std::size_t blocks, Octets in, std::uint8_t constant, bool last,
                        AesRoundKey key, std::uint8_t* out);
  // inv_shift_sub: InvShiftRows and the inverse affine map, what stands before the
  // inversion; out may be in.
  void (*inv_shift_sub)(std::size_t blocks, Octets in, std::uint8_t constant, std::uint8_t* out);
  void (*inv_mix)(std::size_t blocks, std::uint8_t* state);
  // Adds the round key to the states.
  void (*add_round_key)(std::size_t blocks, AesRoundKey key, std::uint8_t* state);
  // The affine map alone, in place, on n octets.
  void (*affine)(std::size_t n, std::uint8_t* octets, std::uint8_t constant);
};

const AesByteKernels& aes_byte_kernels_scalar();
// Null when the CPU lacks AVX-512 F/BW/VL/VBMI or GFNI.
const AesByteKernels* aes_byte_kernels_gfni();

}  // namespace tkdc
