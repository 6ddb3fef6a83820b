// SPDX-License-Identifier: Apache-2.0
// The real bulk stream: one end of a TLS connection, with a thread of its own.
//
// A record is a packet of TlsStream of at most 64 KiB with its header; its first octet says what
// the others are. Four full TLS records hold a full one.
//
//   writer to reader:  1 | octets, at least one
//                      2                          the end: no octet follows
//                      4 | reason                 the writer gave up; text
//   reader to writer:  3                          all octets and the end are in the reader's ring
//                      4 | reason
//
// Whatever else a peer sends fails the stream. A connection that ends without 2 and 3 is an error
// at both ends. Besides its ring a writer keeps one record of ciphertext, a reader two records and
// 64 KiB of ciphertext; then it stops reading, and TCP makes the peer wait. The socket's buffers
// are left to the kernel's tuning.
//
// TCP ends a connection by itself whose peer does not read for TCP_USER_TIMEOUT, probes answered
// or not. A reader may well wait for longer, so it is switched off here; BulkOptions::stall_ms
// notices who has gone.
#pragma once

#include "link/bulk_stream.h"
#include "link/tls_stream.h"

namespace tkdc {

inline constexpr std::size_t kMaxBulkRecordBytes = 64 * 1024;  // with packet header and kind
inline constexpr std::size_t kMaxBulkPayloadBytes =
    kMaxBulkRecordBytes - PacketInput::kHeaderBytes - 1;

// `stream` has finished its handshake, carried no packet and has its set_peer(): both parties know
// by then which session, lane and stream it is for. One party makes the writer, its peer the
// reader. Error: no descriptor, no thread.
Result<std::unique_ptr<BulkWriter>> make_tls_bulk_writer(std::unique_ptr<TlsStream> stream,
                                                         const BulkOptions& options = {});
Result<std::unique_ptr<BulkReader>> make_tls_bulk_reader(std::unique_ptr<TlsStream> stream,
                                                         const BulkOptions& options = {});

}  // namespace tkdc
