// SPDX-License-Identifier: Apache-2.0
// SHA-1 and HMAC-SHA1 on shares (FIPS 180-4, RFC 2104): chains of blocks, all of a
// lane in one grid (grid.h).
//
// State and blocks are big-endian octets on shares (20 and 64). n blocks, HMAC's
// outer one among them, take kStartRounds + n kBlockRounds rounds, and up to 5 more
// until they fall into step with chains under way; each party sends kStartBytes +
// n kBlockBytes octets. Everything is secret but the lengths. One lane's thread.
#pragma once

#include <memory>
#include <vector>

#include "rep3/rep3.h"

namespace tkdc {

inline constexpr std::size_t kSha1StateBytes = 20;
inline constexpr std::size_t kSha1BlockBytes = 64;

namespace sha1 {
struct Chain;
class Grid;
}  // namespace sha1

class Sha1 {
 public:
  static constexpr std::size_t kStartRounds = 2, kBlockRounds = 480;
  static constexpr std::size_t kStartBytes = 8, kBlockBytes = 2908;

  explicit Sha1(Rep3& rep3);
  ~Sha1();

  // The state after one block.
  Task<SharedBytes> compress(SharedBytes state, SharedBytes block);

  // The state after `data` (any length, on shares) and FIPS 180-4's padding
  // for a message of `hashed_before + data.size()` octets, of which
  // hashed_before (a multiple of 64) are already in `state`.
  Task<SharedBytes> finish(SharedBytes state, SharedBytes data, std::size_t hashed_before);

  // HMAC of `data`, 20 octets: `inner` and `outer` are the states after K ^ ipad and K ^ opad.
  Task<SharedBytes> hmac(SharedBytes inner, SharedBytes outer, SharedBytes data);

  // The initial state as a sharing of a public constant.
  SharedBytes initial() const;

  std::uint64_t blocks() const { return blocks_done_; }

 private:
  struct Submit;
  struct AtJoin;

  void pad(SharedBytes& data, std::size_t hashed_before) const;
  bool gather();
  Task<void> run();

  Rep3& rep3_;
  std::unique_ptr<sha1::Grid> grid_;
  std::vector<sha1::Chain*> ended_;
  std::coroutine_handle<> at_join_;  // run()'s, while others may still hand in chains
  bool running_ = false;
  std::uint64_t blocks_done_ = 0;
};

}  // namespace tkdc
