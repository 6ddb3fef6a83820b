// SPDX-License-Identifier: Apache-2.0
// All SHA-1 compressions of a lane, side by side: each is a column, and in every
// round all columns do the same layer, whatever step they are at. A step takes a
// frame of kPhases rounds; a chain of blocks joins at a frame's phase kJoin and
// leaves, or goes on with its next block, at a frame's end. So jobs that come at
// different times share their rounds and the vector loops from then on.
//
// A step is a' = fresh + (f(b,c,d) + e + W + K), fresh = rotl5(a). While step t's
// adder runs, two layers prepare the bracket of step t+1 in carry-save form:
//   phase 0  carry-save of fresh with the bracket; of step t+1: f, carry-save of e, W, K
//   phase 1  adder layer 1; of step t+1: carry-save of f with that
//   phase 2  adder layer 2; here and there a summand of the block's start (below)
//   phases 3 to 5  adder layers 3 to 5
// The state that a block started with is added without a round of its own: to e, d
// and c of the last steps by adders beside the running ones, and to b and a by one
// more carry-save beside (b) or in (a) the bracket of the steps that make them. So
// n blocks take 2 + 480 n rounds. HMAC's outer block begins in the very next round
// too: its W[0], the inner digest's first word, is `fresh` in its step 0, and
// rotl5(a), known from the key, stands for W[0] in the bracket.
//
// Source of steps and functions: FIPS 180-4, section 6.1.2. Semi-honest, or
// malicious with the claims recorded here. Everything is shares but which column
// is at which step. Used by one lane's thread.
#pragma once

#include <coroutine>
#include <vector>

#include "protocol/replicated.h"
#include "rep3/unit/sha1/adder.h"

namespace tkdc::sha1 {

// A message's hash, or an HMAC's, in progress. `state`, `data` and `outer` belong to
// who awaits it.
struct Chain {
  SharedBytes* state;        // before the first block; at the end the result
  const SharedBytes* data;   // whole blocks, one at least
  const SharedBytes* outer;  // the state after K ^ opad, or null
  std::coroutine_handle<> awaiter;
  std::size_t taken = 0;  // blocks of `data` that a column has got
  bool outer_done = false;
  bool more() const { return taken < data->size() / 64 || (outer != nullptr && !outer_done); }
  bool outer_next() const { return taken == data->size() / 64; }
};

class Grid {
 public:
  static constexpr int kPhases = 6;
  static constexpr int kJoin = 4;
  static constexpr int kSteps = 80;

  Grid(int party, ClaimLog* claims);

  // Chains that wait to join; taken at phase kJoin.
  void join(Chain* chain) { waiting_.push_back(chain); }
  bool idle() const { return chains_.empty() && waiting_.empty() && joiners_.empty(); }

  // One round: the message, then what the neighbour sent. Ended chains are returned
  // by the round that ends them.
  void prepare(int phase);
  const LayerWords& layer() const { return layer_; }
  void finish(int phase, const std::uint8_t* mine, const std::uint8_t* theirs,
              std::vector<Chain*>& ended, std::uint64_t& blocks);

 private:
  // What a column holds; kInitial..: a to e before the block; kNew..: b to e after it.
  enum Word : std::size_t {
    kA,
    kB,
    kC,
    kD,
    kE,
    kFresh,
    kSum,
    kCarry,
    kSumB,
    kCarryB,
    kInitial,
    kNew = kInitial + 5,
    kSchedule = kNew + 4,
    kWords = kSchedule + 16
  };
  // A sum beside the steps': kNew + which of a column.
  struct Extra {
    std::size_t column, which;
  };

  Words& word(std::size_t k) { return words_[k]; }
  std::uint32_t& at(std::size_t k, std::size_t n, int c) { return column(words_[k], c)[n]; }
  std::size_t columns() const { return chains_.size(); }
  Words& schedule(std::size_t frames_ahead) {
    return words_[kSchedule + (frame_ + frames_ahead) % 16];
  }
  std::uint32_t own(int c) const { return constant_component(party_) == c ? ~0u : 0; }

  void begin_frame();
  void shift_state();
  void next_words();
  void start_last();
  void start_f();
  void start_adders();
  void start_combine();
  void start_feed();
  void take_feed();
  void start_join();
  void start_join_combine();
  void take_f();
  void end_frame(std::vector<Chain*>& ended, std::uint64_t& blocks);
  void end_block(std::size_t n, std::vector<Chain*>& ended);
  void load_block(std::size_t n, Chain& chain);
  void load_outer(std::size_t n, Chain& chain);
  void deliver(std::size_t n, Chain& chain);
  void remove(std::size_t n);
  void append_joiners();

  const int party_;
  ClaimSink claims_;
  LayerWords layer_;
  std::uint64_t frame_ = 0;

  std::vector<Chain*> chains_, waiting_, joiners_;  // one for each column; to join
  std::vector<int> step_;
  std::array<Words, kWords> words_;

  // This frame's: indices of columns, and the forms in progress.
  std::vector<std::size_t> with_f_, feed_, early_b_;
  std::vector<Extra> extras_;
  Words w_, f_;
  CarrySave last_, early_, combine_, fed_, join_early_, join_combine_;
  Quadratic form_f_, join_f_;
  Adders adders_;
};

}  // namespace tkdc::sha1
