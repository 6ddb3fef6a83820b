// SPDX-License-Identifier: Apache-2.0
// SHA-2's compression function on shares (FIPS 180-4, sections 6.2.2 and 6.4.2),
// for one cohort of instances. Security model and who sees what: a lane's layers
// (rep3.h); nothing is opened here, every message bit is claimed.
//
// With a_t, e_t the values of a and e after t steps, so that b, c, d at step t are
// a_{t-1}, a_{t-2}, a_{t-3} and f, g, h likewise,
//   e_{t+1} = D_t + S1(e_t) + Ch(e_t, e_{t-1}, e_{t-2}),  D_t = a_{t-3} + e_{t-3} + W_t + K_t
//   a_t     = e_t - a_{t-4} + S0(a_{t-1}) + Maj(a_{t-1}, a_{t-2}, a_{t-3})
//   W_t     = W_{t-16} + s0(W_{t-15}) + W_{t-7} + s1(W_{t-2})
// Only e depends on the e before it at once; a may follow a step behind. So one
// period makes e_{t+1}, a_t, D_{t+1} (in carry-save form) and W_{t+2} side by side:
//   layer 1: Ch, Maj, and the first carry-save sum of each
//   layer 2: the second carry-save sum of each
//   5 or 6 layers: one prefix adder each for e, a and W
// Rounds: 2 for D_0, a period for each step and one more for the last a, and the
// adders of the final sums: 2 + 65 * 7 + 5 = 462 or 2 + 81 * 8 + 6 = 656.
#pragma once

#include <vector>

#include "rep3/unit/sha2/adder.h"
#include "rep3/unit/sha2/constants.h"

namespace tkdc::sha2 {

// Rotations and shifts of a word: FIPS 180-4, sections 4.1.2 and 4.1.3.
struct Amounts {
  int first, second, third;
};

template <int L>
class Compression {
 public:
  using Word = Wide<L>;
  using Native = typename Word::Native;
  static constexpr int kSteps = L == 1 ? 64 : 80;

  Compression(Rep3& rep3, std::array<Word, 8> state, std::vector<Word> block)
      : rep3_(rep3), initial_(std::move(state)), schedule_(std::move(block)) {
    schedule_.resize(kSteps);
    for (int k = 0; k < 4; ++k) {
      a(-k) = initial_[static_cast<std::size_t>(k)];
      e(-k) = initial_[4 + static_cast<std::size_t>(k)];
    }
  }

  Task<void> run() {
    Fields first = new_fields();
    d_first_.add_field(first, a(-3), e(-3), w(0));
    co_await bits::send(rep3_, first);
    Fields second = new_fields();
    d_.add_field(second, rep3_.party(), d_first_.sum, d_first_.shifted(), constant(0));
    co_await bits::send(rep3_, second);
    for (int t = 0; t <= kSteps; ++t) co_await period(t);
    co_await add_initial();
  }

  const std::array<Word, 8>& state() const { return initial_; }

 private:
  static constexpr Amounts kSum0 = L == 1 ? Amounts{2, 13, 22} : Amounts{28, 34, 39};
  static constexpr Amounts kSum1 = L == 1 ? Amounts{6, 11, 25} : Amounts{14, 18, 41};
  static constexpr Amounts kSigma0 = L == 1 ? Amounts{7, 18, 3} : Amounts{1, 8, 7};
  static constexpr Amounts kSigma1 = L == 1 ? Amounts{17, 19, 10} : Amounts{19, 61, 6};

  static Native rotr(Native v, int k) { return v >> k | v << (Word::kBits - k); }
  // Three rotations, or two and a shift.
  static Word rotations(const Word& word, Amounts by) {
    return map(word, [by](Native v) -> Native {
      return rotr(v, by.first) ^ rotr(v, by.second) ^ rotr(v, by.third);
    });
  }
  static Word rotations_and_shift(const Word& word, Amounts by) {
    return map(word, [by](Native v) -> Native {
      return rotr(v, by.first) ^ rotr(v, by.second) ^ v >> by.third;
    });
  }
  static Native constant(int t) {
    return static_cast<Native>(kStepConstants[t] >> (64 - Word::kBits));
  }

  Fields new_fields() const { return Fields(rep3_.claims() != nullptr); }
  // The last 8 of each are kept; t >= -3.
  Word& a(int t) { return a_[static_cast<std::size_t>(t + 8) % 8]; }
  Word& e(int t) { return e_[static_cast<std::size_t>(t + 8) % 8]; }
  Word& w(int t) { return schedule_[static_cast<std::size_t>(t)]; }

