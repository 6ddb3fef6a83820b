// SPDX-License-Identifier: Apache-2.0
// A party that chooses its rows: it draws the roots of its trees until two of the MACs that it will
// get differ by what it wants. Nothing of what it sends is out of order.
//
// Each chunk of a row follows from that chunk's tree alone, so the party draws trees of a chunk
// until these bits of the two rows differ as they should, one of 16 does with k = 4, and takes the
// next chunk. The roots come into grow_trees() where libsodium's random numbers do.
#pragma once

#include <cstring>

#include "garble/instances.h"
#include "ot/trees.h"
#include "pair/pair_parties.h"

namespace tkdc::pair {

// Rows of a session's first draw() that are to differ by kDiffer, whose σ is 0 ⊕ 1: two numbers
// that follow each other. They are x of the leaky ANDs 0 and 1.
inline constexpr std::size_t kChosenRows[2] = {0, 3};
inline constexpr Label kDiffer{1, 1};
inline constexpr unsigned kLevels = 4;

// 16 octets from libsodium: counted, kept, or replaced from the first root on. Of this thread.
struct Draws {
  std::uint64_t count = 0, first = 0;
  std::vector<Label>* keep = nullptr;
  const std::vector<Label>* roots = nullptr;
};
inline thread_local Draws draws;

inline void draw_octets(void* out, const std::size_t bytes) {
  randombytes_sysrandom_implementation.buf(out, bytes);
  if (bytes != kLabelBytes) return;
  const std::uint64_t n = draws.count++;
  if (draws.keep != nullptr) {
    draws.keep->emplace_back();
    std::memcpy(&draws.keep->back(), out, kLabelBytes);
  } else if (draws.roots != nullptr && n >= draws.first && n - draws.first < draws.roots->size()) {
    std::memcpy(out, draws.roots->data() + (n - draws.first), kLabelBytes);
  }
}

class WatchedRandom {
 public:
  WatchedRandom() {
    EXPECT_GE(sodium_init(), 0);
    watched_ = randombytes_sysrandom_implementation;
    watched_.buf = draw_octets;
    randombytes_set_implementation(&watched_);
  }
  ~WatchedRandom() { randombytes_set_implementation(&randombytes_sysrandom_implementation); }

