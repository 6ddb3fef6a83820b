// SPDX-License-Identifier: Apache-2.0
#include "ot/trees.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/now_public.h"

namespace tkdc::ot {
namespace {

struct Check {
  Label half[2];
  friend Check operator^(const Check& a, const Check& b) {
    return {{a.half[0] ^ b.half[0], a.half[1] ^ b.half[1]}};
  }
  Check where(std::uint64_t bit) const { return {{half[0].where(bit), half[1].where(bit)}}; }
};
using Checks = std::vector<Check, WipingAllocator<Check>>;

// What the grower sends of a chunk: for each level the sums of left and right children under base
// OT keys; the checks' sum and hash.
struct Sums {
  Label of[2];
};
struct Proof {
  Check sum;
  std::uint8_t hash[32];
};

constexpr char kNodeLabel[] = "tkdc OT, node", kLeafLabel[] = "tkdc OT, leaf",
               kProofLabel[] = "tkdc OT, tree";

void hash_node(const char (&label)[sizeof kNodeLabel], ByteSpan context, std::uint64_t chunk,
               std::uint64_t node, const Label& seed, MutableByteSpan out) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, out.size());
  const auto add = [&](const void* octets, std::size_t bytes) {
    crypto_generichash_update(&state, static_cast<const std::uint8_t*>(octets), bytes);
  };
  add(label, sizeof label);
  add(&chunk, sizeof chunk);
  add(&node, sizeof node);
  add(&seed, sizeof seed);
  add(context.data(), context.size());
  crypto_generichash_final(&state, out.data(), out.size());
  sodium_memzero(&state, sizeof state);
}
static_assert(sizeof kNodeLabel == sizeof kLeafLabel);

// 1 where a = b, both below 2^32.
std::uint64_t equal(std::uint64_t a, std::uint64_t b) { return ((a ^ b) - 1) >> 63; }

// One tree, its nodes numbered as in a heap: the root is 1, node n's children 2 n and 2 n + 1.
class Tree {
 public:
  Tree(ByteSpan context, std::size_t chunk) : context_(context), chunk_(chunk), nodes_(1) {}

  std::size_t width() const { return nodes_.size(); }
  void plant(const Label& root) { nodes_[0] = root; }
  Labels& nodes() { return nodes_; }

  // All children of the present level, and their sums by side.
  Sums descend() {
    Labels children(2 * width());
    Sums sums{};
    for (std::size_t n = 0; n < width(); ++n) {
      hash_node(kNodeLabel, context_, chunk_, width() + n, nodes_[n],
                {reinterpret_cast<std::uint8_t*>(&children[2 * n]), 2 * kLabelBytes});
      for (const std::size_t side : {0, 1}) sums.of[side] = sums.of[side] ^ children[2 * n + side];
    }
    nodes_ = std::move(children);
    return sums;
  }

  // Of each leaf its seed and its check.
  Checks ripen(std::span<Label> seeds) const {
    Checks checks(width());
    for (std::size_t n = 0; n < width(); ++n) {
      SecretVector out(3 * kLabelBytes);
      hash_node(kLeafLabel, context_, chunk_, width() + n, nodes_[n], out);
      std::memcpy(&seeds[n], out.data(), kLabelBytes);
      std::memcpy(&checks[n], out.data() + kLabelBytes, sizeof checks[n]);
    }
    return checks;
  }

  void hash(const Checks& checks, std::uint8_t (&out)[32]) const {
    crypto_generichash_state state;
    crypto_generichash_init(&state, nullptr, 0, sizeof out);
    crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(kProofLabel),
                              sizeof kProofLabel);
    crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(checks.data()),
                              checks.size() * sizeof(Check));
    crypto_generichash_update(&state, context_.data(), context_.size());
    crypto_generichash_final(&state, out, sizeof out);
    sodium_memzero(&state, sizeof state);
  }

 private:
  ByteSpan context_;
  std::uint64_t chunk_;
  Labels nodes_;
};

// Bits of Δ that belong to a chunk.
std::uint64_t point_of(const Label& delta, const Chunks& chunks, std::size_t chunk) {
  std::uint64_t alpha = 0;
  for (unsigned b = 0; b < chunks.levels(chunk); ++b)
    alpha |= std::uint64_t{base_choice(delta, chunk * chunks.k() + b) ^ 1u} << b;
  return alpha;
}

