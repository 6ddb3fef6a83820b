// SPDX-License-Identifier: Apache-2.0
#include "mac/common_seed.h"

#include <string_view>

#include "mac/role.h"
#include "protocol/shared_bytes.h"

namespace tkdc {
namespace {

constexpr std::string_view kSeedLabel = "tkdc common seed 1";

Bytes commitment_to(int party, std::uint64_t number, ByteSpan octets) {
  SecretVector input;
  SecretWriter w(input);
  w.text(kSeedLabel);
  w.u64(number);
  w.u8(static_cast<std::uint8_t>(party));
  w.raw(octets);
  Bytes out(32);
  crypto_generichash(out.data(), out.size(), input.data(), input.size(), nullptr, 0);
  return out;
}

SecretVector sum_of(int party, std::uint64_t number, SecretVector mine, const FromBoth& commitments,
                    const FromEach& parts) {
  const int prev = mac_neighbour(party, 0), next = mac_neighbour(party, 1);
  if (commitment_to(prev, number, parts.prev) != commitments.prev ||
      commitment_to(next, number, parts.next) != commitments.next)
    return {};
  xor_bytes(mine.data(), parts.prev.data(), mine.size());
  xor_bytes(mine.data(), parts.next.data(), mine.size());
  return mine;
}

Bytes digest_of(const SecretVector& seed) {
  Bytes out(32);
  crypto_generichash(out.data(), out.size(), seed.data(), seed.size(), nullptr, 0);
  return out;
}

}  // namespace

Task<SecretVector> common_seed(Lane& lane, std::uint64_t number) {
  SecretVector mine(kCommonSeedBytes);
  randombytes_buf(mine.data(), mine.size());
  const Bytes commitment = commitment_to(lane.party(), number, mine);
  const FromBoth commitments = co_await lane.exchange(commitment);
  const FromEach parts = co_await lane.hand(mine, mine);
  SecretVector seed = sum_of(lane.party(), number, mine, commitments, parts);
  if (lane.security() == Security::kMalicious) {
    Bytes about = digest_of(seed);
    const FromBoth ignored = co_await lane.agree(std::move(about), Bytes());
  }
  co_return seed;
}

}  // namespace tkdc
