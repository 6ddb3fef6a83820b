// SPDX-License-Identifier: Apache-2.0
// SHA-1's compression function on shares (FIPS 180-4, section 6.1.2).
//
// State and block are big-endian octets on shares (20 and 64). The message
// schedule is XOR and rotation, so it costs nothing. A step
//   a' = rotl5(a) + f(b, c, d) + e + K + W
// needs f of a value known one step ahead, so only one carry-save layer and a
// prefix adder lie on the critical path: 6 layers a step, 487 in all, and
// kMessageBytes octets per party. Requests of the same round of the lane
// run together. Everything is secret but the lengths.
#pragma once

#include "rep3/rep3.h"

namespace tkdc {

inline constexpr std::size_t kSha1StateBytes = 20;
inline constexpr std::size_t kSha1BlockBytes = 64;

class Sha1 {
 public:
  static constexpr int kRounds = 487;
  static constexpr std::size_t kMessageBytes = 3670;  // per compression and party

  explicit Sha1(Rep3& rep3);

  // The state after one block.
  Task<SharedBytes> compress(SharedBytes state, SharedBytes block);

  // The state after `data` (any length, on shares) and FIPS 180-4's padding
  // for a message of `hashed_before + data.size()` octets, of which
  // hashed_before (a multiple of 64) are already in `state`.
  Task<SharedBytes> finish(SharedBytes state, SharedBytes data, std::size_t hashed_before);

  // The initial state as a sharing of a public constant.
  SharedBytes initial() const;

  std::uint64_t blocks() const { return blocks_done_; }

 private:
  struct Request {
    SharedBytes* state;
    const SharedBytes* block;
    std::coroutine_handle<> awaiter;
  };
  struct Submit;

  bool gather();
  Task<void> run(std::vector<Request> requests);

  Rep3& rep3_;
  // While a cohort runs, others start at multiples of this many rounds only, so
  // that jobs which came at different times soon share their rounds.
  static constexpr std::uint64_t kStartEveryRounds = 16;

  std::vector<Request> pending_;
  std::size_t running_ = 0;
  std::uint64_t blocks_done_ = 0;
};

}  // namespace tkdc
