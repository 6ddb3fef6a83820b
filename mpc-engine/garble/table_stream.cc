// SPDX-License-Identifier: Apache-2.0
#include "garble/table_stream.h"

#include <cassert>

namespace tkdc::garble {
namespace {

template <class Octet>
std::array<Octet*, kSideBySide> places_of(Octet* first, std::size_t piece_bytes) {
  std::array<Octet*, kSideBySide> places;
  for (std::size_t s = 0; s < kSideBySide; ++s) places[s] = first + s * piece_bytes;
  return places;
}

}  // namespace

Result<void> TableStream::send(Garbler& garbler, BulkWriter& writer) {
  const std::size_t instances = garbler.count();
  assert(buffer_.size() == instances * kPieceBytes);
  for (;;) {
    const std::size_t piece = garbler.next_octets(kPieceBytes), all = piece * instances;
    const MutableByteSpan free = writer.place();
    const bool in_place = piece > 0 && free.size() >= all;
    if (in_place)
      if (auto stands = writer.room(); !stands) return stands.error();
    const auto places = places_of(in_place ? free.data() : buffer_.data(), piece);
    // Without a piece too: XORs may be left.
    garbler.garble(std::span(places).first(instances), piece);
    if (piece == 0) return {};
    if (in_place) {
      writer.put(all);
    } else if (auto sent = writer.write({buffer_.data(), all}, timeout_ms_); !sent) {
      return sent;
    }
  }
}

Result<void> TableStream::receive(Evaluator& evaluator, BulkReader& reader) {
  const std::size_t instances = evaluator.count();
  assert(buffer_.size() == instances * kPieceBytes);
  for (;;) {
    const std::size_t piece = evaluator.next_octets(kPieceBytes), all = piece * instances;
    const ByteSpan there = reader.front();
    const bool in_place = piece > 0 && there.size() >= all;
    if (in_place)
      if (auto stands = reader.available(); !stands) return stands.error();
    if (piece > 0 && !in_place)
      if (auto got = reader.read({buffer_.data(), all}, timeout_ms_); !got) return got;
    const auto places = places_of(in_place ? there.data() : buffer_.data(), piece);
    evaluator.evaluate(std::span(places).first(instances), piece);
    if (piece == 0) return {};
    if (in_place) reader.drop(all);
  }
}

}  // namespace tkdc::garble
