// SPDX-License-Identifier: Apache-2.0
// A bulk stream inside one process, for the simulator and the tests: both ends have one ring.
//
// Each end may be used from a thread of its own, or both from one thread with timeout 0.
#pragma once

#include "link/bulk_stream.h"

namespace tkdc {

struct MemoryBulkStream {
  std::unique_ptr<BulkWriter> writer;
  std::unique_ptr<BulkReader> reader;
};

// The names are for messages: "party 0", which writes, and "party 1".
inline MemoryBulkStream make_memory_bulk_stream(const std::string& writer,
                                                const std::string& reader,
                                                const BulkOptions& options = {}) {
  auto ring = std::make_shared<OctetRing>(options.ring_bytes, options.stall_ms);
  return {std::make_unique<BulkWriter>(ring, nullptr, reader),
          std::make_unique<BulkReader>(ring, nullptr, writer)};
}

}  // namespace tkdc
