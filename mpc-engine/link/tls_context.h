// SPDX-License-Identifier: Apache-2.0
// What every TLS connection of the data plane has in common, decided once:
// TLS 1.3 only, three AEAD suites, mutual authentication by a pinned
// certificate, no tickets, no resumption, no early data.
//
// Certificate chains, names and validity dates are not looked at: the pin is
// the trust. While a peer replaces its certificate there are two of them.
//
// Secret: the private key, inside the SSL_CTX. Immutable after create(), so
// shared by threads.
#pragma once

#include <string_view>

#include "link/certificate.h"
#include "link/gcm/provider.h"
#include "link/openssl.h"

namespace tkdc {

class TlsContext {
 public:
  static Result<TlsContext> create(std::string_view certificate_pem, ByteSpan private_key_pem,
                                   RecordCipher records = RecordCipher::kFastest);
  // Of a caller who only wants to know whether the peer is the pinned one, and shows nothing: his
  // connection ends with the peer's proof. As a server it fails.
  static Result<TlsContext> anonymous();

  // A connection in that role; it accepts the peer with `pin` only.
  Result<SslPtr> client(const PeerPin& pin) const;
  Result<SslPtr> server(const PeerPin& pin) const;

  // What the peer of a refused handshake presented; all zero when nothing.
  static Fingerprint presented(const SSL* ssl);

 private:
  static Result<SslCtxPtr> without_identity(RecordCipher records);
  explicit TlsContext(SslCtxPtr ctx) : ctx_(std::move(ctx)) {}
  Result<SslPtr> connection(const PeerPin& pin) const;

  SslCtxPtr ctx_;
};

}  // namespace tkdc
