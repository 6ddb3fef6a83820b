// SPDX-License-Identifier: Apache-2.0
// What server 0 makes of a session in which the two others ran different jobs (split_ring.h).
//
// Server 1 holds components 1 and 2 of the first job's values, server 2 components 2 and 0 of the
// second's. Messages of layers and random values are one sharing for all three, so that only keys
// and inputs differ: by D_0 and D_2. Of Shamir shares of a linear function L of all values
//
//     s_0 + w s_1 + w^2 s_2 = L(D_0) + w^2 L(D_2),
//
// where L's weights are the challenges', which are opened. Server 0 has both components 0, so the
// shares of X and Y are linear equations on D_2, which is the same in each session. How L acts on a
// bit is what three parties in one thread show whose values are 0 but for this bit.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "attack/split_ring.h"
#include "rep3/unit/rep3_protocol.h"
#include "rep3/verify/fields.h"

namespace tkdc::test {

// Shamir shares as they are, or each a layer's message.
#ifdef TKDC_BARE_OPENINGS
inline constexpr bool kBare = true;
#else
inline constexpr bool kBare = false;
#endif

// One party's shares of what an operation takes.
struct Inputs {
  SharedBytes field, input;
};

struct Operation {
  Task<void> (*run)(Rep3Protocol&, Inputs);
  std::size_t element_bytes;  // of X and Y
  // How often servers exchange or open something before the shares of X and Y leave: at first what
  // they compare alone, then the challenges.
  std::size_t compared, challenges;
  std::size_t openings() const { return compared + challenges; }
  std::size_t factors_bytes() const { return 2 * element_bytes; }
};

// After the last challenge: shares of X and Y, or layers' messages, of which server 0 hears the
// third when they are opened.
inline constexpr std::uint32_t kTicksOfFactors = kBare ? 1 : 2;

inline Bytes sum(Bytes a, ByteSpan b) {
  xor_bytes(a.data(), b.data(), a.size());
  return a;
}

// X and Y, or what stands for them.
template <class F>
Bytes scaled(const typename F::Element& factor, ByteSpan in) {
  Bytes out(in.size());
  for (std::size_t at = 0; at < in.size(); at += F::kBytes) {
    typename F::Element e;
    std::memcpy(&e, in.data() + at, F::kBytes);
    e = F::multiply(factor, e);
    std::memcpy(out.data() + at, &e, F::kBytes);
  }
  return out;
}

// a + w b + w^2 c
template <class F>
Bytes line(ByteSpan a, ByteSpan b, ByteSpan c) {
  const Bytes far = sum(scaled<F>(F::omega(), b), scaled<F>(omega_square<F>(), c));
  return sum(far, a);
}

inline ByteSpan piece(ByteSpan from, std::size_t at, std::size_t bytes) {
  if (at > from.size() || from.size() - at < bytes)
    throw std::runtime_error("a packet has not what it should: count the openings anew");
  return from.subspan(at, bytes);
}

inline std::size_t tick_of_factors(const Ticks& ticks, std::size_t openings) {
  std::size_t at = 0, spoken = 0;
  for (; at < ticks.size() && spoken < openings; ++at)
    spoken += ticks[at].from_prev.empty() ? 0 : 1;
  return at;
}

// s_0 + w s_1 + w^2 s_2 of X and of Y, where zero-shares are zeros. A layer's message is w s.
template <class F>
Bytes line_of_factors(const Operation& operation, const Ticks& ticks) {
  const std::size_t at = tick_of_factors(ticks, operation.openings()),
                    bytes = operation.factors_bytes();
  auto first = [bytes](ByteSpan from) { return piece(from, 0, bytes); };
  auto last = [bytes](ByteSpan from) { return piece(from, from.size() - bytes, bytes); };
  const Tick& now = ticks.at(at);
  if (kBare) return line<F>(last(now.said), last(now.from_next), last(now.from_prev));
  const Bytes out =
      line<F>(first(now.said), first(now.from_next), first(ticks.at(at + 1).from_prev));
  return scaled<F>(omega_square<F>(), out);
}

inline Bytes line_of_factors(const Operation& operation, const Ticks& ticks) {
  return operation.element_bytes == Gf64Field::kBytes
             ? line_of_factors<Gf64Field>(operation, ticks)
             : line_of_factors<Gf128Field>(operation, ticks);
}

// ---- what server 0's own keys give it

// Component keys 0 and 1 are its own; 2 is the honest servers'.
using ComponentKeys = std::array<Bytes, 3>;

// What a component's key adds to the zero-share of a message that `position` octets of the
// session's layers went before.
inline Bytes zero_stream(const Bytes& component_key, std::size_t position, std::size_t bytes) {
  Bytes out(position + bytes);
  Stream(component_key, "tkdc zero").next(out.data(), out.size());
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(position));
  return out;
}

// The zero-shares are F_j + F_{j+1}: they add F_0 + w F_1 + w^2 F_2 to the line.
template <class F>
Bytes line_of_zero_shares(const Operation& operation, const Ticks& ticks, const Bytes& f0,
                          const Bytes& f1, const Bytes& f2) {
  std::size_t position = 0;
  for (std::size_t at = 0; at < tick_of_factors(ticks, operation.openings()); ++at)
    if (ticks[at].from_prev.empty()) position += ticks[at].said.size();
  auto stream = [&](const Bytes& key) {
    return key.empty() ? Bytes(operation.factors_bytes())
                       : zero_stream(key, position, operation.factors_bytes());
  };
  return line<F>(stream(f0), stream(f1), stream(f2));
}

