// SPDX-License-Identifier: Apache-2.0
// SHA-256's and SHA-384's compression functions on shares (FIPS 180-4), and hashes
// of whole messages.
//
// State and block are big-endian octets on shares. compression.h has the circuit:
// 462 or 656 rounds for each compression. Requests
// of the same round of the lane run together. Everything is secret but lengths.
// One lane's thread.
#pragma once

#include <vector>

#include "rep3/rep3.h"

namespace tkdc {

// What SHA-256 and SHA-384 (SHA-512 but for its start and its end) differ in.
struct Sha2Variant {
  std::size_t word_bytes, state_bytes, block_bytes;
  std::size_t length_bytes;  // of the length behind a message's padding
  std::size_t digest_bytes;  // the state's first octets
  const std::uint64_t* initial;
  int rounds;                 // of a compression
  std::size_t message_bytes;  // of a compression, sent by each party

  // Of a message of so many octets, with its padding.
  std::size_t blocks_of(std::size_t bytes) const {
    return (bytes + 1 + length_bytes + block_bytes - 1) / block_bytes;
  }
};
extern const Sha2Variant kSha256, kSha384;

class Sha2 {
 public:
  Sha2(Rep3& rep3, const Sha2Variant& variant);

  const Sha2Variant& variant() const { return variant_; }

  // The state after one block.
  Task<SharedBytes> compress(SharedBytes state, SharedBytes block);

  // The state after `data` (any length, on shares) and FIPS 180-4's padding for a
  // message of `hashed_before + data.size()` octets, of which hashed_before (whole
  // blocks) are already in `state`.
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
  template <int L>
  Task<void> run(std::vector<Request> requests);

  // As Sha1's: jobs which came at different times soon share their rounds.
  static constexpr std::uint64_t kStartEveryRounds = 16;

  Rep3& rep3_;
  const Sha2Variant& variant_;
  std::vector<Request> pending_;
  std::size_t running_ = 0;
  std::uint64_t blocks_done_ = 0;
};

}  // namespace tkdc
