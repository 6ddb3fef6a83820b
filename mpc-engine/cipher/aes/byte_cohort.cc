// SPDX-License-Identifier: Apache-2.0
// AES cohorts in bytes: nothing is sliced, messages stand as kernels.h packs them.
#include "cipher/aes/byte_cohort.h"

namespace tkdc {
namespace {

// Messages are kept until the inversion is complete: d, q and e as shares.
class ByteCohort final : public AesCohort {
 public:
  ByteCohort(const AesByteKernels& kernels, int party, std::size_t blocks)
      : kernels_(kernels),
        party_(party),
        blocks_(blocks),
        state_(16 * blocks),
        inverse_(16 * blocks),
        d_(8 * blocks),
        q_(4 * blocks),
        e_(8 * blocks) {}

  void load(const std::vector<AesBlockRef>& blocks) override {
    for (int c = 0; c < 2; ++c)
      for (std::size_t b = 0; b < blocks.size(); ++b)
        std::memcpy(state_.component[c].data() + 16 * b, blocks[b].in[c], 16);
  }

  void store(const std::vector<AesBlockRef>& blocks) override {
    for (int c = 0; c < 2; ++c)
      for (std::size_t b = 0; b < blocks.size(); ++b)
        std::memcpy(blocks[b].out[c], state_.component[c].data() + 16 * b, 16);
  }

  void add_round_key(const std::vector<AesBlockRef>& blocks, int round) override {
    for (int c = 0; c < 2; ++c) {
      std::uint8_t* state = state_.component[c].data();
      for (std::size_t b = 0; b < blocks.size(); ++b)
        xor_bytes(state + 16 * b, blocks[b].round_keys[c] + 16 * round, 16);
    }
  }

  std::size_t message_bytes(int layer) const override {
    constexpr std::size_t kBytesPerBlock[kLayers] = {8, 4, 8, 16};
    return kBytesPerBlock[layer] * blocks_;
  }

  void terms(int layer, std::uint8_t* out) override {
    const std::size_t n = 16 * blocks_;
    auto of = [](const SharedBytes& x, int c) { return x.component[c].data(); };
    switch (layer) {
      case 0: return kernels_.norm(n, of(state_, 0), of(state_, 1), out);
      case 1: return kernels_.pair(n, of(d_, 0), of(d_, 1), out);
      case 2: return kernels_.invert(n, of(d_, 0), of(d_, 1), of(q_, 0), of(q_, 1), out);
      default: return kernels_.product(n, of(state_, 0), of(state_, 1), of(e_, 0), of(e_, 1), out);
    }
  }

  void absorb(int layer, const std::uint8_t* mine, const std::uint8_t* theirs) override {
    SharedBytes& target = layer == 0 ? d_ : layer == 1 ? q_ : layer == 2 ? e_ : inverse_;
    std::memcpy(target.component[0].data(), mine, target.size());
    std::memcpy(target.component[1].data(), theirs, target.size());
  }

  void sub_shift_mix(bool last) override {
    for (int c = 0; c < 2; ++c)
      kernels_.sub_shift_mix(blocks_, inverse_.component[c].data(), constant(c), last,
                             state_.component[c].data());
  }

  void inv_shift_sub() override {
    for (int c = 0; c < 2; ++c) {
      kernels_.inv_shift_sub(blocks_, state_.component[c].data(), constant(c),
                             inverse_.component[c].data());
      state_.component[c].swap(inverse_.component[c]);
    }
  }

  // After the inversion the state is what the last layer gave.
  void inv_mix() override {
    for (int c = 0; c < 2; ++c) kernels_.inv_mix(blocks_, state_.component[c].data());
  }

  void take_inverse() override { std::swap(state_, inverse_); }

 private:
  std::uint8_t constant(int c) const { return c == constant_component(party_) ? 0x63 : 0; }

  const AesByteKernels& kernels_;
  int party_;
  std::size_t blocks_;
  SharedBytes state_, inverse_, d_, q_, e_;
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
