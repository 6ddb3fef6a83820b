// SPDX-License-Identifier: Apache-2.0
// What protocol code promises about every message it sent, for malicious
// security: a layer's result z is a sum of products x y of values that were
// shared before. verify/ checks all promises of a lane before anything that
// depends on them leaves it (docs/protocols/12-verification.md).
//
// Protocol code records octets as they are, inputs and messages; the claims
// follow from them by linear maps, which a ClaimForm says. Products of 16 octets
// in GCM's GF(2^128) are FieldClaims. All octets here are shares. Used by one
// lane's thread.
#pragma once

#include <array>
#include <coroutine>
#include <deque>
#include <memory>
#include <vector>

#include "share/shared_bytes.h"

namespace tkdc {

// A linear map on an octet's bits: their images.
using OctetMap = std::array<std::uint8_t, 8>;

// How claims follow from recorded rows. A lane is one octet of each row; it has
// `slots` instances of every claim: in each slot, with x, y and z sums of maps of
// rows, z[claim] = sum over the factors' right sides of that claim of x y.
struct ClaimForm {
  // kOctets: products in the AES field. kBits: of bits one by one; then there is
  // one slot and one claim, factor j is row j times row `factors` + j, z the last row.
  enum class Product : std::uint8_t { kOctets, kBits };
  struct Term {
    std::size_t row;
    OctetMap map;
  };
  using Sum = std::vector<Term>;
  struct Right {
    std::size_t claim;
    std::vector<Sum> y;  // for each slot
  };
  struct Factor {
    std::vector<Sum> x;
    std::vector<Right> right;
  };

  static constexpr std::size_t kMaxRows = 16;
  Product product;
  std::size_t rows, slots, claims;
  std::vector<Factor> factors;
  std::vector<std::vector<Sum>> z;  // [claim][slot]
};

// The rows of one form, in blocks of 16 slots in 64 lanes: of each tile of 64
// lanes every row, of each row component i, then component i+1.
class ClaimRecord {
 public:
  static constexpr std::size_t kLanes = 64, kSlots = 16;
  using Rows = const std::uint8_t* [2][ClaimForm::kMaxRows];

  explicit ClaimRecord(const ClaimForm& form) : form_(form) {}

  // rows[c][r]: component c of row r, `lanes` octets.
  void append(std::size_t lanes, const Rows& rows);

  const ClaimForm& form() const { return form_; }
  std::size_t tiles_per_block() const { return kSlots / form_.slots; }
  std::size_t block_bytes() const { return tiles_per_block() * form_.rows * 2 * kLanes; }
  std::size_t lane_bytes() const { return form_.rows * 2; }
  std::size_t blocks() const;
  // What is not used of the last block is set to 0, which claims 0 = 0. Then
  // calls f(block) for each.
  template <class F>
  void for_each_block(F f) {
    clear_rest();
    std::size_t left = blocks();
    for (const Chunk& chunk : chunks_)
      for (std::size_t k = 0; k < chunk.blocks && left > 0; ++k, --left)
        f(chunk.octets.get() + k * block_bytes());
  }

 private:
  struct Free {
    std::size_t bytes;
    void operator()(std::uint8_t* p) const { WipingAllocator<std::uint8_t>().deallocate(p, bytes); }
  };
  struct Chunk {
    std::size_t blocks;
    std::unique_ptr<std::uint8_t, Free> octets;  // not zeroed at first, wiped at last
  };
  static constexpr std::size_t kLargestChunk = 16;
  void grow();
  void clear_rest();
  std::uint8_t* next_tile();

  const ClaimForm& form_;
  std::vector<Chunk> chunks_;
  std::size_t lanes_ = 0, room_ = 0;  // in lanes
};

// z (16 octets) = sum of a_k b_k over the 16-octet elements of a and b.
struct FieldClaim {
  FieldClaim(SharedBytes left, SharedBytes right, SharedBytes sum);
  FieldClaim(FieldClaim&&) noexcept;
  ~FieldClaim();
  SharedBytes a, b, z;
};

struct ClaimBatch {
  std::vector<std::unique_ptr<ClaimRecord>> octets;  // one of each form
  std::vector<FieldClaim> field;
  bool empty() const { return octets.empty() && field.empty(); }
};

// The promises of one lane that have not been taken for verification yet, who
// waits for it, and which batches are being verified.
class ClaimLog {
 public:
  // Past this a batch is verified even if nobody waits for it: what is verified
  // while its octets are in the cache costs less.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

  // Forms are told apart by their address; they live as long as the program.
  void add(const ClaimForm& form, std::size_t lanes, const ClaimRecord::Rows& rows);
  void add(FieldClaim claim);

  // Whether all that was recorded so far has been verified.
  bool clean() const { return batch_.empty() && checks_.empty(); }
  void wait(std::coroutine_handle<> h) { waiting_.push_back(h); }

  // For the verifier. It takes a batch when somebody waits or too much stands here;
  // batches may be verified side by side and end in any order.
  bool wants_check() const { return !waiting_.empty() || bytes_ > kMaxBytes; }
  bool checking() const { return !checks_.empty(); }
  // The batch, and its number for checked().
  std::uint64_t take(ClaimBatch& batch);
  // Returns who waited for this batch and all before it.
  std::vector<std::coroutine_handle<>> checked(std::uint64_t number);

 private:
  struct Check {
    bool done = false;
    std::vector<std::coroutine_handle<>> waiting;
  };
  ClaimBatch batch_;
  std::vector<std::coroutine_handle<>> waiting_;
  std::size_t bytes_ = 0;
  std::deque<Check> checks_;
  std::uint64_t first_check_ = 0;
};

}  // namespace tkdc
