// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/sha1/grid.h"

namespace tkdc::sha1 {
namespace {

constexpr std::size_t kBlockBytes = 64;

constexpr std::uint32_t kConstants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

std::uint32_t word_of(const SharedBytes& octets, std::size_t k, int c) {
  return load_be(octets.component[c].data() + 4 * k);
}

}  // namespace

Grid::Grid(int party, ClaimLog* claims) : party_(party), claims_(claims) {}

void Grid::prepare(int phase) {
  layer_.clear();
  switch (phase) {
    case 0:
      begin_frame();
      last_.add_to(layer_);
      early_.add_to(layer_);
      form_f_.add_to(layer_, 0, 31);
      return;
    case 1:
      start_adders();
      start_combine();
      adders_.add_fields(1, layer_);
      combine_.add_to(layer_);
      return;
    case 2:
      start_feed();
      adders_.add_fields(2, layer_);
      fed_.add_to(layer_);
      return;
    case 4:
      start_join();
      adders_.add_fields(4, layer_);
      join_early_.add_to(layer_);
      join_f_.add_to(layer_, 0, 31);
      return;
    case 5:
      start_join_combine();
      adders_.add_fields(5, layer_);
      join_combine_.add_to(layer_);
      return;
    default: adders_.add_fields(phase, layer_);
  }
}

void Grid::finish(int phase, const std::uint8_t* mine, const std::uint8_t* theirs,
                  std::vector<Chain*>& ended, std::uint64_t& blocks) {
  layer_.read(mine, theirs);
  if (phase > 0) adders_.finish_layer(phase, claims_);
  switch (phase) {
    case 0:
      last_.record(claims_);
      early_.record(claims_);
      form_f_.record(claims_);
      return take_f();
    case 1:
      combine_.record(claims_);
      std::swap(word(kSum), combine_.sum);
      std::swap(word(kCarry), combine_.result);
      return;
    case 2: fed_.record(claims_); return take_feed();
    case 4: join_early_.record(claims_); return join_f_.record(claims_);
    case 5: join_combine_.record(claims_); return end_frame(ended, blocks);
    default: return;
  }
}

// ---- phase 0

void Grid::begin_frame() {
  const std::size_t count = columns();
  shift_state();
  next_words();
  with_f_.clear();
  feed_.clear();
  early_b_.clear();
  extras_.clear();
  for (std::size_t n = 0; n < count; ++n) {
    const int t = step_[n], next = (t + 1) % kSteps;
    if ((next < 20 || (next >= 40 && next < 60)) && (t + 1 < kSteps || chains_[n]->more()))
      with_f_.push_back(n);
    if (t == 77 || t == 78) feed_.push_back(n);
    if (t == 78) early_b_.push_back(n);
  }
  // Their sums stand right behind the steps', as their carry-saves do.
  for (std::size_t n : early_b_) extras_.push_back({n, 0});
  for (std::size_t n = 0; n < count; ++n)
    if (step_[n] >= 76 && step_[n] <= 78)
      extras_.push_back({n, static_cast<std::size_t>(79 - step_[n])});
  start_last();
  early_.resize(count);
  for (int c = 0; c < 2; ++c)
    for (std::size_t n = 0; n < count; ++n) {
      const int next = (step_[n] + 1) % kSteps;
      early_.set_public(n, c, at(kE, n, c), column(w_, c)[n], kConstants[next / 20], own(c));
    }
  start_f();
}

// b, c, d and e of the next step; of the next block where this is the last step.
void Grid::shift_state() {
  std::swap(word(kE), word(kD));
  std::swap(word(kD), word(kC));
  resize(word(kC), columns());
  for (int c = 0; c < 2; ++c) {
    std::uint32_t* to = column(word(kC), c).data();
    const std::uint32_t* from = column(word(kB), c).data();
    for (std::size_t n = 0; n < columns(); ++n) to[n] = rotl(from[n], 30);
  }
  word(kB) = word(kA);
  for (std::size_t n = 0; n < columns(); ++n) {
    if (step_[n] + 1 < kSteps || !chains_[n]->more()) continue;
    for (int c = 0; c < 2; ++c)
      for (std::size_t k = 0; k < 4; ++k)
        at(kB + k, n, c) =
            chains_[n]->outer_next() ? word_of(*chains_[n]->outer, k + 1, c) : at(kNew + k, n, c);
  }
}

// W of the next step. A frame's number names the schedule's word for all columns:
// a block's word 0 stands where its first frame says.
void Grid::next_words() {
  resize(w_, columns());
  for (int c = 0; c < 2; ++c) {
    const std::uint32_t* w3 = column(schedule(14), c).data();  // W[t+1-3]
    const std::uint32_t* w8 = column(schedule(9), c).data();
    const std::uint32_t* w14 = column(schedule(3), c).data();
    std::uint32_t* w16 = column(schedule(1), c).data();
    std::uint32_t* to = column(w_, c).data();
    for (std::size_t n = 0; n < columns(); ++n) {
      const std::uint32_t computed = rotl(w3[n] ^ w8[n] ^ w14[n] ^ w16[n], 1);
      to[n] = w16[n] = step_[n] + 1 < 16 ? w16[n] : computed;
    }
  }
  for (std::size_t n = 0; n < columns(); ++n) {
    const Chain& chain = *chains_[n];
    if (step_[n] + 1 < kSteps || !chain.more()) continue;
    for (int c = 0; c < 2; ++c)
      column(w_, c)[n] = chain.outer_next() ? rotl(word_of(*chain.outer, 0, c), 5)
                                            : word_of(*chain.data, 16 * chain.taken, c);
  }
}

// Also of the summands of the other extras, with 0: the adder wants the form of a carry-save.
void Grid::start_last() {
  const std::size_t count = columns();
  last_.resize(count + extras_.size());
  for (int c = 0; c < 2; ++c) {
    for (std::size_t n = 0; n < count; ++n)
      last_.set(n, c, at(kFresh, n, c), at(kSum, n, c), at(kCarry, n, c) << 1);
    for (std::size_t k = 0; k < early_b_.size(); ++k) {
      const std::size_t n = early_b_[k];
      last_.set(count + k, c, at(kFresh, n, c), at(kSumB, n, c), at(kCarryB, n, c) << 1);
    }
    for (std::size_t k = early_b_.size(); k < extras_.size(); ++k) {
      const auto [n, which] = extras_[k];
      last_.set(count + k, c, rotl(at(kB, n, c), 30), at(kInitial + 1 + which, n, c), 0);
    }
  }
}

// f of the next step, FIPS 180-4, section 4.1.1. Parity is linear and sends nothing.
void Grid::start_f() {
  resize(f_, columns());
  form_f_.resize(with_f_.size());
  for (int c = 0; c < 2; ++c) {
    const std::uint32_t* b = column(word(kB), c).data();
    const std::uint32_t* cc = column(word(kC), c).data();
    const std::uint32_t* d = column(word(kD), c).data();
    std::uint32_t* f = column(f_, c).data();
    for (std::size_t n = 0; n < columns(); ++n) f[n] = b[n] ^ cc[n] ^ d[n];
    for (std::size_t k = 0; k < with_f_.size(); ++k) {
      const std::size_t n = with_f_[k];
      const bool choose = (step_[n] + 1) % kSteps < 20;     // Ch = d ^ b (c ^ d)
      column(form_f_.linear, c)[k] = choose ? d[n] : b[n];  // Maj = b ^ (b ^ c)(b ^ d)
      column(form_f_.left, c)[k] = choose ? b[n] : b[n] ^ cc[n];
      column(form_f_.right, c)[k] = choose ? cc[n] ^ d[n] : b[n] ^ d[n];
    }
  }
}

void Grid::take_f() {
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < with_f_.size(); ++k)
      column(f_, c)[with_f_[k]] = column(form_f_.result, c)[k];
}

