// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

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

// A piece of products between what is sent and what is read.
class LeakyRun {
 public:
  LeakyRun(Dealer& dealer, Shape shape, Leaky& out)
      : dealer_(dealer), shape_(shape), out_(out), number_(dealer.session().next_number()),
        delta_(1, dealer.session().delta()), own_g_(seed(0, dealer.side())),
        own_u_(seed(1, dealer.side())), peers_g_(seed(0, peer())), peers_u_(seed(1, peer())) {
    for (Labels* rows : {&keys_g_, &keys_u_, &other_g_, &other_u_}) rows->resize(kRows);
  }
  ~LeakyRun() { garble::wipe_stack(); }

  Result<void> run() {
    const std::size_t at_once = kRows / shape_.bits;
    for (std::size_t first = 0; first < out_.strings.size(); first += at_once) {
      const std::size_t count = std::min(at_once, out_.strings.size() - first);
      auto done = draw(first, count);
      if (done) done = send(first, count);
      if (done) done = take(first, count);
      if (!done) return done;
    }
    return {};
  }

 private:
  static constexpr std::uint64_t kPurpose = 17;
  Side peer() const { return dealer_.side() == Side::kGarbler ? Side::kEvaluator : Side::kGarbler; }
  ot::RowHash seed(std::uint64_t what, Side of) {
    return {dealer_.session().seed_of(kPurpose + what, number_, of), garble::fastest_kernel()};
  }

  Result<void> draw(std::size_t first, std::size_t count) {
    bits_.resize(count * shape_.bits);
    if (auto drawn = dealer_.draw(std::span(bits_)); !drawn) return drawn;
    Labels labels(count * shape_.length);
    if (auto drawn = dealer_.draw(std::span(labels)); !drawn) return drawn;
    for (std::size_t k = 0; k < count; ++k)
      out_.strings[first + k] =
          string_of(std::span(labels).subspan(k * shape_.length, shape_.length));
    for (std::size_t k = 0; k < bits_.size(); ++k)
      out_.bits[first * shape_.bits + k] = label_of(bits_[k], delta_[0]);
    return {};
  }

  Result<void> send(std::size_t first, std::size_t count) {
    const std::size_t rows = count * shape_.bits, octets = octets_of(shape_.length);
    const auto part = [&](Labels& of) { return std::span(of).first(rows); };
    for (std::size_t k = 0; k < rows; ++k) {
      keys_g_[k] = bits_[k].key;
      other_g_[k] = bits_[k].key ^ delta_[0];
    }
    own_u_.hash(part(keys_g_), keys_u_.data(), false);
    own_u_.hash(part(other_g_), other_u_.data(), true);
    own_g_.hash(part(keys_g_), keys_g_.data(), false);
    own_g_.hash(part(other_g_), other_g_.data(), true);
    message_.resize(rows * (kLabelBytes + octets));
    std::uint8_t* to = message_.data();
    for (std::size_t k = 0; k < rows; ++k, to += kLabelBytes) {
      const Label g = keys_g_[k] ^ other_g_[k] ^ out_.strings[first + k / shape_.bits].mac;
      std::memcpy(to, &g, kLabelBytes);
    }
    for (std::size_t k = 0; k < rows; ++k, to += octets) {
      const Label u = first_bits(
          keys_u_[k] ^ other_u_[k] ^ out_.strings[first + k / shape_.bits].value, shape_.length);
      std::memcpy(to, &u, octets);
    }
    auto sent = dealer_.session().channel().write(message_);
    return sent ? sent : dealer_.session().end(sent.error().message);
  }

  Result<void> take(std::size_t first, std::size_t count) {
    const std::size_t rows = count * shape_.bits, octets = octets_of(shape_.length);
    const auto part = [&](Labels& of) { return std::span(of).first(rows); };
    if (auto got = dealer_.session().channel().read(message_); !got)
      return dealer_.session().end(got.error().message);
    for (std::size_t k = 0; k < rows; ++k) other_g_[k] = bits_[k].mac;
    peers_u_.hash(part(other_g_), other_u_.data(), true);
    peers_g_.hash(part(other_g_), other_g_.data(), true);
    const std::uint8_t *g_at = message_.data(), *u_at = g_at + rows * kLabelBytes;
    for (std::size_t k = 0; k < rows; ++k, g_at += kLabelBytes, u_at += octets) {
      Label g, u;
      std::memcpy(&g, g_at, kLabelBytes);
      std::memcpy(&u, u_at, octets);
      const String& v = out_.strings[first + k / shape_.bits];
      const std::uint64_t own = bits_[k].own();
      out_.products[first * shape_.bits + k] = {
          first_bits(keys_u_[k] ^ other_u_[k] ^ (v.value ^ u).where(own), shape_.length),
          keys_g_[k] ^ other_g_[k] ^ (v.mac ^ g).where(own)};
    }
    return {};
  }

  Dealer& dealer_;
  const Shape shape_;
  Leaky& out_;
  const std::uint64_t number_;
  const Labels delta_;
  ot::RowHash own_g_, own_u_, peers_g_, peers_u_;
  AuthBits bits_;
  Labels keys_g_, keys_u_, other_g_, other_u_;
  Bytes message_;
};

// Coefficients from coins: AES in counter mode.
class Coefficients {
 public:
  explicit Coefficients(const Label& coins) { garble::expand_keys(std::span(&coins, 1), keys_); }
  void draw(std::span<Label> out) {
    for (Label& one : out) one = {next_++, 0};
    garble::fastest_kernel().permute(keys_, out);
  }

 private:
  garble::RoundKeys keys_;
  std::uint64_t next_ = 0;
};

// Σ ψ_k of all products.
String folded(const Strings& products, const Label& coins) {
  constexpr std::size_t kSome = 1024;
  Coefficients coefficients(coins);
  Labels factors(kSome), values(kSome), macs(kSome);
  String sum;
  for (std::size_t first = 0; first < products.size(); first += kSome) {
    const std::size_t count = std::min(kSome, products.size() - first);
    for (std::size_t k = 0; k < count; ++k) {
      values[k] = products[first + k].value;
      macs[k] = products[first + k].mac;
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
Result<void> check_products(Dealer& dealer, const Strings& products) {
  auto coins = dealer.session().coins();
  if (!coins) return coins.error();
  Labels mask(128);
  if (auto drawn = dealer.draw(std::span(mask)); !drawn) return drawn;
  const String sum = folded(products, *coins) ^ string_of(mask);
  Label opened = sum.value;
  if (auto done = dealer.exchange({reinterpret_cast<std::uint8_t*>(&opened), kLabelBytes}); !done)
    return done;
  dealer.expect(sum, opened);
  return dealer.check();
}

}  // namespace

Result<Leaky> leaky_products(Dealer& dealer, Shape shape, std::size_t count) {
  Leaky out;
  out.bits.resize(count * shape.bits);
  out.strings.resize(count);
  out.products.resize(count * shape.bits);
  LeakyRun run(dealer, shape, out);
  if (auto done = run.run(); !done) return done.error();
  if (auto good = check_products(dealer, out.products); !good) return good.error();
  return out;
}

}  // namespace tkdc::lut
