// SPDX-License-Identifier: Apache-2.0
#include "pair/buckets.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "pair/steps.h"

namespace tkdc::pair {
namespace {

// std::lgamma writes the sign where all threads see it.
double log_factorial(double n) {
  int sign = 0;
  return ::lgamma_r(n + 1, &sign);
}

double log2_binomial(double n, double k) {
  return (log_factorial(n) - log_factorial(k) - log_factorial(n - k)) / std::numbers::ln2;
}

}  // namespace

double bucket_bound(std::size_t ands, std::size_t bucket) {
  const double n = static_cast<double>(ands), size = static_cast<double>(bucket);
  double most = -1e9;
  // C(t, B) 2^-t rises until t = 2 B − 1.
  for (std::size_t t = bucket; t <= 4 * bucket; ++t) {
    const double guessed = static_cast<double>(t);
    most = std::max(most, log2_binomial(guessed, size) - guessed);
  }
  return std::log2(n) + most - log2_binomial(n * size, size);
}

BucketPlan plan_buckets(std::size_t ands) {
  constexpr std::size_t kFives = 5'600;
  BucketPlan plan{std::max(ands, kLeastAnds), 6, 0};
  if (plan.ands >= kMostAnds)
    plan.bucket = 4;
  else if (plan.ands >= kFives)
    plan.bucket = 5;
  plan.bound = bucket_bound(plan.ands, plan.bucket);
  return plan;
}

std::vector<std::uint32_t> permutation_of(const Label& seed, std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  garble::RoundKeys keys;
  garble::expand_keys(std::span(&seed, 1), keys);
  constexpr std::size_t kBlocks = 512;
  std::vector<Label> random(kBlocks);
  std::size_t used = 2 * kBlocks;
  std::uint64_t block = 0;
  for (std::size_t k = count; k-- > 1;) {
    if (used == 2 * kBlocks) {
      for (Label& one : random) one = {block++, 0};
      garble::fastest_kernel().permute(keys, random);
      used = 0;
    }
    const std::uint64_t word = used % 2 == 0 ? random[used / 2].low : random[used / 2].high;
    ++used;
    // Uniform below k + 1 but for a factor within 2^-43 of 1.
    const auto place =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(word) * (k + 1) >> 64);
    std::swap(order[k], order[place]);
  }
  return order;
}

namespace {

// Buckets by the piece: opened some pieces after they were told, so nobody waits for the link.
// Members lie anywhere in memory, so each is read once: what depends on d_j is kept till then.
class Combination {
 public:
  Combination(Session& session, std::span<const AuthAnd> leaky, const BucketPlan& plan,
              const Label& seed, AuthAnds& out)
      : session_(session), leaky_(leaky), others_(plan.bucket - 1),
        order_(permutation_of(seed, leaky.size())), out_(out) {
    for (Piece& piece : pieces_) {
      piece.differ.resize(kPiece * others_);
      piece.x.resize(kPiece * others_);
    }
  }

  Result<void> run() {
    const std::size_t pieces = (out_.size() + kPiece - 1) / kPiece;
    for (std::size_t t = 0; t < pieces + kLag; ++t) {
      if (t < pieces)
        if (auto told = tell(t); !told) return told;
      if (t >= kLag)
        if (auto heard = hear(t - kLag); !heard) return heard;
    }
    return {};
  }

 private:
  static constexpr std::size_t kPiece = 2048, kLag = 4, kAhead = 16;
  // Of each bucket y_0 ⊕ y_j and x_j, j > 0.
  struct Piece {
    AuthBits differ, x;
  };

  std::size_t count(std::size_t t) const { return std::min(kPiece, out_.size() - t * kPiece); }
  Piece& piece(std::size_t t) { return pieces_[t % (kLag + 1)]; }
  std::span<const AuthBit> differ(std::size_t t) {
    return std::span(piece(t).differ).first(count(t) * others_);
  }

  void fetch(std::size_t place) const {
    if (place >= order_.size()) return;
    const auto* at = reinterpret_cast<const std::uint8_t*>(&leaky_[order_[place]]);
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
    __builtin_prefetch(at + sizeof(AuthAnd) - 1);
  }

  Result<void> tell(std::size_t t) {
    AuthBit *differ_to = piece(t).differ.data(), *x_to = piece(t).x.data();
    std::size_t place = t * kPiece * (others_ + 1);
    for (std::size_t k = 0; k < count(t); ++k) {
      fetch(place + kAhead);
      AuthAnd sum = leaky_[order_[place++]];
      for (std::size_t j = 0; j < others_; ++j) {
        fetch(place + kAhead);
        const AuthAnd& one = leaky_[order_[place++]];
        *differ_to++ = sum.y ^ one.y;
        *x_to++ = one.x;
        sum.x = sum.x ^ one.x;
        sum.z = sum.z ^ one.z;
      }
      out_[t * kPiece + k] = sum;
    }
    return session_.tell(differ(t));
  }

  Result<void> hear(std::size_t t) {
    auto opened = session_.hear(differ(t));
    if (!opened) return opened.error();
    const AuthBit *told = piece(t).differ.data(), *x = piece(t).x.data();
    const std::uint8_t* heard = opened->data();
    for (std::size_t k = 0; k < count(t); ++k) {
      AuthBit& z = out_[t * kPiece + k].z;
      for (std::size_t j = 0; j < others_; ++j) z = z ^ (x++)->where(*heard++ ^ (told++)->own());
    }
    return {};
  }

  Session& session_;
  const std::span<const AuthAnd> leaky_;
  const std::size_t others_;  // of a bucket, but its first
  const std::vector<std::uint32_t> order_;
  AuthAnds& out_;
  Piece pieces_[kLag + 1];
};

}  // namespace

Result<AuthAnds> make_ands(Session& session, std::size_t ands) {
  const BucketPlan plan = plan_buckets(ands);
  if (ands > kMostAnds || !(plan.bound <= kWantedBound))
    return fail("pair: no buckets for a batch of " + std::to_string(ands) + " ANDs");
  if (session.steps() != nullptr) return session.steps()->make_ands(session, ands);
  auto leaky = leaky_ands(session, plan.ands * plan.bucket);
  if (!leaky) return leaky.error();
  auto seed = session.coins();  // after the check: nobody knew the buckets while it could guess
  if (!seed) return seed.error();
  AuthAnds out(ands);
  Combination combination(session, *leaky, plan, *seed, out);
  if (auto done = combination.run(); !done) return done.error();
  return out;
}

}  // namespace tkdc::pair
