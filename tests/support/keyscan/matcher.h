// SPDX-License-Identifier: Apache-2.0
// Finds many values, in many forms, in a stretch of memory, at any alignment.
//
// A form is a row of units (octets, 16-bit planes, words or single bits) at equal distances, the
// stride. Memory is read as a table whose rows are one stride long: a form stands in one column of
// it. Of every so many rows the scan looks at one alone, and asks whether the units that begin
// there are an anchor (anchors.h): of each form so many neighbouring stretches are, those that are
// least like zeros. So a form has one anchor where the scan looks, wherever it begins, and is found
// once. The whole form is compared there.
//
//   packed        8 octets, where every fourth octet begins
//   octets        4 octets, of every 5th row
//   16-bit units  2 units, of every 7th row
//   words         1 word, wherever it begins; then each stride is tried
//   planes        64 planes, of every 32nd row, for each of eight bits (planes.h)
//
// Read-only after construction: scan() may run in several threads.
#pragma once

#include <map>
#include <span>

#include "anchors.h"
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

  // `packed`: forms whose octets lie side by side, alone, which is many times as fast.
  void scan(std::span<const std::uint8_t> memory, std::vector<Hit>& hits,
            bool packed = false) const;

  // The longest stretch of memory that one form covers: by so much must two
  // neighbouring pieces of memory overlap.
  std::size_t longest_octets() const { return longest_octets_; }
  std::map<std::string, std::size_t> forms() const;  // how many, by value

 private:
  using Memory = std::span<const std::uint8_t>;
  struct Octetwise {
    std::size_t value;
    OctetForm of;
  };
  struct Bitwise {
    std::size_t value;
    BitForm of;
  };

  void add(std::size_t value, OctetForm form);
  void add(std::size_t value, BitForm form);
  void scan_packed(Memory memory, std::vector<Hit>& hits) const;
  void scan_octets(Memory memory, std::size_t stride, std::vector<Hit>& hits) const;
  void scan_units(Memory memory, std::size_t stride, std::vector<Hit>& hits) const;
  void scan_words(Memory memory, std::vector<Hit>& hits) const;
  void scan_planes(Memory memory, std::size_t stride, std::vector<Hit>& hits) const;
  // Those of the anchor `window`, found at `at`, whose form stands there whole.
  void check_octets(const Anchors& anchors, std::uint64_t window, Memory memory, std::size_t at,
                    std::size_t stride, std::vector<Hit>& hits) const;
  void check_planes(std::uint64_t window, Memory memory, std::size_t at, std::size_t bit,
                    std::size_t stride, std::vector<Hit>& hits) const;

  std::vector<std::string> names_;
  std::vector<Octetwise> octets_;
  std::vector<Bitwise> bits_;
  Anchors packed_, of_octets_, of_units_, of_words_, planes_;
  std::size_t longest_octets_ = 0;
};

}  // namespace keyscan
