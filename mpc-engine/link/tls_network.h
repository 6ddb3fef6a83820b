// SPDX-License-Identifier: Apache-2.0
// The real network between the parties: TLS 1.3 over TCP, with pinned certificates.
#pragma once

#include "link/network.h"
#include "link/tls_context.h"
#include "link/tls_stream.h"

namespace tkdc {

struct TlsNetworkOptions {
  std::string certificate_pem;
  SecretVector private_key_pem;
  RecordCipher records = RecordCipher::kFastest;
  std::uint64_t records_per_key = TlsStream::kRecordsPerKey;
  std::string pin_advice;  // TlsStream::set_pin_advice
  bool anonymous = false;  // TlsContext::anonymous(), without certificate and key
};

Result<std::unique_ptr<Network>> make_tls_network(const TlsNetworkOptions& options);

}  // namespace tkdc
