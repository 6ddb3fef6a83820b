// SPDX-License-Identifier: Apache-2.0
#include "lut/shares.h"

#include <algorithm>
#include <cstring>

#include "lut/huge_pages.h"
#include "lut/sizes.h"

namespace tkdc::lut {
namespace {

constexpr std::size_t kWords = kPlaces / 64;
constexpr std::size_t kTablesAtOnce = 4096;  // tables whose messages travel together
constexpr std::size_t kSharesAhead = 24;     // entries that are fetched before they are needed
constexpr std::uint64_t kPurpose = 20;

// Shares of a one-hot vector, 2^j places after step j.
struct Vector {
  std::uint64_t of[kWords] = {};
  // Its places 1 … `places` − 1, at most 127 of them, and back.
  Label string(std::size_t places) const {
    if (places <= 64)
      return {(of[0] & ((places == 64 ? 0 : std::uint64_t{1} << places) - 1)) >> 1, 0};
    return {of[0] >> 1 | of[1] << 63, of[1] >> 1};
  }
};

class Demux {
 public:
  Demux(PairDealer& dealer, std::size_t count, std::uint64_t batch)
      : dealer_(dealer), count_(count), delta_(1, dealer.session().delta()),
        own_(dealer.session().seed_of(kPurpose, batch, dealer.side()), garble::fastest_kernel()),
        peers_(dealer.session().seed_of(kPurpose, batch, peer()), garble::fastest_kernel()),
        vectors_(count), bits_(kOctetBits * count), keys_(count), others_(count) {}
  ~Demux() { garble::wipe_stack(); }

  // Shares of s, and of its vectors.
  Result<void> run(std::uint8_t* masks, std::uint8_t* vectors) {
    if (auto drawn = dealer_.draw(std::span(bits_)); !drawn) return drawn;
    const std::uint64_t one = dealer_.side() == Side::kGarbler ? 1 : 0;
    for (std::size_t k = 0; k < count_; ++k) {
      masks[k] = 0;
      for (std::size_t j = 0; j < kOctetBits; ++j)
        masks[k] |= static_cast<std::uint8_t>(bits_[kOctetBits * k + j].own() << j);
      const std::uint64_t low = bits_[kOctetBits * k].own();
      vectors_[k].of[0] = (one ^ low) | low << 1;
    }
    for (std::size_t j = 1; j < kOctetBits; ++j)
      if (auto done = step(j); !done) return done;
    std::memcpy(vectors, vectors_.data(), count_ * sizeof(Vector));
    return {};
  }

 private:
  Side peer() const { return dealer_.side() == Side::kGarbler ? Side::kEvaluator : Side::kGarbler; }

  Result<void> step(std::size_t j) {
    const std::size_t places = std::size_t{1} << j, octets = (places + 6) / 8;
    for (std::size_t k = 0; k < count_; ++k) {
      keys_[k] = bits_[kOctetBits * k + j].key;
      others_[k] = keys_[k] ^ delta_[0];
    }
    own_.hash(keys_, keys_.data(), false);
    own_.hash(others_, others_.data(), true);
    message_.resize(count_ * octets);
    for (std::size_t k = 0; k < count_; ++k) {
      const Label u = keys_[k] ^ others_[k] ^ vectors_[k].string(places);
      std::memcpy(&message_[k * octets], &u, octets);
    }
    auto& channel = dealer_.session().channel();
    auto moved = channel.write(message_);
    if (moved) moved = channel.read(message_);
    if (!moved) return dealer_.session().end(moved.error().message);
    for (std::size_t k = 0; k < count_; ++k) others_[k] = bits_[kOctetBits * k + j].mac;
    peers_.hash(others_, others_.data(), true);
    for (std::size_t k = 0; k < count_; ++k) {
      Label u;
      std::memcpy(&u, &message_[k * octets], octets);
      take(vectors_[k], bits_[kOctetBits * k + j].own(), places, keys_[k] ^ others_[k], u);
    }
    return {};
  }

