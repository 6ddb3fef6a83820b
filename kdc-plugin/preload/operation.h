/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The four operations with a handle, in libk5crypto's terms. Enctype and
 * usage are not checked here: the servers do that against their own record.
 */
#ifndef TKDC_PRELOAD_OPERATION_H
#define TKDC_PRELOAD_OPERATION_H

#include "engine.h"

/* *out is malloc'ed; the caller wipes and frees it with operation_free(). */
krb5_error_code operation_seal(krb5_context context, const struct tkdc_wire_key *id,
                               krb5_keyusage usage, struct tkdc_span plaintext,
                               struct tkdc_buffer *out);
krb5_error_code operation_open(krb5_context context, const struct tkdc_wire_key *id,
                               krb5_keyusage usage, struct tkdc_span ciphertext,
                               struct tkdc_buffer *out);
krb5_error_code operation_mac(krb5_context context, const struct tkdc_wire_key *id,
                              krb5_keyusage usage, struct tkdc_span data,
                              uint8_t out[TKDC_WIRE_CHECKSUM_BYTES]);
/* 0 and *valid false when the checksum does not hold. */
krb5_error_code operation_verify(krb5_context context, const struct tkdc_wire_key *id,
                                 krb5_keyusage usage, struct tkdc_span data,
                                 struct tkdc_span checksum, krb5_boolean *valid);

#endif
