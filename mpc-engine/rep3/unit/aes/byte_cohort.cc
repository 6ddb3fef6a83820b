// SPDX-License-Identifier: Apache-2.0
// AES cohorts in bytes: nothing is sliced, messages stand as kernels.h packs them.
#include "rep3/unit/aes/byte_cohort.h"

#include "protocol/replicated.h"
#include "rep3/unit/aes/sbox_claims.h"

namespace tkdc {
namespace {

// Messages are used where they stand; only d, which two layers need, is copied, and
// what the claims need is kept (sbox_claims.h).
class ByteCohort final : public AesCohort {
 public:
  ByteCohort(const AesByteKernels& kernels, int party, std::size_t blocks)
      : kernels_(kernels), party_(party), blocks_(blocks), state_(16 * blocks), d_(8 * blocks) {}

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
    const std::uint8_t *d0 = d_.component[0].data(), *d1 = d_.component[1].data();
    switch (layer) {
      case 0: return kernels_.norm(n, state(0), state(1), out);
      case 1: return kernels_.pair(n, d0, d1, out);
      case 2: return kernels_.invert(n, d0, d1, got_[0], got_[1], out);
      default: return kernels_.product(n, state(0), state(1), got_[0], got_[1], out);
    }
  }

  void absorb(int layer, const std::uint8_t* mine, const std::uint8_t* theirs) override {
    constexpr SboxPart kPart[kLayers] = {SboxPart::kNorm, SboxPart::kPair, SboxPart::kInverse,
                                         SboxPart::kProduct};
    got_[0] = mine;
    got_[1] = theirs;
    if (claims_ != nullptr && layer == 0) keep_input();
    // Not of a round that another cohort recorded (cuda/device/cohort.cc).
    if (kept_.size() > 0) keep_part(kPart[layer], 16 * blocks_, got_, kept_.data());
    if (layer != 0) return;
    for (int c = 0; c < 2; ++c) std::memcpy(d_.component[c].data(), got_[c], d_.size());
  }

  void keep_for_claims(ClaimLog& log) override { claims_ = &log; }
  bool record(ClaimLog& log) override {
    hold_claims(log, 16 * blocks_, std::move(kept_));
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

  void keep_input() {
    kept_ = claims_->pool().take(kKeptOctetsPerSbox16 * blocks_);
    const std::uint8_t* const input[2] = {state(0), state(1)};
    keep_part(SboxPart::kInput, 16 * blocks_, input, kept_.data());
  }
  std::uint8_t* state(int c) { return state_.component[c].data(); }

  const AesByteKernels& kernels_;
  int party_;
  std::size_t blocks_;
  SharedBytes state_, d_;
  enum class Step : std::uint8_t { kNone, kMix, kLast };
  Step step_ = Step::kNone;
  std::vector<AesKeyRun> runs_;
  const std::uint8_t* got_[2] = {};  // what the last layer gave
  ClaimLog* claims_ = nullptr;
  SecretPool::Piece kept_;  // of this round, for the claims
};

class ByteBackend final : public Rep3Backend {
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

const Rep3Backend& rep3_backend_scalar() {
  static const ByteBackend backend(aes_byte_kernels_scalar());
  return backend;
}

const Rep3Backend* rep3_backend_gfni() {
  static const AesByteKernels* const kernels = aes_byte_kernels_gfni();
  if (kernels == nullptr) return nullptr;
  static const ByteBackend backend(*kernels);
  return &backend;
}

}  // namespace tkdc
