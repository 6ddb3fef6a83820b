/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four operations with a handle, or with a derived one (all but VERIFY), in libk5crypto's
 * terms. The servers check usage and enctype against their own record.
 */
#ifndef TKDC_PRELOAD_OPERATION_H
#define TKDC_PRELOAD_OPERATION_H

#include "buffer.h"
#include "enctype.h"
#include "handle_key.h"

/* *out is malloc'ed; the caller wipes and frees it with tkdc_buffer_free(). */
krb5_error_code operation_seal(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, struct tkdc_span plaintext,
                               struct tkdc_buffer *out);
krb5_error_code operation_open(krb5_context context, const struct handle_key *id,
                               krb5_keyusage usage, struct tkdc_span ciphertext,
                               struct tkdc_buffer *out);
/* out: as many octets as the enctype's checksums have. */
krb5_error_code operation_mac(krb5_context context, const struct handle_key *id,
                              krb5_keyusage usage, struct tkdc_span data, uint8_t *out);
/* 0 and *valid false when the checksum does not hold. */
krb5_error_code operation_verify(krb5_context context, const struct handle_key *id,
                                 krb5_keyusage usage, struct tkdc_span data,
                                 struct tkdc_span checksum, krb5_boolean *valid);

#endif
