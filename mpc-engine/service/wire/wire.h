/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol on the agent's Unix socket: what krb5kdc, kadmind and the
 * tools say to tkdc-agent.
 *
 * A stream of frames in both directions over SOCK_STREAM. Each frame is a
 * header of TKDC_WIRE_HEADER_BYTES and a body of at most
 * TKDC_WIRE_BODY_MAX_BYTES; integers are big-endian. Requests may be answered
 * in any order; the reply repeats the request's 64-bit id. A peer that sends
 * a malformed frame is disconnected: framing is lost, so nothing that follows
 * could be trusted.
 *
 *   header: magic u32 | version u8 | op u8 | status u16 | id u64
 *           | body_bytes u32 | deadline_ms u32
 *
 * `status` is 0 in requests, a TKDC_STATUS_* in replies; `deadline_ms` is the
 * time the asker still waits (0 in replies). A reply with a status other
 * than OK carries a UTF-8 message for the administrator as its body.
 *
 * Bodies: `key` is an encoded struct tkdc_wire_key; `bytes` is u32 length and
 * that many octets.
 *
 *   HELLO    role u8                         -> security bytes, installation[16]
 *   SEAL     key, usage u32, plaintext bytes -> ciphertext bytes
 *   OPEN     key, usage u32, ciphertext bytes-> plaintext bytes
 *   MAC      key, usage u32, data bytes      -> checksum bytes
 *   VERIFY   key, usage u32, data bytes, checksum bytes -> (empty)
 *   SEAL_DERIVED, OPEN_DERIVED, MAC_DERIVED
 *            as SEAL, OPEN, MAC with kind u8, enctype u32, pepper bytes, known half bytes
 *            before the data: the key derived so from this one (derivation.h)
 *   SEAL to MAC_DERIVED may end in u64, not 0: the id of the client's request that this operation
 *            is part of, drawn by krb5kdc; a name in logs and nothing else
 *   STAGE    origin u8, kvno u32, enctype u32, key bytes (empty when drawn)
 *                                            -> key_id[16]
 *   EXPORT   key_id[16]                      -> key bytes
 *   BIND     key (principal digest set), principal name bytes -> (empty)
 *   DESTROY  key                             -> (empty)
 *   EQUAL    key, key_id[16] of a staged key -> one octet as bytes: 1 equal, 0 not
 *   STATUS   (empty)                         -> JSON bytes
 *   LIST     key_id[16] behind which to begin -> keys that all three servers hold, a page
 *                                               as bytes (key_list.h)
 *
 * SEAL and OPEN speak libk5crypto's format: how much longer a ciphertext is than
 * its plaintext, and how long a checksum is, follows from the enctype alone
 * (enctype.h), whatever form the key has. A plaintext passes this socket in
 * the clear; a long-term key only in STAGE (import) and EXPORT.
 */
#ifndef TKDC_WIRE_H
#define TKDC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TKDC_WIRE_MAGIC = 0x544b4443, /* "TKDC" */
    TKDC_WIRE_VERSION = 1,
    TKDC_WIRE_HEADER_BYTES = 4 + 1 + 1 + 2 + 8 + 4 + 4, /* its members, as above */
    TKDC_WIRE_BODY_MAX_BYTES = 128 * 1024,
    TKDC_WIRE_DATA_MAX_BYTES = 64 * 1024, /* one plaintext or ciphertext */
    TKDC_WIRE_KEY_ID_BYTES = 16,
    TKDC_WIRE_INSTALLATION_BYTES = 16,
    TKDC_WIRE_PRINCIPAL_BYTES = 32, /* SHA-256 of the unparsed name */
    /* struct tkdc_wire_key: its members in order, numbers as u32 */
    TKDC_WIRE_KEY_BYTES =
        TKDC_WIRE_KEY_ID_BYTES + TKDC_WIRE_INSTALLATION_BYTES + TKDC_WIRE_PRINCIPAL_BYTES + 4 + 4,
    /* of enctypes 17 and 18; enctype.h has all */
    TKDC_WIRE_SEAL_OVERHEAD_BYTES = 28,
    TKDC_WIRE_CHECKSUM_BYTES = 12,
};

