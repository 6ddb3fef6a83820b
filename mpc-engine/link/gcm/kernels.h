// SPDX-License-Identifier: Apache-2.0
// AES-GCM by libipsec-mb on CPUs with AVX-512, VAES and VPCLMULQDQ: Debian 12's
// OpenSSL 3.0 has no such code and needs 2.5 times the time for a TLS record.
// docs/adr/0006-records-by-ipsec-mb.md has the reasons.
//
// Thread-safe; no state but function pointers. Secret: what they are given.
#pragma once

#include <intel-ipsec-mb.h>

#include <cstddef>

namespace tkdc {

struct GcmKernels {
  aes_gcm_pre_t expand_key;
  aes_gcm_init_t begin;  // with all of the additional data
  aes_gcm_enc_dec_update_t encrypt, decrypt;
  aes_gcm_enc_dec_finalize_t finish_encryption, finish_decryption;
};

// Of keys of 16 or 32 octets; nullptr where this CPU lacks the instructions or
// the library fails its own known-answer test.
const GcmKernels* gcm_kernels(std::size_t key_bytes);

}  // namespace tkdc
