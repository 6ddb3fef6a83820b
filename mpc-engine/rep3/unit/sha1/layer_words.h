// SPDX-License-Identifier: Apache-2.0
// A layer's message as words of many instances, and the quadratic forms that make
// it up. Memory stays from layer to layer: under load a layer costs no allocation.
// Everything is shares. Used by one lane's thread.
#pragma once

#include <array>
#include <cassert>

#include "rep3/unit/bits/bit_claims.h"

namespace tkdc::sha1 {

using bits::BitProduct;
using bits::ClaimSink;
using bits::ClaimWord;
using bits::Column;
using bits::load_be;
using bits::rotl;
using bits::store_be;
using bits::Words;

inline void resize(Words& words, std::size_t instances) {
  words.x.resize(instances);
  words.y.resize(instances);
}

// This party's terms of a * (b << shift), added.
inline void add_product(Column& terms, const Words& a, const Words& b, int shift = 0) {
  const std::uint32_t *ax = a.x.data(), *ay = a.y.data(), *bx = b.x.data(), *by = b.y.data();
  for (std::size_t n = 0; n < terms.size(); ++n)
    terms[n] ^= (ax[n] & (bx[n] ^ by[n]) << shift) ^ (ay[n] & bx[n] << shift);
}
inline void add_linear(Column& terms, const Words& a) {
  const std::uint32_t* from = a.x.data();
  for (std::size_t n = 0; n < terms.size(); ++n) terms[n] ^= from[n];
}

constexpr std::uint32_t bits_mask(int low, int high) {
  return (high == 31 ? ~0u : (1u << (high + 1)) - 1) & ~((1u << low) - 1);
}

// The fields of one layer, in the order of the message: bits [low, high] of a word
// of each instance, in whole octets.
class LayerWords {
 public:
  void clear() { used_ = 0; }
  // The terms to be filled, 0 at first, as many as `result` has instances; it gets
  // the shared bits, the others 0. Both must stay where they are until read().
  Column& add(int low, int high, Words& result) {
    assert(used_ < fields_.size());
    Field& field = fields_[used_++];
    field.low = low;
    field.octets = static_cast<std::size_t>(high - low) / 8 + 1;
    field.mask = bits_mask(low, high);
    field.terms.assign(result.instances(), 0);
    field.result = &result;
    return field.terms;
  }
  // The terms of the field that was added last.
  Column& last() { return fields_[used_ - 1].terms; }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (std::size_t k = 0; k < used_; ++k) sum += fields_[k].octets * fields_[k].terms.size();
    return sum;
  }
  void write(std::uint8_t* out) const {
    for (std::size_t k = 0; k < used_; ++k) {
      const Field& field = fields_[k];
      for (std::uint32_t term : field.terms) {
        const std::uint32_t bits = (term & field.mask) >> field.low;
        for (std::size_t o = 0; o < field.octets; ++o)
          *out++ = static_cast<std::uint8_t>(bits >> 8 * o);
      }
    }
  }
  void read(const std::uint8_t* mine, const std::uint8_t* theirs) {
    for (std::size_t k = 0; k < used_; ++k) {
      const Field& field = fields_[k];
      mine = read_words(mine, field, field.result->x);
      theirs = read_words(theirs, field, field.result->y);
    }
  }

 private:
  struct Field {
    int low = 0;
    std::size_t octets = 0;
    std::uint32_t mask = 0;
    Column terms;
    Words* result = nullptr;
  };
  static const std::uint8_t* read_words(const std::uint8_t* in, const Field& field, Column& to) {
    for (std::uint32_t& word : to) {
      std::uint32_t bits = 0;
      for (std::size_t o = 0; o < field.octets; ++o) bits |= std::uint32_t{*in++} << 8 * o;
      word = bits << field.low & field.mask;
    }
    return in;
  }

  static constexpr std::size_t kMaxFields = 4;
  std::array<Field, kMaxFields> fields_;
  std::size_t used_ = 0;
};

inline ClaimWord claim_word(const Words& words, std::uint32_t mask = ~0u, int shift = 0) {
  ClaimWord word;
  for (int c = 0; c < 2; ++c) word.from[c] = column(words, c).data();
  word.mask = mask;
  word.shift = shift;
  return word;
}
inline ClaimWord claim_sum(const Words& words, const Words& also, std::uint32_t mask) {
  ClaimWord word = claim_word(words, mask);
  for (int c = 0; c < 2; ++c) word.also[c] = column(also, c).data();
  return word;
}

// result = linear + left * right in bits [low, high].
struct Quadratic {
  Words linear, left, right, result;

  void resize(std::size_t instances) {
    for (Words* words : {&linear, &left, &right, &result}) sha1::resize(*words, instances);
  }
  std::size_t instances() const { return result.instances(); }
  void add_to(LayerWords& layer, int low, int high) {
    mask = bits_mask(low, high);
    Column& terms = layer.add(low, high, result);
    add_linear(terms, linear);
    add_product(terms, left, right);
  }
  void record(ClaimSink& claims) const {
    claims.add({{claim_word(left), claim_word(right, mask)}}, claim_sum(result, linear, mask),
               instances());
  }

  std::uint32_t mask = 0;
};

// x + y + z = sum + 2 result, result = maj(x, y, z) = x ^ (x ^ y)(x ^ z).
struct CarrySave : Quadratic {
  Words sum;

  void resize(std::size_t instances) {
    Quadratic::resize(instances);
    sha1::resize(sum, instances);
  }
  void add_to(LayerWords& layer) { Quadratic::add_to(layer, 0, 30); }
  // The summands at one place and component.
  void set(std::size_t n, int c, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    column(sum, c)[n] = x ^ y ^ z;
    column(linear, c)[n] = x;
    column(left, c)[n] = x ^ y;
    column(right, c)[n] = x ^ z;
  }
  // With a public third summand: maj(x, y, k) = x y ^ k (x ^ y). `own`: what this
  // component has of public values, all bits or none.
  void set_public(std::size_t n, int c, std::uint32_t x, std::uint32_t y, std::uint32_t k,
                  std::uint32_t own) {
    column(sum, c)[n] = x ^ y ^ (k & own);
    column(linear, c)[n] = k & (x ^ y);
    column(left, c)[n] = x;
    column(right, c)[n] = y;
  }
};

}  // namespace tkdc::sha1
