// SPDX-License-Identifier: Apache-2.0
#include "matcher.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <set>
#include <stdexcept>

#include "planes.h"

namespace keyscan {
namespace {

constexpr std::size_t kMinValueOctets = 16;
constexpr std::size_t kMinDistinctOctets = 5;  // in 16 octets of key material: practically always

// How many units an anchor has, and how many rows there are between two that are looked at. A form
// has at least kAnchor + kRows - 1 units.
constexpr std::size_t kPackedAnchor = 8, kPackedRows = 4;
constexpr std::size_t kOctetAnchor = 4, kOctetRows = 5;  // units of 1
constexpr std::size_t kUnitAnchor = 2, kUnitRows = 7;    // of 2
constexpr std::size_t kPlaneAnchor = 64;                 // and kPlaneRows
static_assert(kPackedAnchor + kPackedRows - 1 <= kMinValueOctets);
static_assert(kOctetAnchor + kOctetRows - 1 <= kMinValueOctets);
static_assert(kUnitAnchor + kUnitRows - 1 <= kMinValueOctets / 2);
static_assert(kPlaneAnchor + kPlaneRows - 1 <= 8 * kMinValueOctets);

template <class Word>
Word load(const std::uint8_t* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

std::uint64_t planes_from(const std::vector<bool>& bits, std::size_t start) {
  std::uint64_t window = 0;
  for (std::size_t j = 0; j < kPlaneAnchor; j++)
    if (bits[start + j]) window |= std::uint64_t{1} << j;
  return window;
}

// Octet i of a form whose octets lie in units of `unit` every `stride` octets.
std::size_t place(std::size_t i, std::size_t unit, std::size_t stride) {
  return i / unit * stride + i % unit;
}

std::size_t distinct_octets(const std::uint8_t* first, std::size_t octets) {
  std::bitset<256> seen;
  for (std::size_t i = 0; i < octets; i++) seen.set(first[i]);
  return seen.count();
}

// Of the stretches of `rows` neighbouring anchors the one whose most regular anchor is the least
// so: zeros stand everywhere in memory. `last`: where the last anchor begins.
template <class Distinct>
std::size_t best_stretch(std::size_t last, std::size_t rows, Distinct distinct) {
  std::vector<std::size_t> each;
  for (std::size_t start = 0; start <= last; start++) each.push_back(distinct(start));
  std::size_t best = 0, most = 0;
  for (std::size_t first = 0; first + rows <= each.size(); first++) {
    const auto begin = each.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t least = *std::min_element(begin, begin + static_cast<std::ptrdiff_t>(rows));
    if (least <= most) continue;
    most = least;
    best = first;
  }
  return best;
}

// Where a form begins of which `before` octets lie before `at`, if that is in memory.
bool goes_back(std::size_t& at, std::size_t before) {
  if (at < before) return false;
  at -= before;
  return true;
}

}  // namespace

void Matcher::add(std::size_t value, OctetForm form) {
  const std::size_t stride = form.strided ? octet_strides().back() : form.unit;
  longest_octets_ = std::max(longest_octets_, place(form.octets.size() - 1, form.unit, stride) + 1);
  const auto add_to = [&](Anchors& anchors, auto anchor, std::size_t units, std::size_t rows) {
    const std::size_t last = form.octets.size() / form.unit - units;
    const std::size_t first = best_stretch(last, rows, [&](std::size_t start) {
      return distinct_octets(form.octets.data() + start * form.unit, units * form.unit);
    });
    for (std::size_t start = first; start < first + rows; start++) {
      std::memcpy(&anchor, form.octets.data() + start * form.unit, sizeof anchor);
      anchors.add(anchor, octets_.size(), start);
    }
  };
  if (!form.strided) {
    add_to(packed_, std::uint64_t{}, kPackedAnchor, kPackedRows);
  } else if (form.unit == 1) {
    add_to(of_octets_, std::uint32_t{}, kOctetAnchor, kOctetRows);
  } else if (form.unit == 2) {
    add_to(of_units_, std::uint32_t{}, kUnitAnchor, kUnitRows);
  } else if (form.unit == 4) {
    add_to(of_words_, std::uint32_t{}, 1, 1);
  } else {
    throw std::logic_error("forms of such units are not looked for");
  }
  octets_.push_back({value, std::move(form)});
}

void Matcher::add(std::size_t value, BitForm form) {
  longest_octets_ = std::max(longest_octets_, (form.bits.size() - 1) * plane_strides().back() + 1);
  const auto changing = [&](std::size_t start) {
    const auto begin = form.bits.begin() + static_cast<std::ptrdiff_t>(start);
    const std::ptrdiff_t planes = kPlaneAnchor, ones = std::count(begin, begin + planes, true);
    return static_cast<std::size_t>(std::min(ones, planes - ones));
  };
  const std::size_t first = best_stretch(form.bits.size() - kPlaneAnchor, kPlaneRows, changing);
  for (std::size_t start = first; start < first + kPlaneRows; start++)
    planes_.add(planes_from(form.bits, start), bits_.size(), start);
  bits_.push_back({value, std::move(form)});
}

Matcher::Matcher(const std::vector<Value>& values) {
  for (const Value& value : values) {
    std::set<std::uint8_t> distinct(value.octets.begin(), value.octets.end());
    if (value.octets.size() < kMinValueOctets || distinct.size() < kMinDistinctOctets)
      throw std::invalid_argument("value '" + value.name + "' is too short or too regular");
    for (OctetForm& form : octet_forms(value.octets)) add(names_.size(), std::move(form));
    for (BitForm& form : bit_forms(value.octets)) add(names_.size(), std::move(form));
    names_.push_back(value.name);
  }
  for (Anchors* anchors : {&packed_, &of_octets_, &of_units_, &of_words_, &planes_})
    anchors->finish();
}

std::map<std::string, std::size_t> Matcher::forms() const {
  std::map<std::string, std::size_t> out;
  for (const Octetwise& form : octets_) ++out[names_[form.value]];
  for (const Bitwise& form : bits_) ++out[names_[form.value]];
  return out;
}

void Matcher::scan(Memory memory, std::vector<Hit>& hits, bool packed) const {
  scan_packed(memory, hits);
  if (packed) return;
  for (std::size_t stride : octet_strides()) scan_octets(memory, stride, hits);
  for (std::size_t stride : octet_strides())
    if (stride > 2) scan_units(memory, stride, hits);
  scan_words(memory, hits);
  for (std::size_t stride : plane_strides()) scan_planes(memory, stride, hits);
}

void Matcher::scan_packed(Memory memory, std::vector<Hit>& hits) const {
  for (std::size_t at = 0; at + kPackedAnchor <= memory.size(); at += kPackedRows) {
    const auto window = load<std::uint64_t>(memory.data() + at);
    if (packed_.may_have(window)) check_octets(packed_, window, memory, at, 1, hits);
  }
}

void Matcher::scan_octets(Memory memory, std::size_t stride, std::vector<Hit>& hits) const {
  const std::size_t reach = (kOctetAnchor - 1) * stride;
  for (std::size_t row = 0; row + reach < memory.size(); row += kOctetRows * stride) {
    const std::size_t end = std::min(row + stride, memory.size() - reach);
    for (std::size_t at = row; at < end; at++) {
      const std::uint8_t* const p = memory.data() + at;
      const std::uint32_t window = p[0] | std::uint32_t{p[stride]} << 8 |
                                   std::uint32_t{p[2 * stride]} << 16 |
                                   std::uint32_t{p[3 * stride]} << 24;
      if (of_octets_.may_have(window)) check_octets(of_octets_, window, memory, at, stride, hits);
    }
  }
}

void Matcher::scan_units(Memory memory, std::size_t stride, std::vector<Hit>& hits) const {
  const std::size_t reach = stride + 1;
  for (std::size_t row = 0; row + reach < memory.size(); row += kUnitRows * stride) {
    const std::size_t end = std::min(row + stride, memory.size() - reach);
    for (std::size_t at = row; at < end; at++) {
      const std::uint8_t* const p = memory.data() + at;
      const std::uint32_t window =
          load<std::uint16_t>(p) | std::uint32_t{load<std::uint16_t>(p + stride)} << 16;
      if (of_units_.may_have(window)) check_octets(of_units_, window, memory, at, stride, hits);
    }
  }
}

void Matcher::scan_words(Memory memory, std::vector<Hit>& hits) const {
  for (std::size_t at = 0; at + 4 <= memory.size(); at++) {
    const auto window = load<std::uint32_t>(memory.data() + at);
    if (!of_words_.may_have(window)) continue;
    for (std::size_t stride : octet_strides())
      if (stride > 4) check_octets(of_words_, window, memory, at, stride, hits);
  }
}

// Where memory ends within a block, the rest of it counts as zeros, of which no form ends up whole.
void Matcher::scan_planes(Memory memory, std::size_t stride, std::vector<Hit>& hits) const {
  Planes planes(stride);
  const std::size_t block = kPlaneRows * stride;
  std::vector<std::uint32_t> before(planes.words().size());
  for (std::size_t at = 0; at < memory.size(); at += block) {
    if (memory.size() - at >= block) {
      planes.turn(memory.data() + at);
    } else {
      std::vector<std::uint8_t> last(memory.begin() + static_cast<std::ptrdiff_t>(at),
                                     memory.end());
      last.resize(block);
      planes.turn(last.data());
    }
    const std::vector<std::uint32_t>& words = planes.words();
    for (std::size_t i = 0; at > 0 && i < words.size(); i++) {
      const std::uint64_t window = before[i] | std::uint64_t{words[i]} << 32;
      if (planes_.may_have(window))
        check_planes(window, memory, at - block + i % stride, i / stride, stride, hits);
    }
    before = words;
  }
}

void Matcher::check_octets(const Anchors& anchors, std::uint64_t window, Memory memory,
                           std::size_t at, std::size_t stride, std::vector<Hit>& hits) const {
  for (const Anchors::Entry& entry : anchors.near(window)) {
    const OctetForm& form = octets_[entry.form].of;
    std::size_t begin = at;
    if (entry.anchor != window || !goes_back(begin, entry.start * stride)) continue;
    if (begin + place(form.octets.size() - 1, form.unit, stride) >= memory.size()) continue;
    bool equal = true;
    for (std::size_t i = 0; i < form.octets.size() && equal; i++)
      equal = memory[begin + place(i, form.unit, stride)] == form.octets[i];
    if (equal) hits.push_back({names_[octets_[entry.form].value], form.form, stride, begin});
  }
}

void Matcher::check_planes(std::uint64_t window, Memory memory, std::size_t at, std::size_t bit,
                           std::size_t stride, std::vector<Hit>& hits) const {
  for (const Anchors::Entry& entry : planes_.near(window)) {
    const BitForm& form = bits_[entry.form].of;
    std::size_t begin = at;
    if (entry.anchor != window || !goes_back(begin, entry.start * stride)) continue;
    if (begin + (form.bits.size() - 1) * stride >= memory.size()) continue;
    bool equal = true;
    for (std::size_t j = 0; j < form.bits.size() && equal; j++)
      equal = (memory[begin + j * stride] >> bit & 1) == (form.bits[j] ? 1 : 0);
    if (equal) hits.push_back({names_[bits_[entry.form].value], form.form, stride, begin});
  }
}

}  // namespace keyscan