// ---- phases 1 and 2

void Grid::start_adders() {
  adders_.start(last_.instances());
  for (int c = 0; c < 2; ++c)
    for (std::size_t n = 0; n < last_.instances(); ++n)
      adders_.set(n, c, column(last_.sum, c)[n], column(last_.result, c)[n] << 1);
}

void Grid::start_combine() {
  combine_.resize(columns());
  for (int c = 0; c < 2; ++c)
    for (std::size_t n = 0; n < columns(); ++n)
      combine_.set(n, c, column(f_, c)[n], column(early_.sum, c)[n],
                   column(early_.result, c)[n] << 1);
}

// The block's b goes to a bracket of its own beside that of step 78, a into step 79's.
void Grid::start_feed() {
  fed_.resize(feed_.size());
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < feed_.size(); ++k) {
      const std::size_t n = feed_[k];
      fed_.set(k, c, at(kInitial + (step_[n] == 77 ? 1 : 0), n, c), at(kSum, n, c),
               at(kCarry, n, c) << 1);
    }
}

void Grid::take_feed() {
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < feed_.size(); ++k) {
      const std::size_t n = feed_[k];
      const bool for_b = step_[n] == 77;
      at(for_b ? kSumB : kSum, n, c) = column(fed_.sum, c)[k];
      at(for_b ? kCarryB : kCarry, n, c) = column(fed_.result, c)[k];
    }
}

// ---- chains that join: the bracket of their step 0

void Grid::start_join() {
  joiners_ = std::move(waiting_);
  waiting_.clear();
  join_early_.resize(joiners_.size());
  join_f_.resize(joiners_.size());
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < joiners_.size(); ++k) {
      const SharedBytes& state = *joiners_[k]->state;
      const std::uint32_t b = word_of(state, 1, c), cc = word_of(state, 2, c);
      const std::uint32_t d = word_of(state, 3, c);
      join_early_.set_public(k, c, word_of(state, 4, c), word_of(*joiners_[k]->data, 0, c),
                             kConstants[0], own(c));
      column(join_f_.linear, c)[k] = d;
      column(join_f_.left, c)[k] = b;
      column(join_f_.right, c)[k] = cc ^ d;
    }
}

