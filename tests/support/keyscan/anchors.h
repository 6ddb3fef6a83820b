// SPDX-License-Identifier: Apache-2.0
// Anchors: short stretches of forms, each with the form and the place in it that it is of. A scan
// asks for what stands in memory, which is nearly never one of them: a blocked Bloom filter (Putze,
// Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007), of one word for each
// question, says so before the table is looked at. It never says no of what is there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace keyscan {

class Anchors {
 public:
  struct Entry {
    std::uint64_t anchor;
    std::uint32_t form;
    std::uint32_t start;  // units, octets or planes of the form that lie before the anchor
  };

  void add(std::uint64_t anchor, std::size_t form, std::size_t start) {
    entries_.push_back(
        {anchor, static_cast<std::uint32_t>(form), static_cast<std::uint32_t>(start)});
  }
  // Before the first question, after the last add().
  void finish() {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(entries_.size(), 64));
    shift_ = 64 - std::countr_zero(size);
    filter_.assign(size / 4, 0);  // 16 bits for each
    std::ranges::sort(entries_, {}, [](const Entry& one) { return mixed(one.anchor); });
    begins_.assign(size + 1, 0);
    for (const Entry& one : entries_) {
      const std::uint64_t hash = mixed(one.anchor);
      filter_[hash >> shift_ >> 2] |= bits_of(hash);
      ++begins_[(hash >> shift_) + 1];
    }
    for (std::size_t i = 0; i < size; i++) begins_[i + 1] += begins_[i];
  }

  bool may_have(std::uint64_t anchor) const {
    const std::uint64_t hash = mixed(anchor), bits = bits_of(hash);
    return (filter_[hash >> shift_ >> 2] & bits) == bits;
  }
  // Those that a question is about, and maybe others.
  std::span<const Entry> near(std::uint64_t anchor) const {
    const std::size_t at = mixed(anchor) >> shift_;
    return std::span(entries_).subspan(begins_[at], begins_[at + 1] - begins_[at]);
  }

 private:
  static std::uint64_t mixed(std::uint64_t anchor) {
    anchor *= 0x9e3779b97f4a7c15;
    return anchor ^ anchor >> 32;
  }
  static std::uint64_t bits_of(std::uint64_t hash) {
    return std::uint64_t{1} << (hash & 63) | std::uint64_t{1} << (hash >> 6 & 63) |
           std::uint64_t{1} << (hash >> 12 & 63);
  }

  std::vector<Entry> entries_;         // in the order of mixed()
  std::vector<std::uint32_t> begins_;  // of the entries with one beginning of mixed()
  std::vector<std::uint64_t> filter_;
  int shift_ = 58;
};

}  // namespace keyscan
