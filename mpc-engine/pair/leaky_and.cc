// SPDX-License-Identifier: Apache-2.0
#include "pair/leaky_and.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

namespace tkdc::pair {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 13;
constexpr std::uint64_t kPurpose = 2;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    good_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }
  void add(std::span<const Label> labels) {
    good_ = good_ && EVP_DigestUpdate(context_.get(), labels.data(), labels.size_bytes()) == 1;
  }
  bool finish(Digest& out) {
    return good_ && EVP_DigestFinal_ex(context_.get(), out.data(), nullptr) == 1;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool good_ = false;
};

// A piece between its three steps.
struct Piece {
  std::size_t first = 0, count = 0;
  Labels of_keys, sums;  // H(key(x)); S
};

class LeakyRun {
 public:
  LeakyRun(Session& session, std::span<AuthAnd> ands, std::uint64_t batch)
      : session_(session), deltas_(session.deltas()), ands_(ands),
        mine_(session.seed_of(kPurpose, batch, session.side()), garble::fastest_kernel()),
        peers_(session.seed_of(kPurpose, batch, other(session.side())), garble::fastest_kernel()),
        scratch_(kPiece) {
    for (Piece& piece : pieces_) {
      piece.of_keys.resize(kPiece);
      piece.sums.resize(kPiece);
    }
  }
  ~LeakyRun() { garble::wipe_stack(); }

  // Each step runs a piece behind the one before, so nobody waits for the link.
  Result<void> run() {
    const std::size_t pieces = (ands_.size() + kPiece - 1) / kPiece;
    for (std::size_t t = 0; t < pieces + 2; ++t) {
      if (t < pieces)
        if (auto done = send_tables(t); !done) return done;
      if (t >= 1 && t - 1 < pieces)
        if (auto done = take_tables(t - 1); !done) return done;
      if (t >= 2)
        if (auto done = correct(t - 2); !done) return done;
    }
    Digest digest;
    if (!sha256_.finish(digest)) return session_.end("SHA-256 is not to be had from OpenSSL");
    return session_.equal(digest);
  }

 private:
  static Side other(Side side) {
    return side == Side::kGarbler ? Side::kEvaluator : Side::kGarbler;
  }
  Piece& piece(std::size_t t) { return pieces_[t % 3]; }
  Channel& channel() { return session_.channel(); }
  // C of an AND.
  Label term_of(const AuthBit& y) const { return deltas_.delta.where(y.own()) ^ y.key ^ y.mac; }

  Result<void> send_tables(std::size_t t) {
    Piece& p = piece(t);
    p.first = t * kPiece;
    p.count = std::min(kPiece, ands_.size() - p.first);
    for (std::size_t k = 0; k < p.count; ++k) {
      p.of_keys[k] = ands_[p.first + k].x.key;
      scratch_[k] = p.of_keys[k] ^ deltas_.delta;
    }
    const auto keys = std::span(p.of_keys).first(p.count),
               others = std::span(scratch_).first(p.count);
    mine_.hash(keys, keys.data(), false);
    mine_.hash(others, others.data(), true);
    for (std::size_t k = 0; k < p.count; ++k)
      others[k] = others[k] ^ keys[k] ^ term_of(ands_[p.first + k].y);
    return channel().write_all(std::span<const Label>(others));
  }

  Result<void> take_tables(std::size_t t) {
    Piece& p = piece(t);
    const auto tables = std::span(scratch_).first(p.count), sums = std::span(p.sums).first(p.count);
    if (auto got = channel().read_all(tables); !got) return got;
    for (std::size_t k = 0; k < p.count; ++k) sums[k] = ands_[p.first + k].x.mac;
    peers_.hash(sums, sums.data(), true);
    Bits turns(p.count);
    for (std::size_t k = 0; k < p.count; ++k) {
      const AuthAnd& one = ands_[p.first + k];
      sums[k] =
          sums[k] ^ p.of_keys[k] ^ (tables[k] ^ term_of(one.y)).where(one.x.own()) ^ term_of(one.z);
      turns[k] = static_cast<std::uint8_t>(sums[k].low >> 1 & 1);
    }
    return channel().write(packed(turns));
  }

  Result<void> correct(std::size_t t) {
    Piece& p = piece(t);
    Bytes octets((p.count + 7) / 8);
    if (auto got = channel().read(octets); !got) return got;
    const Bits turns = unpacked(octets, p.count);
    for (std::size_t k = 0; k < p.count; ++k) {
      const std::uint64_t d = (p.sums[k].low >> 1 & 1) ^ turns[k];
      AuthBit& z = ands_[p.first + k].z;
      z = deltas_.plus(z, d);
      p.sums[k] = p.sums[k] ^ deltas_.delta.where(d);
    }
    sha256_.add(std::span<const Label>(p.sums).first(p.count));
    return {};
  }

  Session& session_;
  const Deltas deltas_;
  const std::span<AuthAnd> ands_;
  ot::RowHash mine_, peers_;
  Piece pieces_[3];
  Labels scratch_;
  Sha256 sha256_;
};

}  // namespace

Result<std::span<AuthAnd>> leaky_ands(Session& session, std::size_t count) {
  static_assert(sizeof(AuthAnd) == 3 * sizeof(AuthBit));
  const auto bits = session.scratch(3 * count);
  const std::span ands(reinterpret_cast<AuthAnd*>(bits.data()), count);
  if (auto drawn = session.draw(bits); !drawn) return drawn.error();
  if (auto done = multiply(session, ands); !done) return done.error();
  return ands;
}

Result<void> multiply(Session& session, std::span<AuthAnd> drawn) {
  LeakyRun run(session, drawn, session.next_number());
  if (auto done = run.run(); !done) return session.end(done.error().message);
  return {};
}

}  // namespace tkdc::pair
