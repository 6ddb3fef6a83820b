// SPDX-License-Identifier: Apache-2.0
// The bit-sliced cohort, written once for every word type W that has load(),
// store(), & and ^. Included by one file for each word, compiled with that
// word's instructions. The S-box layers stand over the tower field
// a = h y + l, y^2 = y + 8 over GF(16) = GF(2)[z]/(z^4 + z + 1).
#include <cstring>

#include "field/gf256.h"
#include "protocol/replicated.h"
#include "rep3/unit/aes/plane_cohort.h"
#include "sbox_constants.h"

namespace tkdc {
namespace {

constexpr int kStateBits = 8;
constexpr std::size_t kWidest = 64;  // octets; strides are multiples of it

// Each bit's product with `factor`. At compile time only: this file has its word's instructions,
// and what other files share must not be emitted with them.
struct Multiples {
  std::uint8_t of_bit[kStateBits];
};
consteval Multiples multiples_of(std::uint8_t factor) {
  Multiples out{};
  for (unsigned k = 0; k < kStateBits; ++k)
    out.of_bit[k] = gf256_multiply(static_cast<std::uint8_t>(1u << k), factor);
  return out;
}

constexpr unsigned gf16_mul(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int k = 0; k < 4; ++k)
    if (b >> k & 1) r ^= a << k;
  for (int k = 6; k >= 4; --k)
    if (r >> k & 1) r ^= 0x13u << (k - 4);
  return r;
}

// Bits of all positions and blocks: bit k of component c at plane(c, k).
class Planes {
 public:
  Planes(int bits, std::size_t stride)
      : stride_(stride), bytes_(static_cast<std::size_t>(bits) * stride) {}
  std::uint8_t* plane(int c, int k) {
    return bytes_.component[c].data() + static_cast<std::size_t>(k) * stride_;
  }
  const std::uint8_t* plane(int c, int k) const {
    return bytes_.component[c].data() + static_cast<std::size_t>(k) * stride_;
  }

 private:
  std::size_t stride_;
  SharedBytes bytes_;
};

template <class W>
struct Pair {
  W x, y;  // components i and i+1
};
template <class W>
inline Pair<W> operator^(Pair<W> a, Pair<W> b) {
  return {a.x ^ b.x, a.y ^ b.y};
}
// This party's terms of the product a b.
template <class W>
inline W terms_of(Pair<W> a, Pair<W> b) {
  return (a.x & (b.x ^ b.y)) ^ (a.y & b.x);
}

// Terms of a product in GF(16), added to out[0..3].
template <class W>
inline void gf16_terms(const Pair<W> (&a)[4], const Pair<W> (&b)[4], W (&out)[4]) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      W t = terms_of(a[i], b[j]);
      unsigned image = gf16_mul(1u << i, 1u << j);
      for (int k = 0; k < 4; ++k)
        if (image >> k & 1) out[k] = out[k] ^ t;
    }
}

inline std::uint64_t transpose8x8(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aau;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccu;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0u;
  return x ^ t ^ (t << 28);
}

template <class W>
class PlaneCohort final : public AesCohort {
 public:
  PlaneCohort(int party, std::size_t blocks)
      : party_(party), group_((blocks + 7) / 8), used_(16 * group_),
        stride_((used_ + kWidest - 1) / kWidest * kWidest), state_(kStateBits, stride_),
        tower_(kStateBits, stride_), d_(4, stride_), q_(2, stride_), e_(4, stride_),
        scratch_(kStateBits * stride_) {}

  void load(const std::vector<AesBlockRef>& blocks) override {
    slice(
        blocks, [](const AesBlockRef& b, int c) { return b.in[c]; }, false);
  }
  void add_round_key(const std::vector<AesBlockRef>& blocks, int round) override {
    slice(
        blocks, [round](const AesBlockRef& b, int c) { return b.round_keys[c] + 16 * round; },
        true);
  }

