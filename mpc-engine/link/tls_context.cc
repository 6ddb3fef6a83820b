// SPDX-License-Identifier: Apache-2.0
#include "link/tls_context.h"

#include <openssl/crypto.h>
#include <openssl/pem.h>

namespace tkdc {
namespace {

constexpr char kSuites[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr long kMaxCertificateBytes = 8 * 1024;  // what a stranger may make us hold

// Rides on each SSL: what to accept and what came instead.
struct Pin {
  PeerPin expected;
  Fingerprint presented{};
};

bool is_expected(const Pin& pin) {
  auto same = [&pin](const Fingerprint& one) {
    return CRYPTO_memcmp(pin.presented.data(), one.data(), one.size()) == 0;
  };
  return same(pin.expected.certificate) || (pin.expected.former && same(*pin.expected.former));
}

void free_pin(void*, void* pin, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<Pin*>(pin);
}

int pin_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_pin);
  return index;
}

// Takes the place of OpenSSL's chain verification: 1 accepts.
int check_pin(X509_STORE_CTX* store, void*) {
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* pin = static_cast<Pin*>(SSL_get_ex_data(ssl, pin_index()));
  X509* certificate = X509_STORE_CTX_get0_cert(store);
  unsigned int length = 0;
  if (pin == nullptr || certificate == nullptr ||
      X509_digest(certificate, EVP_sha256(), pin->presented.data(), &length) != 1 ||
      length != pin->presented.size() || !is_expected(*pin)) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    return 0;
  }
  X509_STORE_CTX_set_error(store, X509_V_OK);
  return 1;
}

bool set_identity(SSL_CTX* ctx, const TlsLibrary& library, std::string_view certificate_pem,
                  ByteSpan private_key_pem) {
  BioPtr certificate_bio(
      BIO_new_mem_buf(certificate_pem.data(), static_cast<int>(certificate_pem.size())));
  BioPtr key_bio(BIO_new_mem_buf(private_key_pem.data(), static_cast<int>(private_key_pem.size())));
  if (!certificate_bio || !key_bio) return false;
  // What cannot be decoded is freed by OpenSSL and the pointer set to null.
  X509* into = X509_new_ex(library.context, library.properties);
  const bool read = into != nullptr &&
                    PEM_read_bio_X509(certificate_bio.get(), &into, nullptr, nullptr) != nullptr;
  X509Ptr certificate(into);
  PkeyPtr key(PEM_read_bio_PrivateKey_ex(key_bio.get(), nullptr, nullptr, nullptr, library.context,
                                         library.properties));
  return read && key && SSL_CTX_use_certificate(ctx, certificate.get()) == 1 &&
         SSL_CTX_use_PrivateKey(ctx, key.get()) == 1 && SSL_CTX_check_private_key(ctx) == 1;
}

}  // namespace

Result<SslCtxPtr> TlsContext::without_identity(RecordCipher records) {
  const TlsLibrary& library = tls_library(records);
  SslCtxPtr ctx(SSL_CTX_new_ex(library.context, library.properties, TLS_method()));
  if (!ctx || pin_index() < 0) return fail("tls: OpenSSL cannot start: " + openssl_error());
  SSL_CTX* c = ctx.get();
  if (SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(c, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(c, kSuites) != 1)
    return fail("tls: this OpenSSL lacks TLS 1.3: " + openssl_error());
  SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(c, 0);
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_early_data(c, 0);
  SSL_CTX_set_max_cert_list(c, kMaxCertificateBytes);
  // A record by one read: InputBio hands on no more, so that nothing is moved.
  SSL_CTX_set_read_ahead(c, 1);
  SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(c, check_pin, nullptr);
  return ctx;
}

Result<TlsContext> TlsContext::anonymous() {
  auto ctx = without_identity(RecordCipher::kFastest);
  if (!ctx) return ctx.error();
  // OpenSSL asks for a certificate when the peer's is verified, and waits for ever.
  SSL_CTX_set_cert_cb(
      ctx->get(), [](SSL*, void*) { return -1; }, nullptr);
  return TlsContext(std::move(*ctx));
}

Result<TlsContext> TlsContext::create(std::string_view certificate_pem, ByteSpan private_key_pem,
                                      RecordCipher records) {
  auto ctx = without_identity(records);
  if (!ctx) return ctx.error();
  if (!set_identity(ctx->get(), tls_library(records), certificate_pem, private_key_pem))
    return fail(
        "tls: the certificate and its private key are unreadable or do not "
        "belong together: " +
        openssl_error());
  return TlsContext(std::move(*ctx));
}

Result<SslPtr> TlsContext::connection(const PeerPin& pin) const {
  SslPtr ssl(SSL_new(ctx_.get()));
  auto state = std::make_unique<Pin>();
  state->expected = pin;
  if (!ssl || SSL_set_ex_data(ssl.get(), pin_index(), state.get()) != 1)
    return fail("tls: no connection object: " + openssl_error());
  (void)state.release();  // freed with the SSL, by free_pin
  return ssl;
}

Result<SslPtr> TlsContext::client(const PeerPin& pin) const {
  auto ssl = connection(pin);
  if (ssl.ok()) SSL_set_connect_state(ssl->get());
  return ssl;
}

Result<SslPtr> TlsContext::server(const PeerPin& pin) const {
  auto ssl = connection(pin);
  if (ssl.ok()) SSL_set_accept_state(ssl->get());
  return ssl;
}

Fingerprint TlsContext::presented(const SSL* ssl) {
  auto* pin = static_cast<const Pin*>(SSL_get_ex_data(ssl, pin_index()));
  return pin != nullptr ? pin->presented : Fingerprint{};
}

}  // namespace tkdc
