// SPDX-License-Identifier: Apache-2.0
#include "rep3/claims.h"

#include <algorithm>
#include <stdexcept>

namespace tkdc {

void ClaimRecord::grow() {
  const std::size_t blocks =
      chunks_.size() < 2 ? 1 : std::min(2 * chunks_.back().blocks, kLargestChunk);
  const std::size_t bytes = blocks * block_bytes();
  chunks_.push_back({blocks, {WipingAllocator<std::uint8_t>().allocate(bytes), Free{bytes}}});
  room_ += blocks * tiles_per_block() * kLanes;
}

// Where the tile of lane number lanes_ starts.
std::uint8_t* ClaimRecord::next_tile() {
  if (lanes_ == room_) grow();
  const std::size_t tile_bytes = form_.rows * 2 * kLanes;
  const Chunk& last = chunks_.back();
  const std::size_t before = room_ - last.blocks * tiles_per_block() * kLanes;
  return last.octets.get() + (lanes_ - before) / kLanes * tile_bytes;
}

void ClaimRecord::append(std::size_t lanes, const Rows& rows) {
  for (std::size_t done = 0; done < lanes;) {
    std::uint8_t* to = next_tile() + lanes_ % kLanes;
    const std::size_t take = std::min(kLanes - lanes_ % kLanes, lanes - done);
    for (std::size_t r = 0; r < form_.rows; ++r)
      for (int c = 0; c < 2; ++c, to += kLanes) {
        if (take == kLanes)
          std::memcpy(to, rows[c][r] + done, kLanes);
        else
          std::memcpy(to, rows[c][r] + done, take);
      }
    done += take;
    lanes_ += take;
  }
}

std::size_t ClaimRecord::blocks() const {
  const std::size_t per_block = tiles_per_block() * kLanes;
  return (lanes_ + per_block - 1) / per_block;
}

void ClaimRecord::clear_rest() {
  const std::size_t per_block = tiles_per_block() * kLanes, lanes = lanes_;
  if (lanes_ % kLanes != 0) {
    std::uint8_t* row = next_tile();
    for (std::size_t k = 0; k < 2 * form_.rows; ++k, row += kLanes)
      std::memset(row + lanes_ % kLanes, 0, kLanes - lanes_ % kLanes);
    lanes_ += kLanes - lanes_ % kLanes;
  }
  for (; lanes_ % per_block != 0; lanes_ += kLanes)
    std::memset(next_tile(), 0, form_.rows * 2 * kLanes);
  lanes_ = lanes;
}

FieldClaim::FieldClaim(SharedBytes left, SharedBytes right, SharedBytes sum)
    : a(std::move(left)), b(std::move(right)), z(std::move(sum)) {
  if (a.size() == 0 || a.size() != b.size() || a.size() % 16 != 0 || z.size() != 16)
    throw std::logic_error("a claim in GF(2^128) without products");
}
FieldClaim::FieldClaim(FieldClaim&&) noexcept = default;
FieldClaim::~FieldClaim() = default;

void ClaimLog::add(const ClaimForm& form, std::size_t lanes, const ClaimRecord::Rows& rows) {
  auto same = std::ranges::find_if(batch_.octets,
                                   [&](const auto& record) { return &record->form() == &form; });
  if (same == batch_.octets.end()) {
    batch_.octets.push_back(std::make_unique<ClaimRecord>(form));
    same = batch_.octets.end() - 1;
  }
  (*same)->append(lanes, rows);
  bytes_ += lanes * (*same)->lane_bytes();
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
