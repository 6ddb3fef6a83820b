// SPDX-License-Identifier: Apache-2.0
// What a garbler and an evaluator have in common: instances side by side, their slots, the walk
// through a schedule, and the key of π with its tweaks.
//
// An instance's tables are one string, whatever pieces it is made or used in:
//
//   key of π (16) ‖ tables of 2^17 ANDs (32 each) ‖ key ‖ tables ‖ ...
//
// and circuits follow each other in it without a gap. Tweaks count on from circuit to circuit and
// over keys: no tweak comes twice in an instance. A key serves kTweaksPerKey tweaks, because each
// point that the evaluator has not seen is one more that a guess of Δ can hit (docs/protocols/19).
//
// Memory: slots of live wires. Used by one thread. Secret: slots, wiped.
#pragma once

#include <algorithm>
#include <bit>

#include "garble/kernel.h"
#include "garble/walk.h"
#include "garble/wiped_memory.h"

namespace tkdc::garble {

inline constexpr std::uint64_t kTweaksPerKey = std::uint64_t{1} << 18;
inline constexpr std::uint64_t kAndsPerKey = kTweaksPerKey / kTweaksPerAnd;

class Instances {
 public:
  Instances(const Instances&) = delete;
  Instances& operator=(const Instances&) = delete;

  std::size_t count() const { return count_; }
  const Kernel& kernel() const { return kernel_; }
  // The next tweak that nobody has used.
  std::uint64_t tweak() const { return tweak_; }
  // All gates of the circuit have been done.
  bool done() const { return walk_.done(); }

  // How many octets of each instance come next, where there is room for `most`; 0: none is left of
  // the circuit, or the next does not fit (it never has more than kTableBytes).
  std::size_t next_octets(std::size_t most) const;

 protected:
  // `first_tweak`, even: those below are used otherwise, under the first key.
  Instances(std::size_t count, const Kernel& kernel, std::uint64_t first_tweak);

  // Input k of instance s: labels[k * count() + s].
  void begin(const circuit::Schedule& schedule, std::span<const Label> labels);

  // At most `most` octets of each instance. `on_key` takes the place of a key in that string and
  // brings the keys; `on_ands` takes a batch and the place of its tables.
  template <class OnKey, class OnAnds>
  std::size_t advance(std::size_t most, OnKey on_key, OnAnds on_ands);

  Label* slots() { return reinterpret_cast<Label*>(slots_.data()); }
  const Label* slots() const { return reinterpret_cast<const Label*>(slots_.data()); }
  const circuit::Schedule& schedule() const { return walk_.schedule(); }

 private:
  std::uint64_t tweaks_left() const { return key_ends_ - tweak_; }

  const Kernel& kernel_;
  const std::size_t count_;
  std::uint64_t tweak_, key_ends_;
  RoundKeys keys_{};
  Walk walk_;
  SecretVector slots_ = aligned_secret(0);
};

template <class OnKey, class OnAnds>
std::size_t Instances::advance(std::size_t most, OnKey on_key, OnAnds on_ands) {
  assert(walk_.begun());
  std::size_t octets = 0;
  while (!walk_.done()) {
    kernel_.add(walk_.take_xors(), slots(), count_);
    if (walk_.ands() == 0) continue;
    if (tweaks_left() == 0) {
      if (most - octets < kLabelBytes) break;
      std::array<Label, kSideBySide> keys;
      on_key(octets, std::span(keys).first(count_));
      expand_keys(std::span(keys).first(count_), keys_);
      key_ends_ = (tweak_ / kTweaksPerKey + 1) * kTweaksPerKey;
      octets += kLabelBytes;
    }
    const std::uint64_t fit =
        std::min<std::uint64_t>((most - octets) / kTableBytes, tweaks_left() / kTweaksPerAnd);
    const std::size_t ands = std::min<std::uint64_t>(fit, walk_.ands());
    if (ands == 0 && tweaks_left() > 0) break;
    if (ands == 0) continue;
    on_ands(AndBatch{walk_.take_ands(ands), slots(), count_, &keys_, tweak_}, octets);
    tweak_ += kTweaksPerAnd * ands;
    octets += kTableBytes * ands;
  }
  return octets;
}

}  // namespace tkdc::garble