/* Where the agents listen unless kdc.conf says otherwise. */
#define TKDC_KDC_SOCKET "/run/tkdc/agent-kdc/agent.sock"
#define TKDC_ADMIN_SOCKET "/run/tkdc/agent-admin/agent.sock"

enum tkdc_wire_op {
    TKDC_OP_HELLO = 1,
    TKDC_OP_SEAL = 2,
    TKDC_OP_OPEN = 3,
    TKDC_OP_MAC = 4,
    TKDC_OP_VERIFY = 5,
    TKDC_OP_SEAL_DERIVED = 6,
    TKDC_OP_OPEN_DERIVED = 7,
    TKDC_OP_MAC_DERIVED = 8,
    TKDC_OP_STAGE = 16,
    TKDC_OP_EXPORT = 17,
    TKDC_OP_BIND = 18,
    TKDC_OP_DESTROY = 19,
    TKDC_OP_EQUAL = 24,
    TKDC_OP_PURGE = 25,
    TKDC_OP_GIVE_BACK = 26,
    TKDC_OP_STATUS = 32,
    TKDC_OP_LIST = 33,
    TKDC_OP_LIST_DROPPED = 34,
};

/* Which key material a request may touch follows from the agent's CURVE key,
 * never from this byte: it only labels log lines and, for TKDC_ROLE_KDC,
 * forbids STAGE to GIVE_BACK on this connection. */
enum tkdc_wire_role { TKDC_ROLE_KDC = 1, TKDC_ROLE_ADMIN = 2 };

enum tkdc_wire_origin { TKDC_ORIGIN_DRAWN = 1, TKDC_ORIGIN_IMPORTED = 2 };

/* Outcomes, also used between agent and servers (mpc-engine/service/wire/message.h). */
enum tkdc_status {
    TKDC_STATUS_OK = 0,
    TKDC_STATUS_INTEGRITY = 1,    /* tag or MAC does not hold: wrong key or forged */
    TKDC_STATUS_UNAVAILABLE = 2,  /* no answer from all three servers in time; to be asked anew */
    TKDC_STATUS_DENIED = 3,       /* the role may not do this with this key */
    TKDC_STATUS_UNKNOWN_KEY = 4,  /* no such key id, or another principal's/kvno's/enctype's */
    TKDC_STATUS_BAD_REQUEST = 5,  /* malformed, too long, unknown operation */
    TKDC_STATUS_INCONSISTENT = 6, /* servers did not receive the same job */
    TKDC_STATUS_LIMIT = 7,        /* too many pending, too often, key used up */
    TKDC_STATUS_INTERNAL = 8,     /* a server failed: see its journal */
    TKDC_STATUS_DEAL_AGAIN = 9,   /* two servers to their agent alone: dealt for another session */
};

struct tkdc_wire_header {
    uint8_t op;
    uint16_t status;
    uint64_t id;
    uint32_t body_bytes;
    uint32_t deadline_ms;
};

/* Names one version of one principal's key at one installation. */
struct tkdc_wire_key {
    uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES];
    uint8_t installation[TKDC_WIRE_INSTALLATION_BYTES];
    uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES];
    uint32_t kvno;
    uint32_t enctype;
};

void tkdc_wire_put_header(uint8_t out[TKDC_WIRE_HEADER_BYTES], const struct tkdc_wire_header *h);

/* False when magic, version or length is not acceptable. */
bool tkdc_wire_get_header(const uint8_t in[TKDC_WIRE_HEADER_BYTES], struct tkdc_wire_header *h);

void tkdc_wire_put_key(uint8_t out[TKDC_WIRE_KEY_BYTES], const struct tkdc_wire_key *key);
void tkdc_wire_get_key(const uint8_t in[TKDC_WIRE_KEY_BYTES], struct tkdc_wire_key *key);

/* A short name for logs; never NULL. */
const char *tkdc_wire_op_name(uint8_t op);
const char *tkdc_status_text(uint16_t status);

/* "No": wrong key, not allowed, no such key, malformed. A client hears it, and an account may be
 * locked for it, so it counts only from two servers. */
bool tkdc_status_is_refusal(uint16_t status);

#ifdef __cplusplus
}
#endif
#endif
