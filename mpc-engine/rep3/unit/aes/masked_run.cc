// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/aes/masked_run.h"

#include "base/now_public.h"
#include "protocol/replicated.h"
#include "rep3/unit/aes/byte_cohort.h"
#include "rep3/unit/aes/one_hot.h"

namespace tkdc {
namespace {

constexpr std::size_t kBlock = 16, kDigestBytes = 32;

const AesByteKernels& fastest_kernels() {
  static const AesByteKernels* const gfni = aes_byte_kernels_gfni();
  return gfni != nullptr ? *gfni : aes_byte_kernels_scalar();
}

// The linear parts of AES rounds on a cohort's states. An S-box layer is number 1
// to `rounds`, in the order in which they run.
class LinearSteps {
 public:
  LinearSteps(const std::vector<AesBlockRef>& blocks, int party, int rounds, AesDirection direction)
      : party_(party), rounds_(rounds), direction_(direction), count_(blocks.size()) {
    for (const AesBlockRef& block : blocks) {
      if (runs_.empty() || runs_.back().round_keys[0] != block.round_keys[0] ||
          runs_.back().round_keys[1] != block.round_keys[1])
        runs_.push_back({{block.round_keys[0], block.round_keys[1]}, 0});
      ++runs_.back().blocks;
    }
  }

  // Component c: the cipher's input to the first layer's input.
  void enter(int c, std::uint8_t* x) const {
    if (encrypts()) return add_key(c, 0, x);
    add_key(c, rounds_, x);
    kernels_.inv_shift_sub(count_, x, constant(c), x);
  }
  // A layer's output to the next one's input; of the last, to the cipher's output.
  void forward(int layer, int c, std::uint8_t* x) const {
    const bool last = layer == rounds_;
    if (encrypts()) return kernels_.sub_shift_mix(count_, x, constant(c), last, key(c, layer), x);
    add_key(c, rounds_ - layer, x);
    if (last) return;
    kernels_.inv_mix(count_, x);
    kernels_.inv_shift_sub(count_, x, constant(c), x);
  }
  // Back from the next layer's input to this one's output; not for the last.
  void back(int layer, int c, std::uint8_t* x) const {
    if (!encrypts())
      return kernels_.sub_shift_mix(count_, x, constant(c), false, key(c, rounds_ - layer), x);
    add_key(c, layer, x);
    kernels_.inv_mix(count_, x);
    kernels_.inv_shift_sub(count_, x, constant(c), x);
  }

 private:
  bool encrypts() const { return direction_ == AesDirection::kEncrypt; }
  AesRoundKey key(int c, int round) const { return {runs_.data(), c, round}; }
  void add_key(int c, int round, std::uint8_t* x) const {
    kernels_.add_round_key(count_, key(c, round), x);
  }
  std::uint8_t constant(int c) const { return c == constant_component(party_) ? 0x63 : 0; }

  const AesByteKernels& kernels_ = fastest_kernels();
  const int party_, rounds_;
  const AesDirection direction_;
  const std::size_t count_;
  std::vector<AesKeyRun> runs_;
};

constexpr OctetMap squares() {
  OctetMap map{};
  for (std::size_t b = 0; b < 8; ++b) map[b] = image_of(times(kIdentity[b]), kIdentity[b]);
  return map;
}

// The two relations of an S-box's input a and output s. Each is there twice: once for its
// square, of which w^2 makes w.
ClaimShape make_shape() {
  constexpr std::size_t kA = 0, kS = 1, kAForSquare = 2, kSForSquare = 3;
  ClaimShape shape{ClaimShape::Product::kOctets,
                   4,
                   1,
                   2,
                   {kTimesOmega, kTimesOmega, kTimesOmegaSquare, kTimesOmegaSquare},
                   {},
                   {}};
  ClaimShape::Factor of_input, of_output;
  of_input.x = {{{kAForSquare, squares()}}};
  of_input.right = {{0, {{{kS, kIdentity}}}}};
  of_output.x = {{{kSForSquare, squares()}}};
  of_output.right = {{1, {{{kA, kIdentity}}}}};
  shape.factors = {of_input, of_output};
  shape.z = {{{{kA, kIdentity}}}, {{{kS, kIdentity}}}};
  return shape;
}
const ClaimShape& inversion_claim_shape() {
  static const ClaimShape shape = make_shape();
  return shape;
}

// One party's states in a run, and what it has to remember for the claims.
class MaskedStates {
 public:
  MaskedStates(const Rep3& rep3, const std::vector<AesBlockRef>& blocks, int rounds,
               AesDirection direction, std::vector<LayerMask> masks)
      : party_(rep3.party()), rounds_(rounds), n_(kBlock * blocks.size()),
        steps_(blocks, party_, rounds, direction), masks_(std::move(masks)), state_(n_) {
    crypto_generichash_init(&heard_, nullptr, 0, kDigestBytes);
    for (int c = 0; c < 2; ++c) {
      std::uint8_t* x = state_.component[c].data();
      for (std::size_t b = 0; b < blocks.size(); ++b)
        std::memcpy(x + kBlock * b, blocks[b].in[c], kBlock);
      steps_.enter(c, x);
    }
  }

  // The first layer's masked input, to be opened.
  SharedBytes masked_input() const {
    SharedBytes x = state_;
    xor_into(x, masks_.front().r);
    return x;
  }

