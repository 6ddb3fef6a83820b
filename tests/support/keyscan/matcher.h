// SPDX-License-Identifier: Apache-2.0
// Finds many values, in many forms, in a stretch of memory, at any alignment.
//
// Every form has an anchor of 64 bits (its first eight octets or planes). The
// scan rolls over the memory once per stride, looks each 64-bit window up in a
// bitmap that fits the cache, and compares the whole form only where the
// bitmap says so. Read-only after construction: scan() may run in several
// threads.
#pragma once

#include <map>
#include <span>
#include <unordered_map>

#include "forms.h"

namespace keyscan {

struct Hit {
  std::string value;
  std::string form;
  std::size_t stride = 0;  // octets between neighbouring octets or planes
  std::size_t offset = 0;  // in the scanned memory
  bool operator==(const Hit&) const = default;
};

class Matcher {
 public:
  // Error (std::invalid_argument): a value that is shorter than 16 octets or
  // so regular that it would be found by chance.
  explicit Matcher(const std::vector<Value>& values);

  // `packed`: forms whose octets lie side by side, alone, which is thirty times as fast.
  void scan(std::span<const std::uint8_t> memory, std::vector<Hit>& hits,
            bool packed = false) const;

  // The longest stretch of memory that one form covers: by so much must two
  // neighbouring pieces of memory overlap.
  std::size_t longest_octets() const { return longest_octets_; }
  std::size_t forms() const { return forms_; }

 private:
  static constexpr std::size_t kBitmapBits = std::size_t{1} << 20;

  struct Form {
    std::size_t value;
    std::string name;
    Octets octets;           // of an OctetForm
    std::vector<bool> bits;  // of a BitForm
  };
  struct Index {
    std::vector<std::uint64_t> bitmap = std::vector<std::uint64_t>(kBitmapBits / 64);
    std::unordered_multimap<std::uint64_t, Form> forms;
    void add(std::uint64_t anchor, Form form);
    // Key material is random, so its own bits spread well enough.
    static std::uint64_t place_in_bitmap(std::uint64_t window) {
      return window & (kBitmapBits - 1);
    }
    bool may_contain(std::uint64_t window) const {
      std::uint64_t at = place_in_bitmap(window);
      return (bitmap[at / 64] >> at % 64 & 1) != 0;
    }
  };

  void scan_packed(std::span<const std::uint8_t> memory, std::vector<Hit>& hits) const;
  void scan_spread(const Index& index, std::span<const std::uint8_t> memory, std::size_t unit,
                   std::size_t stride, std::vector<Hit>& hits) const;
  void scan_planes(std::span<const std::uint8_t> memory, std::size_t stride,
                   std::vector<Hit>& hits) const;
  void check_octets(const Index& index, std::uint64_t window, std::span<const std::uint8_t> memory,
                    std::size_t at, std::size_t unit, std::size_t stride,
                    std::vector<Hit>& hits) const;
  void check_planes(std::uint64_t window, std::span<const std::uint8_t> memory, std::size_t at,
                    int bit, std::size_t stride, std::vector<Hit>& hits) const;

  std::vector<std::string> names_;
  Index packed_, planes_;
  std::map<std::size_t, Index> spread_;  // by unit
  std::size_t longest_octets_ = 0;
  std::size_t forms_ = 0;
};

}  // namespace keyscan
