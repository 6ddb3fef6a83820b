// SPDX-License-Identifier: Apache-2.0
// Bulk streams (link/bulk_stream.h) over simulated connections: the rings are the product's, and
// what stands behind each is a thread that goes by packets, as link/tls_bulk_stream.h has it.
#pragma once

#include <functional>
#include <memory>

#include "link/bulk_stream.h"
#include "link/network.h"

namespace tkdc::sim {

// `news`: whether the stream, which outlives the call, has something that was not filled.
using HasNews = std::function<bool()>;
std::unique_ptr<BulkWriter> bulk_writer_on(std::unique_ptr<PacketStream> stream, HasNews news);
std::unique_ptr<BulkReader> bulk_reader_on(std::unique_ptr<PacketStream> stream, HasNews news);

}  // namespace tkdc::sim