// `third`: with the key that only the honest two have.
inline Bytes zero_shares(const Operation& operation, const Ticks& ticks, const ComponentKeys& keys,
                         bool third) {
  const Bytes f2 = third ? keys[2] : Bytes();
  return operation.element_bytes == Gf64Field::kBytes
             ? line_of_zero_shares<Gf64Field>(operation, ticks, keys[0], keys[1], f2)
             : line_of_zero_shares<Gf128Field>(operation, ticks, keys[0], keys[1], f2);
}

// What was opened: its own two components, and the third that it heard.
inline std::vector<Bytes> challenges(const Operation& operation, const Ticks& ticks,
                                     const ComponentKeys& keys) {
  constexpr std::size_t kSeedBytes = 32;
  PairwiseKeys own;
  std::ranges::copy(keys[0], own.mine.data());
  std::ranges::copy(keys[1], own.next.data());
  Prss prss(own);
  auto draw = [&prss](std::size_t bytes) {
    Bytes mine(bytes), next(bytes);
    prss.random(mine.data(), next.data(), bytes, Prss::Purpose::kChallenge);
    return sum(mine, next);
  };
  std::vector<Bytes> out;
  std::size_t spoken = 0;
  for (const Tick& tick : ticks) {
    if (tick.from_prev.empty() || spoken++ < operation.compared) continue;
    // Beside the seed the servers compare; before the last fold a product of random values comes.
    const std::size_t bytes = out.empty() ? kSeedBytes : tick.from_prev.size();
    if (out.size() + 1 == operation.challenges) draw(operation.factors_bytes());
    out.push_back(sum(draw(bytes), piece(tick.from_prev, 0, bytes)));
    if (out.size() == operation.challenges) break;
  }
  return out;
}

// ---- three parties in one thread

// All keys are one, so that zero-shares are zeros and what is opened is what one server sends: the
// challenge that is to be.
class Rehearsal {
 public:
  Rehearsal(const Operation& operation, const Rep3Backend& backend, std::array<Inputs, 3> inputs,
            const std::vector<Bytes>& challenges)
      : operation_(operation), challenges_(challenges) {
    PairwiseKeys same;
    for (std::size_t p = 0; p < 3; ++p) {
      lane_[p] = std::make_unique<Lane>(static_cast<int>(p), Security::kMalicious);
      party_[p] = std::make_unique<Rep3>(*lane_[p], Representation::kBytes, same);
      ciphers_[p] = std::make_unique<Rep3Protocol>(*party_[p], backend);
      lane_[p]->spawn(operation.run(*ciphers_[p], std::move(inputs[p])));
    }
  }

  // X's and Y's s_0 + w s_1 + w^2 s_2.
  Bytes line() {
    while (!enough_ || ticks_.size() < *enough_)
      if (!tick()) throw std::runtime_error("a rehearsal has ended before its factors were sent");
    return line_of_factors(operation_, ticks_);
  }

 private:
  bool tick() {
    for (auto& lane : lane_)
      if (!lane->advance() || lane->deviation()) return false;
    SecretVector to_prev[3], to_next[3];
    for (std::size_t p = 0; p < 3; ++p) {
      lane_[p]->append_to_prev(to_prev[p]);
      lane_[p]->append_to_next(to_next[p]);
    }
    if (!to_next[2].empty() && !enough_) {
      if (spoken_ >= operation_.compared)
        open(challenges_.at(spoken_ - operation_.compared), to_prev, to_next);
      if (++spoken_ == operation_.openings()) enough_ = ticks_.size() + 1 + kTicksOfFactors;
    }
    ticks_.push_back({to_prev[0], to_prev[1], to_next[2]});
    for (std::size_t p = 0; p < 3; ++p) {
      const std::size_t next = (p + 1) % 3, prev = (p + 2) % 3;
      heard_[p] = to_prev[next];
      if (!lane_[p]->consume(heard_[p], to_next[prev])) return false;
    }
    return true;
  }
  static void put(ByteSpan in, SecretVector& packet) {
    piece(packet, 0, in.size());
    std::ranges::copy(in, packet.begin());
  }
  // No layer is in a challenge's tick, so that both begin with it.
  static void open(const Bytes& challenge, SecretVector (&to_prev)[3], SecretVector (&to_next)[3]) {
    std::uint8_t digest[32];
    crypto_generichash(digest, sizeof digest, challenge.data(), challenge.size(), nullptr, 0);
    for (std::size_t p = 0; p < 3; ++p) {
      put(challenge, to_next[p]);
      put(digest, to_prev[p]);
    }
  }

  const Operation& operation_;
  const std::vector<Bytes>& challenges_;
  std::unique_ptr<Lane> lane_[3];
  std::unique_ptr<Rep3> party_[3];
  std::unique_ptr<Rep3Protocol> ciphers_[3];
  Ticks ticks_;
  std::array<SecretVector, 3> heard_;  // layers, which are read in the next tick
  std::size_t spoken_ = 0;
  std::optional<std::size_t> enough_;  // ticks
};

}  // namespace tkdc::test
