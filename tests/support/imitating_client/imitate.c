/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that chooses its subkey: preloaded into the distribution's kinit and
 * kvno, whose authenticators then carry the octets of TKDC_SUBKEY (hex) in
 * place of a key that they draw. libkrb5 encodes what it is given, of any
 * length, as anybody's client may.
 *
 * With octets that libk5crypto does not take for a key the client cannot make
 * its armor key either; it goes on with another one, so that its request
 * leaves. With TKDC_WITHOUT_FAST it leaves as one of a client that knows no
 * FAST. For tests of what the KDC makes of it; never installed.
 */
#include <dlfcn.h>
#include <krb5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ENCTYPE = 18, KEY_BYTES = 32, OCTETS_MAX = 4096 };

static unsigned chosen(unsigned char* out) {
  const char* hex = getenv("TKDC_SUBKEY");
  unsigned len = 0;
  for (unsigned octet; hex && len < OCTETS_MAX && sscanf(hex, "%2x", &octet) == 1; hex += 2)
    out[len++] = (unsigned char)octet;
  return len;
}

krb5_error_code krb5_c_make_random_key(krb5_context context, krb5_enctype enctype,
                                       krb5_keyblock* key) {
  static __typeof__(&krb5_c_make_random_key) real;
  unsigned char octets[OCTETS_MAX];
  const unsigned len = chosen(octets);
  if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "krb5_c_make_random_key");
  if (!len) return real(context, enctype, key);
  key->magic = KV5M_KEYBLOCK;
  key->enctype = ENCTYPE;
  key->length = len;
  key->contents = malloc(len);
  if (!key->contents) return KRB5_CRYPTO_INTERNAL;
  memcpy(key->contents, octets, len);
  return 0;
}

krb5_error_code krb5_c_fx_cf2_simple(krb5_context context, const krb5_keyblock* k1,
                                     const char* pepper1, const krb5_keyblock* k2,
                                     const char* pepper2, krb5_keyblock** out) {
  static __typeof__(&krb5_c_fx_cf2_simple) real;
  if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "krb5_c_fx_cf2_simple");
  return real(context, k1->length == KEY_BYTES ? k1 : k2, pepper1, k2, pepper2, out);
}

/* A request over UDP: what carries FAST (padata-type [1] INTEGER 136) becomes something that no
 * KDC knows and each passes over. */
ssize_t send(int fd, const void* data, size_t len, int flags) {
  static const unsigned char fast[] = {0xa1, 0x04, 0x02, 0x02, 0x00, 0x88};
  static __typeof__(&send) real;
  unsigned char copy[OCTETS_MAX];
  if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "send");
  if (!getenv("TKDC_WITHOUT_FAST") || len > sizeof copy) return real(fd, data, len, flags);
  memcpy(copy, data, len);
  unsigned char* at = memmem(copy, len, fast, sizeof fast);
  if (at) at[sizeof fast - 1] = 0xf9;
  return real(fd, copy, len, flags);
}