  void store(const std::vector<AesBlockRef>& blocks) override {
    for (int c = 0; c < 2; ++c)
      for (std::size_t g = 0; g < group_; ++g)
        for (std::size_t pos = 0; pos < 16; ++pos) {
          std::uint64_t bits = 0;
          for (int k = 0; k < 8; ++k)
            bits |= std::uint64_t{state_.plane(c, k)[pos * group_ + g]} << 8 * k;
          bits = transpose8x8(bits);
          for (std::size_t b = 0; b < 8 && 8 * g + b < blocks.size(); ++b)
            blocks[8 * g + b].out[c][pos] = static_cast<std::uint8_t>(bits >> 8 * b);
        }
  }

  std::size_t message_bytes(int layer) const override {
    constexpr std::size_t kBits[kLayers] = {4, 2, 4, 8};
    return kBits[layer] * used_;
  }

  void terms(int layer, std::uint8_t* out) override {
    if (layer == 0 && !in_tower_) to_tower(sbox::kToTowerColumns);
    in_tower_ = false;
    constexpr int kBits[kLayers] = {4, 2, 4, 8};
    for (std::size_t j = 0; j < stride_; j += sizeof(W)) layer_terms(layer, j);
    for (int k = 0; k < kBits[layer]; ++k)
      std::memcpy(out + static_cast<std::size_t>(k) * used_,
                  scratch_.data() + static_cast<std::size_t>(k) * stride_, used_);
  }

  void absorb(int layer, const std::uint8_t* mine, const std::uint8_t* theirs) override {
    constexpr int kBits[kLayers] = {4, 2, 4, 8};
    Planes& target = layer == 0 ? d_ : layer == 1 ? q_ : layer == 2 ? e_ : tower_;
    for (int k = 0; k < kBits[layer]; ++k) {
      std::memcpy(target.plane(0, k), mine + static_cast<std::size_t>(k) * used_, used_);
      std::memcpy(target.plane(1, k), theirs + static_cast<std::size_t>(k) * used_, used_);
    }
  }

  void sub_shift_mix(bool last) override {
    for (int c = 0; c < 2; ++c) {
      apply_columns(c, sbox::kFromTowerAffineColumns, tower_, state_);
      add_constant(c, state_, 0x63);
      shift_rows(c, state_, +1);
      if (!last) mix_columns(c);
    }
  }

  void inv_shift_sub() override {
    for (int c = 0; c < 2; ++c) {
      shift_rows(c, state_, -1);
      add_constant(c, state_, 0x63);
    }
    to_tower(sbox::kAffineInverseToTowerColumns);
    in_tower_ = true;
  }

  void take_inverse() override {
    for (int c = 0; c < 2; ++c) apply_columns(c, sbox::kFromTowerColumns, tower_, state_);
  }

  // InvMixColumns = MixColumns after adding 4 (a_r + a_{r+2}).
  void inv_mix() override {
    for (int c = 0; c < 2; ++c) {
      Planes sum(kStateBits, stride_);
      for (int k = 0; k < kStateBits; ++k) add_rotated(sum.plane(c, k), state_.plane(c, k), 0, 2);
      add_multiple<4>(c, sum);
      mix_columns(c);
    }
  }

 private:
  Pair<W> at(const Planes& p, int k, std::size_t j) const {
    return {W::load(p.plane(0, k) + j), W::load(p.plane(1, k) + j)};
  }
  void put(int k, std::size_t j, W w) {
    w.store(scratch_.data() + static_cast<std::size_t>(k) * stride_ + j);
  }

  void layer_terms(int layer, std::size_t j) {
    switch (layer) {
      case 0: return norm_terms(j);
      case 1: return pair_terms(j);
      case 2: return invert_terms(j);
      default: return product_terms(j);
    }
  }

