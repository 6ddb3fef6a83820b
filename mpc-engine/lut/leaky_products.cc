// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "lut/coefficients.h"
#include "lut/huge_pages.h"
#include "lut/string_product.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kRows = std::size_t{1} << 12;  // of bits, in a piece

std::size_t octets_of(std::size_t bits) { return (bits + 7) / 8; }

Label first_bits(const Label& label, std::size_t bits) {
  if (bits >= 128) return label;
  if (bits >= 64) return {label.low, label.high & ((std::uint64_t{1} << (bits - 64)) - 1)};
  return {label.low & ((std::uint64_t{1} << bits) - 1), 0};
}

// What a piece of products takes towards one other party.
class LeakyPeer {
 public:
  explicit LeakyPeer(pair::Session& session)
      : session_(session), number_(session.next_number()), own_g_(seed(0, session.side())),
        own_u_(seed(1, session.side())), peers_g_(seed(0, peer())), peers_u_(seed(1, peer())) {
    for (Labels* rows : {&g_, &u_, &other_g_, &other_u_}) rows->resize(kRows);
  }

  // Masks a row of `v` under each bit's keys; adds their hashes to the sums.
  Result<void> send(std::span<const AuthBit> bits, Shape shape, std::span<const String> v,
                    Strings& sums) {
    const std::size_t rows = bits.size(), octets = octets_of(shape.length);
    const auto part = [&](Labels& of) { return std::span(of).first(rows); };
    for (std::size_t k = 0; k < rows; ++k) {
      g_[k] = bits[k].key;
      other_g_[k] = bits[k].key ^ session_.delta();
    }
    own_u_.hash(part(g_), u_.data(), false);
    own_u_.hash(part(other_g_), other_u_.data(), true);
    own_g_.hash(part(g_), g_.data(), false);
    own_g_.hash(part(other_g_), other_g_.data(), true);
    message_.resize(rows * (kLabelBytes + octets));
    std::uint8_t *g_to = message_.data(), *u_to = g_to + rows * kLabelBytes;
    for (std::size_t k = 0; k < rows; ++k, g_to += kLabelBytes, u_to += octets) {
      const String& row = v[k / shape.bits];
      const Label g = g_[k] ^ other_g_[k] ^ row.mac,
                  u = first_bits(u_[k] ^ other_u_[k] ^ row.value, shape.length);
      std::memcpy(g_to, &g, kLabelBytes);
      std::memcpy(u_to, &u, octets);
      sums[k] = sums[k] ^ String { u_[k], g_[k] };
    }
    return session_.channel().write(message_);
  }

  // Adds what the peer's rows are for own bits.
  Result<void> take(std::span<const AuthBit> bits, Shape shape, Strings& sums) {
    const std::size_t rows = bits.size(), octets = octets_of(shape.length);
    const auto part = std::span(other_g_).first(rows);
    if (auto got = session_.channel().read(message_); !got) return got;
    for (std::size_t k = 0; k < rows; ++k) other_g_[k] = bits[k].mac;
    peers_u_.hash(part, other_u_.data(), true);
    peers_g_.hash(part, other_g_.data(), true);
    const std::uint8_t *g_at = message_.data(), *u_at = g_at + rows * kLabelBytes;
    for (std::size_t k = 0; k < rows; ++k, g_at += kLabelBytes, u_at += octets) {
      Label g, u;
      std::memcpy(&g, g_at, kLabelBytes);
      std::memcpy(&u, u_at, octets);
      const std::uint64_t own = bits[k].own();
      sums[k] = sums[k] ^ String { other_u_[k] ^ u.where(own), other_g_[k] ^ g.where(own) };
    }
    return {};
  }

 private:
  static constexpr std::uint64_t kPurpose = 17;
  Side peer() const {
    return session_.side() == Side::kGarbler ? Side::kEvaluator : Side::kGarbler;
  }
  ot::RowHash seed(std::uint64_t what, Side of) {
    return {session_.seed_of(kPurpose + what, number_, of), garble::fastest_kernel()};
  }

  pair::Session& session_;
  const std::uint64_t number_;
  ot::RowHash own_g_, own_u_, peers_g_, peers_u_;
  Labels g_, u_, other_g_, other_u_;
  Bytes message_;
};

// A piece of products between what is sent and what is read.
class LeakyRun {
 public:
  LeakyRun(Dealer& dealer, Shape shape, Leaky& out) : dealer_(dealer), shape_(shape), out_(out) {
    for (pair::Session* session : dealer.sessions()) peers_.emplace_back(*session);
  }
  ~LeakyRun() { garble::wipe_stack(); }

  Result<void> run() {
    const std::size_t at_once = kRows / shape_.bits;
    for (std::size_t first = 0; first < out_.size(); first += at_once) {
      const std::size_t count = std::min(at_once, out_.size() - first);
      if (auto done = make(first, count); !done) return done;
    }
    return {};
  }

