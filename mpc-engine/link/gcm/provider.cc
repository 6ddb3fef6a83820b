// SPDX-License-Identifier: Apache-2.0
// provider(7), provider-cipher(7): OpenSSL calls what the tables below name.
// EVP fixes the order of arguments and what a length may be; every one is
// checked here or in GcmCipher all the same. No exception leaves a function.
#include "link/gcm/provider.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "link/gcm/cipher.h"

namespace tkdc {
namespace {

constexpr char kName[] = "tkdc-gcm";
constexpr char kOwn[] = "provider=tkdc-gcm";         // what our algorithms are
constexpr char kPreferOwn[] = "?provider=tkdc-gcm";  // else anybody's

GcmCipher& cipher_of(void* context) { return *static_cast<GcmCipher*>(context); }

template <std::size_t KeyBytes>
void* new_cipher(void*) {
  const GcmKernels* kernels = gcm_kernels(KeyBytes);
  return kernels == nullptr ? nullptr : new (std::nothrow) GcmCipher(*kernels, KeyBytes);
}

void free_cipher(void* context) { delete static_cast<GcmCipher*>(context); }

void* copy_cipher(void* context) { return new (std::nothrow) GcmCipher(cipher_of(context)); }

// libssl asks for one thing at a time, several times for each record: the
// parameters are gone through once, the tag's name compared first.
int set_context_params(void* context, const OSSL_PARAM params[]) {
  GcmCipher& cipher = cipher_of(context);
  for (const OSSL_PARAM* p = params; p != nullptr && p->key != nullptr; ++p) {
    const std::string_view name = p->key;
    std::size_t bytes = 0;
    if (name == OSSL_CIPHER_PARAM_AEAD_TAG) {
      if (p->data_type != OSSL_PARAM_OCTET_STRING || p->data == nullptr ||
          !cipher.expect_tag({static_cast<const std::uint8_t*>(p->data), p->data_size}))
        return 0;
    } else if (name == OSSL_CIPHER_PARAM_IVLEN) {
      if (OSSL_PARAM_get_size_t(p, &bytes) != 1 || bytes != GcmCipher::kNonceBytes) return 0;
    } else if (name == OSSL_CIPHER_PARAM_KEYLEN) {
      if (OSSL_PARAM_get_size_t(p, &bytes) != 1 || bytes != cipher.key_bytes()) return 0;
    }
  }
  return 1;
}

bool get_tag(const GcmCipher& cipher, OSSL_PARAM* p) {
  if (p->data_type != OSSL_PARAM_OCTET_STRING || p->data == nullptr ||
      !cipher.get_tag({static_cast<std::uint8_t*>(p->data), p->data_size}))
    return false;
  p->return_size = p->data_size;
  return true;
}

bool get_nonce(const GcmCipher& cipher, OSSL_PARAM* p) {
  std::array<std::uint8_t, GcmCipher::kNonceBytes> nonce;
  return cipher.get_nonce(nonce) && OSSL_PARAM_set_octet_string(p, nonce.data(), nonce.size()) == 1;
}

int get_context_params(void* context, OSSL_PARAM params[]) {
  const GcmCipher& cipher = cipher_of(context);
  bool done = true;
  for (OSSL_PARAM* p = params; done && p != nullptr && p->key != nullptr; ++p) {
    const std::string_view name = p->key;
    if (name == OSSL_CIPHER_PARAM_IVLEN)
      done = OSSL_PARAM_set_size_t(p, GcmCipher::kNonceBytes) == 1;
    else if (name == OSSL_CIPHER_PARAM_AEAD_TAG)
      done = get_tag(cipher, p);
    else if (name == OSSL_CIPHER_PARAM_KEYLEN)
      done = OSSL_PARAM_set_size_t(p, cipher.key_bytes()) == 1;
    else if (name == OSSL_CIPHER_PARAM_AEAD_TAGLEN)
      done = OSSL_PARAM_set_size_t(p, GcmCipher::kTagBytes) == 1;
    else if (name == OSSL_CIPHER_PARAM_IV || name == OSSL_CIPHER_PARAM_UPDATED_IV)
      done = get_nonce(cipher, p);
  }
  return done;
}

const OSSL_PARAM* gettable_context_params(void*, void*) {
  static const OSSL_PARAM list[] = {
      OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
      OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
      OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, nullptr),
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, nullptr, 0),
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, nullptr, 0),
      OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, 0),
      OSSL_PARAM_END};
  return list;
}

