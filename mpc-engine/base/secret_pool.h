// SPDX-License-Identifier: Apache-2.0
// Memory for a lane's shares that is needed again at once, round after round: pieces
// come back to their pool as they are, and are wiped when its owner says so, when there is
// enough of it, or when the pool ends. Wiping and allocating anew each time would cost as
// much as what is done with the shares. Used by one thread; a piece may outlive its pool.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "base/secret.h"

namespace tkdc {

class SecretPool {
  struct Shelf;

 public:
  static constexpr std::size_t kMostIdleBytes = std::size_t{16} << 20;

  class Piece {
   public:
    Piece() = default;
    Piece(Piece&& other) noexcept { swap(other); }
    Piece& operator=(Piece&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Piece() {
      if (data_ != nullptr) shelf_->give_back(data_, bytes_);
    }
    std::uint8_t* data() const { return data_; }
    std::size_t size() const { return bytes_; }

   private:
    friend class SecretPool;
    Piece(std::shared_ptr<Shelf> shelf, std::uint8_t* data, std::size_t bytes)
        : shelf_(std::move(shelf)), data_(data), bytes_(bytes) {}
    void swap(Piece& other) {
      std::swap(shelf_, other.shelf_);
      std::swap(data_, other.data_);
      std::swap(bytes_, other.bytes_);
    }
    std::shared_ptr<Shelf> shelf_;
    std::uint8_t* data_ = nullptr;
    std::size_t bytes_ = 0;
  };

  // At least `bytes` octets on a cache line's boundary, with anything in them.
  Piece take(std::size_t bytes) {
    bytes = std::max(kLeastBytes, (bytes + kLine - 1) / kLine * kLine);
    auto& idle = shelf_->idle;
    for (auto last = idle.end(); last != idle.begin();) {
      --last;
      if (last->bytes < bytes || last->bytes > 2 * bytes) continue;
      const Idle found = *last;
      idle.erase(last);
      shelf_->idle_bytes -= found.bytes;
      return {shelf_, found.data, found.bytes};
    }
    return {shelf_, Allocator().allocate(bytes), bytes};
  }
  std::size_t idle_bytes() const { return shelf_->idle_bytes; }
  // Wipes and frees what nobody uses.
  void wipe_idle() { shelf_->clear(); }

 private:
  using Allocator = WipingAllocator<std::uint8_t>;
  static constexpr std::size_t kLine = 64, kLeastBytes = 1024;  // from there on it aligns
  struct Idle {
    std::uint8_t* data;
    std::size_t bytes;
  };
  struct Shelf {
    Shelf() = default;
    Shelf(const Shelf&) = delete;
    ~Shelf() { clear(); }
    void clear() {
      for (const Idle& one : idle) Allocator().deallocate(one.data, one.bytes);
      idle.clear();
      idle_bytes = 0;
    }
    // What has been idle for longest goes first; without room to note it, this piece.
    void give_back(std::uint8_t* data, std::size_t bytes) noexcept {
      while (!idle.empty() && idle_bytes + bytes > kMostIdleBytes) {
        Allocator().deallocate(idle.front().data, idle.front().bytes);
        idle_bytes -= idle.front().bytes;
        idle.pop_front();
      }
      if (bytes > kMostIdleBytes) return Allocator().deallocate(data, bytes);
      try {
        idle.push_back({data, bytes});
        idle_bytes += bytes;
      } catch (const std::bad_alloc&) {
        Allocator().deallocate(data, bytes);
      }
    }
    std::deque<Idle> idle;  // the longest idle first
    std::size_t idle_bytes = 0;
  };
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace tkdc
