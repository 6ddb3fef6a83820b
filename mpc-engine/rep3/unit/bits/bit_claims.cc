// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/bits/bit_claims.h"

#include <cassert>

namespace tkdc::bits {
namespace {

constexpr std::size_t kMaxProducts = 2;
constexpr std::size_t kMaxWords = 2 * (2 * kMaxProducts + 1);  // both components

ClaimShape make_shape(std::size_t products) {
  ClaimShape shape{ClaimShape::Product::kBits, 2 * products + 1, 1, 1, {}, {}, {}};
  for (std::size_t k = 0; k < products; ++k) {
    ClaimShape::Factor factor;
    factor.x = {{{k, kIdentity}}};
    factor.right = {{0, {{{products + k, kIdentity}}}}};
    shape.factors.push_back(std::move(factor));
  }
  shape.z = {{{{2 * products, kIdentity}}}};
  return shape;
}

ClaimWord word_of(const Words& words, std::uint32_t mask = ~0u) {
  ClaimWord word;
  word.from[0] = words.x.data();
  word.from[1] = words.y.data();
  word.mask = mask;
  return word;
}

}  // namespace

const ClaimShape& bit_claim_shape(std::size_t products) {
  static const ClaimShape one = make_shape(1), two = make_shape(2);
  return products == 1 ? one : two;
}

const std::uint8_t* ClaimSink::octets(const ClaimWord& word, int c, std::size_t instances) {
  const std::uint32_t* from = word.from[c];
  if (word.shift != 0 || word.also[c] != nullptr || word.mask != ~0u) {
    Column& made = made_[used_++];
    made.resize(instances);
    if (word.also[c] == nullptr)
      for (std::size_t n = 0; n < instances; ++n) made[n] = from[n] << word.shift & word.mask;
    else
      for (std::size_t n = 0; n < instances; ++n)
        made[n] = (from[n] << word.shift ^ word.also[c][n]) & word.mask;
    from = made.data();
  }
  return reinterpret_cast<const std::uint8_t*>(from);
}

void ClaimSink::add(std::initializer_list<BitProduct> products, const ClaimWord& sum,
                    std::size_t instances) {
  if (log_ == nullptr || instances == 0) return;
  assert(products.size() >= 1 && products.size() <= kMaxProducts);
  made_.resize(kMaxWords);
  used_ = 0;
  ClaimRows::Rows rows{};
  for (int c = 0; c < 2; ++c) {
    std::size_t k = 0;
    for (const BitProduct& product : products) {
      rows[c][k] = octets(product.left, c, instances);
      rows[c][products.size() + k++] = octets(product.right, c, instances);
    }
    rows[c][2 * k] = octets(sum, c, instances);
  }
  log_->add(bit_claim_shape(products.size()), sizeof(std::uint32_t) * instances, rows);
}

void record_claims(ClaimLog& log, const Fields& fields) {
  ClaimSink sink(&log);
  for (const Field& field : fields.all) {
    const std::uint32_t mask = field.mask();
    ClaimWord sum = word_of(*field.result, mask);
    sum.also[0] = field.linear.x.data();
    sum.also[1] = field.linear.y.data();
    auto product = [&](std::size_t k) {
      return BitProduct{word_of(field.products[k].left), word_of(field.products[k].right, mask)};
    };
    assert(field.products.size() >= 1 && field.products.size() <= kMaxProducts);
    if (field.products.size() == 1)
      sink.add({product(0)}, sum, field.terms.size());
    else
      sink.add({product(0), product(1)}, sum, field.terms.size());
  }
}

}  // namespace tkdc::bits