 private:
  randombytes_implementation watched_;
};

// The bits of a chunk in the row at `bit` of `block`: ⊕ x over leaves with that bit set. Where the
// first chunk begins, the choice stands instead: ⊕ of all leaves.
inline std::uint64_t bits_of_row(std::size_t chunk, std::span<const Label> seeds,
                                 std::uint64_t block, std::size_t bit) {
  std::uint64_t sum = 0, out = 0;
  for (std::size_t x = 0; x < seeds.size(); ++x) {
    garble::RoundKeys keys;
    garble::expand_keys(seeds.subspan(x, 1), keys);
    Label stream{block, 0};
    garble::kernel_reference()->permute(keys, std::span(&stream, 1));
    const std::uint64_t one = (bit < 64 ? stream.low >> bit : stream.high >> (bit - 64)) & 1;
    sum ^= one;
    out ^= x & (0 - one);
  }
  return chunk == 0 ? (out & ~std::uint64_t{1}) | sum : out;
}

// Roots for the trees that `cheat` grows in a session of kContext.
inline std::vector<Label> roots_for(int cheat) {
  Bytes context(kContext);
  const std::string purpose = "tkdc pair, delta of ";
  context.insert(context.begin(), static_cast<std::uint8_t>(1 - cheat));
  context.insert(context.begin(), purpose.begin(), purpose.end());
  // The evaluator's extension has served for base OTs before: a batch.
  const std::uint64_t block = 1 + (cheat == 1 ? ot::kBlocksAtOnce : 0);
  const ot::Chunks chunks(kLevels);
  const ot::Labels zero(ot::kColumns), one(ot::kColumns);
  std::vector<Label> roots(chunks.count());
  std::vector<bool> found(chunks.count());
  for (int turn = 0; turn < 1'000; ++turn) {
    ot::Ends nowhere("a grower", "nobody");
    ot::Channel channel(*nowhere.stream.writer, *nowhere.stream.reader, ot::kTestTimeoutMs);
    std::vector<Label> drawn;
    draws = {0, 0, &drawn, nullptr};
    auto seeds = ot::grow_trees(channel, context, chunks, zero, one);
    draws = {};
    EXPECT_TRUE(seeds.ok() && drawn.size() == chunks.count());
    bool all = true;
    for (std::size_t chunk = 0; chunk < chunks.count(); ++chunk) {
      const auto here = std::span<const Label>(*seeds).subspan(16 * chunk, 16);
      const std::uint64_t differ = bits_of_row(chunk, here, block, kChosenRows[0]) ^
                                   bits_of_row(chunk, here, block, kChosenRows[1]);
      const std::uint64_t wanted =
          (chunk < 16 ? kDiffer.low >> (4 * chunk) : kDiffer.high >> (4 * (chunk - 16))) & 15;
      if (!found[chunk] && differ == wanted) {
        roots[chunk] = drawn[chunk];
        found[chunk] = true;
      }
      all = all && found[chunk];
    }
    if (all) return roots;
  }
  ADD_FAILURE() << "no trees";
  return roots;
}

// A session in which `cheat` has chosen its rows so.
inline Outcome with_chosen_rows(int cheat, const std::vector<Label>& roots,
                                const SessionBody& rogue, const SessionBody& honest) {
  const auto party = [&](int p) {
    return [&, p](ot::Channel& channel) -> Result<void> {
      // Before its roots it draws Δ and a seed; the garbler also what it sends as the first
      // extension's sender: a seed for keys, and one for the check.
      if (p == cheat) draws = {0, p == 0 ? 4u : 2u, nullptr, &roots};
      auto session = Session::create(channel, static_cast<Side>(p), kContext, small_batches());
      draws = {};
      if (!session) return session.error();
      return p == cheat ? rogue(**session) : honest(**session);
    };
  };
  return ot::run_parties(party(0), party(1));
}

inline Result<AuthBits> draw_chosen(Session& session) {
  auto rows = session.draw(6);
  if (!rows) return rows.error();
  EXPECT_EQ((*rows)[kChosenRows[0]].mac ^ (*rows)[kChosenRows[1]].mac, kDiffer)
      << "the rogue has not chosen its rows";
  return rows;
}

// Two leaky ANDs are begun. What their tables tell the rogue: with garbling's hash the peer's Δ, or
// its own one where both y are alike; else something that nobody can use.
struct Told {
  Label by_tables, peers_delta, own_delta;
};
inline Told tables_of_chosen_rows(int cheat, const std::vector<Label>& roots) {
  Told told;
  const Outcome outcome = with_chosen_rows(
      cheat, roots,
      [&](Session& session) -> Result<void> {
        auto rows = draw_chosen(session);
        if (!rows) return rows.error();
        Label tables[2];
        if (auto got = session.channel().read_all(std::span<Label>(tables)); !got) return got;
        told.own_delta = session.delta();
        told.by_tables = tables[0] ^ tables[1] ^ session.delta();
        for (const AuthBit& y : {(*rows)[1], (*rows)[4]})
          told.by_tables = told.by_tables ^ session.delta().where(y.own()) ^ y.key ^ y.mac;
        return fail("enough");
      },
      [&](Session& session) -> Result<void> {
        told.peers_delta = session.delta();
        auto made = leaky_ands(session, 2);
        return made ? Result<void>() : made.error();
      });
  EXPECT_TRUE(outcome.error[cheat] && outcome.error[1 - cheat]);
  return told;
}

// The rogue opens both bits flipped, with the digest of its MACs. The honest party's error; none if
// it took them.
inline std::optional<std::string> flip_two_openings(int cheat, const std::vector<Label>& roots) {
  const auto two = [](const AuthBits& rows) {
    return AuthBits{rows[kChosenRows[0]], rows[kChosenRows[1]]};
  };
  const Outcome outcome = with_chosen_rows(
      cheat, roots,
      [&](Session& session) -> Result<void> {
        auto rows = draw_chosen(session);
        if (!rows) return rows.error();
        constexpr std::uint64_t kTold = 1;  // session.cc's purpose of these keys
        LabelDigest digest(session.seed_of(kTold, 0, session.side()));
        Bits bits;
        Labels macs;
        for (const AuthBit& one : two(*rows)) {
          bits.push_back(static_cast<std::uint8_t>(one.own() ^ 1));
          macs.push_back(one.mac);
        }
        digest.add(macs);
        const Label sum = digest.take();
        auto sent = session.channel().write(packed(bits));
        if (sent) sent = session.channel().write_all(std::span<const Label>(&sum, 1));
        return sent;
      },
      [&](Session& session) -> Result<void> {
        auto rows = session.draw(6);
        if (!rows) return rows.error();
        auto heard = session.hear(two(*rows));
        return heard ? Result<void>() : heard.error();
      });
  return outcome.error[1 - cheat];
}

}  // namespace tkdc::pair
