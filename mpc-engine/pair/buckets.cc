// SPDX-License-Identifier: Apache-2.0
#include "pair/buckets.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

namespace tkdc::pair {
namespace {

double log2_binomial(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::numbers::ln2;
}

// The bucket's parts in one AND; `opened` are d_1 … d_{B−1}.
AuthAnd combined(const AuthAnds& leaky, std::span<const std::uint32_t> members,
                 std::span<const std::uint8_t> opened) {
  AuthAnd out = leaky[members[0]];
  for (std::size_t j = 1; j < members.size(); ++j) {
    const AuthAnd& one = leaky[members[j]];
    out.x = out.x ^ one.x;
    out.z = out.z ^ one.z ^ one.x.where(opened[j - 1]);
  }
  return out;
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
class Combination {
 public:
  Combination(Session& session, const AuthAnds& leaky, const BucketPlan& plan, const Label& seed,
              AuthAnds& out)
      : session_(session), leaky_(leaky), bucket_(plan.bucket),
        order_(permutation_of(seed, leaky.size())), out_(out) {
    for (AuthBits& piece : differ_) piece.resize(kPiece * (bucket_ - 1));
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
  static constexpr std::size_t kPiece = 2048, kLag = 4;

  std::span<const std::uint32_t> members(std::size_t k) const {
    return std::span(order_).subspan(k * bucket_, bucket_);
  }
  std::size_t count(std::size_t t) const { return std::min(kPiece, out_.size() - t * kPiece); }
  std::span<AuthBit> differ(std::size_t t) {
    return std::span(differ_[t % (kLag + 1)]).first(count(t) * (bucket_ - 1));
  }

  Result<void> tell(std::size_t t) {
    AuthBit* to = differ(t).data();
    for (std::size_t k = 0; k < count(t); ++k) {
      const auto of = members(t * kPiece + k);
      for (std::size_t j = 1; j < bucket_; ++j) *to++ = leaky_[of[0]].y ^ leaky_[of[j]].y;
    }
    return session_.tell(differ(t));
  }

  Result<void> hear(std::size_t t) {
    auto opened = session_.hear(differ(t));
    if (!opened) return opened.error();
    for (std::size_t k = 0; k < opened->size(); ++k)
      (*opened)[k] ^= static_cast<std::uint8_t>(differ(t)[k].own());
    for (std::size_t k = 0; k < count(t); ++k)
      out_[t * kPiece + k] = combined(leaky_, members(t * kPiece + k),
                                      std::span(*opened).subspan(k * (bucket_ - 1), bucket_ - 1));
    return {};
  }

  Session& session_;
  const AuthAnds& leaky_;
  const std::size_t bucket_;
  const std::vector<std::uint32_t> order_;
  AuthAnds& out_;
  AuthBits differ_[kLag + 1];
};

}  // namespace

Result<AuthAnds> make_ands(Session& session, std::size_t ands) {
  const BucketPlan plan = plan_buckets(ands);
  if (ands > kMostAnds || !(plan.bound <= kWantedBound))
    return fail("pair: no buckets for a batch of " + std::to_string(ands) + " ANDs");
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
