// SPDX-License-Identifier: Apache-2.0
// The library context that the data plane's TLS takes its algorithms from:
// OpenSSL's default provider for everything, and before it, where the CPU can,
// a built-in provider of AES-128-GCM and AES-256-GCM by libipsec-mb. TLS itself,
// its handshake, key schedule and record layer, stay OpenSSL's.
//
// Made on first use, for the life of the process; thread-safe.
#pragma once

#include <openssl/types.h>

namespace tkdc {

// Who encrypts the records.
enum class RecordCipher { kFastest, kOpenssl };

struct TlsLibrary {
  OSSL_LIB_CTX* context = nullptr;  // nullptr: OpenSSL's default one
  const char* properties = nullptr;
  const char* records = "OpenSSL";  // for log lines and `tkdc status`
};

const TlsLibrary& tls_library(RecordCipher wanted = RecordCipher::kFastest);

}  // namespace tkdc