 private:
  Result<void> make(std::size_t first, std::size_t count) {
    if (auto done = draw(first, count); !done) return done;
    const auto strings = std::span<const String>(strings_);
    const std::size_t rows = count * shape_.bits;
    const auto bits_of = [&](std::size_t p) {
      return std::span<const AuthBit>(bits_).subspan(p * rows, rows);
    };
    sums_.assign(rows, String{});
    for (std::size_t p = 0; p < peers_.size(); ++p)
      if (auto sent = peers_[p].send(bits_of(p), shape_, strings, sums_); !sent)
        return dealer_.end(p, sent.error().message);
    for (std::size_t p = 0; p < peers_.size(); ++p)
      if (auto taken = peers_[p].take(bits_of(p), shape_, sums_); !taken)
        return dealer_.end(p, taken.error().message);
    for (std::size_t k = 0; k < rows; ++k) {
      const std::uint64_t own = bits_[k].own();
      const String &v = strings[k / shape_.bits], &sum = sums_[k];
      out_.set_product(
          first + k / shape_.bits, k % shape_.bits,
          {first_bits(sum.value ^ v.value.where(own), shape_.length), sum.mac ^ v.mac.where(own)});
    }
    return {};
  }

  Result<void> draw(std::size_t first, std::size_t count) {
    const std::size_t rows = count * shape_.bits;
    bits_.resize(peers_.size() * rows);
    if (auto drawn = dealer_.draw(std::span(bits_)); !drawn) return drawn;
    Labels labels(count * shape_.length);
    strings_.resize(count);
    if (auto drawn = dealer_.draw(std::span(labels)); !drawn) return drawn;
    for (std::size_t k = 0; k < count; ++k)
      strings_[k] = string_of(std::span(labels).subspan(k * shape_.length, shape_.length));
    for (std::size_t k = 0; k < count; ++k) out_.set_string(first + k, strings_[k]);
    for (std::size_t k = 0; k < rows; ++k)
      out_.set_bit(first + k / shape_.bits, k % shape_.bits,
                   label_of(&bits_[k], peers_.size(), rows, dealer_.delta()));
    return {};
  }

  Dealer& dealer_;
  const Shape shape_;
  Leaky& out_;
  std::vector<LeakyPeer> peers_;
  AuthBits bits_;
  Strings strings_, sums_;
};

// Σ ψ_k of all products.
String folded(Shape shape, const Leaky& of, const Label& coins) {
  constexpr std::size_t kSome = 1024;
  Coefficients coefficients(coins);
  Labels factors(kSome), values(kSome), macs(kSome);
  String sum;
  const std::size_t rows = of.size() * shape.bits;
  for (std::size_t first = 0; first < rows; first += kSome) {
    const std::size_t count = std::min(kSome, rows - first);
    for (std::size_t k = 0; k < count; ++k) {
      const String one = of.product((first + k) / shape.bits, (first + k) % shape.bits);
      values[k] = one.value;
      macs[k] = one.mac;
    }
    const auto some = std::span(factors).first(count);
    coefficients.draw(some);
    sum = sum ^ String {
      field().dot(some, std::span(values).first(count)),
          field().dot(some, std::span(macs).first(count))
    };
  }
  return sum;
}

// That each product's value is what its MAC says.
Result<void> check_products(Dealer& dealer, Shape shape, const Leaky& products) {
  auto coins = dealer.coins();
  if (!coins) return coins.error();
  Labels mask(128);
  if (auto drawn = dealer.draw(std::span(mask)); !drawn) return drawn;
  const String sum = folded(shape, products, *coins) ^ string_of(mask);
  Label opened = sum.value;
  if (auto done = dealer.exchange({reinterpret_cast<std::uint8_t*>(&opened), kLabelBytes}); !done)
    return done;
  dealer.expect(sum, opened);
  return dealer.check();
}

}  // namespace

Leaky::Leaky(Shape shape, std::size_t count)
    : bits_(shape.bits), stride_(count == 0 ? 0 : kString + shape.bits * (1 + kString)) {
  resize_in_huge_pages(labels_, count * stride_);
}

void Leaky::fetch(std::size_t k) const {
  constexpr std::size_t kLine = 64 / kLabelBytes;
  for (std::size_t at = 0; at < stride_; at += kLine) __builtin_prefetch(of(k) + at);
  __builtin_prefetch(of(k) + stride_ - 1);
}

Result<Leaky> leaky_products(Dealer& dealer, Shape shape, std::size_t count) {
  Leaky out(shape, count);
  LeakyRun run(dealer, shape, out);
  if (auto done = run.run(); !done) return done.error();
  if (auto good = check_products(dealer, shape, out); !good) return good.error();
  return out;
}

}  // namespace tkdc::lut
