// SPDX-License-Identifier: Apache-2.0
// SHA-1's compression with ripple-carry adders, the shape that sends the fewest bits:
// compressions that start together run in step, bit by bit (bit_planes.h).
//
// A step is A[t] = rotl5(A[t-1]) + f(A[t-2], ..) + e + (W + K), four additions. Bit k of
// all four is added in the same round, since a sum's bit is known as soon as the carry
// into it is; one product per addition gives the carries into bit k + 1. Bit 0 of step
// t + 1 needs bit 27 of A[t], because of rotl5: so a step begins every kStepRounds
// rounds, and its bits 27 to 31 are added beside bits 0 to 4 of the next. f's bits, a
// product each for Ch and Maj, are made a step ahead; those of step 0 in a round of
// their own. The state that the block started with is added beside step 79.
//
// K is public. What its lowest bits add goes in as the first carry of other additions,
// and W + K then has no carry up to K's lowest bit that is left, and a linear one there.
//
//   f                     40 steps of 32 bits               1,280
//   + e, + f, + rotl5     80 steps of 3 x 31                7,440
//   W + K                 20 steps each of 27, 25, 28, 28   2,160
//   the state             5 x 31                              155
// 11,035 bits in 1 + 80 x 27 + 4 = 2,165 rounds; a product for each bit.
//
// Source of steps and functions: FIPS 180-4, section 6.1.2. Semi-honest, or malicious
// with the claims recorded here. Everything is shares but how many columns there are.
// Used by one lane's thread.
#pragma once

#include <vector>

#include "cipher/sha1/bit_planes.h"

namespace tkdc::sha1 {

class Ripple {
 public:
  static constexpr std::size_t kStepRounds = 27, kRounds = 2165, kBits = 11035;

  // The state before, and the block, of a column; both of 32-bit words, big-endian.
  struct Block {
    SharedBytes* state;
    const SharedBytes* data;
  };
  Ripple(int party, ClaimLog* claims, std::vector<Block> blocks);
  ~Ripple();  // not in a coroutine's own code: see SharedBytes

  // The next round's products; false when there is none, and every state is the one after
  // its block. Then write() and read() its message.
  bool next();
  std::size_t bytes() const { return products_.bytes(); }
  void write(std::uint8_t* message) { products_.write(message); }
  void read(const std::uint8_t* mine, const std::uint8_t* theirs) {
    products_.read(mine, theirs, claims_);
  }

 private:
  static constexpr int kSteps = 80;
  static constexpr std::size_t kTop = 31;
  // Bits of a step that are added during the next one: the last kLate.
  static constexpr std::size_t kLate = 32 - kStepRounds;
  static constexpr std::size_t kMostProducts = 32;
  enum Addition : std::size_t { kWithK, kWithE, kWithF, kWithA, kAdditions };

  Plane a(int step, std::size_t k) { return a_.bit(static_cast<std::size_t>(step + 8) % 8, k); }
  Plane carry(int step, std::size_t addition) {
    return carries_.bit(static_cast<std::size_t>(step % 2), addition);
  }
  Plane f(int step, std::size_t k) { return f_.bit(static_cast<std::size_t>(step % 2), k); }
  Plane w(int step, std::size_t k) { return w_.bit(static_cast<std::size_t>(step % 16), k); }
  Plane of_public(bool set) { return public_.bit(0, set ? 1 : 0); }

  void load();
  enum class From : std::uint8_t { kState, kData };
  void load_word(From from, std::size_t word, Planes& to, std::size_t to_word, int rotated);
  void store();
  void begin_step(int step);
  void schedule_word(int step);
  void add_step_bit(int step, std::size_t k);
  void add_f_bit(int step, std::size_t k);
  void add_state_bit(std::size_t word, std::size_t k);
  void copy(Plane to, Plane from);

  const int party_;
  ClaimLog* const claims_;
  const std::vector<Block> blocks_;
  PlaneProducts products_;
  // A's last 8 values, f of two steps, the schedule; the state, which becomes the result.
  Planes a_, f_, w_, state_, carries_, state_carries_, public_, sums_;
  int step_ = -1;  // -1: the round before step 0
  std::size_t round_ = 0;
};

}  // namespace tkdc::sha1
