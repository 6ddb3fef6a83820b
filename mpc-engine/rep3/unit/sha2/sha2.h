// SPDX-License-Identifier: Apache-2.0
// SHA-256's and SHA-384's compression functions on shares (FIPS 180-4).
//
// State and block are big-endian octets on shares. compression.h has the circuit:
// 462 or 656 rounds for each compression. Requests
// of the same round of the lane run together. Everything is secret but lengths.
// One lane's thread.
#pragma once

#include <vector>

#include "protocol/hash.h"
#include "rep3/rep3.h"

namespace tkdc {

class Sha2 {
 public:
  // SHA-256 or SHA-384 (SHA-512 but for its start and its end).
  Sha2(Rep3& rep3, const HashFunction& hash);

  const HashFunction& hash() const { return hash_; }
  // Of one compression: its rounds, and what each party sends.
  std::size_t compression_rounds() const { return is_256() ? 462 : 656; }
  std::size_t message_bytes() const { return is_256() ? 7952 : 24008; }

  // The state after whole blocks.
  Task<SharedBytes> compress(SharedBytes state, SharedBytes blocks);

  std::uint64_t blocks() const { return blocks_done_; }

 private:
  struct Request {
    SharedBytes* state;
    const SharedBytes* block;
    std::coroutine_handle<> awaiter;
  };
  struct Submit;

  bool is_256() const { return hash_.blocks == Unit::kSha256Blocks; }
  bool gather();
  template <int L>
  Task<void> run(std::vector<Request> requests);

  // As Sha1's: jobs which came at different times soon share their rounds.
  static constexpr std::uint64_t kStartEveryRounds = 16;

  Rep3& rep3_;
  const HashFunction& hash_;
  std::vector<Request> pending_;
  std::size_t at_work_ = 0;
  std::uint64_t blocks_done_ = 0;
};

}  // namespace tkdc
