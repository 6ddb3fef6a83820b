// SPDX-License-Identifier: Apache-2.0
#include "protocol/plaintext.h"

#include <cassert>
#include <cstring>

#include "base/codec.h"
#include "field/gf128.h"
#include "protocol/clear.h"
#include "protocol/hash.h"
#include "protocol/replicated.h"
#include "session/session.h"

namespace tkdc {

SecretVector Plaintext::draw(std::size_t bytes) {
  std::uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = {};
  static_assert(sizeof nonce >= sizeof drawn_);
  ++drawn_;
  std::memcpy(nonce, &drawn_, sizeof drawn_);
  SecretVector value(bytes);
  crypto_stream_chacha20(value.data(), bytes, nonce, seed_.data());
  return value;
}

SharedBytes Plaintext::share(SecretVector value) {
  const std::size_t bytes = value.size();
  SecretVector component[3] = {draw(bytes), draw(bytes), std::move(value)};
  for (int c = 0; c < 2; ++c) xor_bytes(component[2].data(), component[c].data(), bytes);
  SharedBytes x;
  for (int c = 0; c < 2; ++c) x.component[c] = component[(lane_.party() + c) % 3];
  return x;
}

SharedBytes Plaintext::random(std::size_t bytes) { return share(draw(bytes)); }

void Plaintext::add_constant(SharedBytes& x, ByteSpan value, std::size_t offset) const {
  xor_public(x, lane_.party(), value, offset);
}

// The previous neighbour holds the component that this party lacks as its first.
Task<SecretVector> Plaintext::value_of(SharedBytes x) {
  const FromBoth others = co_await lane_.exchange(x.component[0]);
  counts_.message_bytes += x.size();
  SecretVector value = std::move(x.component[0]);
  xor_bytes(value.data(), x.component[1].data(), value.size());
  xor_bytes(value.data(), others.prev.data(), value.size());
  co_return value;
}

void Plaintext::count(Unit unit, std::size_t data_bytes) {
  const auto blocks = [&](const HashFunction& hash) { return data_bytes / hash.block_bytes; };
  switch (unit) {
    case Unit::kAesEncrypt:
    case Unit::kAesDecrypt: counts_.aes_blocks += data_bytes / 16; break;
    case Unit::kAesExpand128:
    case Unit::kAesExpand256: break;
    case Unit::kSha1Blocks: counts_.sha1_blocks += blocks(kSha1); break;
    case Unit::kHmacSha1: counts_.sha1_blocks += blocks(kSha1) + 1; break;
    case Unit::kSha256Blocks: counts_.sha2_blocks += blocks(kSha256); break;
    case Unit::kHmacSha256: counts_.sha2_blocks += blocks(kSha256) + 1; break;
    case Unit::kSha384Blocks: counts_.sha2_blocks += blocks(kSha384); break;
    case Unit::kHmacSha384: counts_.sha2_blocks += blocks(kSha384) + 1; break;
  }
}

Task<SharedBytes> Plaintext::compute(Unit unit, const SharedBytes& held, SharedBytes data, Work) {
  const std::size_t data_bytes = data.size();
  data.append(held);
  SecretVector with = co_await value_of(std::move(data));
  SecretVector value(with.begin(), with.begin() + static_cast<std::ptrdiff_t>(data_bytes));
  count(unit, data_bytes);
  co_return share(compute_clear(unit, ByteSpan(with).subspan(data_bytes), std::move(value)));
}

Task<SharedBytes> Plaintext::inner_products(std::vector<InnerProduct> pairs) {
  SharedBytes all;
  for (const InnerProduct& pair : pairs) {
    assert(pair.a.size() == pair.b.size() && pair.a.size() % kGf128Bytes == 0);
    all.append(pair.a);
    all.append(pair.b);
  }
  const SecretVector values = co_await value_of(std::move(all));
  SecretVector sums(kGf128Bytes * pairs.size());
  const std::uint8_t* a = values.data();
  std::uint8_t* sum = sums.data();
  for (const InnerProduct& pair : pairs) {
    const std::uint8_t* b = a + pair.a.size();
    for (std::size_t k = 0; k < pair.a.size(); k += kGf128Bytes)
      gf128_multiply_add(sum, a + k, b + k);
    a = b + pair.b.size();
    sum += kGf128Bytes;
  }
  co_return share(std::move(sums));
}

Task<void> Plaintext::verified() { co_return; }

Task<Bytes> Plaintext::open(SharedBytes x) {
  const SecretVector value = co_await value_of(std::move(x));
  co_return Bytes(value.begin(), value.end());
}

Task<Bytes> Plaintext::open_input(SharedBytes x) { return open(std::move(x)); }

std::size_t Plaintext::message_bytes(Unit, std::size_t held_bytes, std::size_t data_bytes) const {
  return held_bytes + data_bytes;
}

Result<std::unique_ptr<Protocol>> PlaintextOffer::join(Lane& lane, const LaneSeat& seat) const {
  std::array<std::uint8_t, 32> seed;
  Bytes number;
  Writer(number).u64(seat.lane);
  crypto_generichash(seed.data(), seed.size(), seat.session.id.data(), seat.session.id.size(),
                     number.data(), number.size());
  return std::unique_ptr<Protocol>(std::make_unique<Plaintext>(lane, seed));
}

}  // namespace tkdc
