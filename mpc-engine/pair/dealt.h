// SPDX-License-Identifier: Apache-2.0
// What a client deals to both servers for one job: shares of its input (message, pad), each with
// MACs that the other server can check. The client draws everything anew for each job; what it has
// dealt is dead once a server may have said anything that depends on it, so a job that is tried
// again is dealt again. It is dealt for one session of both servers and has a number that the
// client never gives again: a server refuses what is dealt for another session, and a number that
// it has had (served_deals.h).
//
// Of a share in blocks X_1 … X_m and a random block R, under a Δ and q_1 … q_m, q_R that follow
// from a key for this job:
//
//   to its server       the share, R, and the tags q_k ⊕ X_k Δ, q_R ⊕ R Δ
//   to the other one    the key
//
// On the wire: session, number; share, eight bits an octet; R; tags; the key for the peer's.
// Secret: all but session and number.
#pragma once

#include "pair/auth_block.h"
#include "pair/bits.h"

namespace tkdc::pair {

inline constexpr std::size_t kDealtKeyBytes = sizeof(Digest);

// To one server; cannot be copied, since it serves once.
struct Dealt {
  Dealt() = default;
  Dealt(const Dealt&) = delete;
  Dealt& operator=(const Dealt&) = delete;
  Dealt(Dealt&&) = default;
  Dealt& operator=(Dealt&&) = default;
  ~Dealt() {
    sodium_memzero(&mask, sizeof mask);
    sodium_memzero(peers_key.data(), peers_key.size());
  }

  Label session;             // Session::id()
  Label number;              // deal_number(), the same at both
  std::uint64_t client = 0;  // whose; a server knows it of its connection, not of the deal
  Bits share;
  Label mask;          // R
  Labels tags;         // of the share's blocks, and of R
  Digest peers_key{};  // of what the other server has got
};

// Δ and q_1 … q_R of a key.
struct DealtKeys {
  DealtKeys(ByteSpan key, std::size_t blocks);
  Label delta() const { return stream.front(); }
  std::span<const Label> q() const { return std::span(stream).subspan(1); }
  Labels stream;
};

// Of a job's deals: the client's run, and the job's number in it, which is never that of another
// one.
enum class DealPart : std::uint8_t { kHalf = 0, kRest = 1 };
inline Label deal_number(std::uint64_t run, std::uint64_t job, DealPart part) {
  Label out;
  out.high = run;
  out.low = 2 * job + static_cast<std::uint8_t>(part);
  return out;
}

// The client's. `secret`: bits, 0 or 1 each; `session`: the id that both servers have told;
// `number`: never given before.
std::array<Dealt, 2> deal_input(std::span<const std::uint8_t> secret, const Label& session,
                                const Label& number);

// Its shares alone.
std::array<Bits, 2> deal(std::span<const std::uint8_t> secret);

// What the client takes of both servers' answers, bits or octets: y = z ^ pad (pair/output_rule.h).
// Error: they sent different values.
Result<Bits> output_of_both(std::span<const std::uint8_t> from_garbler,
                            std::span<const std::uint8_t> from_evaluator,
                            std::span<const std::uint8_t> pad);

constexpr std::size_t dealt_bytes(std::size_t bits) {
  return (bits + 7) / 8 + kLabelBytes * (blocks_for(bits) + 4) + kDealtKeyBytes;
}
SecretVector put_dealt(const Dealt& dealt);
// Error: another length than that of so many bits.
Result<Dealt> get_dealt(ByteSpan octets, std::size_t bits);

}  // namespace tkdc::pair