void Grid::start_join_combine() {
  join_combine_.resize(joiners_.size());
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < joiners_.size(); ++k)
      join_combine_.set(k, c, column(join_f_.result, c)[k], column(join_early_.sum, c)[k],
                        column(join_early_.result, c)[k] << 1);
}

void Grid::append_joiners() {
  const std::size_t before = columns(), count = before + joiners_.size();
  for (Words& words : words_) resize(words, count);
  for (std::size_t k = 0; k < joiners_.size(); ++k) {
    const std::size_t n = before + k;
    Chain& chain = *joiners_[k];
    chains_.push_back(&chain);
    step_.push_back(0);
    for (int c = 0; c < 2; ++c) {
      for (std::size_t i = 0; i < 5; ++i)
        at(kA + i, n, c) = at(kInitial + i, n, c) = word_of(*chain.state, i, c);
      at(kFresh, n, c) = rotl(at(kA, n, c), 5);
      at(kSum, n, c) = column(join_combine_.sum, c)[k];
      at(kCarry, n, c) = column(join_combine_.result, c)[k];
    }
    load_block(n, chain);
  }
  joiners_.clear();
}

// ---- the end of a frame

void Grid::end_frame(std::vector<Chain*>& ended, std::uint64_t& blocks) {
  const std::size_t count = columns();
  for (int c = 0; c < 2; ++c) {
    for (std::size_t n = 0; n < count; ++n) {
      const std::uint32_t sum = adders_.sum(n, c);
      at(kA, n, c) = sum;
      at(kFresh, n, c) = rotl(sum, 5);
    }
    for (std::size_t k = 0; k < extras_.size(); ++k)
      at(kNew + extras_[k].which, extras_[k].column, c) = adders_.sum(count + k, c);
  }
  // A column that is taken out is replaced by the last one, which has been seen.
  for (std::size_t n = count; n-- > 0;) {
    if (++step_[n] < kSteps) continue;
    ++blocks;
    end_block(n, ended);
  }
  // The next chain joins an empty grid at phases 4 and 5, where adders send what they hold.
  if (columns() == 0) adders_.start(0);
  append_joiners();
  ++frame_;
}

void Grid::end_block(std::size_t n, std::vector<Chain*>& ended) {
  Chain& chain = *chains_[n];
  if (!chain.more()) {
    deliver(n, chain);
    ended.push_back(&chain);
    return remove(n);
  }
  step_[n] = 0;
  if (chain.outer_next()) return load_outer(n, chain);
  for (int c = 0; c < 2; ++c) {
    at(kInitial, n, c) = at(kA, n, c);
    for (std::size_t k = 0; k < 4; ++k) at(kInitial + 1 + k, n, c) = at(kNew + k, n, c);
  }
  load_block(n, chain);
}

void Grid::load_block(std::size_t n, Chain& chain) {
  for (int c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < 16; ++k)
      column(schedule(1 + k), c)[n] = word_of(*chain.data, 16 * chain.taken + k, c);
  ++chain.taken;
}

// HMAC's outer block: the inner digest and FIPS 180-4's padding for 84 octets.
void Grid::load_outer(std::size_t n, Chain& chain) {
  constexpr std::uint32_t kBits = 8 * (kBlockBytes + 20);
  for (int c = 0; c < 2; ++c) {
    column(schedule(1), c)[n] = at(kFresh, n, c) = at(kA, n, c);
    for (std::size_t k = 0; k < 4; ++k) column(schedule(2 + k), c)[n] = at(kNew + k, n, c);
    for (std::size_t k = 5; k < 16; ++k)
      column(schedule(1 + k), c)[n] = own(c) & (k == 5 ? 0x80000000u : k == 15 ? kBits : 0);
    for (std::size_t k = 0; k < 5; ++k) at(kInitial + k, n, c) = word_of(*chain.outer, k, c);
    at(kA, n, c) = at(kInitial, n, c);
  }
  chain.outer_done = true;
}

void Grid::deliver(std::size_t n, Chain& chain) {
  for (int c = 0; c < 2; ++c) {
    std::uint8_t* out = chain.state->component[c].data();
    store_be(out, at(kA, n, c));
    for (std::size_t k = 0; k < 4; ++k) store_be(out + 4 * (k + 1), at(kNew + k, n, c));
  }
}

void Grid::remove(std::size_t n) {
  const std::size_t last = columns() - 1;
  for (Words& words : words_) {
    words.x[n] = words.x[last];
    words.y[n] = words.y[last];
    resize(words, last);
  }
  chains_[n] = chains_[last];
  step_[n] = step_[last];
  chains_.pop_back();
  step_.pop_back();
}

}  // namespace tkdc::sha1