const OSSL_PARAM* settable_context_params(void*, void*) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
                                    OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
                                    OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, nullptr, 0),
                                    OSSL_PARAM_END};
  return list;
}

template <bool Encrypt>
int start(void* context, const unsigned char* key, std::size_t key_bytes,
          const unsigned char* nonce, std::size_t nonce_bytes, const OSSL_PARAM params[]) {
  const ByteSpan no_octets;
  // An empty key or nonce is none; one that is given must not be empty.
  if ((key != nullptr && key_bytes == 0) || (nonce != nullptr && nonce_bytes == 0)) return 0;
  return cipher_of(context).start(Encrypt, key != nullptr ? ByteSpan(key, key_bytes) : no_octets,
                                  nonce != nullptr ? ByteSpan(nonce, nonce_bytes) : no_octets) &&
         set_context_params(context, params) == 1;
}

// Octets without a place for output are additional data.
int update(void* context, unsigned char* out, std::size_t* out_bytes, std::size_t room,
           const unsigned char* in, std::size_t bytes) {
  *out_bytes = 0;
  if (bytes == 0) return 1;
  if (in == nullptr || (out != nullptr && room < bytes)) return 0;
  GcmCipher& cipher = cipher_of(context);
  if (!(out == nullptr ? cipher.add_aad({in, bytes}) : cipher.update({in, bytes}, out))) return 0;
  *out_bytes = bytes;
  return 1;
}

int finish(void* context, unsigned char*, std::size_t* out_bytes, std::size_t) {
  *out_bytes = 0;
  return cipher_of(context).finish();
}

// EVP_Cipher(): an update, or the end when nothing is given.
int one_shot(void* context, unsigned char* out, std::size_t* out_bytes, std::size_t room,
             const unsigned char* in, std::size_t bytes) {
  return in == nullptr ? finish(context, out, out_bytes, room)
                       : update(context, out, out_bytes, room, in, bytes);
}

template <std::size_t KeyBytes>
int get_params(OSSL_PARAM params[]) {
  const std::pair<const char*, std::size_t> sizes[] = {
      {OSSL_CIPHER_PARAM_KEYLEN, KeyBytes},
      {OSSL_CIPHER_PARAM_IVLEN, GcmCipher::kNonceBytes},
      {OSSL_CIPHER_PARAM_BLOCK_SIZE, 1}};
  for (auto [name, value] : sizes)
    if (OSSL_PARAM* p = OSSL_PARAM_locate(params, name);
        p != nullptr && OSSL_PARAM_set_size_t(p, value) != 1)
      return 0;
  const std::pair<const char*, int> flags[] = {{OSSL_CIPHER_PARAM_AEAD, 1},
                                               {OSSL_CIPHER_PARAM_CUSTOM_IV, 1},
                                               {OSSL_CIPHER_PARAM_CTS, 0},
                                               {OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, 0},
                                               {OSSL_CIPHER_PARAM_HAS_RAND_KEY, 0}};
  for (auto [name, value] : flags)
    if (OSSL_PARAM* p = OSSL_PARAM_locate(params, name);
        p != nullptr && OSSL_PARAM_set_int(p, value) != 1)
      return 0;
  OSSL_PARAM* mode = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_MODE);
  return mode == nullptr || OSSL_PARAM_set_uint(mode, EVP_CIPH_GCM_MODE) == 1;
}

const OSSL_PARAM* gettable_params(void*) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_uint(OSSL_CIPHER_PARAM_MODE, nullptr),
                                    OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, nullptr),
                                    OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, nullptr),
                                    OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_BLOCK_SIZE, nullptr),
                                    OSSL_PARAM_int(OSSL_CIPHER_PARAM_AEAD, nullptr),
                                    OSSL_PARAM_int(OSSL_CIPHER_PARAM_CUSTOM_IV, nullptr),
                                    OSSL_PARAM_int(OSSL_CIPHER_PARAM_CTS, nullptr),
                                    OSSL_PARAM_int(OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, nullptr),
                                    OSSL_PARAM_int(OSSL_CIPHER_PARAM_HAS_RAND_KEY, nullptr),
                                    OSSL_PARAM_END};
  return list;
}

