// SPDX-License-Identifier: Apache-2.0
// The garblers' side of what is sent ahead (tables.h).
#include "threegarble/tables.h"

#include <algorithm>
#include <cstring>

namespace tkdc::threegarble {

using garble::kLabelBytes;
using garble::Label;

namespace {

constexpr std::size_t kPieceBytes = 16 * 1024;

SecretVector seed_of(const Seat& seat, const InstanceId& id) {
  const Role other = seat.role(id) == Role::kGarblerA ? Role::kGarblerB : Role::kGarblerA;
  return derive(seat, other, Purpose::kSeed, id);
}

// T goes by in order: one half into the stream, the other into the hash.
class Halves {
 public:
  Halves(const Seat& seat, const Shape& shape, const InstanceId& id, BulkWriter& to, int timeout_ms,
         Pace* pace)
      : first_is_sent_(seat.role(id) == Role::kGarblerA), border_(shape.first_half_bytes), to_(to),
        timeout_ms_(timeout_ms), pace_(pace),
        check_(derive(seat, Role::kEvaluator,
                      first_is_sent_ ? Purpose::kCheckSecond : Purpose::kCheckFirst, id)) {}

  Result<void> take(ByteSpan octets) {
    const std::size_t first =
        std::min(octets.size(), border_ > position_ ? border_ - position_ : 0);
    position_ += octets.size();
    const ByteSpan sent = first_is_sent_ ? octets.first(first) : octets.subspan(first);
    check_.add(first_is_sent_ ? octets.subspan(first) : octets.first(first));
    return write(sent);
  }
  Result<void> write(ByteSpan octets) {
    if (octets.empty()) return {};
    if (pace_ != nullptr) pace_->spend(octets.size());
    return to_.write(octets, timeout_ms_);
  }
  Result<void> end() {
    const TableCheck::Tag tag = check_.tag();
    if (!check_.ok()) return fail("threegarble: OpenSSL computes no GMAC");
    return write(tag);
  }

 private:
  const bool first_is_sent_;
  const std::size_t border_;
  std::size_t position_ = 0;
  BulkWriter& to_;
  const int timeout_ms_;
  Pace* const pace_;
  TableCheck check_;
};

Result<void> send_gates(Drawn& drawn, const Shape& shape, garble::RoundKeys& keys, Halves& halves) {
  garble::SecretLabels inputs(shape.in_bits);
  for (std::size_t k = 0; k < shape.in_bits; ++k) inputs.span()[k] = drawn.u()[k] ^ drawn.v()[k];
  garble::Garbler& garbler = drawn.garbler();
  garbler.begin(shape.schedule, inputs.span());
  Bytes piece(kPieceBytes);
  for (bool first = true; !garbler.done(); first = false) {
    std::uint8_t* const place = piece.data();
    const std::size_t made = garbler.garble(std::span(&place, 1), piece.size());
    if (first) first_keys(piece, keys);
    if (auto sent = halves.take(ByteSpan(piece).first(made)); !sent) return sent;
  }
  return {};
}

Result<void> send_commitments(const Drawn& drawn, const Shape& shape, const garble::Kernel& kernel,
                              const garble::RoundKeys& keys, Halves& halves) {
  Bytes out;
  std::uint64_t tweak = 0;
  for (const std::span<const Label> wires : {drawn.u(), drawn.v(), drawn.rho()}) {
    out.resize(wires.size() * kCommitmentBytes);
    commit(kernel, keys, tweak, wires, drawn.delta(), out);
    tweak += wires.size();
    if (auto sent = halves.take(out); !sent) return sent;
  }
  Bytes colours(shape.out_bytes(), 0);
  for (std::size_t k = 0; k < shape.out_bits; ++k) put_bit(colours, k, drawn.rho()[k].colour());
  return halves.take(colours);
}

Result<void> send_mask_labels(const Seat& seat, const Shape& shape, const InstanceId& id,
                              const Drawn& drawn, Halves& halves) {
  const SecretVector mask = mask_of(seat, shape, id);
  SecretVector labels(shape.out_bits * kLabelBytes);
  for (std::size_t k = 0; k < shape.out_bits; ++k) {
    const Label label = drawn.rho()[k] ^ drawn.delta().where(bit_of(mask, k));
    std::memcpy(labels.data() + k * kLabelBytes, &label, kLabelBytes);
  }
  return halves.write(labels);
}

}  // namespace

Drawn::Drawn(const Seat& seat, const Shape& shape, const InstanceId& id)
    : in_(shape.in_bits), seed_(seed_of(seat, id)),
      garbler_(std::array<ByteSpan, 1>{ByteSpan(seed_)}, *seat.kernel, shape.first_gate_tweak()),
      labels_(garbler_.draw_inputs(shape.wires())) {}

SecretVector mask_of(const Seat& seat, const Shape& shape, const InstanceId& id) {
  const Role other = seat.role(id) == Role::kEvaluator ? Role::kGarblerB : Role::kEvaluator;
  const SecretVector key = derive(seat, other, Purpose::kMask, id);
  SecretVector mask(shape.out_bytes());
  add_stream(key, mask);
  return mask;
}

Result<GarbledInstance> send_tables(const Seat& seat, const Shape& shape, const InstanceId& id,
                                    BulkWriter& to_evaluator, int timeout_ms, Pace* pace) {
  assert(seat.role(id) != Role::kEvaluator && id.circuit == shape.digest);
  Drawn drawn(seat, shape, id);
  Halves halves(seat, shape, id, to_evaluator, timeout_ms, pace);
  garble::RoundKeys keys;
  if (auto sent = send_gates(drawn, shape, keys, halves); !sent) return sent.error();
  const garble::Kernel& kernel = drawn.garbler().kernel();
  if (auto sent = send_commitments(drawn, shape, kernel, keys, halves); !sent) return sent.error();
  if (auto sent = halves.end(); !sent) return sent.error();
  if (seat.role(id) == Role::kGarblerB)
    if (auto sent = send_mask_labels(seat, shape, id, drawn, halves); !sent) return sent.error();

  GarbledInstance kept{id, SecretVector(shape.out_bits * kLabelBytes)};
  for (std::size_t k = 0; k < shape.out_bits; ++k) {
    const Label label = drawn.garbler().output(k) ^ drawn.rho()[k];
    std::memcpy(kept.out_labels.data() + k * kLabelBytes, &label, kLabelBytes);
  }
  garble::wipe_stack();
  return kept;
}

}  // namespace tkdc::threegarble
