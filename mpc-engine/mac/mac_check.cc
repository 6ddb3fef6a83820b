// SPDX-License-Identifier: Apache-2.0
#include "mac/mac_check.h"

#include <algorithm>

#include "protocol/shared_bytes.h"

namespace tkdc {
namespace {

// All but the protocol's steps is out of line: g++ 12 loses temporaries that are made inside a
// coroutine.

constexpr std::string_view kMaskName = "tkdc share MAC, mask 1";
constexpr std::size_t kSeedBytes = 32;
constexpr std::size_t kMaskBytes = sizeof(MacKeyId) + 2 * kMacBlockBytes;  // the key, R, its tag
constexpr std::size_t kProofBytes = 1 + 2 * kMacBlockBytes;  // whether there is one, V, W

using Element = std::array<std::uint8_t, kMacBlockBytes>;

// What this party needs for its six parts in the proofs. Secret: all but the seed.
struct Part {
  int party = 0;
  SecretVector mask[2], mask_tag[2];  // as prover, by the side on which the verifier is
  bool one_delta[2] = {false, false};
  SecretVector seed;  // of this party's coins, as verifier
};

int third_of(int party, std::size_t side) { return 3 - party - mac_neighbour(party, side); }

Bytes mask_name(const Dealing& attempt) {
  Bytes name;
  Writer(name).text(kMaskName);
  return mac_name(name, attempt);
}

// A fresh R for the neighbour on that side, and its tag.
SecretVector deal_mask(MacKeys& keys, std::size_t side, const Dealing& attempt) {
  const MacRole role{mac_neighbour(keys.party(), side), third_of(keys.party(), side)};
  SecretVector out(kMaskBytes);
  std::copy(keys.id().begin(), keys.id().end(), out.begin());
  std::uint8_t* mask = out.data() + keys.id().size();
  randombytes_buf(mask, kMacBlockBytes);
  const MutableByteSpan tag = MutableByteSpan(out).last(kMacBlockBytes);
  keys.q(role, mask_name(attempt), tag);
  gf128_multiply_add(tag.data(), mask, keys.delta(role).data());
  return out;
}

// The dealer is on `side`, so the verifier is on the other.
void take_mask(const MacKeys& keys, std::size_t side, const SecretVector& dealt, Part& part) {
  const std::size_t towards = 1 - side;
  const auto mask = dealt.begin() + static_cast<std::ptrdiff_t>(keys.id().size());
  part.one_delta[towards] = std::equal(keys.id().begin(), keys.id().end(), dealt.begin());
  part.mask[towards].assign(mask, mask + kMacBlockBytes);
  part.mask_tag[towards].assign(mask + kMacBlockBytes, dealt.end());
}

// What the three must have alike: which values, in which order, how long, of which dealings.
Bytes list_digest(const MacKeys& keys, const Dealing& attempt,
                  std::span<const MacSubject> subjects) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, kSeedBytes);
  Bytes header;
  Writer w(header);
  w.raw(keys.id());
  put_dealing(w, attempt);
  w.u64(subjects.size());
  crypto_generichash_update(&state, header.data(), header.size());
  for (const MacSubject& one : subjects) {
    Bytes line = mac_name(one.name, one.dealing);
    Writer(line).u64(one.bytes());
    crypto_generichash_update(&state, line.data(), line.size());
  }
  Bytes out(kSeedBytes);
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

// The sum of c_b of_b over all subjects, and of c_b tags_b beside it.
class Sums {
 public:
  explicit Sums(ByteSpan seed) { coins_.begin(seed); }

  void add(ByteSpan values, ByteSpan tags) {
    coin_.resize(values.size());
    coins_.take(coin_);
    const std::size_t blocks = values.size() / kMacBlockBytes;
    gf128_dot_add(value_.data(), blocks, coin_.data(), values.data());
    if (!tags.empty()) gf128_dot_add(tag_.data(), blocks, coin_.data(), tags.data());
  }
  const Element& value() const { return value_; }
  const Element& tag() const { return tag_; }

