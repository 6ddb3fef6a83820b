// SPDX-License-Identifier: Apache-2.0
#include "ot/base_ot.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace tkdc::ot {
namespace {

using Point = std::array<std::uint8_t, crypto_core_ristretto255_BYTES>;
struct PointPair {
  Point of[2];
};
static_assert(sizeof(PointPair) == 2 * crypto_core_ristretto255_BYTES);

// A scalar or a point that nobody else may know; wiped.
struct SecretOctets {
  std::uint8_t data[crypto_core_ristretto255_SCALARBYTES];
  ~SecretOctets() { sodium_memzero(data, sizeof data); }
};

constexpr std::size_t kAtOnce = 16;  // OTs whose points travel together

constexpr char kGroupLabel[] = "tkdc base OT, onto the group";
constexpr char kKeyLabel[] = "tkdc base OT, key";

// H_b(point) of OT j.
Point onto_group(ByteSpan context, std::uint64_t j, std::uint8_t b, const Point& point) {
  crypto_hash_sha512_state state;
  crypto_hash_sha512_init(&state);
  const auto add = [&](const void* octets, std::size_t bytes) {
    crypto_hash_sha512_update(&state, static_cast<const std::uint8_t*>(octets), bytes);
  };
  add(kGroupLabel, sizeof kGroupLabel);
  add(&j, sizeof j);
  add(&b, sizeof b);
  add(point.data(), point.size());
  add(context.data(), context.size());
  std::uint8_t digest[crypto_hash_sha512_BYTES];
  crypto_hash_sha512_final(&state, digest);
  Point out;
  crypto_core_ristretto255_from_hash(out.data(), digest);
  return out;
}

Label key_of(ByteSpan context, std::uint64_t j, std::uint8_t b, const PointPair& r, const Point& s,
             const SecretOctets& shared) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, kLabelBytes);
  const auto add = [&](const void* octets, std::size_t bytes) {
    crypto_generichash_update(&state, static_cast<const std::uint8_t*>(octets), bytes);
  };
  add(kKeyLabel, sizeof kKeyLabel);
  add(&j, sizeof j);
  add(&b, sizeof b);
  add(&r, sizeof r);
  add(s.data(), s.size());
  add(shared.data, sizeof shared.data);
  add(context.data(), context.size());
  Label key;
  crypto_generichash_final(&state, reinterpret_cast<std::uint8_t*>(&key), kLabelBytes);
  sodium_memzero(&state, sizeof state);
  return key;
}

// Exchanged where `bit` is 1.
void swap_where(Point& a, Point& b, std::uint8_t bit) {
  const auto mask = static_cast<std::uint8_t>(0 - bit);
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto differ = static_cast<std::uint8_t>((a[k] ^ b[k]) & mask);
    a[k] ^= differ;
    b[k] ^= differ;
  }
}

Error no_point(const Channel& channel) {
  return fail("base OT with " + channel.peer() + ": it sent what is no point of the group");
}

Result<void> answer(Channel& channel, ByteSpan context, std::uint64_t first,
                    std::span<const PointPair> points, std::span<Label> zero,
                    std::span<Label> one) {
  std::array<Point, kAtOnce> own;
  std::array<SecretOctets, kAtOnce> scalar;
  for (std::size_t k = 0; k < points.size(); ++k) {
    crypto_core_ristretto255_scalar_random(scalar[k].data);
    if (crypto_scalarmult_ristretto255_base(own[k].data(), scalar[k].data) != 0)
      return fail("base OT: a random scalar was zero");
  }
  if (auto sent = channel.write_all(std::span<const Point>(own).first(points.size())); !sent)
    return sent;
  for (std::size_t k = 0; k < points.size(); ++k)
    for (const std::uint8_t b : {std::uint8_t{0}, std::uint8_t{1}}) {
      const Point hashed = onto_group(context, first + k, b, points[k].of[1 - b]);
      Point sum;
      SecretOctets shared;
      if (crypto_core_ristretto255_add(sum.data(), points[k].of[b].data(), hashed.data()) != 0 ||
          crypto_scalarmult_ristretto255(shared.data, scalar[k].data, sum.data()) != 0)
        return no_point(channel);
      (b == 0 ? zero : one)[k] = key_of(context, first + k, b, points[k], own[k], shared);
    }
  return {};
}

// What a receiver sends for an OT, and the scalar it keeps.
PointPair blinded(ByteSpan context, std::uint64_t j, std::uint8_t choice, SecretOctets& scalar) {
  PointPair pair;
  Point base;
  crypto_core_ristretto255_random(pair.of[1].data());
  do crypto_core_ristretto255_scalar_random(scalar.data);
  while (crypto_scalarmult_ristretto255_base(base.data(), scalar.data) != 0);
  const Point hashed = onto_group(context, j, choice, pair.of[1]);
  crypto_core_ristretto255_sub(pair.of[0].data(), base.data(), hashed.data());
  swap_where(pair.of[0], pair.of[1], choice);
  return pair;
}

}  // namespace

Result<void> send_base(Channel& channel, ByteSpan context, std::span<Label> zero,
                       std::span<Label> one) {
  assert(zero.size() == one.size());
  std::array<PointPair, kAtOnce> points;
  for (std::size_t first = 0; first < zero.size(); first += kAtOnce) {
    const std::size_t some = std::min(kAtOnce, zero.size() - first);
    const std::span<PointPair> here = std::span(points).first(some);
    if (auto got = channel.read_all(here); !got) return got;
    if (auto sent = answer(channel, context, first, here, zero.subspan(first, some),
                           one.subspan(first, some));
        !sent)
      return sent;
  }
  return {};
}

Result<void> receive_base(Channel& channel, ByteSpan context, std::span<const std::uint8_t> choices,
                          std::span<Label> keys) {
  assert(choices.size() == keys.size());
  std::vector<SecretOctets> scalars(choices.size());
  std::vector<PointPair> points(choices.size());
  for (std::size_t first = 0; first < choices.size(); first += kAtOnce) {
    const std::size_t some = std::min(kAtOnce, choices.size() - first);
    for (std::size_t j = first; j < first + some; ++j)
      points[j] = blinded(context, j, choices[j], scalars[j]);
    if (auto sent = channel.write_all(std::span<const PointPair>(points).subspan(first, some));
        !sent)
      return sent;
  }
  std::vector<Point> answers(choices.size());
  for (std::size_t j = 0; j < choices.size(); ++j) {
    if (j % kAtOnce == 0)
      if (auto got = channel.read_all(
              std::span(answers).subspan(j, std::min(kAtOnce, choices.size() - j)));
          !got)
        return got;
    SecretOctets shared;
    if (crypto_scalarmult_ristretto255(shared.data, scalars[j].data, answers[j].data()) != 0)
      return no_point(channel);
    keys[j] = key_of(context, j, choices[j], points[j], answers[j], shared);
  }
  return {};
}

}  // namespace tkdc::ot
