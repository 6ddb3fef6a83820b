// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/sha1/ripple_schedule.h"

#include <bit>

namespace tkdc::sha1 {
namespace {

// K of 20 steps, less what `first_carries` of the three other additions add.
struct StepConstant {
  std::uint32_t rest;
  std::size_t first_carries;
  std::size_t lowest() const { return static_cast<std::size_t>(std::countr_zero(rest)); }
};
constexpr StepConstant split(std::uint32_t k) {
  const std::uint32_t low = k & 3;
  return {k - low, low};
}
constexpr StepConstant kConstants[4] = {split(0x5a827999), split(0x6ed9eba1), split(0x8f1bbcdc),
                                        split(0xca62c1d6)};

}  // namespace

bool RippleSchedule::next() {
  products_ = 0;
  if (step_ < 0) {
    for (std::size_t k = 0; k < kWordPlanes; ++k) add_f_bit(0, k);
    step_ = 0;
    return true;
  }
  const std::size_t late = kStepRounds + round_;
  if (round_ == 0 && step_ < kSteps) begin_step(step_);
  if (round_ < kLate && step_ > 0) {
    add_step_bit(step_ - 1, late);
    if (step_ < kSteps) add_f_bit(step_, late);
  }
  if (step_ < kSteps) add_step_bit(step_, round_);
  if (step_ + 1 < kSteps) add_f_bit(step_ + 1, round_);
  // The state's last bits come beside those of step 79, whose A is its first word.
  for (std::size_t word = 0; word < kStateWords; ++word) {
    if (step_ == kSteps - 1) add_state_bit(word, round_);
    if (step_ == kSteps) add_state_bit(word, late);
  }
  if (++round_ == kStepRounds) {
    round_ = 0;
    ++step_;
  }
  return products_ > 0;
}

void RippleSchedule::begin_step(int step) {
  if (step >= kScheduleWords) schedule_word(step);
  const std::size_t first = kConstants[step / 20].first_carries;
  copy(carry(step, kWithK), of_public(false));
  for (std::size_t k = kWithE; k < kAdditions; ++k) copy(carry(step, k), of_public(k <= first));
}

// W[t] = rotl1(W[t-3] + W[t-8] + W[t-14] + W[t-16]).
void RippleSchedule::schedule_word(int step) {
  const PlaneNumber highest = kPlanesOfSums;
  for (std::size_t k = kWordPlanes; k-- > 0;)
    machine_.sum(k == kTop ? highest : w(step, k + 1),
                 {w(step + 13, k), w(step + 8, k), w(step + 2, k), w(step, k)});
  copy(w(step, 0), highest);
}

// Bit k of all four additions of a step, with the products for the carries into the next.
void RippleSchedule::add_step_bit(int step, std::size_t k) {
  const StepConstant& constant = kConstants[step / 20];
  const PlaneNumber word = w(step, k), key = of_public(constant.rest >> k & 1);
  const PlaneNumber e = a(step - 5, (k + 2) % 32), f_bit = f(step, k);
  const PlaneNumber rotated = a(step - 1, (k + 27) % 32), out = a(step, k);
  const PlaneNumber with_k = kPlanesOfSums, with_e = with_k + 1, with_f = with_k + 2;
  machine_.sum(with_k, {word, key, carry(step, kWithK)});
  machine_.sum(with_e, {with_k, e, carry(step, kWithE)});
  machine_.sum(with_f, {with_e, f_bit, carry(step, kWithF)});
  machine_.sum(out, {with_f, rotated, carry(step, kWithA)});
  if (k == kTop) return;
  if (k > constant.lowest())
    majority(word, key, carry(step, kWithK));
  else if (k == constant.lowest())
    copy(carry(step, kWithK), word);
  majority(with_k, e, carry(step, kWithE));
  majority(with_e, f_bit, carry(step, kWithF));
  majority(with_f, rotated, carry(step, kWithA));
}

// Bit k of f(b, c, d), FIPS 180-4, section 4.1.1. Parity is linear and sends nothing.
void RippleSchedule::add_f_bit(int step, std::size_t k) {
  const PlaneNumber b = a(step - 2, k), c = a(step - 3, (k + 2) % 32),
                    d = a(step - 4, (k + 2) % 32), out = f(step, k);
  const int phase = step / 20;
  if (phase % 2 != 0) return machine_.sum(out, {b, c, d});
  copy(out, d);
  phase == 0 ? choose(b, c, out) : majority(b, c, out);
}

// Bit k of a word of the state that the block started with, and of what the steps made of it.
void RippleSchedule::add_state_bit(std::size_t word, std::size_t k) {
  const PlaneNumber made = a(kSteps - 1 - static_cast<int>(word), word < 2 ? k : (k + 2) % 32);
  const PlaneNumber out = bit(kPlanesOfState, word, k);
  const auto in = static_cast<PlaneNumber>(kPlanesOfStateCarries + word);
  if (k != kTop) majority(made, out, in);
  machine_.sum(out, {out, made, in});
}

}  // namespace tkdc::sha1
