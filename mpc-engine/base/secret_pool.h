// SPDX-License-Identifier: Apache-2.0
// Memory for a lane's shares that is needed again at once, round after round: pieces
// come back to their pool as they are, and are wiped when the pool has enough or ends.
// Wiping and allocating anew would cost as much as what is done with the shares. Used by
// one thread; a piece may outlive its pool.
#pragma once

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
    constexpr std::size_t kLine = 64;
    bytes = (bytes + kLine - 1) / kLine * kLine;
    auto& idle = shelf_->idle;
    for (std::size_t k = idle.size(); k-- > 0;) {
      if (idle[k].bytes < bytes || idle[k].bytes > 2 * bytes) continue;
      const Idle found = std::exchange(idle[k], idle.back());
      idle.pop_back();
      shelf_->idle_bytes -= found.bytes;
      return {shelf_, found.data, found.bytes};
    }
    return {shelf_, Allocator().allocate(bytes), bytes};
  }
  std::size_t idle_bytes() const { return shelf_->idle_bytes; }

 private:
  using Allocator = WipingAllocator<std::uint8_t>;
  struct Idle {
    std::uint8_t* data;
    std::size_t bytes;
  };
  struct Shelf {
    Shelf() = default;
    Shelf(const Shelf&) = delete;
    ~Shelf() {
      for (const Idle& one : idle) Allocator().deallocate(one.data, one.bytes);
    }
    void give_back(std::uint8_t* data, std::size_t bytes) {
      if (idle_bytes + bytes > kMostIdleBytes) return Allocator().deallocate(data, bytes);
      idle.push_back({data, bytes});
      idle_bytes += bytes;
    }
    std::vector<Idle> idle;
    std::size_t idle_bytes = 0;
  };
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace tkdc