 private:
  SecretStream coins_;
  SecretVector coin_;
  Element value_{}, tag_{};
};

// V and W for the verifier on that side.
SecretVector prove(const MacKeys& keys, std::size_t side, const Part& part,
                   const SecretVector& seed, std::span<const MacSubject> subjects) {
  SecretVector out(kProofBytes);
  // Two Deltas under one V would give the verifier the sum of X (page 23, "One Delta under one V").
  const auto same_key = [&](const MacSubject& one) { return one.key == keys.id(); };
  if (!part.one_delta[side] || !std::ranges::all_of(subjects, same_key)) return out;
  const MacRole role{keys.party(), mac_neighbour(keys.party(), side)};
  Sums sums(seed);
  for (const MacSubject& one : subjects)
    sums.add(one.component[role.place()], one.tag[role.place()]);
  out[0] = 1;
  std::copy(sums.value().begin(), sums.value().end(), out.begin() + 1);
  std::copy(sums.tag().begin(), sums.tag().end(), out.begin() + 1 + kMacBlockBytes);
  xor_bytes(out.data() + 1, part.mask[side].data(), kMacBlockBytes);
  xor_bytes(out.data() + 1 + kMacBlockBytes, part.mask_tag[side].data(), kMacBlockBytes);
  return out;
}

// Of the prover on that side: W = sum c_b q_b + q_R + V Delta.
bool check(MacKeys& keys, std::size_t side, const Part& part, const Dealing& attempt,
           const SecretVector& proof, std::span<const MacSubject> subjects) {
  const MacRole role{mac_neighbour(keys.party(), side), keys.party()};
  Sums sums(part.seed);
  SecretVector q;
  for (const MacSubject& one : subjects) {
    q.resize(one.bytes());
    keys.q(role, mac_name(one.name, one.dealing), q);
    sums.add(q, {});
  }
  SecretVector expected(kMacBlockBytes);
  keys.q(role, mask_name(attempt), expected);
  xor_bytes(expected.data(), sums.value().data(), kMacBlockBytes);
  gf128_multiply_add(expected.data(), proof.data() + 1, keys.delta(role).data());
  return proof[0] == 1 &&
         sodium_memcmp(expected.data(), proof.data() + 1 + kMacBlockBytes, kMacBlockBytes) == 0;
}

// By bit: what the verifier found of the prover before and behind it.
MacFindings findings_of(int party, std::uint8_t mine, const FromBoth& others) {
  std::array<std::uint8_t, 3> by{};
  by[static_cast<std::size_t>(party)] = mine;
  by[static_cast<std::size_t>(mac_neighbour(party, 0))] = others.prev[0];
  by[static_cast<std::size_t>(mac_neighbour(party, 1))] = others.next[0];
  MacFindings findings;
  for (int verifier = 0; verifier < 3; ++verifier)
    for (std::size_t side = 0; side < 2; ++side)
      if ((by[static_cast<std::size_t>(verifier)] >> side & 1u) == 0)
        findings.failed.push_back({mac_neighbour(verifier, side), verifier});
  return findings;
}

Bytes octets_of(const MacFindings& findings) {
  Bytes out;
  for (const MacRole& role : findings.failed)
    out.push_back(static_cast<std::uint8_t>(3 * role.prover + role.verifier));
  return out;
}

// Whether all three check the same. In malicious mode nobody goes on otherwise: a server that told
// the two others different lists is found here, before V leaves.
Task<bool> same_lists(Lane& lane, Bytes digest) {
  if (lane.security() == Security::kMalicious) {
    FromBoth ignored = co_await lane.agree(digest, Bytes());
    co_return true;
  }
  const FromBoth others = co_await lane.exchange(digest);
  co_return others.prev == digest&& others.next == digest;
}

}  // namespace

Task<MacFindings> check_macs(Lane& lane, MacKeys& keys, Dealing attempt,
                             std::span<const MacSubject> subjects) {
  Part part;
  part.party = lane.party();
  const SecretVector mask_prev = deal_mask(keys, 0, attempt);
  const SecretVector mask_next = deal_mask(keys, 1, attempt);
  const FromEach masks = co_await lane.hand(mask_prev, mask_next);
  take_mask(keys, 0, masks.prev, part);
  take_mask(keys, 1, masks.next, part);

  // Whoever has both others' digests knows that both hold their masks.
  Bytes digest = list_digest(keys, attempt, subjects);
  const bool same = co_await same_lists(lane, std::move(digest));
  MacFindings findings;
  findings.lists_differ = !same;
  if (!same) co_return findings;

  part.seed.resize(kSeedBytes);
  randombytes_buf(part.seed.data(), part.seed.size());
  const FromEach seeds = co_await lane.hand(part.seed, part.seed);

  const SecretVector to_prev = prove(keys, 0, part, seeds.prev, subjects);
  const SecretVector to_next = prove(keys, 1, part, seeds.next, subjects);
  const FromEach proofs = co_await lane.hand(to_prev, to_next);

  const bool prev = check(keys, 0, part, attempt, proofs.prev, subjects);
  const bool next = check(keys, 1, part, attempt, proofs.next, subjects);
  const auto mine = static_cast<std::uint8_t>((prev ? 1 : 0) | (next ? 2 : 0));
  const FromBoth others = co_await lane.exchange(ByteSpan(&mine, 1));
  findings = findings_of(lane.party(), mine, others);
  // One that tells the others different findings makes them store different things.
  if (lane.security() == Security::kMalicious) {
    Bytes about = octets_of(findings);
    FromBoth ignored = co_await lane.agree(std::move(about), Bytes());
  }
  co_return findings;
}

}  // namespace tkdc
