// SPDX-License-Identifier: Apache-2.0
// AES-128 and AES-256 on shares (FIPS 197): key expansion once, when a key is
// made; encryption and decryption of many blocks under many keys together.
//
// Rounds and message bytes per party: 4 layers per AES round, so 40 rounds and
// 360 bytes per AES-128 block, 56 and 504 per AES-256 block (18 bits per
// S-box: circuits/sbox.py). Requests that come up in the same round of the
// lane run as one cohort, whatever job they belong to.
//
// With a pool of masks (use_masks) cohorts of few blocks take 1 layer per AES round
// while there are masks: masked_run.h.
#pragma once

#include "rep3/rep3.h"
#include "rep3/unit/aes/cohort.h"
#include "rep3/unit/aes/masked_run.h"

namespace tkdc {

class Aes {
 public:
  Aes(Rep3& rep3, const Rep3Backend& backend);

  // `round_keys`: 176 or 240 octets, must outlive the task; `in`: whole blocks.
  Task<SharedBytes> encrypt(const SharedBytes& round_keys, SharedBytes in);
  Task<SharedBytes> decrypt(const SharedBytes& round_keys, SharedBytes in);

  // Cohorts of at most that many blocks take their masks from the pool, which outlives this;
  // while it has not enough, their S-boxes are computed in layers. All three parties decide
  // alike if they call this at the same point of the protocol with equal pools. In malicious
  // mode note which jobs run (Lane::course) before they submit blocks: a run compares that
  // before it opens a masked value, and has nothing else to tell jobs apart by.
  void use_masks(MaskPool& pool, std::size_t most_blocks);

  std::uint64_t blocks() const { return blocks_done_; }
  std::uint64_t masked_blocks() const { return masked_.blocks(); }
  const Rep3Backend& backend() const { return backend_; }

 private:
  using Direction = AesDirection;
  struct Request {
    const SharedBytes* round_keys;
    SharedBytes* data;
    Direction direction;
    std::coroutine_handle<> awaiter;
  };
  struct Submit;

  bool gather();
  Task<void> run(std::vector<Request> requests, int rounds, Direction direction);
  Task<void> run_masked(std::vector<Request> requests, int rounds, Direction direction,
                        std::vector<LayerMask> masks);
  Task<void> invert(AesCohort& cohort);
  std::vector<Request> take_same(int rounds, Direction direction);
  bool gather_masked();
  static std::vector<AesBlockRef> blocks_of(const std::vector<Request>& requests);

  Rep3& rep3_;
  const Rep3Backend& backend_;
  // While a cohort runs, others start at multiples of this many rounds only (half of an
  // AES-256 block's), so that jobs which came at different times soon share their rounds:
  // in CBC each block's cohort then starts when the block before it is done.
  static constexpr std::uint64_t kStartEveryRounds = 28;

  MaskedRuns masked_;
  MaskPool* pool_ = nullptr;
  std::size_t most_masked_blocks_ = 0;
  std::vector<Request> pending_;
  std::size_t at_work_ = 0;
  std::uint64_t blocks_done_ = 0;
};

// Expands keys of one size side by side: 4 layers per SubWord, all keys
// together. Each key 16 or 32 octets; each result 176 or 240.
Task<std::vector<SharedBytes>> aes_round_keys(Rep3& rep3, std::vector<SharedBytes> keys);

}  // namespace tkdc
