// SPDX-License-Identifier: Apache-2.0
#include "pair/dealt.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace tkdc::pair {
namespace {

// Blocks of a share, then R.
Labels blocks_of_share(const Dealt& dealt) {
  Labels out = elements_of(dealt.share);
  out.push_back(dealt.mask);
  return out;
}

}  // namespace

DealtKeys::DealtKeys(ByteSpan key, std::size_t blocks) : stream(blocks + 1) {
  static_assert(kDealtKeyBytes == randombytes_SEEDBYTES);
  randombytes_buf_deterministic(stream.data(), stream.size() * kLabelBytes, key.data());
}

std::array<Dealt, 2> deal_input(std::span<const std::uint8_t> secret, const Label& session,
                                const Label& number) {
  std::array<Dealt, 2> out;
  std::array<Bits, 2> shares = deal(secret);
  for (std::size_t p = 0; p < 2; ++p) {
    Dealt& to = out[p];
    to.session = session;
    to.number = number;
    to.share = std::move(shares[p]);
    randombytes_buf(&to.mask, sizeof to.mask);
    const Labels blocks = blocks_of_share(to);
    Digest& key = out[1 - p].peers_key;
    randombytes_buf(key.data(), key.size());
    const DealtKeys keys(key, blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k)
      to.tags.push_back(keys.q()[k] ^ ot::field().product(blocks[k], keys.delta()));
  }
  return out;
}

SecretVector put_dealt(const Dealt& dealt) {
  SecretVector out;
  const auto add = [&](const void* from, std::size_t bytes) {
    const auto* octets = static_cast<const std::uint8_t*>(from);
    out.insert(out.end(), octets, octets + bytes);
  };
  add(&dealt.session, sizeof dealt.session);
  add(&dealt.number, sizeof dealt.number);
  const std::size_t before = out.size();
  out.resize(before + (dealt.share.size() + 7) / 8);
  for (std::size_t k = 0; k < dealt.share.size(); ++k)
    out[before + k / 8] |= static_cast<std::uint8_t>(dealt.share[k] << (k % 8));
  add(&dealt.mask, sizeof dealt.mask);
  add(dealt.tags.data(), dealt.tags.size() * kLabelBytes);
  add(dealt.peers_key.data(), dealt.peers_key.size());
  return out;
}

std::array<Bits, 2> deal(std::span<const std::uint8_t> secret) {
  std::array<Bits, 2> shares{Bits(secret.size()), Bits(secret.begin(), secret.end())};
  if (!secret.empty()) randombytes_buf(shares[0].data(), shares[0].size());
  for (std::size_t k = 0; k < secret.size(); ++k) {
    shares[0][k] &= 1;
    shares[1][k] ^= shares[0][k];
  }
  return shares;
}

Result<Bits> output_of_both(std::span<const std::uint8_t> from_garbler,
                            std::span<const std::uint8_t> from_evaluator,
                            std::span<const std::uint8_t> pad) {
  if (from_garbler.size() != pad.size() || from_evaluator.size() != pad.size() ||
      sodium_memcmp(from_garbler.data(), from_evaluator.data(), pad.size()) != 0)
    return fail(
        "pair: the two servers answer differently: one of them does not follow the protocol");
  Bits out(pad.begin(), pad.end());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] ^= from_garbler[k];
  return out;
}

Result<Dealt> get_dealt(ByteSpan octets, std::size_t bits) {
  if (octets.size() != dealt_bytes(bits))
    return fail("pair: a client deals " + std::to_string(octets.size()) +
                " octets for an input of " + std::to_string(bits) + " bits, which takes " +
                std::to_string(dealt_bytes(bits)));
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t bytes) {
    std::memcpy(to, octets.data() + at, bytes);
    at += bytes;
  };
  Dealt out;
  take(&out.session, sizeof out.session);
  take(&out.number, sizeof out.number);
  const std::size_t share = (bits + 7) / 8;
  out.share = unpacked(octets.subspan(at, share), bits);
  at += share;
  take(&out.mask, sizeof out.mask);
  out.tags.resize(blocks_for(bits) + 1);
  take(out.tags.data(), out.tags.size() * kLabelBytes);
  take(out.peers_key.data(), out.peers_key.size());
  return out;
}

}  // namespace tkdc::pair
