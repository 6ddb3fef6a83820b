// SPDX-License-Identifier: Apache-2.0
#include "rep3/claims.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace tkdc {

ClaimRecord::Tile ClaimRecord::zero_tile() {
  static constexpr std::uint8_t kZeros[kLanes] = {};
  static constexpr std::uint32_t kSameForAll[2 * ClaimForm::kMaxRows] = {};
  return {kZeros, kSameForAll};
}

std::uint8_t* ClaimRecord::next_tile(std::vector<Stretch>& stretches) {
  if (stretches.empty() || stretches.back().tiles == stretches.back().room) {
    Stretch stretch;
    stretch.room = stretches.size() < 2 ? std::size_t{4} : kLargestStretch / 4;
    if (stretches.size() > 4) stretch.room = kLargestStretch;
    stretch.tile_bytes = form_.rows * 2 * kLanes;
    stretch.memory = pool_.take(stretch.room * stretch.tile_bytes);
    for (std::size_t k = 0; k < 2 * form_.rows; ++k)
      stretch.row[k] = static_cast<std::uint32_t>(k * kLanes);
    stretches.push_back(std::move(stretch));
  }
  Stretch& last = stretches.back();
  return last.memory.data() + last.tiles++ * last.tile_bytes;
}

void ClaimRecord::append(std::size_t lanes, const Rows& rows) {
  const std::size_t full = lanes / kLanes;
  for (std::size_t tile = 0; tile < full; ++tile) {
    std::uint8_t* to = next_tile(whole_);
    for (std::size_t r = 0; r < form_.rows; ++r)
      for (int c = 0; c < 2; ++c, to += kLanes) std::memcpy(to, rows[c][r] + tile * kLanes, kLanes);
  }
  whole_tiles_ += full;
  append_rest(lanes, rows, full * kLanes);
}

// The rows' octets `from` .. `lanes`.
void ClaimRecord::append_rest(std::size_t lanes, const Rows& rows, std::size_t from) {
  while (from < lanes) {
    const std::size_t at = rest_lanes_ % kLanes, take = std::min(kLanes - at, lanes - from);
    std::uint8_t* to =
        at == 0 ? next_tile(rest_)
                : rest_.back().memory.data() + (rest_.back().tiles - 1) * rest_.back().tile_bytes;
    for (std::size_t r = 0; r < form_.rows; ++r)
      for (int c = 0; c < 2; ++c, to += kLanes) std::memcpy(to + at, rows[c][r] + from, take);
    from += take;
    rest_lanes_ += take;
  }
}

void ClaimRecord::hold(SecretPool::Piece memory, std::size_t lanes, std::size_t stride) {
  if (memory.size() < 2 * stride || stride < form_.rows * lanes ||
      2 * stride > std::numeric_limits<std::uint32_t>::max())
    throw std::logic_error("rows of claims that do not stand as they should");
  Rows rows{};
  Stretch stretch;
  for (std::size_t r = 0; r < form_.rows; ++r)
    for (std::size_t c = 0; c < 2; ++c) {
      stretch.row[2 * r + c] = static_cast<std::uint32_t>(c * stride + r * lanes);
      rows[c][r] = memory.data() + stretch.row[2 * r + c];
    }
  stretch.tiles = stretch.room = lanes / kLanes;
  append_rest(lanes, rows, stretch.tiles * kLanes);
  if (stretch.tiles == 0) return;
  stretch.tile_bytes = kLanes;
  stretch.memory = std::move(memory);
  whole_tiles_ += stretch.tiles;
  whole_.push_back(std::move(stretch));
}

std::size_t ClaimRecord::blocks() const {
  const std::size_t tiles = whole_tiles_ + (rest_lanes_ + kLanes - 1) / kLanes;
  return (tiles + tiles_per_block() - 1) / tiles_per_block();
}

// Of the last tile.
void ClaimRecord::clear_rest() {
  const std::size_t at = rest_lanes_ % kLanes;
  if (at == 0) return;
  const Stretch& last = rest_.back();
  std::uint8_t* row = last.memory.data() + (last.tiles - 1) * last.tile_bytes;
  for (std::size_t k = 0; k < 2 * form_.rows; ++k, row += kLanes)
    std::memset(row + at, 0, kLanes - at);
}

FieldClaim::FieldClaim(SharedBytes left, SharedBytes right, SharedBytes sum)
    : a(std::move(left)), b(std::move(right)), z(std::move(sum)) {
  if (a.size() == 0 || a.size() != b.size() || a.size() % 16 != 0 || z.size() != 16)
    throw std::logic_error("a claim in GF(2^128) without products");
}
FieldClaim::FieldClaim(FieldClaim&&) noexcept = default;
FieldClaim::~FieldClaim() = default;

ClaimRecord& ClaimLog::record_of(const ClaimForm& form) {
  auto same = std::ranges::find_if(batch_.octets,
                                   [&](const auto& record) { return &record->form() == &form; });
  if (same != batch_.octets.end()) return **same;
  return *batch_.octets.emplace_back(std::make_unique<ClaimRecord>(form, pool_));
}

void ClaimLog::add(const ClaimForm& form, std::size_t lanes, const ClaimRecord::Rows& rows) {
  ClaimRecord& record = record_of(form);
  record.append(lanes, rows);
  bytes_ += lanes * record.lane_bytes();
}

void ClaimLog::hold(const ClaimForm& form, SecretPool::Piece rows, std::size_t lanes,
                    std::size_t stride) {
  ClaimRecord& record = record_of(form);
  record.hold(std::move(rows), lanes, stride);
  bytes_ += lanes * record.lane_bytes();
}

void ClaimLog::add(FieldClaim claim) {
  bytes_ += 2 * (claim.a.size() + claim.b.size() + claim.z.size());
  batch_.field.push_back(std::move(claim));
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