// One level down at the puncture's side: the node on the path, zero, has a child that is known.
void descend_punctured(Tree& tree, std::uint64_t path, std::uint64_t side, const Sums& sent,
                       const Label& key) {
  const std::size_t parents = tree.width();
  const Sums sums = tree.descend();
  const std::uint64_t other = side ^ 1;
  const Label opened = sent.of[0].where(other ^ 1) ^ sent.of[1].where(other) ^ key;
  const Label all = sums.of[0].where(other ^ 1) ^ sums.of[1].where(other);
  for (std::size_t n = 0; n < parents; ++n)
    for (const std::uint64_t s : {0, 1}) {
      Label& child = tree.nodes()[2 * n + s];
      const std::uint64_t here = equal(n, path);
      // Its sibling's place in the sum is what is missing; on the path itself nothing is known.
      const Label missing = opened ^ all ^ child;
      child = child.where(here ^ 1) ^ missing.where(here & equal(s, other));
    }
}

void exchange_where(Label& a, Label& b, std::uint64_t bit) {
  const Label differ = (a ^ b).where(bit);
  a = a ^ differ;
  b = b ^ differ;
}

// From leaf x to place x ⊕ α.
void shift_by(std::uint64_t alpha, unsigned levels, std::span<Label> seeds) {
  for (unsigned b = 0; b < levels; ++b)
    for (std::size_t x = 0; x < seeds.size(); ++x)
      if ((x >> b & 1) == 0)
        exchange_where(seeds[x], seeds[x | std::size_t{1} << b], alpha >> b & 1);
}

}  // namespace

Result<Labels> grow_trees(Channel& channel, ByteSpan context, const Chunks& chunks,
                          std::span<const Label> zero, std::span<const Label> one) {
  assert(zero.size() == kColumns && one.size() == kColumns);
  Labels seeds(chunks.all_leaves());
  std::vector<Sums> sums(kColumns);
  std::vector<Proof> proofs(chunks.count());
  std::size_t leaf = 0;
  for (std::size_t chunk = 0; chunk < chunks.count(); ++chunk) {
    const unsigned levels = chunks.levels(chunk);
    Tree tree(context, chunk);
    Label root;
    randombytes_buf(&root, sizeof root);
    tree.plant(root);
    sodium_memzero(&root, sizeof root);
    for (unsigned level = levels; level-- > 0;) {
      const std::size_t column = chunk * chunks.k() + level;
      const Sums all = tree.descend();
      sums[column] = {{all.of[0] ^ zero[column], all.of[1] ^ one[column]}};
    }
    const auto here = std::span(seeds).subspan(leaf, chunks.leaves(chunk));
    const Checks checks = tree.ripen(here);
    for (const Check& check : checks) proofs[chunk].sum = proofs[chunk].sum ^ check;
    tree.hash(checks, proofs[chunk].hash);
    leaf += here.size();
  }
  if (auto sent = channel.write_all(std::span<const Sums>(sums)); !sent) return sent.error();
  if (auto sent = channel.write_all(std::span<const Proof>(proofs)); !sent) return sent.error();
  return seeds;
}

Result<Labels> puncture_trees(Channel& channel, ByteSpan context, const Chunks& chunks,
                              const Label& delta, std::span<const Label> chosen) {
  assert(chosen.size() == kColumns);
  std::vector<Sums> sums(kColumns);
  std::vector<Proof> proofs(chunks.count());
  if (auto got = channel.read_all(std::span(sums)); !got) return got.error();
  if (auto got = channel.read_all(std::span(proofs)); !got) return got.error();
  Labels seeds(chunks.all_leaves());
  std::size_t leaf = 0;
  int wrong = 0;
  for (std::size_t chunk = 0; chunk < chunks.count(); ++chunk) {
    const unsigned levels = chunks.levels(chunk);
    const std::uint64_t alpha = point_of(delta, chunks, chunk);
    Tree tree(context, chunk);
    for (unsigned level = levels; level-- > 0;) {
      const std::size_t column = chunk * chunks.k() + level;
      descend_punctured(tree, alpha >> (level + 1), alpha >> level & 1, sums[column],
                        chosen[column]);
    }
    const auto here = std::span(seeds).subspan(leaf, chunks.leaves(chunk));
    Checks checks = tree.ripen(here);
    Check missing = proofs[chunk].sum;
    for (std::size_t x = 0; x < checks.size(); ++x)
      missing = missing ^ checks[x].where(equal(x, alpha) ^ 1);
    for (std::size_t x = 0; x < checks.size(); ++x) {
      const std::uint64_t punctured = equal(x, alpha);
      checks[x] = checks[x].where(punctured ^ 1) ^ missing.where(punctured);
      here[x] = here[x].where(punctured ^ 1);
    }
    std::uint8_t hash[32];
    tree.hash(checks, hash);
    wrong |= sodium_memcmp(hash, proofs[chunk].hash, sizeof hash);
    shift_by(alpha, levels, here);
    leaf += here.size();
  }
  now_public(&wrong, sizeof wrong);
  if (wrong != 0)
    return fail("OT with " + channel.peer() +
                ": its seeds do not fit together: it does not follow the protocol");
  return seeds;
}

}  // namespace tkdc::ot
