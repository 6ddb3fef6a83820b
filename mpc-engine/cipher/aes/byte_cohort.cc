// SPDX-License-Identifier: Apache-2.0
// AES cohorts in bytes: nothing is sliced, messages stand as kernels.h packs them.
#include "cipher/aes/byte_cohort.h"

#include "cipher/aes/sbox_claims.h"

namespace tkdc {
namespace {

// Octets for a block in what a round keeps: the S-boxes' inputs a and their layers' messages
// d, q, e and a^-1, each over all blocks, one after the other; the rows of the claims as
// they are (sbox_claims.h). Semi-honest rounds need a and d alone, which stay in place.
constexpr std::size_t kAAt = 0, kDAt = 16, kQAt = 24, kEAt = 28, kInverseAt = 36;
constexpr std::size_t kStateOctets = kQAt, kClaimedOctets = kInverseAt + 16;

// Messages are used where they stand; only d, which two layers need, is copied, and
// what the claims need.
class ByteCohort final : public AesCohort {
 public:
  ByteCohort(const AesByteKernels& kernels, int party, std::size_t blocks)
      : kernels_(kernels), party_(party), blocks_(blocks), stride_(kStateOctets * blocks),
        rows_(SecretPool().take(2 * stride_)) {}

  void load(const std::vector<AesBlockRef>& blocks) override {
    for (int c = 0; c < 2; ++c)
      for (std::size_t b = 0; b < blocks.size(); ++b)
        std::memcpy(state(c) + 16 * b, blocks[b].in[c], 16);
    runs_.clear();
    for (const AesBlockRef& block : blocks) {
      if (runs_.empty() || runs_.back().round_keys[0] != block.round_keys[0] ||
          runs_.back().round_keys[1] != block.round_keys[1])
        runs_.push_back({{block.round_keys[0], block.round_keys[1]}, 0});
      ++runs_.back().blocks;
    }
  }

  void store(const std::vector<AesBlockRef>& blocks) override {
    for (int c = 0; c < 2; ++c)
      for (std::size_t b = 0; b < blocks.size(); ++b)
        std::memcpy(blocks[b].out[c], state(c) + 16 * b, 16);
  }

  void add_round_key(const std::vector<AesBlockRef>&, int round) override {
    for (int c = 0; c < 2; ++c) {
      const AesRoundKey key = {runs_.data(), c, round};
      if (step_ == Step::kNone)
        kernels_.add_round_key(blocks_, key, state(c));
      else
        kernels_.sub_shift_mix(blocks_, got_[c], constant(c), step_ == Step::kLast, key, state(c));
    }
    step_ = Step::kNone;
  }

  std::size_t message_bytes(int layer) const override {
    constexpr std::size_t kBytesPerBlock[kLayers] = {8, 4, 8, 16};
    return kBytesPerBlock[layer] * blocks_;
  }

  void terms(int layer, std::uint8_t* out) override {
    const std::size_t n = 16 * blocks_;
    switch (layer) {
      case 0: return kernels_.norm(n, state(0), state(1), out);
      case 1: return kernels_.pair(n, at(kDAt, 0), at(kDAt, 1), out);
      case 2: return kernels_.invert(n, at(kDAt, 0), at(kDAt, 1), got_[0], got_[1], out);
      default: return kernels_.product(n, state(0), state(1), got_[0], got_[1], out);
    }
  }

  void absorb(int layer, const std::uint8_t* mine, const std::uint8_t* theirs) override {
    constexpr std::size_t kAt[kLayers] = {kDAt, kQAt, kEAt, kInverseAt};
    got_[0] = mine;
    got_[1] = theirs;
    if (layer != 0 && claims_ == nullptr) return;
    for (int c = 0; c < 2; ++c) std::memcpy(at(kAt[layer], c), got_[c], message_bytes(layer));
  }

  void keep_for_claims(ClaimLog& log) override {
    if (claims_ != nullptr) return;
    claims_ = &log;
    const std::size_t stride = kClaimedOctets * blocks_;
    SecretPool::Piece rows = log.pool().take(2 * stride);
    for (std::size_t c = 0; c < 2; ++c)
      std::memcpy(rows.data() + c * stride, state(static_cast<int>(c)), 16 * blocks_);
    rows_ = std::move(rows);
    stride_ = stride;
  }
  // What the round kept goes to the log as it stands; the next state stands in new memory.
  bool record(ClaimLog& log) override {
    hold_claims(log, 16 * blocks_, std::move(rows_), stride_);
    rows_ = log.pool().take(2 * stride_);
    return true;
  }

  // Done together with the round key, which always follows, in one pass.
  void sub_shift_mix(bool last) override { step_ = last ? Step::kLast : Step::kMix; }

  void inv_shift_sub() override {
    for (int c = 0; c < 2; ++c) kernels_.inv_shift_sub(blocks_, state(c), constant(c), state(c));
  }

  void inv_mix() override {
    for (int c = 0; c < 2; ++c) kernels_.inv_mix(blocks_, state(c));
  }

  void take_inverse() override {
    for (int c = 0; c < 2; ++c) std::memcpy(state(c), got_[c], 16 * blocks_);
  }

 private:
  std::uint8_t constant(int c) const { return c == constant_component(party_) ? 0x63 : 0; }

  std::uint8_t* at(std::size_t octets, int c) {
    return rows_.data() + static_cast<std::size_t>(c) * stride_ + octets * blocks_;
  }
  std::uint8_t* state(int c) { return at(kAAt, c); }

  const AesByteKernels& kernels_;
  int party_;
  std::size_t blocks_;
  std::size_t stride_;      // from component to component
  SecretPool::Piece rows_;  // what this round keeps
  enum class Step : std::uint8_t { kNone, kMix, kLast };
  Step step_ = Step::kNone;
  std::vector<AesKeyRun> runs_;
  const std::uint8_t* got_[2] = {};  // what the last layer gave
  ClaimLog* claims_ = nullptr;
};

class ByteBackend final : public AesBackend {
 public:
  explicit ByteBackend(const AesByteKernels& kernels) : kernels_(kernels) {}
  std::string name() const override { return kernels_.name; }
  Representation representation() const override { return Representation::kBytes; }
  std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const override {
    return std::make_unique<ByteCohort>(kernels_, party, blocks);
  }

 private:
  const AesByteKernels& kernels_;
};

}  // namespace

const AesBackend& aes_backend_scalar() {
  static const ByteBackend backend(aes_byte_kernels_scalar());
  return backend;
}

const AesBackend* aes_backend_gfni() {
  static const AesByteKernels* const kernels = aes_byte_kernels_gfni();
  if (kernels == nullptr) return nullptr;
  static const ByteBackend backend(*kernels);
  return &backend;
}

}  // namespace tkdc