  // d = 8 h^2 + h l + l^2; squares are linear: party i adds those of x_i.
  void norm_terms(std::size_t j) {
    Pair<W> l[4], h[4];
    for (int k = 0; k < 4; ++k) {
      l[k] = at(tower_, k, j);
      h[k] = at(tower_, k + 4, j);
    }
    W d[4] = {};
    gf16_terms(h, l, d);
    for (int k = 0; k < 4; ++k) {
      unsigned square = gf16_mul(1u << k, 1u << k), scaled = gf16_mul(8, square);
      for (int r = 0; r < 4; ++r) {
        if (square >> r & 1) d[r] = d[r] ^ l[k].x;
        if (scaled >> r & 1) d[r] = d[r] ^ h[k].x;
      }
    }
    for (int k = 0; k < 4; ++k) put(k, j, d[k]);
  }

  // q = d^5 in GF(4)
  void pair_terms(std::size_t j) {
    const Pair<W> d0 = at(d_, 0, j), d1 = at(d_, 1, j), d2 = at(d_, 2, j), d3 = at(d_, 3, j);
    W q[2] = {};
    auto add = [&](W t, int mask) {
      for (int k = 0; k < 2; ++k)
        if (mask >> k & 1) q[k] = q[k] ^ t;
    };
#define LINEAR(a, mask) add(a.x, mask);
#define PRODUCT(a, b, mask) add(terms_of(a, b), mask);
    TKDC_SBOX_NORM_TERMS(LINEAR, PRODUCT)
#undef LINEAR
#undef PRODUCT
    for (int k = 0; k < 2; ++k) put(k, j, q[k]);
  }

  // e = d^4 q^2
  void invert_terms(std::size_t j) {
    const Pair<W> d0 = at(d_, 0, j), d1 = at(d_, 1, j), d2 = at(d_, 2, j), d3 = at(d_, 3, j);
    const Pair<W> q0 = at(q_, 0, j), q1 = at(q_, 1, j);
    W e[4] = {};
    auto add = [&](W t, int mask) {
      for (int k = 0; k < 4; ++k)
        if (mask >> k & 1) e[k] = e[k] ^ t;
    };
#define LINEAR(a, mask) add(a.x, mask);
#define PRODUCT(a, b, mask) add(terms_of(a, b), mask);
    TKDC_SBOX_INVERT_TERMS(LINEAR, PRODUCT)
#undef LINEAR
#undef PRODUCT
    for (int k = 0; k < 4; ++k) put(k, j, e[k]);
  }

  // a^-1 = (h e, (h + l) e)
  void product_terms(std::size_t j) {
    Pair<W> h[4], sum[4], e[4];
    for (int k = 0; k < 4; ++k) {
      h[k] = at(tower_, k + 4, j);
      sum[k] = at(tower_, k, j) ^ h[k];
      e[k] = at(e_, k, j);
    }
    W high[4] = {}, low[4] = {};
    gf16_terms(h, e, high);
    gf16_terms(sum, e, low);
    for (int k = 0; k < 4; ++k) {
      put(k, j, low[k]);
      put(k + 4, j, high[k]);
    }
  }

  template <class Source>
  void slice(const std::vector<AesBlockRef>& blocks, Source source, bool add) {
    for (int c = 0; c < 2; ++c)
      for (std::size_t g = 0; g < group_; ++g)
        for (std::size_t pos = 0; pos < 16; ++pos) {
          std::uint64_t bits = 0;
          for (std::size_t b = 0; b < 8 && 8 * g + b < blocks.size(); ++b)
            bits |= std::uint64_t{source(blocks[8 * g + b], c)[pos]} << 8 * b;
          bits = transpose8x8(bits);
          for (int k = 0; k < 8; ++k) {
            std::uint8_t& out = state_.plane(c, k)[pos * group_ + g];
            out = static_cast<std::uint8_t>((add ? out : 0) ^ (bits >> 8 * k));
          }
        }
  }

  void to_tower(const std::uint8_t (&columns)[8]) {
    for (int c = 0; c < 2; ++c) apply_columns(c, columns, state_, tower_);
  }

