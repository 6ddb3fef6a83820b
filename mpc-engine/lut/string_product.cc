// SPDX-License-Identifier: Apache-2.0
#include "lut/string_product.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "pair/buckets.h"

namespace tkdc::lut {
namespace {

// Bits from and to octets, the first lowest; strings are put in whole, `bits` of them.
class BitWriter {
 public:
  explicit BitWriter(Bytes& to) : to_(to) { to_.clear(); }
  void put(Label value, std::size_t bits) {
    for (std::size_t done = 0; done < bits; done += 8) {
      const std::uint64_t word = done < 64 ? value.low >> done : value.high >> (done - 64);
      add(word & (0xff >> (8 - std::min<std::size_t>(8, bits - done))),
          std::min<std::size_t>(8, bits - done));
    }
  }
  void flush() {
    if (held_ > 0) to_.push_back(static_cast<std::uint8_t>(word_));
    word_ = held_ = 0;
  }

 private:
  void add(std::uint64_t bits, std::size_t count) {
    word_ |= bits << held_;
    held_ += count;
    if (held_ < 8) return;
    to_.push_back(static_cast<std::uint8_t>(word_));
    word_ >>= 8;
    held_ -= 8;
  }
  Bytes& to_;
  std::uint64_t word_ = 0;
  std::size_t held_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const Bytes& from) : from_(from) {}
  Label get(std::size_t bits) {
    Label out;
    for (std::size_t done = 0; done < bits; done += 8) {
      const std::size_t some = std::min<std::size_t>(8, bits - done);
      const std::size_t octet = at_ / 8;
      std::uint64_t word = from_[octet];
      if (octet + 1 < from_.size()) word |= std::uint64_t{from_[octet + 1]} << 8;
      word = word >> (at_ % 8) & (0xffu >> (8 - some));
      (done < 64 ? out.low : out.high) |= word << (done % 64);
      at_ += some;
    }
    return out;
  }

 private:
  const Bytes& from_;
  std::size_t at_ = 0;
};

std::uint64_t bit_of(const Label& label, std::size_t k) {
  return (k < 64 ? label.low >> k : label.high >> (k - 64)) & 1;
}

// Buckets by the piece, from leaky products to those of the operands.
class Combination {
 public:
  Combination(Dealer& dealer, Shape shape, const Leaky& leaky, std::size_t bucket,
              const Label& seed, std::span<const Label> q, std::span<const Label> p, Labels& out)
      : dealer_(dealer), shape_(shape), leaky_(leaky), bucket_(bucket),
        order_(pair::permutation_of(seed, leaky.size())), q_(q), p_(p), out_(out), sums_(kMostBits),
        labels_(bucket) {}
  ~Combination() { garble::wipe_stack(); }

  Result<void> run() {
    const std::size_t count = q_.size() / shape_.bits;
    for (std::size_t first = 0; first < count; first += kPiece) {
      count_ = std::min(kPiece, count - first);
      first_ = first;
      open_operands();
      auto done = dealer_.exchange(opened_);
      if (done) {
        multiply();
        done = open_products();
      }
      if (!done) return done;
    }
    return {};
  }

 private:
  static constexpr std::size_t kPiece = 512, kFetched = 6, kMostInBucket = 16, kMostBits = 16;

  std::span<const std::uint32_t> members(std::size_t k) const {
    return std::span(order_).subspan((first_ + k) * bucket_, bucket_);
  }
  String operand(std::size_t k) const {
    return string_of(p_.subspan((first_ + k) * shape_.length, shape_.length));
  }
  // The string of q ⊕ b.
  String turns(std::size_t k) {
    for (std::size_t i = 0; i < shape_.bits; ++i) {
      sums_[i] = q_[(first_ + k) * shape_.bits + i];
      for (const std::uint32_t member : members(k)) sums_[i] = sums_[i] ^ leaky_.bit(member, i);
    }
    return string_of(std::span(sums_).first(shape_.bits));
  }

  // Members stand anywhere in memory.
  void fetch(std::size_t k) const {
    if (k >= count_) return;
    for (const std::uint32_t member : members(k)) leaky_.fetch(member);
  }

  // Of each bucket: d_1 … d_{B−1}, δ, ε.
  void open_operands() {
    BitWriter writer(opened_);
    masked_.clear();
    for (std::size_t k = 0; k < count_; ++k) {
      fetch(k + kFetched);
      const auto of = members(k);
      const String v = leaky_.string(of[0]);
      for (std::size_t j = 1; j < bucket_; ++j) masked_.push_back(v ^ leaky_.string(of[j]));
      masked_.push_back(v ^ operand(k));
      masked_.push_back(turns(k));
      for (std::size_t j = bucket_ + 1; j-- > 0;)
        writer.put(masked_[masked_.size() - 1 - j].value, j == 0 ? shape_.bits : shape_.length);
    }
    writer.flush();
  }

