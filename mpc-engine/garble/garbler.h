// SPDX-License-Identifier: Apache-2.0
// Garbles circuits: one instance, or kSideBySide of them that differ in their seeds, one circuit
// after the other in one string of tables for each instance (instances.h).
//
//   Garbler garbler({seed});
//   SecretLabels inputs = garbler.draw_inputs(256);    zero-labels
//   garbler.begin(schedule, inputs);
//   while (!garbler.done()) octets = garbler.garble(places, room);    send them
//   decode = garbler.output(k).colour();
//
// Seeds serve once: two circuits under one seed give Δ to whoever evaluates both. Used by one
// thread. Secret: seeds, Δ, zero-labels.
#pragma once

#include "garble/instances.h"
#include "garble/label_stream.h"

namespace tkdc::garble {

// Labels of several instances: instance s has label k at [k * count + s].
class SecretLabels {
 public:
  explicit SecretLabels(std::size_t labels)
      : octets_(aligned_secret(labels * kLabelBytes)), labels_(labels) {}
  std::span<Label> span() { return {reinterpret_cast<Label*>(octets_.data()), labels_}; }
  std::span<const Label> span() const {
    return {reinterpret_cast<const Label*>(octets_.data()), labels_};
  }
  std::size_t size() const { return labels_; }

 private:
  SecretVector octets_;
  std::size_t labels_;
};

class Garbler : public Instances {
 public:
  // One seed of kSeedBytes for each instance, 1 or kSideBySide.
  explicit Garbler(std::span<const ByteSpan> seeds, const Kernel& kernel = fastest_kernel(),
                   std::uint64_t first_tweak = 0);
  ~Garbler() { wipe_stack(); }

  const Label& delta(std::size_t instance = 0) const { return deltas()->of[instance]; }
  // Zero-labels of `bits` new inputs of each instance.
  SecretLabels draw_inputs(std::size_t bits);

  // `zero_labels` of the circuit's inputs; `schedule` outlives done().
  void begin(const circuit::Schedule& schedule, std::span<const Label> zero_labels);
  // Garbles on: the next octets of instance s come to places[s], at most `room` of each. How many:
  // next_octets(room) of before.
  std::size_t garble(std::span<std::uint8_t* const> places, std::size_t room);

  // The zero-label of an output bit, once done(). Of a constant: zero, or Δ.
  Label output(std::size_t bit, std::size_t instance = 0) const;

 private:
  Deltas* deltas() { return reinterpret_cast<Deltas*>(deltas_.data()); }
  const Deltas* deltas() const { return reinterpret_cast<const Deltas*>(deltas_.data()); }

  SecretVector deltas_ = aligned_secret(sizeof(Deltas));
  std::vector<LabelStream> inputs_, keys_;
};

}  // namespace tkdc::garble