  // e becomes (e ⊕ s_j e) ‖ s_j e.
  static void take(Vector& vector, std::uint64_t own, std::size_t places, Label product, Label u) {
    product = product ^ (vector.string(places) ^ u).where(own);
    std::uint64_t upper[2];
    if (places <= 64) {
      const std::uint64_t used = (places == 64 ? 0 : std::uint64_t{1} << places) - 1;
      upper[0] = product.low << 1 & used;
      upper[1] = 0;
    } else {
      upper[0] = product.low << 1;
      upper[1] = product.high << 1 | product.low >> 63;
    }
    // Place 0 is what is left of s_j.
    upper[0] |=
        (own ^
         (std::uint64_t(__builtin_popcountll(upper[0]) + __builtin_popcountll(upper[1])) & 1));
    vector.of[0] ^= upper[0];
    vector.of[1] ^= upper[1];
    if (places < 64) {
      vector.of[0] |= upper[0] << places;
    } else if (places == 64) {
      vector.of[1] = upper[0];
    } else {
      vector.of[2] = upper[0];
      vector.of[3] = upper[1];
    }
  }

  PairDealer& dealer_;
  const std::size_t count_;
  const Labels delta_;
  ot::RowHash own_, peers_;
  std::vector<Vector, WipingAllocator<Vector>> vectors_;
  AuthBits bits_;
  Labels keys_, others_;
  Bytes message_;
};

}  // namespace

Result<ShareTables> ShareTables::make(PairDealer& dealer, const Table& table, std::size_t count) {
  ShareTables out;
  out.stock_ = Stock(dealer.session(), count, "tables");
  out.masks_.resize(count);
  resize_in_huge_pages(out.entries_, count * kPlaces);
  SecretVector vectors(std::min(kTablesAtOnce, count) * kPlaces / 8);
  for (std::size_t first = 0; first < count; first += kTablesAtOnce) {
    const std::size_t some = std::min(kTablesAtOnce, count - first);
    Demux demux(dealer, some, dealer.session().next_number());
    if (auto done = demux.run(&out.masks_[first], vectors.data()); !done) return done.error();
    fastest_kernel().expand_shares(vectors.data(), some, table, &out.entries_[first * kPlaces]);
  }
  garble::wipe_stack();
  return out;
}

Result<void> ShareTables::look_up(PairDealer& dealer, MutableByteSpan octets) {
  auto taken = stock_.take(dealer.session(), octets.size());
  if (!taken) return taken.error();
  const std::size_t first = *taken;
  for (std::size_t k = 0; k < octets.size(); ++k) octets[k] ^= masks_[first + k];
  wipe(std::span(masks_).subspan(first, octets.size()));
  if (auto done = dealer.exchange(octets); !done) return done;
  const std::uint8_t* entries = &entries_[first * kPlaces];
  for (std::size_t k = 0; k < octets.size(); ++k) {
    if (k + kSharesAhead < octets.size())
      __builtin_prefetch(entries + (k + kSharesAhead) * kPlaces + octets[k + kSharesAhead]);
    octets[k] = entries[k * kPlaces + octets[k]];
  }
  return {};
}

Result<SecretVector> expand_key_shares(PairDealer& dealer, ShareTables& tables, ByteSpan key) {
  return schedule_of(
      SecretVector(key.begin(), key.end()),
      [&](MutableByteSpan octets) { return tables.look_up(dealer, octets); },
      [&](std::uint8_t& octet, std::uint8_t constant) {
        octet ^= dealer.side() == Side::kGarbler ? constant : 0;
      });
}

Result<void> encrypt_shares(PairDealer& dealer, ShareTables& tables, ByteSpan round_keys,
                            MutableByteSpan blocks) {
  if (auto fits = blocks_fit(round_keys.size(), blocks.size()); !fits) return fits;
  const std::size_t rounds = round_keys.size() / kBlockOctets - 1;
  for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] ^= round_keys[k % kBlockOctets];
  for (std::size_t round = 1; round <= rounds; ++round) {
    if (auto done = tables.look_up(dealer, blocks); !done) return done;
    fastest_kernel().finish_shares(blocks.data(), blocks.size() / kBlockOctets,
                                   &round_keys[round * kBlockOctets], round == rounds);
  }
  garble::wipe_stack();
  return {};
}

}  // namespace tkdc::lut
