// SPDX-License-Identifier: Apache-2.0
// The expansion of leaves in vector registers. Included by each kernel that has registers with AES
// instructions, in its unnamed namespace, with a register R: its type V, kBlocks blocks in it, and
// what is done with them. kWide registers of each of four leaves keep the AES pipeline full.


// AES of `counters` under leaves kFirst … 3 of four.
template <class R, std::size_t kFirst>
inline void encrypt_four(const LeafKeys* leaves, const typename R::V (&counters)[R::kWide],
                         typename R::V (&x)[4][R::kWide]) {
#pragma GCC unroll 4
  for (std::size_t leaf = kFirst; leaf < 4; ++leaf)
#pragma GCC unroll 4
    for (std::size_t r = 0; r < R::kWide; ++r)
      x[leaf][r] = R::add(counters[r], R::key(leaves[leaf].round[0]));
#pragma GCC unroll 16
  for (std::size_t round = 1; round < LeafKeys::kRounds; ++round)
#pragma GCC unroll 4
    for (std::size_t leaf = kFirst; leaf < 4; ++leaf) {
      const typename R::V key = R::key(leaves[leaf].round[round]);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < R::kWide; ++r) x[leaf][r] = R::round(x[leaf][r], key);
    }
#pragma GCC unroll 4
  for (std::size_t leaf = kFirst; leaf < 4; ++leaf) {
    const typename R::V key = R::key(leaves[leaf].round[LeafKeys::kRounds]);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < R::kWide; ++r) x[leaf][r] = R::last_round(x[leaf][r], key);
  }
}

// Sums of four leaves, and what they add to the two lowest columns.
template <class R, std::size_t kFirst>
inline void add_four(const LeafKeys* leaves, const typename R::V (&counters)[R::kWide],
                     typename R::V (&sum)[R::kWide],
                     typename R::V (&bits)[kMostLevels][R::kWide]) {
  typename R::V x[4][R::kWide];
  encrypt_four<R, kFirst>(leaves, counters, x);
#pragma GCC unroll 4
  for (std::size_t r = 0; r < R::kWide; ++r) {
    const typename R::V odd = R::add(x[1][r], x[3][r]), upper = R::add(x[2][r], x[3][r]);
    bits[0][r] = R::add(bits[0][r], odd);
    bits[1][r] = R::add(bits[1][r], upper);
    sum[r] = R::add(upper, x[1][r]);
    if constexpr (kFirst == 0) sum[r] = R::add(sum[r], x[0][r]);
  }
}

// Four leaves at a time; sums of finished subtrees wait for their neighbours, as in a binary
// counter: the right one of a pair is what the pair's column gets.
template <class R>
inline void expand_registers(const Expansion& e, std::size_t block) {
  using V = typename R::V;
  V counters[R::kWide], sum[R::kWide], waiting[kMostLevels][R::kWide], bits[kMostLevels][R::kWide];
  for (std::size_t r = 0; r < R::kWide; ++r)
    counters[r] = R::counter(e.first_block + block + r * R::kBlocks);
  for (unsigned b = 0; b < e.levels; ++b)
    for (std::size_t r = 0; r < R::kWide; ++r) bits[b][r] = R::zero();
  const std::size_t quads = std::size_t{1} << (e.levels - 2);
  for (std::size_t quad = 0; quad < quads; ++quad) {
    if (quad == 0 && e.sum == nullptr)
      add_four<R, 1>(e.leaves, counters, sum, bits);
    else
      add_four<R, 0>(e.leaves + 4 * quad, counters, sum, bits);
    unsigned level = 2;
    for (std::size_t left = quad; (left & 1) != 0; left >>= 1, ++level)
      for (std::size_t r = 0; r < R::kWide; ++r) {
        bits[level][r] = R::add(bits[level][r], sum[r]);
        sum[r] = R::add(sum[r], waiting[level][r]);
      }
    for (std::size_t r = 0; r < R::kWide; ++r) waiting[level & (kMostLevels - 1)][r] = sum[r];
  }
  for (std::size_t r = 0; r < R::kWide; ++r) {
    const std::size_t at = (block + r * R::kBlocks) * kBlockBytes;
    if (e.sum != nullptr) R::store(e.sum + at, sum[r]);
    for (unsigned b = 0; b < e.levels; ++b) R::store(e.bits[b] + at, bits[b][r]);
  }
}

template <class R>
void expand_all(const Expansion& e) {
  for (std::size_t block = 0; block < e.blocks; block += R::kWide * R::kBlocks)
    expand_registers<R>(e, block);
}

void expand_keys(std::span<const Label> seeds, LeafKeys* out) {
  for (std::size_t k = 0; k < seeds.size(); ++k) expand_aes_key(&seeds[k], out[k].round);
}