  // out = base ^ left right, all bits.
  void add_product(Fields& fields, Word& out, const Word& base, const Word& left,
                   const Word& right) {
    out = Word(base.instances());
    for (std::size_t i = 0; i < L; ++i) {
      Field& field = fields.add(0, 31, out.limb[i]);
      field.add_linear(base.limb[i]);
      field.add_product(left.limb[i], right.limb[i]);
    }
  }

  // What a period makes besides a_t.
  static bool makes_e(int t) { return t < kSteps; }
  static bool makes_d(int t) { return t + 1 < kSteps; }
  static bool makes_w(int t) { return t + 2 >= 16 && t + 2 < kSteps; }

  void first_layer(Fields& fields, int t) {
    if (makes_e(t)) {  // Ch = g ^ e (f ^ g)
      add_product(fields, ch_, e(t - 2), e(t), e(t - 1) ^ e(t - 2));
      e_first_.add_field(fields, d_.sum, d_.shifted(), rotations(e(t), kSum1));
    }
    if (t > 0) {  // Maj = b ^ (a ^ b)(b ^ c); -d = ~d + 1
      add_product(fields, maj_, a(t - 2), a(t - 1) ^ a(t - 2), a(t - 2) ^ a(t - 3));
      Word not_d = a(t - 4);
      add_public(not_d, rep3_.party(), static_cast<Native>(~Native{0}));
      a_first_.add_field(fields, e(t), not_d, rotations(a(t - 1), kSum0));
    }
    if (makes_d(t)) d_first_.add_field(fields, a(t - 2), e(t - 2), w(t + 1));
    if (makes_w(t))
      w_first_.add_field(fields, w(t - 5), rotations_and_shift(w(t - 13), kSigma0), w(t - 14));
  }

  void second_layer(Fields& fields, int t) {
    if (makes_e(t)) e_last_.add_field(fields, e_first_.sum, e_first_.shifted(), ch_);
    if (t > 0) a_last_.add_field(fields, a_first_.sum, a_first_.shifted(), maj_);
    if (makes_d(t))
      d_.add_field(fields, rep3_.party(), d_first_.sum, d_first_.shifted(), constant(t + 1));
    if (makes_w(t))
      w_last_.add_field(fields, w_first_.sum, w_first_.shifted(),
                        rotations_and_shift(w(t), kSigma1));
  }

  void start_adders(int t) {
    active_.clear();
    auto start = [this](Adder<L>& adder, const CarrySave<L>& last, Native plus) {
      Word carry = last.shifted();
      add_public(carry, rep3_.party(), plus);
      adder.start(last.sum, std::move(carry));
      active_.push_back(&adder);
    };
    if (makes_e(t)) start(e_adder_, e_last_, 0);
    if (t > 0) start(a_adder_, a_last_, 1);
    if (makes_w(t)) start(w_adder_, w_last_, 0);
  }

  // Also the final sums' layers.
  Task<void> run_adders() {
    for (int layer = 1; layer <= Adder<L>::kLayers; ++layer) {
      Fields fields = new_fields();
      for (Adder<L>* adder : active_) adder->add_fields(layer, fields);
      co_await bits::send(rep3_, fields);
      for (Adder<L>* adder : active_) adder->finish_layer(layer);
    }
  }

  Task<void> period(int t) {
    Fields first = new_fields();
    first_layer(first, t);
    co_await bits::send(rep3_, first);
    Fields second = new_fields();
    second_layer(second, t);
    co_await bits::send(rep3_, second);
    start_adders(t);
    co_await run_adders();
    if (makes_e(t)) e(t + 1) = e_adder_.sum();
    if (t > 0) a(t) = a_adder_.sum();
    if (makes_w(t)) w(t + 2) = w_adder_.sum();
  }

  Task<void> add_initial() {
    std::array<Adder<L>, 8> adders;
    active_.clear();
    for (int k = 0; k < 8; ++k) {
      Adder<L>& adder = adders[static_cast<std::size_t>(k)];
      adder.start(k < 4 ? a(kSteps - k) : e(kSteps - (k - 4)),
                  initial_[static_cast<std::size_t>(k)]);
      active_.push_back(&adder);
    }
    co_await run_adders();
    for (std::size_t k = 0; k < 8; ++k) initial_[k] = adders[k].sum();
  }

  Rep3& rep3_;
  std::array<Word, 8> initial_, a_, e_;
  std::vector<Word> schedule_;
  Word ch_, maj_;
  CarrySave<L> d_first_, d_, e_first_, e_last_, a_first_, a_last_, w_first_, w_last_;
  Adder<L> e_adder_, a_adder_, w_adder_;
  std::vector<Adder<L>*> active_;
};

}  // namespace tkdc::sha2
