// SPDX-License-Identifier: Apache-2.0
#include "rep3/claims.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tkdc {

ClaimRows::ClaimRows(const ClaimShape& shape, SecretPool pool)
    : shape_(shape), pool_(std::move(pool)) {
  if (shape.rows > ClaimShape::kMaxRows || shape.second.size() != (bits() ? 0 : shape.rows) ||
      (shape.slots != 1 && shape.slots != 2 && shape.slots != 4))
    throw std::logic_error("a shape of claims that cannot be recorded");
}

ClaimRows::Tile ClaimRows::zero_tile() {
  static constexpr std::uint8_t kZeros[kLanes] = {};
  static constexpr std::uint32_t kSameForAll[2 * ClaimShape::kMaxRows] = {};
  return {kZeros, kSameForAll};
}

std::uint8_t* ClaimRows::next_tile(std::vector<Stretch>& stretches) {
  if (stretches.empty() || stretches.back().tiles == stretches.back().room) {
    Stretch stretch;
    stretch.room = stretches.size() < 2 ? std::size_t{4} : kLargestStretch / 4;
    if (stretches.size() > 4) stretch.room = kLargestStretch;
    stretch.tile_bytes = strands() * kLanes;
    stretch.memory = pool_.take(stretch.room * stretch.tile_bytes);
    for (std::size_t k = 0; k < strands(); ++k)
      stretch.row[k] = static_cast<std::uint32_t>(k * kLanes);
    stretches.push_back(std::move(stretch));
  }
  Stretch& last = stretches.back();
  return last.memory.data() + last.tiles++ * last.tile_bytes;
}

// Octets from .. from + lanes of each row to the strands of a tile, 64 octets apart.
void ClaimRows::put(const Rows& rows, std::size_t from, std::size_t lanes, std::uint8_t* to) const {
  for (std::size_t r = 0; r < shape_.rows; ++r) {
    const std::uint8_t* const row[2] = {rows[0][r] + from, rows[1][r] + from};
    if (!bits()) {
      add_mapped(shape_.second[r], row[0], row[1], lanes, to);
      to += kLanes;
      continue;
    }
    for (int c = 0; c < 2; ++c, to += kLanes) std::memcpy(to, row[c], lanes);
  }
}

void ClaimRows::append(std::size_t lanes, const Rows& rows) {
  const std::size_t full = lanes / kLanes;
  for (std::size_t tile = 0; tile < full; ++tile)
    put(rows, tile * kLanes, kLanes, next_tile(whole_));
  whole_tiles_ += full;
  append_rest(full * kLanes, lanes, [&](std::size_t from, std::size_t take, std::uint8_t* to) {
    put(rows, from, take, to);
  });
}

// put(from, take, to): octets from .. from + take of each row, to the strands at `to`.
template <class Put>
void ClaimRows::append_rest(std::size_t from, std::size_t lanes, Put put) {
  while (from < lanes) {
    const std::size_t at = rest_lanes_ % kLanes, take = std::min(kLanes - at, lanes - from);
    std::uint8_t* to =
        at == 0 ? next_tile(rest_)
                : rest_.back().memory.data() + (rest_.back().tiles - 1) * rest_.back().tile_bytes;
    put(from, take, to + at);
    from += take;
    rest_lanes_ += take;
  }
}

void ClaimRows::hold(SecretPool::Piece memory, std::size_t lanes) {
  const std::size_t bytes = shape_.rows * lanes;
  if (bits() || memory.size() < bytes || bytes > std::numeric_limits<std::uint32_t>::max())
    throw std::logic_error("rows of claims that do not stand as they should");
  Stretch stretch;
  for (std::size_t r = 0; r < shape_.rows; ++r)
    stretch.row[r] = static_cast<std::uint32_t>(r * lanes);
  stretch.tiles = stretch.room = lanes / kLanes;
  append_rest(stretch.tiles * kLanes, lanes,
              [&](std::size_t from, std::size_t take, std::uint8_t* to) {
                for (std::size_t r = 0; r < shape_.rows; ++r)
                  std::memcpy(to + r * kLanes, memory.data() + stretch.row[r] + from, take);
              });
  if (stretch.tiles == 0) return;
  stretch.tile_bytes = kLanes;
  stretch.memory = std::move(memory);
  whole_tiles_ += stretch.tiles;
  whole_.push_back(std::move(stretch));
}

std::size_t ClaimRows::blocks() const {
  const std::size_t tiles = whole_tiles_ + (rest_lanes_ + kLanes - 1) / kLanes;
  return (tiles + tiles_per_block() - 1) / tiles_per_block();
}

// Of the last tile.
void ClaimRows::clear_rest() {
  const std::size_t at = rest_lanes_ % kLanes;
  if (at == 0) return;
  const Stretch& last = rest_.back();
  std::uint8_t* row = last.memory.data() + (last.tiles - 1) * last.tile_bytes;
  for (std::size_t k = 0; k < strands(); ++k, row += kLanes) std::memset(row + at, 0, kLanes - at);
}

FieldClaim::FieldClaim(SharedBytes left, SharedBytes right, SharedBytes sum)
    : a(std::move(left)), b(std::move(right)), z(std::move(sum)) {
  if (a.size() == 0 || a.size() != b.size() || a.size() % 16 != 0 || z.size() != 16)
    throw std::logic_error("a claim in GF(2^128) without products");
}
FieldClaim::FieldClaim(FieldClaim&&) noexcept = default;
FieldClaim::~FieldClaim() = default;

ClaimRows& ClaimLog::record_of(const ClaimShape& shape) {
  auto same = std::ranges::find_if(batch_.octets,
                                   [&](const auto& record) { return &record->shape() == &shape; });
  if (same != batch_.octets.end()) return **same;
  return *batch_.octets.emplace_back(std::make_unique<ClaimRows>(shape, pool_));
}

void ClaimLog::add(const ClaimShape& shape, std::size_t lanes, const ClaimRows::Rows& rows) {
  ClaimRows& record = record_of(shape);
  record.append(lanes, rows);
  bytes_ += lanes * record.lane_bytes();
}

void ClaimLog::hold(const ClaimShape& shape, SecretPool::Piece rows, std::size_t lanes) {
  ClaimRows& record = record_of(shape);
  record.hold(std::move(rows), lanes);
  bytes_ += lanes * record.lane_bytes();
}

void ClaimLog::add(FieldClaim claim) {
  bytes_ += 2 * (claim.a.size() + claim.b.size() + claim.z.size());
  batch_.field.push_back(std::move(claim));
}

std::uint64_t ClaimBatch::claims() const {
  constexpr std::uint64_t kBitsOfAnOctet = 8;
  std::uint64_t sum = field.size();
  for (const auto& rows : octets) {
    const ClaimShape& shape = rows->shape();
    sum += rows->lanes() * (rows->bits() ? kBitsOfAnOctet : shape.slots * shape.claims);
  }
  return sum;
}

std::uint64_t ClaimLog::take(ClaimBatch& batch) {
  batch = std::move(batch_);
  batch_ = ClaimBatch();
  bytes_ = 0;
  checks_.emplace_back().waiting = std::move(waiting_);
  waiting_.clear();
  return first_check_ + checks_.size() - 1;
}

std::vector<std::coroutine_handle<>> ClaimLog::checked(std::uint64_t number) {
  checks_[number - first_check_].done = true;
  std::vector<std::coroutine_handle<>> ready;
  for (; !checks_.empty() && checks_.front().done; checks_.pop_front(), ++first_check_)
    ready.insert(ready.end(), checks_.front().waiting.begin(), checks_.front().waiting.end());
  return ready;
}

}  // namespace tkdc
