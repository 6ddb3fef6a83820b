// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/sha1/adder.h"

#include "base/ivdep.h"

namespace tkdc::sha1 {
namespace {

template <class... Bits>
constexpr std::uint32_t bits(Bits... bit) {
  return (0u | ... | (1u << bit));
}

constexpr std::uint32_t kLowest = bits(0), kHighest = bits(31);
constexpr std::uint32_t kCarries = bits_mask(1, 30);
constexpr std::uint32_t kEighths = bits_mask(8, 15), kTwentyThirds = bits_mask(23, 30);

// Layer 1: pairs P[i-1..i].
constexpr std::uint32_t kPairs =
    bits(3, 5, 6, 7, 9, 10, 12, 13, 14, 17, 18, 20, 21, 22, 24, 25, 27, 28, 29);

// Layer 2: groups of 3 at 1, 4, 8, 11, 16, 19, 23 and 26.
constexpr std::uint32_t kTops2 = bits(3, 6, 10, 13, 18, 21, 25, 28);
constexpr std::uint32_t kGroups2 = kTops2 | kTops2 >> 1;
constexpr std::uint32_t kSecondPairs = bits(5, 12, 20, 27), kFirstPairs = bits(9, 17, 24);
constexpr std::uint32_t kSpans2 = bits(10, 18, 25, 6, 7, 13, 14, 21, 22, 28, 29);

// Layer 3: groups of 7 at 1, 8, 16 and 23.
constexpr std::uint32_t kTops3 = bits(7, 14, 22, 29), kLow3 = bits(3, 10, 18, 25);
constexpr std::uint32_t kGroups3 = kTops3 | kTops3 >> 1 | kTops3 >> 2 | kTops3 >> 3;
constexpr std::uint32_t kStarts3 = bits(4, 8, 11, 16, 19, 23, 26);

// Layer 4: groups of 15 at 1 and 16; the upper one's bits stand 7 lower.
constexpr std::uint32_t kTops4 = bits(15, 23);

// Layer 5.
constexpr std::uint32_t kUpper = bits_mask(16, 30);

// The mask where this bit is set, else 0.
constexpr std::uint32_t where(std::uint32_t word, int bit, std::uint32_t mask) {
  return (0u - (word >> bit & 1)) & mask;
}

// Which bits of which word a layer sends.
constexpr int kLowBit[] = {0, 0, 0, 0, 0, 16}, kHighBit[] = {0, 31, 31, 31, 23, 30};
constexpr std::uint32_t kTops[] = {0, 0, kTops2, kTops3, kTops4, 0};

}  // namespace

void Adders::start(std::size_t instances) {
  instances_ = instances;
  for (Words* words : {&u_, &v_, &p_, &carry_, &span_, &pairs_, &ends_, &top_, &below_})
    resize(*words, instances);
  main_.resize(instances);
  also_.resize(instances);
  for (Words& words : tops_) {
    words.x.assign(instances, 0);
    words.y.assign(instances, 0);
  }
}

void Adders::add_fields(int k, LayerWords& layer) {
  for (int c = 0; c < 2; ++c) k == 1 ? prepare_first(c) : prepare(k, c);
  main_.add_to(layer, kLowBit[k], kHighBit[k]);
  if (k == 1) also_.add_to(layer, 3, 29);
  if (kTops[k] != 0) add_product(layer.last(), top_, below_);
}

void Adders::finish_layer(int k, ClaimSink& claims) {
  if (claims.records()) {
    if (kTops[k] != 0) keep_tops(k);
    if (k < kLayers) record_main(k, claims);
    if (k == 1) also_.record(claims);
    if (k == kLayers) record_last(claims);
  }
  for (int c = 0; c < 2; ++c) take(k, c);
}

// The first layer's factors, of one component; it has no linear summands.
void Adders::prepare_first(int c) {
  const std::uint32_t *u = column(u_, c).data(), *v = column(v_, c).data();
  std::uint32_t* p = column(p_, c).data();
  std::uint32_t *left = column(main_.left, c).data(), *right = column(main_.right, c).data();
  std::uint32_t *first = column(also_.left, c).data(), *second = column(also_.right, c).data();
  std::uint32_t *none = column(main_.linear, c).data(), *also = column(also_.linear, c).data();
  TKDC_IVDEP
  for (std::size_t n = 0; n < instances_; ++n) {
    const std::uint32_t q = u[n] ^ v[n];
    p[n] = q;
    left[n] = (u[n] & kCarries) | (q >> 8 & kLowest) | (q << 8 & kHighest);
    right[n] = (v[n] & kCarries) | (q >> 15 & kLowest) | (q << 1 & kHighest);
    first[n] = q & kPairs;
    second[n] = q << 1 & kPairs;
    none[n] = also[n] = 0;
  }
}

// A later layer's factors and linear summands, of one component.
void Adders::prepare(int k, int c) {
  const std::uint32_t *carry = column(carry_, c).data(), *span = column(span_, c).data();
  const std::uint32_t *pairs = column(pairs_, c).data(), *ends = column(ends_, c).data();
  const std::uint32_t* p = column(p_, c).data();
  std::uint32_t *left = column(main_.left, c).data(), *right = column(main_.right, c).data();
  std::uint32_t* linear = column(main_.linear, c).data();
  std::uint32_t *top = column(top_, c).data(), *below = column(below_, c).data();
  switch (k) {
    case 2:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        const std::uint32_t pair = pairs[n], second = pair & kSecondPairs;
        left[n] = (p[n] & kGroups2) | (pair & kSpans2) << 1 | ends[n];
        right[n] = (carry[n] << 1 & kGroups2) | (second | (pair & kFirstPairs)) << 2 | second << 3 |
                   (pair >> 10 & kLowest) | (pair << 6 & kHighest);
        linear[n] = carry[n] & kGroups2;
        top[n] = pair & kTops2;
        below[n] = carry[n] << 2 & kTops2;
      }
      return;
    case 3:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        const std::uint32_t s = span[n], low = carry[n] & kLow3;
        left[n] = (s & kGroups3) | (s & bits_mask(19, 22)) >> 19 | (s & bits_mask(11, 14)) << 4 |
                  (s >> 6 & bits(8)) | (s & bits_mask(26, 28)) >> 3 | (s & bits(29)) << 1 |
                  (s & bits(29)) << 2;
        right[n] = low << 1 | low << 2 | low << 3 | low << 4 | where(s, 18, bits_mask(0, 3)) |
                   where(s, 10, bits_mask(15, 18)) | where(ends[n], 0, bits(8)) |
                   where(s, 25, bits(23, 24, 25, 30)) | (ends[n] & kHighest);
        linear[n] = carry[n] & kGroups3;
        top[n] = p[n] & kTops3;
        below[n] = carry[n] << 1 & kTops3;
      }
      return;
    case 4:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        const std::uint32_t s = span[n], upper = s & kTwentyThirds, below_n = carry[n] << 1;
        left[n] = (s & kEighths) | upper >> 7 | upper >> 23;
        right[n] = where(carry[n], 7, kEighths) | where(carry[n], 22, kTwentyThirds >> 7) |
                   where(s, 22, kTwentyThirds >> 23);
        linear[n] = (carry[n] & kEighths) | (carry[n] & kTwentyThirds) >> 7;
        top[n] = (p[n] & bits(15)) | (p[n] & bits(30)) >> 7;
        below[n] = (below_n & bits(15)) | (below_n & bits(30)) >> 7;
      }
      return;
    default:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        left[n] = span[n] & kUpper;
        right[n] = where(carry[n], 15, kUpper);
        linear[n] = carry[n] & kUpper;
      }
  }
}

