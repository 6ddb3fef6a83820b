// SPDX-License-Identifier: Apache-2.0
#include "api/ring.h"
#include "api/state.h"

namespace tkdc::mpc {
namespace {

Result<void> same_shape(const char* what, const Shares& a, const Shares& b) {
  if (a.ring() == b.ring() && a.size() == b.size()) return {};
  return fail(std::string(what) + ": " + std::to_string(a.size()) + " elements of " +
              ring_name(a.ring()) + " and " + std::to_string(b.size()) + " of " +
              ring_name(b.ring()) + "; give vectors of one ring and size");
}

}  // namespace

Shares::Shares() : Shares(std::make_unique<State>(Ring::kBits, SharedBytes())) {}
Shares::Shares(std::unique_ptr<State> state) : state_(std::move(state)) {}
Shares::Shares(const Shares& other) : state_(std::make_unique<State>(*other.state_)) {}
Shares::Shares(Shares&& other) noexcept = default;
Shares& Shares::operator=(const Shares& other) {
  if (this != &other) state_ = std::make_unique<State>(*other.state_);
  return *this;
}
Shares& Shares::operator=(Shares&& other) noexcept = default;
Shares::~Shares() = default;

Ring Shares::ring() const { return state_->ring; }
std::size_t Shares::bytes() const { return state_->shared.size(); }
std::size_t Shares::size() const { return bytes() / element_bytes(ring()); }

Result<Shares> add(const Shares& a, const Shares& b) {
  if (auto same = same_shape("add", a, b); !same) return same.error();
  SharedBytes sum = octets_of(a);
  for (int c = 0; c < 2; ++c)
    ring_add(a.ring(), sum.component[c].data(), octets_of(b).component[c].data(), sum.size());
  return make_shares(a.ring(), std::move(sum));
}

Result<Shares> subtract(const Shares& a, const Shares& b) {
  if (auto same = same_shape("subtract", a, b); !same) return same.error();
  SharedBytes rest = octets_of(a);
  for (int c = 0; c < 2; ++c)
    ring_subtract(a.ring(), rest.component[c].data(), octets_of(b).component[c].data(),
                  rest.size());
  return make_shares(a.ring(), std::move(rest));
}

Result<Shares> slice(const Shares& a, std::size_t first, std::size_t count) {
  if (first > a.size() || count > a.size() - first)
    return fail("slice: elements " + std::to_string(first) + " and " + std::to_string(count) +
                " from there, of a vector of " + std::to_string(a.size()));
  const std::size_t each = element_bytes(a.ring());
  return make_shares(a.ring(), octets_of(a).slice(each * first, each * count));
}

Result<Shares> append(const Shares& a, const Shares& b) {
  if (a.ring() != b.ring())
    return fail(std::string("append: a vector of ") + ring_name(b.ring()) + " behind one of " +
                ring_name(a.ring()));
  SharedBytes both = octets_of(a);
  both.append(octets_of(b));
  return make_shares(a.ring(), std::move(both));
}

Result<Shares> as_ring(const Shares& a, Ring ring) {
  if (!is_binary(a.ring()) || !is_binary(ring) || a.bytes() % element_bytes(ring) != 0)
    return fail(std::string("as_ring: ") + std::to_string(a.bytes()) + " octets of " +
                ring_name(a.ring()) + " cannot be read as " + ring_name(ring));
  return make_shares(ring, octets_of(a));
}

}  // namespace tkdc::mpc
