// SPDX-License-Identifier: Apache-2.0
// A bulk stream over plain TCP, for tkdc bench alone: no encryption, no authentication. Servers
// have none of it (link/tls_bulk_stream.h is theirs); it shows what TLS costs, and what compares
// with libraries that send in the clear.
//
// The octets, then the end of TCP's direction; the reader answers with one octet. A thread an end.
#pragma once

#include "base/unique_fd.h"
#include "link/bulk_stream.h"

namespace tkdc::bench {

Result<std::unique_ptr<BulkWriter>> make_tcp_bulk_writer(UniqueFd socket, std::string peer,
                                                         const BulkOptions& options);
Result<std::unique_ptr<BulkReader>> make_tcp_bulk_reader(UniqueFd socket, std::string peer,
                                                         const BulkOptions& options);

}  // namespace tkdc::bench