// What the layer gave.
void Adders::take(int k, int c) {
  const std::uint32_t *got = column(main_.result, c).data(), *p = column(p_, c).data();
  std::uint32_t *carry = column(carry_, c).data(), *span = column(span_, c).data();
  std::uint32_t *pairs = column(pairs_, c).data(), *ends = column(ends_, c).data();
  switch (k) {
    case 1:
      std::copy_n(column(also_.result, c).data(), instances_, pairs);
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        carry[n] = got[n] & kCarries;
        ends[n] = got[n] & (kLowest | kHighest);
      }
      return;
    case 2:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        carry[n] = (carry[n] & ~kGroups2) | (got[n] & kGroups2);
        span[n] =
            (p[n] & kStarts3) | (pairs[n] & (kSecondPairs | kFirstPairs)) | (got[n] >> 1 & kSpans2);
        ends[n] = got[n] & (kLowest | kHighest);
      }
      return;
    case 3:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        const std::uint32_t g = got[n];
        carry[n] = (carry[n] & ~kGroups3) | (g & kGroups3);
        span[n] = (span[n] & (bits_mask(8, 10) | bits_mask(16, 18) | bits_mask(23, 25))) |
                  (g & bits_mask(15, 18)) >> 4 | (g & bits(8)) << 7 | (g & bits_mask(23, 25)) << 3 |
                  (g & bits_mask(30, 31)) >> 1 | (g & bits_mask(0, 3)) << 19;
      }
      return;
    case 4:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n) {
        const std::uint32_t g = got[n];
        carry[n] =
            (carry[n] & ~(kEighths | kTwentyThirds)) | (g & kEighths) | (g << 7 & kTwentyThirds);
        span[n] = (span[n] & bits_mask(16, 22)) | (g << 23 & kTwentyThirds);
      }
      return;
    default:
      TKDC_IVDEP
      for (std::size_t n = 0; n < instances_; ++n)
        carry[n] = (carry[n] & ~kUpper) | (got[n] & kUpper);
  }
}