  void apply_columns(int c, const std::uint8_t (&columns)[8], const Planes& in, Planes& out) {
    for (std::size_t j = 0; j < stride_; j += sizeof(W)) {
      W r[kStateBits] = {};
      for (int k = 0; k < kStateBits; ++k) {
        W a = W::load(in.plane(c, k) + j);
        for (int row = 0; row < kStateBits; ++row)
          if (columns[k] >> row & 1) r[row] = r[row] ^ a;
      }
      for (int row = 0; row < kStateBits; ++row) r[row].store(out.plane(c, row) + j);
    }
  }

  void add_constant(int c, Planes& p, std::uint8_t constant) {
    if (c != constant_component(party_)) return;
    for (int k = 0; k < kStateBits; ++k)
      if (constant >> k & 1)
        for (std::size_t j = 0; j < used_; ++j) p.plane(c, k)[j] ^= 0xff;
  }

  // Position r + 4c from r + 4((c + direction r) mod 4).
  void shift_rows(int c, Planes& p, int direction) {
    for (int k = 0; k < kStateBits; ++k) {
      std::memcpy(scratch_.data(), p.plane(c, k), used_);
      for (int pos = 0; pos < 16; ++pos) {
        int row = pos % 4, column = pos / 4;
        int from = row + 4 * ((column + direction * row + 4) % 4);
        std::memcpy(p.plane(c, k) + static_cast<std::size_t>(pos) * group_,
                    scratch_.data() + static_cast<std::size_t>(from) * group_, group_);
      }
    }
  }

  // out ^= a rotated within columns by `first` rows ^ a rotated by `second`.
  void add_rotated(std::uint8_t* out, const std::uint8_t* a, int first, int second) {
    for (int pos = 0; pos < 16; ++pos)
      for (int by : {first, second}) {
        int from = (pos & ~3) | ((pos + by) & 3);
        xor_bytes(out + static_cast<std::size_t>(pos) * group_,
                  a + static_cast<std::size_t>(from) * group_, group_);
      }
  }

  // state ^= factor * a
  template <std::uint8_t factor>
  void add_multiple(int c, const Planes& a) {
    static constexpr Multiples kMultiples = multiples_of(factor);
    for (int k = 0; k < kStateBits; ++k)
      for (int row = 0; row < kStateBits; ++row)
        if (kMultiples.of_bit[k] >> row & 1) xor_bytes(state_.plane(c, row), a.plane(c, k), used_);
  }

  // b_r = 2 (a_r + a_{r+1}) + a_{r+1} + a_{r+2} + a_{r+3}
  void mix_columns(int c) {
    Planes sum(kStateBits, stride_), rest(kStateBits, stride_);
    for (int k = 0; k < kStateBits; ++k) {
      std::uint8_t* a = state_.plane(c, k);
      add_rotated(sum.plane(c, k), a, 0, 1);
      add_rotated(rest.plane(c, k), a, 1, 2);
      std::memcpy(scratch_.data(), a, used_);
      std::memcpy(a, rest.plane(c, k), used_);
      for (int pos = 0; pos < 16; ++pos)
        xor_bytes(a + static_cast<std::size_t>(pos) * group_,
                  scratch_.data() + static_cast<std::size_t>((pos & ~3) | ((pos + 3) & 3)) * group_,
                  group_);
    }
    add_multiple<2>(c, sum);
  }

  int party_;
  bool in_tower_ = false;
  std::size_t group_, used_, stride_;  // octets: of a plane's position, of a bit's planes, padded
  Planes state_, tower_, d_, q_, e_;
  SecretVector scratch_;
};

template <class W>
class PlaneBackend final : public Rep3Backend {
 public:
  explicit PlaneBackend(const char* name) : name_(name) {}
  std::string name() const override { return name_; }
  Representation representation() const override { return Representation::kPlanes; }
  std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const override {
    return std::make_unique<PlaneCohort<W>>(party, blocks);
  }

 private:
  const char* name_;
};

}  // namespace
}  // namespace tkdc