// OpenSSL's table keeps functions of every type as void(void). The types that
// core_dispatch.h states are compared before they are lost.
template <class Declared, class Function>
OSSL_DISPATCH entry(int id, Function* function) {
  static_assert(std::is_same_v<Declared*, Function*>);
  return {id, reinterpret_cast<void (*)(void)>(function)};
}

template <std::size_t KeyBytes>
const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_cipher_newctx_fn>(OSSL_FUNC_CIPHER_NEWCTX, new_cipher<KeyBytes>),
      entry<OSSL_FUNC_cipher_freectx_fn>(OSSL_FUNC_CIPHER_FREECTX, free_cipher),
      entry<OSSL_FUNC_cipher_dupctx_fn>(OSSL_FUNC_CIPHER_DUPCTX, copy_cipher),
      entry<OSSL_FUNC_cipher_encrypt_init_fn>(OSSL_FUNC_CIPHER_ENCRYPT_INIT, start<true>),
      entry<OSSL_FUNC_cipher_decrypt_init_fn>(OSSL_FUNC_CIPHER_DECRYPT_INIT, start<false>),
      entry<OSSL_FUNC_cipher_update_fn>(OSSL_FUNC_CIPHER_UPDATE, update),
      entry<OSSL_FUNC_cipher_final_fn>(OSSL_FUNC_CIPHER_FINAL, finish),
      entry<OSSL_FUNC_cipher_cipher_fn>(OSSL_FUNC_CIPHER_CIPHER, one_shot),
      entry<OSSL_FUNC_cipher_get_params_fn>(OSSL_FUNC_CIPHER_GET_PARAMS, get_params<KeyBytes>),
      entry<OSSL_FUNC_cipher_gettable_params_fn>(OSSL_FUNC_CIPHER_GETTABLE_PARAMS, gettable_params),
      entry<OSSL_FUNC_cipher_get_ctx_params_fn>(OSSL_FUNC_CIPHER_GET_CTX_PARAMS,
                                                get_context_params),
      entry<OSSL_FUNC_cipher_gettable_ctx_params_fn>(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS,
                                                     gettable_context_params),
      entry<OSSL_FUNC_cipher_set_ctx_params_fn>(OSSL_FUNC_CIPHER_SET_CTX_PARAMS,
                                                set_context_params),
      entry<OSSL_FUNC_cipher_settable_ctx_params_fn>(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS,
                                                     settable_context_params),
      {0, nullptr}};
  return table;
}

const OSSL_ALGORITHM* query(void*, int operation, int* no_cache) {
  // Under every name of RFC 5084's algorithms that OpenSSL looks for.
  static const OSSL_ALGORITHM ciphers[] = {
      {"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", kOwn, functions<16>(), "libipsec-mb"},
      {"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", kOwn, functions<32>(), "libipsec-mb"},
      {nullptr, nullptr, nullptr, nullptr}};
  *no_cache = 0;
  return operation == OSSL_OP_CIPHER ? ciphers : nullptr;
}

int provider_init(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH*, const OSSL_DISPATCH** out,
                  void** context) {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_provider_query_operation_fn>(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query),
      {0, nullptr}};
  *out = table;
  *context = const_cast<OSSL_CORE_HANDLE*>(handle);  // not used; must not be null
  return 1;
}

// Never freed: connections may live until the process ends.
TlsLibrary make_library() {
  if (gcm_kernels(16) == nullptr) return {};
  OSSL_LIB_CTX* context = OSSL_LIB_CTX_new();
  if (context == nullptr || OSSL_PROVIDER_add_builtin(context, kName, provider_init) != 1 ||
      OSSL_PROVIDER_load(context, "default") == nullptr ||
      OSSL_PROVIDER_load(context, kName) == nullptr) {
    OSSL_LIB_CTX_free(context);
    return {};
  }
  return {context, kPreferOwn, "libipsec-mb"};
}

}  // namespace

const TlsLibrary& tls_library(RecordCipher wanted) {
  static const TlsLibrary openssl;
  if (wanted == RecordCipher::kOpenssl) return openssl;
  static const TlsLibrary fastest = make_library();
  return fastest;
}

}  // namespace tkdc
