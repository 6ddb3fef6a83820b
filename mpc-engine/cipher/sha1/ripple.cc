// SPDX-License-Identifier: Apache-2.0
#include "cipher/sha1/ripple.h"

namespace tkdc::sha1 {
namespace {

constexpr std::size_t kStateWords = 5, kScheduleWords = 16;

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

Ripple::Ripple(int party, ClaimLog* claims, std::vector<Block> blocks)
    : party_(party), claims_(claims), blocks_(std::move(blocks)),
      products_(blocks_.size(), kMostProducts), a_(8, blocks_.size()), f_(2, blocks_.size()),
      w_(kScheduleWords, blocks_.size()), state_(kStateWords, blocks_.size()),
      carries_(2, blocks_.size()), state_carries_(1, blocks_.size()), public_(1, blocks_.size()),
      sums_(1, blocks_.size()) {
  load();
}

Ripple::~Ripple() = default;

bool Ripple::next() {
  products_.clear();
  if (step_ < 0) {
    for (std::size_t k = 0; k < 32; ++k) add_f_bit(0, k);
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
  if (products_.empty()) {
    store();
    return false;
  }
  if (++round_ == kStepRounds) {
    round_ = 0;
    ++step_;
  }
  return true;
}

void Ripple::begin_step(int step) {
  if (step >= static_cast<int>(kScheduleWords)) schedule_word(step);
  const std::size_t first = kConstants[step / 20].first_carries;
  copy(carry(step, kWithK), of_public(false));
  for (std::size_t k = kWithE; k < kAdditions; ++k) copy(carry(step, k), of_public(k <= first));
}

// W[t] = rotl1(W[t-3] + W[t-8] + W[t-14] + W[t-16]).
void Ripple::schedule_word(int step) {
  const std::size_t words = 2 * w_.stride();  // both components stand together
  std::uint64_t* highest = sums_.bit(0, 0).at[0];
  for (std::size_t k = 32; k-- > 0;) {
    const std::uint64_t *w3 = w(step + 13, k).at[0], *w8 = w(step + 8, k).at[0];
    const std::uint64_t *w14 = w(step + 2, k).at[0], *w16 = w(step, k).at[0];
    std::uint64_t* to = k == kTop ? highest : w(step, k + 1).at[0];
    for (std::size_t i = 0; i < words; ++i) to[i] = w3[i] ^ w8[i] ^ w14[i] ^ w16[i];
  }
  copy(w(step, 0), sums_.bit(0, 0));
}

// Bit k of all four additions of a step, with the products for the carries into the next.
void Ripple::add_step_bit(int step, std::size_t k) {
  const StepConstant& constant = kConstants[step / 20];
  const Plane word = w(step, k), key = of_public(constant.rest >> k & 1);
  const Plane e = a(step - 5, (k + 2) % 32), f_bit = f(step, k);
  const Plane rotated = a(step - 1, (k + 27) % 32), out = a(step, k);
  const Plane with_k = sums_.bit(0, 0), with_e = sums_.bit(0, 1), with_f = sums_.bit(0, 2);
  const Plane in[kAdditions] = {carry(step, kWithK), carry(step, kWithE), carry(step, kWithF),
                                carry(step, kWithA)};
  for (int c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < a_.stride(); ++i) {
      const std::uint64_t first = word.at[c][i] ^ key.at[c][i] ^ in[kWithK].at[c][i];
      const std::uint64_t second = first ^ e.at[c][i] ^ in[kWithE].at[c][i];
      const std::uint64_t third = second ^ f_bit.at[c][i] ^ in[kWithF].at[c][i];
      with_k.at[c][i] = first;
      with_e.at[c][i] = second;
      with_f.at[c][i] = third;
      out.at[c][i] = third ^ rotated.at[c][i] ^ in[kWithA].at[c][i];
    }
  if (k == kTop) return;
  if (k > constant.lowest())
    products_.majority(word, key, in[kWithK]);
  else if (k == constant.lowest())
    copy(in[kWithK], word);
  products_.majority(with_k, e, in[kWithE]);
  products_.majority(with_e, f_bit, in[kWithF]);
  products_.majority(with_f, rotated, in[kWithA]);
}

// Bit k of f(b, c, d), FIPS 180-4, section 4.1.1. Parity is linear and sends nothing.
void Ripple::add_f_bit(int step, std::size_t k) {
  const Plane b = a(step - 2, k), c = a(step - 3, (k + 2) % 32), d = a(step - 4, (k + 2) % 32);
  const Plane out = f(step, k);
  const int phase = step / 20;
  if (phase % 2 == 0) {
    copy(out, d);
    phase == 0 ? products_.choose(b, c, out) : products_.majority(b, c, out);
    return;
  }
  for (int i = 0; i < 2; ++i)
    for (std::size_t n = 0; n < a_.stride(); ++n)
      out.at[i][n] = b.at[i][n] ^ c.at[i][n] ^ d.at[i][n];
}

// Bit k of a word of the state that the block started with, and of what the steps made of it.
void Ripple::add_state_bit(std::size_t word, std::size_t k) {
  const Plane made = a(kSteps - 1 - static_cast<int>(word), word < 2 ? k : (k + 2) % 32);
  const Plane out = state_.bit(word, k), in = state_carries_.bit(0, word);
  if (k != kTop) products_.majority(made, out, in);
  for (int c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < a_.stride(); ++i) out.at[c][i] ^= made.at[c][i] ^ in.at[c][i];
}

void Ripple::copy(Plane to, Plane from) {
  for (int c = 0; c < 2; ++c) std::copy_n(from.at[c], a_.stride(), to.at[c]);
}

// ---- between octets and planes

// Of 32 columns at a time, rotated to the left.
void Ripple::load_word(From from, std::size_t word, Planes& to, std::size_t to_word, int rotated) {
  for (std::size_t first = 0; first < blocks_.size(); first += 32)
    for (int c = 0; c < 2; ++c) {
      std::uint32_t bits[32] = {};
      const std::size_t count = std::min<std::size_t>(32, blocks_.size() - first);
      for (std::size_t n = 0; n < count; ++n) {
        const Block& block = blocks_[first + n];
        const SharedBytes& octets = from == From::kData ? *block.data : *block.state;
        bits[n] = std::rotl(load_be(octets.component[c].data() + 4 * word), rotated);
      }
      transpose(bits);
      for (std::size_t k = 0; k < 32; ++k)
        to.bit(to_word, k).at[c][first / kPlaneBits] |= std::uint64_t{bits[k]}
                                                        << first % kPlaneBits;
      sodium_memzero(bits, sizeof bits);
    }
}

void Ripple::load() {
  for (std::size_t k = 0; k < kScheduleWords; ++k) load_word(From::kData, k, w_, k, 0);
  // a is A[-1], b A[-2]; c, d and e are A[-3] to A[-5], rotated by 30.
  for (std::size_t k = 0; k < kStateWords; ++k) {
    load_word(From::kState, k, a_, 7 - k, k < 2 ? 0 : 2);
    load_word(From::kState, k, state_, k, 0);
  }
  if (constant_component(party_) < 0) return;
  std::uint64_t* ones = of_public(true).at[constant_component(party_)];
  for (std::size_t n = 0; n < blocks_.size(); ++n)
    ones[n / kPlaneBits] |= std::uint64_t{1} << n % kPlaneBits;
}

void Ripple::store() {
  for (std::size_t word = 0; word < kStateWords; ++word)
    for (std::size_t first = 0; first < blocks_.size(); first += 32)
      for (int c = 0; c < 2; ++c) {
        std::uint32_t bits[32];
        for (std::size_t k = 0; k < 32; ++k)
          bits[k] = static_cast<std::uint32_t>(state_.bit(word, k).at[c][first / kPlaneBits] >>
                                               first % kPlaneBits);
        transpose(bits);
        const std::size_t count = std::min<std::size_t>(32, blocks_.size() - first);
        for (std::size_t n = 0; n < count; ++n)
          store_be(blocks_[first + n].state->component[c].data() + 4 * word, bits[n]);
        sodium_memzero(bits, sizeof bits);
      }
}

}  // namespace tkdc::sha1