// ---- claims

void Adders::keep_tops(int layer) {
  const std::uint32_t mask = kTops[layer];
  const Words* const from[] = {&main_.left, &top_, &main_.right, &below_, &main_.result};
  for (int c = 0; c < 2; ++c) {
    const std::uint32_t* linear = column(main_.linear, c).data();
    for (std::size_t w = 0; w < tops_.size(); ++w) {
      std::uint32_t* to = column(tops_[w], c).data();
      const std::uint32_t* word = column(*from[w], c).data();
      for (std::size_t n = 0; n < instances_; ++n) to[n] |= word[n] & mask;
    }
    std::uint32_t* sum = column(tops_.back(), c).data();
    for (std::size_t n = 0; n < instances_; ++n) sum[n] ^= linear[n] & mask;
  }
}

void Adders::record_main(int layer, ClaimSink& claims) {
  const std::uint32_t mask = bits_mask(kLowBit[layer], kHighBit[layer]) & ~kTops[layer];
  claims.add({{claim_word(main_.left), claim_word(main_.right, mask)}},
             claim_sum(main_.result, main_.linear, mask), instances_);
  if (layer == kLayers - 1)
    claims.add({{claim_word(tops_[0]), claim_word(tops_[2])},
                {claim_word(tops_[1]), claim_word(tops_[3])}},
               claim_word(tops_[4]), instances_);
}

// The last layer's bits are half a word: two instances in one.
void Adders::record_last(ClaimSink& claims) {
  const std::size_t words = (instances_ + 1) / 2, others = instances_ - words;
  ClaimWord halves[3];
  for (int c = 0; c < 2; ++c) {
    const std::uint32_t* linear = column(main_.linear, c).data();
    const std::uint32_t* const from[] = {column(main_.left, c).data(),
                                         column(main_.right, c).data(),
                                         column(main_.result, c).data()};
    for (std::size_t w = 0; w < 3; ++w) {
      Column& to = halves_[c][w];
      to.resize(words);
      auto upper = [&](std::size_t n) {
        return (w == 2 ? from[w][n] ^ linear[n] : from[w][n]) & kUpper;
      };
      for (std::size_t n = 0; n < words; ++n) to[n] = upper(n);
      for (std::size_t n = 0; n < others; ++n) to[n] |= upper(words + n) >> 16;
      halves[w].from[c] = to.data();
    }
  }
  claims.add({{halves[0], halves[1]}}, halves[2], words);
}

}  // namespace tkdc::sha1
