// SPDX-License-Identifier: Apache-2.0
#include "verify/verifier.h"

#include <algorithm>

namespace tkdc {
namespace {

// sum of rho_k z_k = sum of a_k (rho_k b_k), as one inner product; rho_k independent,
// from one opened seed.
void combine(const std::vector<FieldClaim>& claims, const Bytes& seed,
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
  if (rep3_.claims() != nullptr) rep3_.add_gatherer([this] { return gather(); });
}

bool Verifier::gather() {
  ClaimLog& log = *rep3_.claims();
  if (rep3_.deviation() || !log.wants_check()) return false;
  if (log.checking() && rep3_.rounds() % kStartEveryRounds != 0) return false;
  ClaimBatch batch;
  const std::uint64_t number = log.take(batch);
  rep3_.spawn(check(std::move(batch), number));
  return true;
}

namespace {

// An opened value's components go out with a digest of each other, which a server
// may see before it has sent its own message of the round before. Below kHiding
// octets of unknown randomness it could find the value by trying.
constexpr std::size_t kHidingBytes = 32;
constexpr Prss::Purpose kChallenge = Prss::Purpose::kChallenge;

// A layer's result, which stands in the packets for one round only.
SharedBytes kept(const Layer& layer) {
  SharedBytes out(layer.size());
  std::memcpy(out.component[0].data(), layer.mine(), layer.size());
  std::memcpy(out.component[1].data(), layer.theirs(), layer.size());
  return out;
}

}  // namespace

Task<Bytes> Verifier::challenge(std::size_t bytes) {
  SharedBytes unknown = rep3_.random(std::max(bytes, kHidingBytes), kChallenge);
  Bytes opened = co_await rep3_.open(unknown);
  co_return opened;
}

template <class F>
Task<bool> Verifier::check_inner_product(InnerProductCheck<F>& product) {
  using Check = InnerProductCheck<F>;
  for (bool last = false; !last;) {
    product.begin_fold();
    last = product.last();
    if (last) {
      SharedBytes random = rep3_.random(Check::kRandomBytes, kChallenge);
      product.take_random(random);
    }
    Layer layer = rep3_.layer(product.message_bytes());
    product.points_sent(layer.mine());
    co_await layer;
    product.take_points(layer.mine(), layer.theirs());
    Bytes at = co_await challenge(product.challenge_bytes());
    product.fold(at.data());
  }
  Bytes factors, opened;
  bool agree = false;
  co_await both(rep3_, open_factors(product, factors, agree), mask_claim(product));
  // With wrong factors what is opened next would tell what the claim lacks: nothing more leaves.
  if (!agree) {
    rep3_.set_deviation("the shares of an opened value do not agree");
    co_return false;
  }
  SharedBytes lacking = product.masked(factors.data());
  co_await open_hidden(lacking, opened);
  co_return Check::is_zero(opened.data());
}

Task<void> Verifier::open_hidden(SharedBytes& values, Bytes& opened) {
  SharedBytes salt = rep3_.random(kHidingBytes, kChallenge);
  values.append(salt);
  opened = co_await rep3_.open(values);
}

// A Shamir share goes to both others as it is. Whoever is told another one than the two honest
// ones determine sees it.
template <class F>
Task<void> Verifier::open_factors(InnerProductCheck<F>& product, Bytes& opened, bool& agree) {
  Bytes own = product.factors();
  FromBoth others = co_await rep3_.exchange(own);
  agree = InnerProductCheck<F>::open_factors(own, others.next, others.prev, opened);
}

template <class F>
Task<void> Verifier::mask_claim(InnerProductCheck<F>& product) {
  SharedBytes mask = rep3_.random(product.kMaskedBytes, kChallenge);
  Layer layer = rep3_.layer(product.kMaskedBytes);
  product.mask_sent(mask, layer.mine());
  co_await layer;
  product.take_masked(layer.mine(), layer.theirs());
}

Task<void> Verifier::check_octets(std::vector<std::unique_ptr<ClaimRecord>> claims, bool& holds) {
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
  combine(claims, seed, *product, rep3_.claims()->pool());
  claims.clear();
  holds = co_await check_inner_product(*product);
}

void Verifier::release(std::uint64_t number) {
  for (std::coroutine_handle<> waiter : rep3_.claims()->checked(number)) rep3_.ready(waiter);
}

Task<void> Verifier::check(ClaimBatch batch, std::uint64_t number) {
  if (!batch.empty()) {
    bool octets_hold = true, field_holds = true;
    co_await both(rep3_, check_octets(std::move(batch.octets), octets_hold),
                  check_field(std::move(batch.field), field_holds));
    Bytes verdict = rep3_.course_digest();
    verdict.push_back(octets_hold && field_holds ? 1 : 0);
    FromBoth others = co_await rep3_.exchange(verdict);
    if (verdict.back() != 1 || others.prev.back() != 1 || others.next.back() != 1) {
      rep3_.set_deviation("the verification of messages failed");
      co_return;
    }
    if (others.prev != verdict || others.next != verdict) {
      rep3_.set_deviation("the servers were told different things about which jobs to run");
      co_return;
    }
    ++batches_;
  }
  release(number);
  if (rep3_.claims()->clean()) rep3_.claims()->pool().wipe_idle();
}

}  // namespace tkdc
