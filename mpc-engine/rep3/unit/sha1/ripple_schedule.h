// SPDX-License-Identifier: Apache-2.0
// SHA-1's compression with ripple-carry adders, the shape that sends the fewest bits: in which
// round which bit is added. Who computes is a PlaneMachine, the CPU (ripple.h) or a device
// (cuda/device/ripple.h); columns run in step, bit by bit.
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
// Source of steps and functions: FIPS 180-4, section 6.1.2. Nothing here is secret.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "rep3/unit/sha1/ripple_planes.h"

namespace tkdc::sha1 {

// What computes with the planes of all columns. Before the first round it holds a block in the
// planes of W; the state before it in those of the state and, as A[-1], A[-2] and, rotated by 30
// to the right, A[-3] to A[-5], in A's (step t is word (t + 8) mod 8).
class PlaneMachine {
 public:
  virtual ~PlaneMachine() = default;
  // to = the sum of one, three or four planes, of which `to` may be one.
  virtual void sum(PlaneNumber to, std::initializer_list<PlaneNumber> of) = 0;
  // At the end of the round to += (a + b)(c + d), of what the four are now: one bit of each
  // column in the round's message, behind those of the products before.
  virtual void product(PlaneNumber a, PlaneNumber b, PlaneNumber c, PlaneNumber d,
                       PlaneNumber to) = 0;
};

class RippleSchedule {
 public:
  static constexpr std::size_t kStepRounds = 27, kRounds = 2165, kBits = 11035;
  static constexpr std::size_t kMostProducts = 32;  // in a round, the first; else 13

  explicit RippleSchedule(PlaneMachine& machine) : machine_(machine) {}

  // Tells the machine the next round, one product at least. False when none is left: the state
  // is then the one after the block.
  bool next();

 private:
  static constexpr int kSteps = 80;
  static constexpr std::size_t kTop = 31;
  // Bits of a step that are added during the next one: the last kLate.
  static constexpr std::size_t kLate = 32 - kStepRounds;
  enum Addition : std::size_t { kWithK, kWithE, kWithF, kWithA };

  static PlaneNumber bit(PlaneNumber first, std::size_t word, std::size_t k) {
    return static_cast<PlaneNumber>(first + word * kWordPlanes + k);
  }
  static PlaneNumber a(int step, std::size_t k) {
    return bit(kPlanesOfA, static_cast<std::size_t>(step + kWordsOfA) % kWordsOfA, k);
  }
  static PlaneNumber f(int step, std::size_t k) {
    return bit(kPlanesOfF, static_cast<std::size_t>(step % 2), k);
  }
  static PlaneNumber w(int step, std::size_t k) {
    return bit(kPlanesOfW, static_cast<std::size_t>(step) % kScheduleWords, k);
  }
  static PlaneNumber carry(int step, std::size_t addition) {
    return static_cast<PlaneNumber>(kPlanesOfCarries + step % 2 * kAdditions + addition);
  }
  static PlaneNumber of_public(bool set) { return set ? kPlaneOfOnes : kPlaneOfZeros; }

  void begin_step(int step);
  void schedule_word(int step);
  void add_step_bit(int step, std::size_t k);
  void add_f_bit(int step, std::size_t k);
  void add_state_bit(std::size_t word, std::size_t k);

  void copy(PlaneNumber to, PlaneNumber from) { machine_.sum(to, {from}); }
  void multiply(PlaneNumber a, PlaneNumber b, PlaneNumber c, PlaneNumber d, PlaneNumber to) {
    machine_.product(a, b, c, d, to);
    ++products_;
  }
  // to += (a + to)(b + to), which makes of a carry that goes in the one that comes out: the
  // majority of the three.
  void majority(PlaneNumber a, PlaneNumber b, PlaneNumber to) { multiply(a, to, b, to, to); }
  // to += a (b + to): b where a is 1.
  void choose(PlaneNumber a, PlaneNumber b, PlaneNumber to) {
    multiply(a, kPlaneOfZeros, b, to, to);
  }

  PlaneMachine& machine_;
  std::size_t products_ = 0;  // of this round
  int step_ = -1;             // -1: the round before step 0
  std::size_t round_ = 0;
};

}  // namespace tkdc::sha1
