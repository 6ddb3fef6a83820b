// SPDX-License-Identifier: Apache-2.0
// SHA-1's compressions on shares, and HMAC-SHA1 (FIPS 180-4, RFC 2104), in two shapes.
//
// State and blocks are big-endian octets on shares (20 and 64). Chains of blocks that
// somebody waits for are columns of the lane's one grid (grid.h), the shape of the fewest
// rounds: n blocks, HMAC's outer one among them, take kStartRounds + n kBlockRounds
// rounds, and up to 5 more until they fall into step with chains under way; each party
// sends kStartBytes + n kBlockBytes octets.
//
// Bulk work goes block by block. Where enough blocks of it are handed in in one round
// (kRippleFrom..., adr/0015) they go through the shape of the fewest bits (ripple_schedule.h):
// kRippleRounds rounds, and kRippleBits / 8 octets each where their number is a multiple
// of 8. Else each is a chain of the grid. The three servers run the same jobs, so they
// count the same blocks in the same round.
//
// Everything is secret but the lengths and how many there are. One lane's thread.
#pragma once

#include <memory>
#include <vector>

#include "protocol/hash.h"
#include "protocol/protocol.h"
#include "rep3/rep3.h"

namespace tkdc {

namespace sha1 {
struct Chain;
class Grid;
class RippleBackend;
class RippleCohort;
}  // namespace sha1

class Sha1 {
 public:
  static constexpr std::size_t kStartRounds = 2, kBlockRounds = 480;
  static constexpr std::size_t kStartBytes = 8, kBlockBytes = 2908;
  static constexpr std::size_t kRippleRounds = 2165, kRippleBits = 11035;
  static constexpr std::size_t kRippleFromMalicious = 512, kRippleFromSemiHonest = 2048;

  // `ripples`: who computes what takes the fewest bits; null is the CPU.
  explicit Sha1(Rep3& rep3, const sha1::RippleBackend* ripples = nullptr);
  ~Sha1();

  // The state after whole blocks.
  Task<SharedBytes> compress(SharedBytes state, SharedBytes blocks, Work work = Work::kWaitedFor);

  // HMAC, 20 octets. `pads`: the states after K ^ ipad and K ^ opad, one after the other; `blocks`:
  // the rest of the message, padded.
  Task<SharedBytes> hmac(const SharedBytes& pads, SharedBytes blocks, Work work = Work::kWaitedFor);

  std::uint64_t blocks() const { return blocks_done_; }
  // Of them, those that went through the shape of the fewest bits.
  std::uint64_t ripple_blocks() const { return ripple_done_; }
  // How many blocks of bulk work are enough from now on; all three parties set the same.
  void set_ripple_from(std::size_t blocks) { ripple_from_ = blocks; }
  std::size_t default_ripple_from() const {
    return rep3_.claims() != nullptr ? kRippleFromMalicious : kRippleFromSemiHonest;
  }

 private:
  struct Submit;
  struct AtJoin;

  bool gather();
  void choose_for_bulk();
  Task<void> run();
  Task<void> run_ripple(std::vector<sha1::Chain*> chains);
  std::unique_ptr<sha1::RippleCohort> make_ripple(const std::vector<sha1::Chain*>& chains);

  Rep3& rep3_;
  const sha1::RippleBackend* const ripples_;
  std::unique_ptr<sha1::Grid> grid_;
  std::vector<sha1::Chain*> ended_, bulk_;
  std::size_t ripple_from_;
  std::coroutine_handle<> at_join_;  // run()'s, while others may still hand in chains
  bool at_work_ = false;
  std::uint64_t blocks_done_ = 0, ripple_done_ = 0;
};

}  // namespace tkdc