  // What has been opened makes each bucket one product of the operands, as strings.
  void multiply() {
    BitReader reader(opened_);
    products_.resize(count_ * shape_.bits);
    for (std::size_t k = 0; k < count_; ++k) {
      fetch(k + kFetched);
      Label values[kMostInBucket + 1];
      for (std::size_t j = 0; j <= bucket_; ++j) {
        values[j] = reader.get(j == bucket_ ? shape_.bits : shape_.length);
        dealer_.expect(masked_[k * (bucket_ + 1) + j], values[j]);
      }
      for (std::size_t i = 0; i < shape_.bits; ++i)
        products_[k * shape_.bits + i] = product(k, i, values);
    }
  }

  String product(std::size_t k, std::size_t i, const Label* values) {
    const auto of = members(k);
    const Label &delta = values[bucket_ - 1], &turns = values[bucket_];
    String out;
    Label sum, factors[kMostInBucket];
    for (std::size_t j = 0; j < bucket_; ++j) {
      const Label& b = leaky_.bit(of[j], i);
      out = out ^ leaky_.product(of[j], i);
      if (j > 0) {
        labels_[j] = b;
        factors[j] = values[j - 1];
        out.value = out.value ^ values[j - 1].where(b.low & 1);
      }
      sum = sum ^ b;
    }
    // ε is public.
    const std::uint64_t turn = bit_of(turns, i);
    const String v = leaky_.string(of[0]);
    out = out ^ String { v.value.where(turn), v.mac.where(turn) };
    sum = sum ^ dealer_.part().where(turn);
    out.value = out.value ^ delta.where(sum.low & 1);
    labels_[0] = sum;
    factors[0] = delta;
    out.mac = out.mac ^ field().dot(labels_, std::span(factors).first(bucket_));
    return out;
  }

  // The products' bits, masked by random ones.
  Result<void> open_products() {
    const std::size_t rows = count_ * shape_.bits, length = shape_.length;
    const auto out = std::span(out_).subspan(first_ * shape_.bits * length, rows * length);
    if (auto drawn = dealer_.draw(out); !drawn) return drawn;
    BitWriter writer(opened_);
    for (std::size_t k = 0; k < rows; ++k) {
      products_[k] = products_[k] ^ string_of(out.subspan(k * length, length));
      writer.put(products_[k].value, length);
    }
    writer.flush();
    if (auto done = dealer_.exchange(opened_); !done) return done;
    BitReader reader(opened_);
    for (std::size_t k = 0; k < rows; ++k) {
      const Label opened = reader.get(length);
      dealer_.expect(products_[k], opened);
      for (std::size_t j = 0; j < length; ++j)
        out[k * length + j] = out[k * length + j] ^ dealer_.part().where(bit_of(opened, j));
    }
    return {};
  }

  Dealer& dealer_;
  const Shape shape_;
  const Leaky& leaky_;
  const std::size_t bucket_;
  const std::vector<std::uint32_t> order_;
  const std::span<const Label> q_, p_;
  Labels& out_;
  std::size_t first_ = 0, count_ = 0;
  Bytes opened_;
  Strings masked_, products_;
  Labels sums_, labels_;  // of one bucket
};

}  // namespace

Plan plan_products(std::size_t products) {
  Plan best{0, 0, 0};
  for (std::size_t bucket = kLeastBucket; bucket <= 12; ++bucket) {
    std::size_t least = std::max<std::size_t>(products, 2);
    while (pair::bucket_bound(least, bucket) > kWantedBound) least += 1 + least / 16;
    if (best.bucket == 0 || least * bucket < best.products * best.bucket)
      best = {least, bucket, pair::bucket_bound(least, bucket)};
  }
  return best;
}

Result<Labels> multiply(Dealer& dealer, Shape shape, std::span<const Label> q,
                        std::span<const Label> p) {
  assert(shape.bits <= 16 && shape.length <= 128);
  const std::size_t count = q.size() / shape.bits;
  if (count == 0 || q.size() != count * shape.bits || p.size() != count * shape.length)
    return fail("lut: " + std::to_string(q.size()) + " bits and " + std::to_string(p.size()) +
                " bits of strings do not fit each other");
  const Plan plan = plan_products(count);
  auto leaky = leaky_products(dealer, shape, plan.products * plan.bucket);
  if (!leaky) return leaky.error();
  auto seed = dealer.coins();  // after the check, when nobody can guess any more
  if (!seed) return seed.error();
  Labels out(count * shape.bits * shape.length);
  Combination combination(dealer, shape, *leaky, plan.bucket, *seed, q, p, out);
  if (auto done = combination.run(); !done) return done.error();
  return out;
}

}  // namespace tkdc::lut
