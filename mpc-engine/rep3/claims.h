// SPDX-License-Identifier: Apache-2.0
// What protocol code promises about every message it sent, for malicious
// security: a layer's result z is a sum of products x y of values that were
// shared before. rep3/verify/ checks all promises of a lane before anything that
// depends on them leaves it (docs/protocols/12-verification.md).
//
// Protocol code records octets as they are, inputs and messages; the claims
// follow from them by linear maps, which a ClaimShape says. Of octets that count in
// the AES field one octet is kept for both components (rep3/octet_map.h): a
// Shamir share, of which a party's term of a product is one product. Products of
// 16 octets in GCM's GF(2^128) are FieldClaims. All octets here are shares. Used
// by one lane's thread.
#pragma once

#include <array>
#include <coroutine>
#include <deque>
#include <memory>
#include <vector>

#include "base/secret_pool.h"
#include "protocol/shared_bytes.h"
#include "rep3/octet_map.h"

namespace tkdc {

// How claims follow from recorded rows. A lane is one octet of each row; it has
// `slots` instances (1, 2 or 4) of every claim: in each slot, with x, y and z sums of maps of
// rows, z[claim] = sum over the factors' right sides of that claim of x y.
struct ClaimShape {
  // kOctets: products in the AES field. kBits: of bits one by one; then there is
  // one slot and one claim, factor j is row j times row `factors` + j, z the last row.
  enum class Product : std::uint8_t { kOctets, kBits };
  struct Term {
    std::size_t row;
    OctetMap map;
  };
  using Sum = std::vector<Term>;  // rows that differ
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
  // kOctets: row r is kept as component i + second[r](component i+1). second[r] is such
  // that every map of the row turns it into multiplication by w.
  std::vector<OctetMap> second;
  std::vector<Factor> factors;
  std::vector<std::vector<Sum>> z;  // [claim][slot]
};

// The rows of one shape. What is verified at once is a block: some tiles, each 64 lanes of
// every row, together kBitSlots or kOctetSlots slots. Full tiles come first, in the
// order in which they were recorded, then what did not fill one: so all parties number
// their claims alike, whether a party's rows were copied or stay where they are.
class ClaimRows {
 public:
  static constexpr std::size_t kLanes = 64, kBitSlots = 16, kOctetSlots = 32;
  static constexpr std::size_t kMaxTiles = kOctetSlots;
  using Rows = const std::uint8_t* [2][ClaimShape::kMaxRows];
  // Strand k stands at base + row[k]: of octets row k, of bits component k % 2 of row k / 2.
  struct Tile {
    const std::uint8_t* base;
    const std::uint32_t* row;
  };

  explicit ClaimRows(const ClaimShape& shape, SecretPool pool = {});

  // Takes rows[c][r]: component c of row r, `lanes` octets.
  void append(std::size_t lanes, const Rows& rows);
  // The same without copying: row r of octets, as it is kept, stands at r * lanes of `rows`.
  void hold(SecretPool::Piece rows, std::size_t lanes);

  const ClaimShape& shape() const { return shape_; }
  bool bits() const { return shape_.product == ClaimShape::Product::kBits; }
  std::size_t slots() const { return bits() ? kBitSlots : kOctetSlots; }
  std::size_t strands() const { return bits() ? 2 * shape_.rows : shape_.rows; }
  std::size_t tiles_per_block() const { return slots() / shape_.slots; }
  std::size_t lane_bytes() const { return strands(); }
  std::size_t blocks() const;
  std::size_t lanes() const { return kLanes * whole_tiles_ + rest_lanes_; }
  // Calls f(tiles) with each block's tiles. Those that the last block lacks are of zeros,
  // which claims 0 = 0.
  template <class F>
  void for_each_block(F f) {
    clear_rest();
    const std::size_t per_block = tiles_per_block();
    Tile tiles[kMaxTiles];
    std::size_t filled = 0;
    for (const std::vector<Stretch>* stretches : {&whole_, &rest_})
      for (const Stretch& stretch : *stretches)
        for (std::size_t k = 0; k < stretch.tiles; ++k) {
          tiles[filled++] = {stretch.memory.data() + k * stretch.tile_bytes, stretch.row.data()};
          if (filled == per_block) f(static_cast<const Tile*>(tiles)), filled = 0;
        }
    if (filled == 0) return;
    while (filled < per_block) tiles[filled++] = zero_tile();
    f(static_cast<const Tile*>(tiles));
  }

 private:
  // Tiles that follow one another in memory.
  struct Stretch {
    SecretPool::Piece memory;
    std::size_t tiles = 0, room = 0, tile_bytes = 0;
    std::array<std::uint32_t, 2 * ClaimShape::kMaxRows> row{};
  };
  static constexpr std::size_t kLargestStretch = 256;  // in tiles
  static Tile zero_tile();
  std::uint8_t* next_tile(std::vector<Stretch>& stretches);
  void put(const Rows& rows, std::size_t from, std::size_t lanes, std::uint8_t* to) const;
  template <class Put>
  void append_rest(std::size_t from, std::size_t lanes, Put put);
  void clear_rest();

  const ClaimShape& shape_;
  SecretPool pool_;
  std::vector<Stretch> whole_, rest_;
  std::size_t whole_tiles_ = 0, rest_lanes_ = 0;
};

// z (16 octets) = sum of a_k b_k over the 16-octet elements of a and b.
struct FieldClaim {
  FieldClaim(SharedBytes left, SharedBytes right, SharedBytes sum);
  FieldClaim(FieldClaim&&) noexcept;
  ~FieldClaim();
  SharedBytes a, b, z;
};

struct ClaimBatch {
  std::vector<std::unique_ptr<ClaimRows>> octets;  // one of each shape
  std::vector<FieldClaim> field;
  bool empty() const { return octets.empty() && field.empty(); }
  std::uint64_t claims() const;  // the same at all parties
};

// The promises of one lane that have not been taken for verification yet, who
// waits for it, and which batches are being verified.
class ClaimLog {
 public:
  // Past this a batch is verified even if nobody waits for it.
  static constexpr std::size_t kMaxBytes = std::size_t{2} << 20;

  // Shapes are told apart by their address; they live as long as the program.
  void add(const ClaimShape& shape, std::size_t lanes, const ClaimRows::Rows& rows);
  void add(FieldClaim claim);
  // Rows that stay where they are, in memory from pool() (ClaimRows::hold).
  SecretPool& pool() { return pool_; }  // wiped whenever all is verified
  void hold(const ClaimShape& shape, SecretPool::Piece rows, std::size_t lanes);

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
  ClaimRows& record_of(const ClaimShape& shape);

  SecretPool pool_;
  ClaimBatch batch_;
  std::vector<std::coroutine_handle<>> waiting_;
  std::size_t bytes_ = 0;
  std::deque<Check> checks_;
  std::uint64_t first_check_ = 0;
};

}  // namespace tkdc
