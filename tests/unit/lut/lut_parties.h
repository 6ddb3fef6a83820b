// SPDX-License-Identifier: Apache-2.0
// Two parties with a dealer each, and what both have put together.
#pragma once

#include <openssl/evp.h>

#include <random>

#include "base/hex.h"
#include "lut/demux.h"
#include "lut/kernel.h"
#include "lut/pair_dealer.h"
#include "ot/fixed_random.h"
#include "pair/pair_parties.h"

namespace tkdc::lut {

using ot::Change;
using ot::Outcome;

inline constexpr std::size_t kFewBits = 2 * 15 * 128;  // two batches of small_batches()

using DealerBody = std::function<Result<void>(PairDealer&)>;

// `at_once`: of the dealers.
inline Outcome with_dealers(const DealerBody& garbler, const DealerBody& evaluator, int cheat = 0,
                            Change change = {}, std::size_t at_once = kFewBits) {
  const auto party = [&](const DealerBody& body) {
    return [&](pair::Session& session) -> Result<void> {
      PairDealer dealer(session, at_once);
      return body(dealer);
    };
  };
  return pair::with_sessions(party(garbler), party(evaluator), cheat, change);
}

// The same body at both; it is told which party it is.
inline Outcome with_dealers(const std::function<Result<void>(PairDealer&, int)>& body,
                            int cheat = 0, Change change = {}, std::size_t at_once = kFewBits) {
  return with_dealers([&](PairDealer& dealer) { return body(dealer, 0); },
                      [&](PairDealer& dealer) { return body(dealer, 1); }, cheat, change, at_once);
}

// The same with bits for whole blocks at once. `fixed`: from fixed random numbers.
inline Outcome with_many_bits(const std::function<Result<void>(PairDealer&, int)>& body, int cheat,
                              Change change, bool fixed) {
  const auto party = [&](int p) {
    return [&, p](ot::Channel& channel) -> Result<void> {
      if (fixed) ot::begin_fixed(static_cast<std::uint8_t>(p + 1));
      auto session = pair::Session::create(channel, p == 0 ? Side::kGarbler : Side::kEvaluator,
                                           pair::kContext, pair::small_batches());
      if (!session) return session.error();
      PairDealer dealer(**session, std::size_t{32} * 15 * 128);
      return body(dealer, p);
    };
  };
  return ot::run_parties(party(0), party(1), cheat, change);
}

// Labels of both are those of a bit: of which.
inline std::uint64_t bit_of(const Label& a, const Label& b, const Label& delta) {
  const Label sum = a ^ b;
  EXPECT_TRUE(sum == Label{} || sum == delta);
  return sum.low & 1;
}

// What both parties have of the same thing.
template <class T>
struct Both {
  T of[2];
  Label part[2];
  Label delta() const { return part[0] ^ part[1]; }
};

// Every octet from 0 on, each party's share of it such as it likes, replaced by what is made for
// it.
struct Looked {
  Both<Labels> labels;
  std::uint64_t online_at[2] = {0, 0};

  void expect_right(std::size_t count, const Table& table) const {
    EXPECT_EQ(labels.delta().low & 0xff, 1u);
    for (std::size_t k = 0; k < count; ++k)
      EXPECT_EQ(labels.of[0][k] ^ labels.of[1][k], times(labels.delta(), table[k])) << k;
  }
};

Outcome look_up_all(const auto& make, std::size_t count, Looked& out, int cheat = 0,
                    Change change = {}) {
  return with_dealers(
      [&](Dealer& dealer, int p) -> Result<void> {
        out.labels.part[p] = dealer.octet_part();
        auto tables = make(dealer, count);
        if (!tables) return tables.error();
        Labels octets(count);
        for (std::size_t k = 0; k < count; ++k)
          octets[k] = dealer.multiple(static_cast<std::uint8_t>(k));
        out.online_at[p] = dealer.session().channel().sent();
        if (auto done = tables->look_up(dealer, octets); !done) return done;
        EXPECT_EQ(tables->left(), 0u);
        if (auto good = dealer.check(); !good) return good;
        out.labels.of[p] = std::move(octets);
        return {};
      },
      cheat, change);
}

// Whole blocks, each by itself.
inline Bytes openssl_encrypted(const EVP_CIPHER* cipher, const Bytes& key, const Bytes& blocks) {
  Bytes out(blocks.size() + EVP_MAX_BLOCK_LENGTH);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  int octets = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context, cipher, nullptr, key.data(), nullptr), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context, out.data(), &octets, blocks.data(),
                              static_cast<int>(blocks.size())),
            1);
  EVP_CIPHER_CTX_free(context);
  out.resize(blocks.size());
  return out;
}

inline Bytes random_octets(std::mt19937_64& generator, std::size_t count) {
  Bytes out(count);
  for (std::uint8_t& one : out) one = static_cast<std::uint8_t>(generator());
  return out;
}

inline Bytes octets_of(std::string_view hex) {
  Bytes out(hex.size() / 2);
  EXPECT_TRUE(from_hex(hex, out));
  return out;
}

}  // namespace tkdc::lut
