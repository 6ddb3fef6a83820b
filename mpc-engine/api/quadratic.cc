// SPDX-License-Identifier: Apache-2.0
#include "api/quadratic.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/ring.h"
#include "protocol/replicated.h"

namespace tkdc::mpc {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// An output, or a part of one: a sum of products that is sent.
struct Part {
  std::uint32_t out;
  std::vector<Term> terms;
};

// Parts of at most `most` products, in the order of the terms.
std::vector<Part> parts_of(const std::vector<Term>& terms, std::size_t outputs, std::size_t most) {
  std::vector<Part> parts;
  std::vector<std::uint32_t> open(outputs, kNone);
  for (const Term& term : terms) {
    std::uint32_t& at = open[term.out];
    if (at == kNone || parts[at].terms.size() == most) {
      at = static_cast<std::uint32_t>(parts.size());
      parts.push_back({term.out, {}});
    }
    parts[at].terms.push_back(term);
  }
  return parts;
}

// x_i (y_i + y_{i+1}) + x_{i+1} y_i, for each product of each part.
void local_terms(Ring ring, const SharedBytes& x, const SharedBytes& y,
                 const std::vector<Part>& parts, std::uint8_t* out) {
  const std::size_t each = element_bytes(ring);
  std::uint8_t sum[16];
  std::fill_n(out, each * parts.size(), std::uint8_t{0});
  for (const Part& part : parts) {
    for (const Term& term : part.terms) {
      const std::size_t l = each * term.left, r = each * term.right;
      std::memcpy(sum, y.component[0].data() + r, each);
      ring_add(ring, sum, y.component[1].data() + r, each);
      ring_multiply_add(ring, out, x.component[0].data() + l, sum);
      ring_multiply_add(ring, out, x.component[1].data() + l, y.component[0].data() + r);
    }
    out += each;
  }
  sodium_memzero(sum, sizeof sum);
}

// A part's claim has a row for each left and right factor, and one for the sum.
constexpr std::size_t kMostProducts = (ClaimShape::kMaxRows - 1) / 2;

ClaimShape make_shape(ClaimShape::Product product, std::size_t products) {
  const std::size_t rows = 2 * products + 1;
  std::vector<OctetMap> second;
  if (product == ClaimShape::Product::kOctets) second.assign(rows, kTimesOmega);
  ClaimShape shape{product, rows, 1, 1, std::move(second), {}, {}};
  for (std::size_t k = 0; k < products; ++k) {
    ClaimShape::Factor factor;
    factor.x = {{{k, kIdentity}}};
    factor.right = {{0, {{{products + k, kIdentity}}}}};
    shape.factors.push_back(std::move(factor));
  }
  shape.z = {{{{rows - 1, kIdentity}}}};
  return shape;
}

using Shapes = std::array<ClaimShape, kMostProducts>;

template <std::size_t... K>
Shapes make_shapes(ClaimShape::Product product, std::index_sequence<K...>) {
  return {make_shape(product, K + 1)...};
}

const ClaimShape& shape_of(bool bits, std::size_t products) {
  constexpr auto kEach = std::make_index_sequence<kMostProducts>();
  static const Shapes of_bits = make_shapes(ClaimShape::Product::kBits, kEach);
  static const Shapes of_octets = make_shapes(ClaimShape::Product::kOctets, kEach);
  return (bits ? of_bits : of_octets)[products - 1];
}

// Claims of parts of octets: a lane is a part. What a part has fewer products than
// another is 0 = 0 * 0.
void record_octets(ClaimLog& log, bool bits, const SharedBytes& x, const SharedBytes& y,
                   const SharedBytes& z, const std::vector<Part>& parts) {
  std::size_t products = 1;
  for (const Part& part : parts) products = std::max(products, part.terms.size());
  SecretVector factors[2];
  ClaimRows::Rows rows{};
  for (std::size_t c = 0; c < 2; ++c) {
    factors[c].resize(2 * products * parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (std::size_t k = 0; k < parts[p].terms.size(); ++k) {
        const Term& term = parts[p].terms[k];
        factors[c][k * parts.size() + p] = x.component[c][term.left];
        factors[c][(products + k) * parts.size() + p] = y.component[c][term.right];
      }
    for (std::size_t r = 0; r < 2 * products; ++r)
      rows[c][r] = factors[c].data() + r * parts.size();
    rows[c][2 * products] = z.component[c].data();
  }
  log.add(shape_of(bits, products), parts.size(), rows);
}

FieldClaim field_claim(const SharedBytes& x, const SharedBytes& y, const Part& part,
                       SharedBytes sum) {
  constexpr std::size_t kEach = 16;
  SharedBytes left, right;
  for (const Term& term : part.terms) {
    left.append(x.slice(kEach * term.left, kEach));
    right.append(y.slice(kEach * term.right, kEach));
  }
  return FieldClaim(std::move(left), std::move(right), std::move(sum));
}

void record(ClaimLog& log, Ring ring, const SharedBytes& x, const SharedBytes& y,
            const SharedBytes& z, const std::vector<Part>& parts) {
  if (parts.empty()) return;
  if (ring != Ring::kGf128) {
    return record_octets(log, ring == Ring::kBits, x, y, z, parts);
  }
  for (std::size_t k = 0; k < parts.size(); ++k)
    log.add(field_claim(x, y, parts[k], z.slice(16 * k, 16)));
}

// out[part.out] += the part.
SharedBytes add_parts(Ring ring, const SharedBytes& z, const std::vector<Part>& parts,
                      std::size_t outputs) {
  const std::size_t each = element_bytes(ring);
  SharedBytes out(each * outputs);
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (int c = 0; c < 2; ++c)
      ring_add(ring, out.component[c].data() + each * parts[k].out,
               z.component[c].data() + each * k, each);
  return out;
}

SharedBytes taken(const Layer& layer) {
  SharedBytes z;
  z.component[0].assign(layer.mine(), layer.mine() + layer.size());
  z.component[1].assign(layer.theirs(), layer.theirs() + layer.size());
  return z;
}

// F(k_i) - F(k_{i+1}) is added to `message`.
void add_zero_share(Rep3& rep3, Ring ring, SecretVector& message) {
  SharedBytes random = rep3.random(message.size());
  for (SecretVector& component : random.component)
    ring_reduce(ring, component.data(), component.size());
  ring_add(ring, message.data(), random.component[0].data(), message.size());
  ring_subtract(ring, message.data(), random.component[1].data(), message.size());
}

Task<SharedBytes> send_binary(Rep3& rep3, SecretVector terms) {
  Layer layer = rep3.layer(terms.size());
  if (!terms.empty()) std::memcpy(layer.mine(), terms.data(), terms.size());
  co_await layer;
  co_return taken(layer);
}

Task<SharedBytes> send_masked(Rep3& rep3, Ring ring, SecretVector terms) {
  add_zero_share(rep3, ring, terms);
  Passed sent = rep3.lane.pass(terms);
  SharedBytes z;
  z.component[1] = co_await sent;
  ring_reduce(ring, z.component[1].data(), z.component[1].size());
  z.component[0] = std::move(terms);
  co_return z;
}

SecretVector digest_of(const Bytes& said) {
  SecretVector digest(32);
  crypto_generichash(digest.data(), digest.size(), said.data(), said.size(), nullptr, 0);
  return digest;
}

}  // namespace

Task<SharedBytes> quadratic(Rep3& rep3, Ring ring, SharedBytes x, SharedBytes y,
                            std::size_t outputs, std::vector<Term> terms) {
  // Nothing checks products of these rings: who calls asks first (Party).
  if (rep3.claims() != nullptr && !is_binary(ring))
    rep3.lane.set_deviation("products without verification were asked for");
  const bool few = rep3.claims() != nullptr && ring != Ring::kGf128;
  const std::vector<Part> parts = parts_of(terms, outputs, few ? kMostProducts : kNone);
  SecretVector sums(element_bytes(ring) * parts.size());
  local_terms(ring, x, y, parts, sums.data());
  SharedBytes z;
  if (is_binary(ring))
    z = co_await send_binary(rep3, std::move(sums));
  else
    z = co_await send_masked(rep3, ring, std::move(sums));
  if (rep3.claims() != nullptr && is_binary(ring)) record(*rep3.claims(), ring, x, y, z, parts);
  co_return add_parts(ring, z, parts, outputs);
}

Task<SharedBytes> multiply(Rep3& rep3, Ring ring, SharedBytes x, SharedBytes y) {
  const std::size_t count = x.size() / element_bytes(ring);
  std::vector<Term> terms(count);
  for (std::uint32_t k = 0; k < count; ++k) terms[k] = {k, k, k};
  co_return co_await quadratic(rep3, ring, std::move(x), std::move(y), count, std::move(terms));
}

// The mask r = F(k_i) + F(k_{i+1}) is known to the owner i alone: i+1 lacks the
// first, i-1 the second; its third component is 0. d = value - r is public and
// added to component 0. The owner can share any value, but only one: in malicious mode
// the two others compare what they were told.
Task<std::optional<SharedBytes>> share_input(Rep3& rep3, int owner, Ring ring, std::size_t bytes,
                                             SecretVector value) {
  SharedBytes shared = rep3.random(bytes);
  for (SecretVector& component : shared.component) ring_reduce(ring, component.data(), bytes);
  const int from_owner = (rep3.party() + 3 - owner) % 3;
  if (from_owner != 0) {
    SecretVector& third = shared.component[from_owner == 1 ? 1 : 0];
    std::fill(third.begin(), third.end(), std::uint8_t{0});
    value.clear();  // the owner's counts; nobody else's may be told
  } else {
    for (const SecretVector& component : shared.component)
      ring_subtract(ring, value.data(), component.data(), bytes);
  }
  Bytes said(value.begin(), value.end());
  said.resize(bytes);
  FromBoth heard = co_await rep3.lane.exchange(said);
  if (from_owner == 1) said = std::move(heard.prev);
  if (from_owner == 2) said = std::move(heard.next);
  if (!ring_holds(ring, said)) co_return std::nullopt;
  if (rep3.claims() != nullptr) {
    const SecretVector digest = digest_of(said);
    FromBoth others = co_await rep3.lane.exchange(digest);
    if (!std::ranges::equal(others.prev, digest) || !std::ranges::equal(others.next, digest))
      co_return std::nullopt;
  }
  const int c = constant_component(rep3.party());
  if (c >= 0) ring_add(ring, shared.component[c].data(), said.data(), bytes);
  co_return shared;
}

}  // namespace tkdc::mpc
