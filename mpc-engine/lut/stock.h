// SPDX-License-Identifier: Apache-2.0
// How much is left of what was made ahead and serves once each: masks and tables. Two octets under
// one mask would open x ⊕ x'. So a place that has been taken is never given again, whatever fails
// then; a stock cannot be copied, has nothing left once it has been moved, and belongs to its
// session.
//
// One thread. Secret: nothing. Error: the session's; another session; not enough left.
#pragma once

#include <utility>

#include "lut/label.h"
#include "pair/session.h"

namespace tkdc::lut {

class Stock {
 public:
  Stock() = default;
  // `what`: "tables", for messages.
  Stock(const pair::Session& session, std::size_t size, const char* what)
      : session_(session.id()), size_(size), what_(what) {}
  Stock(const Stock&) = delete;
  Stock& operator=(const Stock&) = delete;
  Stock(Stock&& other) noexcept { *this = std::move(other); }
  Stock& operator=(Stock&& other) noexcept {
    session_ = other.session_;
    size_ = std::exchange(other.size_, 0);
    next_ = std::exchange(other.next_, 0);
    what_ = other.what_;
    return *this;
  }

  std::size_t size() const { return size_; }
  std::size_t left() const { return size_ - next_; }
  // The next place that serves.
  std::size_t next() const { return next_; }
  // Whether so many would serve now. Error: as take()'s.
  Result<void> fits(const pair::Session& session, std::size_t count) const;
  // The first of so many that serve now.
  Result<std::size_t> take(const pair::Session& session, std::size_t count);

 private:
  Label session_;
  std::size_t size_ = 0, next_ = 0;
  const char* what_ = "tables";
};

}  // namespace tkdc::lut
