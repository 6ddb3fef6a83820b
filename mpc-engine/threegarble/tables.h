// SPDX-License-Identifier: Apache-2.0
// Ahead of any input: A and B garble one circuit from one seed, and E gets T from both
// (docs/protocols/20-three-servers.md, "Ahead"). Over a bulk stream from each garbler to E:
//
//   A → E   the first half of T ‖ the hash of the second half
//   B → E   the second half of T ‖ the hash of the first half ‖ the labels of ρ
//
// What A and B keep serves one job at most: it is moved into encode() (encode.h), and the ledger
// (ledger.h) refuses its number another time.
//
// Calls block, with deadlines; one thread. Errors: a stream's, which names the peer. Secret: what
// garblers keep, the labels of ρ. T is E's to read.
#pragma once

#include <optional>
#include <variant>

#include "link/bulk_stream.h"
#include "threegarble/commitments.h"
#include "threegarble/pace.h"
#include "threegarble/table_check.h"

namespace tkdc::threegarble {

// What A or B keeps.
struct GarbledInstance {
  InstanceId id;
  // Zero-labels of y ⊕ ρ, kLabelBytes each.
  SecretVector out_labels;

  const garble::Label* out() const {
    return reinterpret_cast<const garble::Label*>(out_labels.data());
  }
};

// All that follows from an instance's seed, made again where it is needed.
class Drawn {
 public:
  Drawn(const Seat& seat, const Shape& shape, const InstanceId& id);
  ByteSpan seed() const { return seed_; }
  const garble::Label& delta() const { return garbler_.delta(); }
  // Zero-labels: of u, then of v, then of ρ.
  std::span<const garble::Label> u() const { return labels_.span().first(in_); }
  std::span<const garble::Label> v() const { return labels_.span().subspan(in_, in_); }
  std::span<const garble::Label> rho() const { return labels_.span().subspan(2 * in_); }
  garble::Garbler& garbler() { return garbler_; }

 private:
  const std::size_t in_;
  SecretVector seed_;
  garble::Garbler garbler_;
  garble::SecretLabels labels_;
};

// ρ, for B and E.
SecretVector mask_of(const Seat& seat, const Shape& shape, const InstanceId& id);

// A's or B's side: garbles, and sends its half while it does, at `pace` if there is one.
Result<GarbledInstance> send_tables(const Seat& seat, const Shape& shape, const InstanceId& id,
                                    BulkWriter& to_evaluator, int timeout_ms, Pace* pace = nullptr);

// E's side: what came, and what remains of it once it is found good.
struct ReceivedTables {
  InstanceId id;
  MappedVector<std::uint8_t> all;  // T
  TableCheck::Tag first{}, second{};
  SecretVector mask_labels;
};
Result<ReceivedTables> receive_tables(const Shape& shape, const InstanceId& id, BulkReader& from_a,
                                      BulkReader& from_b, int timeout_ms);

struct CheckedTables {
  InstanceId id;
  MappedVector<std::uint8_t> all;
  SecretVector mask_labels;  // of ρ

  const garble::Label* rho() const {
    return reinterpret_cast<const garble::Label*>(mask_labels.data());
  }
};
// Nothing: a garbler deviates. Error: OpenSSL's, here.
Result<std::optional<CheckedTables>> check_tables(const Seat& seat, const Shape& shape,
                                                  ReceivedTables received);

// What this party keeps of an instance: as a garbler, or as E.
using Instance = std::variant<GarbledInstance, CheckedTables>;
inline const InstanceId& id_of(const Instance& instance) {
  return std::visit([](const auto& one) -> const InstanceId& { return one.id; }, instance);
}

}  // namespace tkdc::threegarble