  // What this party sends for a layer, before its zero-share: terms of the next
  // layer's masked input. t: this layer's.
  SecretVector terms(int layer, const Bytes& t) const {
    SecretVector out(n_);
    const LayerMask& mask = at(layer);
    const std::uint8_t *low = mask.vectors.component[0].data(),
                       *high = mask.vectors.component[1].data();
    for (std::size_t k = 0; k < n_;
         ++k, low += LayerMask::kHalvesBytes, high += LayerMask::kHalvesBytes) {
      std::uint16_t of[2][2];
      std::memcpy(of[0], low, sizeof of[0]);
      std::memcpy(of[1], high, sizeof of[1]);
      out[k] = one_hot::inverse_terms({{of[0][0], of[1][0]}, {of[0][1], of[1][1]}}, t[k]);
      sodium_memzero(of, sizeof of);
    }
    steps_.forward(layer, 0, out.data());
    xor_bytes(out.data(), at(layer + 1).r.component[0].data(), n_);
    return out;
  }

  // t of the next layer is known: its input, and this one's output for the claims.
  void go_on(int layer, const Bytes& t, bool claims) {
    crypto_generichash_update(&heard_, t.data(), t.size());
    SharedBytes next = at(layer + 1).r;
    xor_public(next, party_, t);
    if (claims) {
      inputs_.append(state_);
      SharedBytes output = next;
      for (int c = 0; c < 2; ++c) steps_.back(layer, c, output.component[c].data());
      outputs_.append(output);
    }
    state_ = std::move(next);
  }

  // The cipher's output, by the last layer's t.
  void finish(const Bytes& t, const std::vector<AesBlockRef>& blocks) {
    const LayerMask& mask = at(rounds_);
    for (int c = 0; c < 2; ++c) {
      std::uint8_t* x = state_.component[c].data();
      const std::uint8_t* vector = mask.vectors.component[c].data();
      for (std::size_t k = 0; k < n_; ++k, vector += LayerMask::kWholeBytes) {
        std::uint64_t words[one_hot::kVectorWords];
        std::memcpy(words, vector, sizeof words);
        x[k] = one_hot::inverse_component(words, t[k]);
        sodium_memzero(words, sizeof words);
      }
      steps_.forward(rounds_, c, x);
      for (std::size_t b = 0; b < blocks.size(); ++b)
        std::memcpy(blocks[b].out[c], x + kBlock * b, kBlock);
    }
  }

  void take_first(const Bytes& t) { crypto_generichash_update(&heard_, t.data(), t.size()); }

  // Of all t, under which jobs the servers agreed on.
  Bytes digest(ByteSpan course) {
    Bytes heard(kDigestBytes), out(kDigestBytes);
    crypto_generichash_final(&heard_, heard.data(), heard.size());
    crypto_generichash(out.data(), out.size(), heard.data(), heard.size(), course.data(),
                       course.size());
    return out;
  }

  void record(ClaimLog& log) const {
    ClaimRows::Rows rows{};
    for (int c = 0; c < 2; ++c) {
      rows[c][0] = rows[c][2] = inputs_.component[c].data();
      rows[c][1] = rows[c][3] = outputs_.component[c].data();
    }
    log.add(inversion_claim_shape(), inputs_.size(), rows);
  }

 private:
  const LayerMask& at(int layer) const { return masks_[static_cast<std::size_t>(layer) - 1]; }

  const int party_, rounds_;
  const std::size_t n_;
  const LinearSteps steps_;
  std::vector<LayerMask> masks_;
  SharedBytes state_;             // the layer's input
  SharedBytes inputs_, outputs_;  // of all layers but the last
  crypto_generichash_state heard_;
};

// This party's part of a sharing of zero, of octets that no other message uses.
void add_zero_share(Rep3& rep3, SecretVector& message) {
  const SharedBytes random = rep3.random(message.size());
  for (const SecretVector& component : random.component)
    xor_bytes(message.data(), component.data(), message.size());
}

Bytes sum_of(const SecretVector& own, const FromBoth& others) {
  Bytes sum(own.begin(), own.end());
  xor_bytes(sum.data(), others.prev.data(), sum.size());
  xor_bytes(sum.data(), others.next.data(), sum.size());
  now_public(sum.data(), sum.size());
  return sum;
}

}  // namespace

Task<void> MaskedRuns::run(std::vector<AesBlockRef> blocks, int rounds, AesDirection direction,
                           std::vector<LayerMask> masks) {
  const bool malicious = rep3_.claims() != nullptr;
  auto states = std::make_unique<MaskedStates>(rep3_, blocks, rounds, direction, std::move(masks));
  co_await rep3_.lane.agreed();
  const Course::Digest jobs = rep3_.lane.course().digest();

  SharedBytes masked = states->masked_input();
  Bytes t = co_await rep3_.open(masked);
  states->take_first(t);
  for (int layer = 1; layer < rounds; ++layer) {
    SecretVector message = states->terms(layer, t);
    add_zero_share(rep3_, message);
    FromBoth others = co_await rep3_.lane.exchange(message);
    t = sum_of(message, others);
    states->go_on(layer, t, malicious);
  }
  if (malicious) {
    Bytes heard = states->digest(jobs);
    Lane::Expected expected{heard, heard};
    FromBoth others = co_await rep3_.lane.exchange(std::move(heard), std::move(expected),
                                                   "the servers were sent different masked values");
    states->record(*rep3_.claims());
  }
  states->finish(t, blocks);
  blocks_ += blocks.size();
}

}  // namespace tkdc
