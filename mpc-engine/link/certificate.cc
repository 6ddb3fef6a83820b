// SPDX-License-Identifier: Apache-2.0
#include "link/certificate.h"

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <time.h>

#include "link/openssl.h"

namespace tkdc {
namespace {

constexpr int kSerialBits = 159;  // positive and at most 20 octets, RFC 5280 section 4.1.2.2

bool set_serial(X509* certificate) {
  BIGNUM* serial = BN_new();
  bool ok = serial != nullptr && BN_rand(serial, kSerialBits, BN_RAND_TOP_ANY, 0) == 1 &&
            BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(serial);
  return ok;
}

bool set_names(X509* certificate, const std::string& common_name) {
  X509_NAME* name = X509_get_subject_name(certificate);
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.data()),
                                    static_cast<int>(common_name.size()), -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1;
}

X509Ptr self_sign(EVP_PKEY* key, const std::string& common_name, int days) {
  X509Ptr certificate(X509_new());
  if (!certificate || X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
      !set_serial(certificate.get()) ||
      X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600) == nullptr ||
      X509_time_adj_ex(X509_getm_notAfter(certificate.get()), days, 0, nullptr) == nullptr ||
      X509_set_pubkey(certificate.get(), key) != 1 || !set_names(certificate.get(), common_name) ||
      X509_sign(certificate.get(), key, nullptr) == 0)
    return nullptr;
  return certificate;
}

bool fingerprint_of(X509* certificate, Fingerprint& out) {
  unsigned int length = 0;
  return X509_digest(certificate, EVP_sha256(), out.data(), &length) == 1 && length == out.size();
}

Result<X509Ptr> parse(std::string_view pem) {
  BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  X509Ptr x509(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!x509) return fail("certificate: not a PEM certificate: " + openssl_error());
  return x509;
}

}  // namespace

Result<Certificate> make_certificate(const std::string& common_name, int days) {
  PkeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key) return fail("certificate: no Ed25519 key could be made: " + openssl_error());
  X509Ptr x509 = self_sign(key.get(), common_name, days);
  if (!x509) return fail("certificate: cannot sign for '" + common_name + "': " + openssl_error());

  BioPtr public_bio(BIO_new(BIO_s_mem()));
  BioPtr private_bio(BIO_new(BIO_s_secmem()));
  Certificate out;
  if (!public_bio || !private_bio || PEM_write_bio_X509(public_bio.get(), x509.get()) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(private_bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                    nullptr) != 1 ||
      !fingerprint_of(x509.get(), out.sha256))
    return fail("certificate: cannot encode: " + openssl_error());

  char* text = nullptr;
  long length = BIO_get_mem_data(public_bio.get(), &text);
  out.certificate_pem.assign(text, static_cast<std::size_t>(length));
  length = BIO_get_mem_data(private_bio.get(), &text);
  out.private_key_pem.assign(text, text + length);
  return out;
}

Result<Fingerprint> certificate_fingerprint(std::string_view certificate_pem) {
  auto x509 = parse(certificate_pem);
  if (!x509.ok()) return x509.error();
  Fingerprint out{};
  if (!fingerprint_of(x509->get(), out)) return fail("certificate: " + openssl_error());
  return out;
}

Result<std::int64_t> certificate_end(std::string_view certificate_pem) {
  auto x509 = parse(certificate_pem);
  if (!x509.ok()) return x509.error();
  tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(x509->get()), &parts) != 1)
    return fail("certificate: its end is no time: " + openssl_error());
  return static_cast<std::int64_t>(::timegm(&parts));
}

}  // namespace tkdc
