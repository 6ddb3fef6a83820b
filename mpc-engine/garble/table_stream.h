// SPDX-License-Identifier: Apache-2.0
// Tables from a garbler to an evaluator, over a bulk stream (link/bulk_stream.h): made and used as
// they travel. Of each instance a piece in turn, kPieceBytes or what is left of the circuit, so
// neither end keeps more than its ring, a piece of each instance, and the live wires. A full ring
// makes the garbler wait.
//
// Calls block; one thread an end. Error: the stream's, which names the peer. Secret: nothing here.
#pragma once

#include "garble/evaluator.h"
#include "garble/garbler.h"
#include "link/bulk_stream.h"

namespace tkdc::garble {

class TableStream {
 public:
  static constexpr std::size_t kPieceBytes = 16 * 1024;

  // `timeout_ms`: that one piece may wait for.
  explicit TableStream(std::size_t instances, int timeout_ms)
      : timeout_ms_(timeout_ms), buffer_(instances * kPieceBytes) {}

  // The rest of the circuit that was begun.
  Result<void> send(Garbler& garbler, BulkWriter& writer);
  Result<void> receive(Evaluator& evaluator, BulkReader& reader);

 private:
  const int timeout_ms_;
  Bytes buffer_;  // where the ring's border would cut a piece
};

}  // namespace tkdc::garble
