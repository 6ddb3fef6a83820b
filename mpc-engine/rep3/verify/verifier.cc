// SPDX-License-Identifier: Apache-2.0
#include "rep3/verify/verifier.h"

#include <algorithm>

namespace tkdc {
namespace {

// sum of rho_k z_k = sum of a_k (rho_k b_k), as one inner product; rho_k independent,
// from one opened seed.
void combine_claims(const std::vector<FieldClaim>& claims, const Bytes& seed,
                    InnerProductCheck<Gf128Field>& out, SecretPool& pool) {
  static constexpr std::uint8_t kNonce[crypto_stream_xchacha20_NONCEBYTES] = {1};
  using Check = InnerProductCheck<Gf128Field>;
  Bytes rho(claims.size() * Gf128Field::kBytes);
  crypto_stream_xchacha20(rho.data(), rho.size(), kNonce, seed.data());
  std::size_t products = 0, next = 0;
  for (const FieldClaim& claim : claims) products += claim.a.size() / Gf128Field::kBytes;
  out.allocate(products, pool);
  for (std::size_t k = 0; k < claims.size(); ++k) {
    const FieldClaim& claim = claims[k];
    const auto factor = Check::get(rho.data() + k * Gf128Field::kBytes);
    for (std::size_t at = 0; at < claim.a.size(); at += Gf128Field::kBytes, ++next) {
      out.x[next] = Check::share_at(claim.a, at);
      out.y[next] = Gf128Field::multiply(factor, Check::share_at(claim.b, at));
    }
    out.claim =
        Gf128Field::add(out.claim, Gf128Field::multiply(factor, Check::share_at(claim.z, 0)));
  }
}

}  // namespace

Verifier::Verifier(Rep3& rep3, OctetDevice* device) : rep3_(rep3), device_(device) {
  if (rep3_.claims() != nullptr) rep3_.lane.add_gatherer([this] { return gather(); });
}

bool Verifier::gather() {
  ClaimLog& log = *rep3_.claims();
  if (rep3_.lane.deviation() || !log.wants_check()) return false;
  if (!wished_) wished_ = Clock::now();
  if (log.checking() && rep3_.lane.rounds() % kStartEveryRounds != 0) return false;
  ClaimBatch batch;
  const std::uint64_t number = log.take(batch);
  rep3_.lane.spawn(check(std::move(batch), number, *std::exchange(wished_, std::nullopt)));
  return true;
}

namespace {

// A layer's result, which stands in the packets for one round only.
SharedBytes kept(const Layer& layer) {
  SharedBytes out(layer.size());
  std::memcpy(out.component[0].data(), layer.mine(), layer.size());
  std::memcpy(out.component[1].data(), layer.theirs(), layer.size());
  return out;
}

}  // namespace

template <class F>
Task<bool> Verifier::check_inner_product(InnerProductCheck<F>& product) {
  using Check = InnerProductCheck<F>;
  for (bool last = false; !last;) {
    product.begin_fold();
    last = product.last();
    if (last) {
      SharedBytes random = rep3_.random(Check::kRandomBytes, Prss::Purpose::kChallenge);
      product.take_random(random);
    }
    Layer layer = rep3_.layer(product.message_bytes());
    product.points_sent(layer.mine());
    co_await layer;
    product.take_points(layer.mine(), layer.theirs());
    Bytes at = co_await challenge(product.challenge_bytes());
    product.fold(at.data());
  }
  Bytes factors = co_await open_factors(product);
  SharedBytes lacking = product.masked(factors.data());
  Bytes opened = co_await open_hidden(lacking);
  co_return Check::is_zero(opened.data());
}

Task<void> Verifier::check_octets(std::vector<std::unique_ptr<ClaimRows>> claims, bool& holds) {
  if (claims.empty()) co_return;
  // A device copies the rows while the seed is opened.
  std::unique_ptr<OctetBatch> on_device = OctetCheck::begin(device_, claims);
  Bytes seed = co_await challenge(OctetCheck::kSeedBytes);
  auto octets =
      std::make_unique<OctetCheck>(std::move(claims), seed.data(), forms_, std::move(on_device));
  Layer layer = rep3_.layer(octets->message_bytes());
  octets->points(layer.mine());
  co_await layer;
  SharedBytes points = kept(layer);
  Bytes at = co_await challenge(OctetCheck::kChallengeBytes);
  auto product = std::make_unique<InnerProductCheck<Gf64Field>>();
  OctetCheck::fold(std::move(octets), points.component[0].data(), points.component[1].data(),
                   at.data(), *product, rep3_.claims()->pool());
  holds = co_await check_inner_product(*product);
}

Task<void> Verifier::check_field(std::vector<FieldClaim> claims, bool& holds) {
  if (claims.empty()) co_return;
  Bytes seed = co_await challenge(crypto_stream_xchacha20_KEYBYTES);
  auto product = std::make_unique<InnerProductCheck<Gf128Field>>();
  combine_claims(claims, seed, *product, rep3_.claims()->pool());
  claims.clear();
  holds = co_await check_inner_product(*product);
}

void Verifier::release(std::uint64_t number) {
  for (std::coroutine_handle<> waiter : rep3_.claims()->checked(number)) rep3_.lane.ready(waiter);
}

namespace {

// What a batch holds, to be the same at all three: its number, each shape and how many lanes there
// are of it, of each claim in GF(2^128) how many products.
Bytes describe(const ClaimBatch& batch, std::uint64_t number) {
  Bytes out;
  Writer w(out);
  w.u64(number);
  w.u64(batch.octets.size());
  for (const auto& record : batch.octets) {
    w.u8(record->bits() ? 1 : 0);
    const ClaimShape& shape = record->shape();
    for (std::size_t size : {shape.rows, shape.slots, shape.claims, shape.factors.size()})
      w.u64(size);
    w.u64(record->lanes());
  }
  for (const FieldClaim& claim : batch.field) w.u64(claim.a.size());
  return out;
}

}  // namespace

Task<void> Verifier::agree_on(Bytes batch) {
  FromBoth others = co_await rep3_.lane.agree(std::move(batch), Bytes());
}

Task<void> Verifier::check(ClaimBatch batch, std::uint64_t number, Clock::time_point wished) {
  if (!batch.empty()) {
    const std::uint64_t claims = batch.claims();
    bool octets_hold = true, field_holds = true;
    const std::size_t products = (batch.octets.empty() ? 0 : 1) + (batch.field.empty() ? 0 : 1);
    std::vector<Task<void>> parts;
    // In the seed's round; whoever sees a difference takes no further part.
    parts.push_back(agree_on(describe(batch, number)));
    parts.push_back(check_octets(std::move(batch.octets), octets_hold));
    parts.push_back(check_field(std::move(batch.field), field_holds));
    co_await all(rep3_.lane, std::move(parts));
    const bool good = co_await all_find_it_good(octets_hold && field_holds, products);
    if (!good) co_return;
    ++batches_;
    if (on_checked_) on_checked_(claims, Clock::now() - wished);
  }
  release(number);
  if (rep3_.claims()->clean()) rep3_.claims()->pool().wipe_idle();
}

}  // namespace tkdc
