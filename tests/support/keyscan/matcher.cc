// SPDX-License-Identifier: Apache-2.0
#include "matcher.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

namespace keyscan {
namespace {

constexpr std::size_t kMinValueOctets = 16;
constexpr std::size_t kMinDistinctOctets = 5;  // in 16 octets of key material: practically always

std::uint64_t load(const std::uint8_t* p) {
  std::uint64_t window;
  std::memcpy(&window, p, sizeof window);
  return window;
}

std::uint64_t anchor_of(const std::vector<bool>& bits) {
  std::uint64_t window = 0;
  for (std::size_t j = 0; j < 64; j++) window = window << 1 | (bits[j] ? 1u : 0u);
  return window;
}

// Octet i of a form whose octets lie in units of `unit` every `stride` octets.
std::size_t place(std::size_t i, std::size_t unit, std::size_t stride) {
  return i / unit * stride + i % unit;
}

}  // namespace

void Matcher::Index::add(std::uint64_t anchor, Form form) {
  std::uint64_t at = place_in_bitmap(anchor);
  bitmap[at / 64] |= std::uint64_t{1} << at % 64;
  forms.emplace(anchor, std::move(form));
}

Matcher::Matcher(const std::vector<Value>& values) {
  for (const Value& value : values) {
    std::set<std::uint8_t> distinct(value.octets.begin(), value.octets.end());
    if (value.octets.size() < kMinValueOctets || distinct.size() < kMinDistinctOctets)
      throw std::invalid_argument("value '" + value.name + "' is too short or too regular");
    const std::size_t index = names_.size();
    names_.push_back(value.name);
    for (OctetForm& form : octet_forms(value.octets)) {
      std::size_t stride = form.strided ? octet_strides().back() : form.unit;
      longest_octets_ =
          std::max(longest_octets_, place(form.octets.size() - 1, form.unit, stride) + 1);
      Index& target = form.strided ? spread_[form.unit] : packed_;
      std::uint64_t anchor = load(form.octets.data());
      target.add(anchor, Form{index, std::move(form.form), std::move(form.octets), {}});
      forms_++;
    }
    for (BitForm& form : bit_forms(value.octets)) {
      longest_octets_ =
          std::max(longest_octets_, (form.bits.size() - 1) * plane_strides().back() + 1);
      std::uint64_t anchor = anchor_of(form.bits);
      planes_.add(anchor, Form{index, std::move(form.form), {}, std::move(form.bits)});
      forms_++;
    }
  }
}

void Matcher::scan(std::span<const std::uint8_t> memory, std::vector<Hit>& hits,
                   bool packed) const {
  scan_packed(memory, hits);
  if (packed) return;
  for (const auto& [unit, index] : spread_)
    for (std::size_t stride : octet_strides())
      if (stride > unit) scan_spread(index, memory, unit, stride, hits);
  for (std::size_t stride : plane_strides()) scan_planes(memory, stride, hits);
}

void Matcher::scan_packed(std::span<const std::uint8_t> memory, std::vector<Hit>& hits) const {
  for (std::size_t at = 0; at + 8 <= memory.size(); at++) {
    std::uint64_t window = load(memory.data() + at);
    if (packed_.may_contain(window)) check_octets(packed_, window, memory, at, 1, 1, hits);
  }
}

// windows[at mod stride]: the last 8 / unit units that end with the one at `at`.
void Matcher::scan_spread(const Index& index, std::span<const std::uint8_t> memory,
                          std::size_t unit, std::size_t stride, std::vector<Hit>& hits) const {
  const std::size_t reach = (8 / unit - 1) * stride;
  const std::size_t old_bits = 8 * unit;
  std::vector<std::uint64_t> windows(stride);
  std::size_t phase = 0;
  for (std::size_t at = 0; at + unit <= memory.size(); at++) {
    std::uint64_t fresh = 0;
    for (std::size_t i = 0; i < unit; i++) fresh |= std::uint64_t{memory[at + i]} << 8 * i;
    std::uint64_t& window = windows[phase];
    window = window >> old_bits | fresh << (64 - old_bits);
    if (++phase == stride) phase = 0;
    if (index.may_contain(window) && at >= reach)
      check_octets(index, window, memory, at - reach, unit, stride, hits);
  }
}

// windows[8 * (at mod stride) + bit]: the last 64 planes that end at `at`.
void Matcher::scan_planes(std::span<const std::uint8_t> memory, std::size_t stride,
                          std::vector<Hit>& hits) const {
  const std::size_t reach = 63 * stride;
  std::vector<std::uint64_t> windows(8 * stride);
  std::size_t phase = 0;
  for (std::size_t at = 0; at < memory.size(); at++) {
    std::uint64_t* window = windows.data() + 8 * phase;
    if (++phase == stride) phase = 0;
    const std::uint64_t octet = memory[at];
    bool any = false;
    for (int bit = 0; bit < 8; bit++) {
      window[bit] = window[bit] << 1 | (octet >> bit & 1u);
      any |= planes_.may_contain(window[bit]);
    }
    if (!any || at < reach) continue;
    for (int bit = 0; bit < 8; bit++)
      if (planes_.may_contain(window[bit]))
        check_planes(window[bit], memory, at - reach, bit, stride, hits);
  }
}

void Matcher::check_octets(const Index& index, std::uint64_t window,
                           std::span<const std::uint8_t> memory, std::size_t at, std::size_t unit,
                           std::size_t stride, std::vector<Hit>& hits) const {
  auto [first, last] = index.forms.equal_range(window);
  for (auto it = first; it != last; ++it) {
    const Form& form = it->second;
    if (at + place(form.octets.size() - 1, unit, stride) >= memory.size()) continue;
    bool equal = true;
    for (std::size_t i = 8; i < form.octets.size() && equal; i++)
      equal = memory[at + place(i, unit, stride)] == form.octets[i];
    if (equal) hits.push_back({names_[form.value], form.name, stride, at});
  }
}

void Matcher::check_planes(std::uint64_t window, std::span<const std::uint8_t> memory,
                           std::size_t at, int bit, std::size_t stride,
                           std::vector<Hit>& hits) const {
  auto [first, last] = planes_.forms.equal_range(window);
  for (auto it = first; it != last; ++it) {
    const Form& form = it->second;
    if (at + (form.bits.size() - 1) * stride >= memory.size()) continue;
    bool equal = true;
    for (std::size_t j = 64; j < form.bits.size() && equal; j++)
      equal = (memory[at + j * stride] >> bit & 1) == (form.bits[j] ? 1 : 0);
    if (equal) hits.push_back({names_[form.value], form.name, stride, at});
  }
}

}  // namespace keyscan
