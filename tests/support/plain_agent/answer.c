/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of wire.h in plaintext, with libk5crypto: what the servers
 * compute on shares must give the same results. The rules on who may do what
 * with which key are the real ones as far as a plugin test can see them.
 */
#include "answer.h"
#include "derivation.h"
#include "enctype.h"
#include "equal.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "keys.h"

static uint16_t say(struct tkdc_buffer *out, uint16_t status, const char *message)
{
    tkdc_buffer_put(out, message, strlen(message));
    return status;
}

static void get_key(struct tkdc_reader *r, struct tkdc_wire_key *id)
{
    const uint8_t *at = tkdc_reader_get(r, TKDC_WIRE_KEY_BYTES);
    memset(id, 0, sizeof *id);
    if (at)
        tkdc_wire_get_key(at, id);
}

static krb5_keyblock block_of(struct plain_key *k)
{
    return (krb5_keyblock){.magic = KV5M_KEYBLOCK,
                           .enctype = (krb5_enctype)k->enctype,
                           .length = k->octets,
                           .contents = k->key};
}

static krb5_data data_of(struct tkdc_span s)
{
    return (krb5_data){.length = (unsigned int)s.len, .data = (char *)s.data};
}

static uint16_t status_of(krb5_error_code code, struct tkdc_buffer *out)
{
    if (code == 0)
        return TKDC_STATUS_OK;
    return code == KRB5KRB_AP_ERR_BAD_INTEGRITY
               ? say(out, TKDC_STATUS_INTEGRITY, "wrong key or forged")
               : say(out, TKDC_STATUS_BAD_REQUEST, error_message(code));
}

static uint16_t seal(krb5_context c, krb5_keyblock *key, uint32_t usage, struct tkdc_span data,
                     struct tkdc_buffer *out)
{
    const krb5_data plain = data_of(data);
    krb5_enc_data enc = {0};
    enc.ciphertext.length =
        (unsigned int)(data.len + tkdc_enctype_of((uint32_t)key->enctype)->overhead_bytes);
    enc.ciphertext.data = malloc(enc.ciphertext.length);
    const krb5_error_code code = krb5_c_encrypt(c, key, (krb5_keyusage)usage, NULL, &plain, &enc);
    if (!code)
        tkdc_buffer_put_bytes(
            out, (struct tkdc_span){(uint8_t *)enc.ciphertext.data, enc.ciphertext.length});
    free(enc.ciphertext.data);
    return status_of(code, out);
}

static uint16_t open_sealed(krb5_context c, krb5_keyblock *key, uint32_t usage,
                            struct tkdc_span data, struct tkdc_buffer *out)
{
    const krb5_enc_data enc = {.enctype = key->enctype, .ciphertext = data_of(data)};
    krb5_data plain = {.length = (unsigned int)data.len, .data = malloc(data.len + 1)};
    const krb5_error_code code = krb5_c_decrypt(c, key, (krb5_keyusage)usage, NULL, &enc, &plain);
    if (!code)
        tkdc_buffer_put_bytes(out, (struct tkdc_span){(uint8_t *)plain.data, plain.length});
    free(plain.data);
    return status_of(code, out);
}

static uint16_t mac(krb5_context c, krb5_keyblock *key, uint32_t usage, struct tkdc_span data,
                    struct tkdc_buffer *out)
{
    const krb5_data input = data_of(data);
    krb5_checksum sum = {0};
    const krb5_error_code code =
        krb5_c_make_checksum(c, 0, key, (krb5_keyusage)usage, &input, &sum);
    if (!code)
        tkdc_buffer_put_bytes(out, (struct tkdc_span){sum.contents, sum.length});
    krb5_free_checksum_contents(c, &sum);
    return status_of(code, out);
}

static uint16_t verify(krb5_context c, krb5_keyblock *key, uint32_t usage, struct tkdc_span data,
                       struct tkdc_span sum, struct tkdc_buffer *out)
{
    const krb5_data input = data_of(data);
    krb5_boolean valid = FALSE;
    const krb5_checksum given = {
        .checksum_type = tkdc_enctype_of((uint32_t)key->enctype)->checksum_type,
        .length = (unsigned int)sum.len,
        .contents = (krb5_octet *)sum.data,
    };
    krb5_error_code code =
        krb5_c_verify_checksum(c, key, (krb5_keyusage)usage, &input, &given, &valid);
    if (!code && !valid)
        code = KRB5KRB_AP_ERR_BAD_INTEGRITY;
    return status_of(code, out);
}

/* Reads the recipe and puts the derived key into *derived (heap); false: malformed. */
static bool derive(krb5_context c, struct tkdc_reader *r, const krb5_keyblock *key,
                   krb5_keyblock *derived)
{
    const uint8_t kind = tkdc_reader_get_u8(r);
    const uint32_t enctype = tkdc_reader_get_u32(r);
    const struct tkdc_span pepper = tkdc_reader_get_bytes(r), known_half = tkdc_reader_get_bytes(r);
    const struct tkdc_enctype *served = tkdc_enctype_of(enctype);
    const krb5_data input = data_of(pepper);
    if (!served || pepper.len < 1 ||
        known_half.len != (kind == TKDC_DERIVE_CF2 ? served->key_bytes : 0))
        return false;
    krb5_data octets = {.length = (unsigned int)served->key_bytes,
                        .data = calloc(1, served->key_bytes)};
    if (!octets.data)
        return false;
    *derived = (krb5_keyblock){.enctype = (krb5_enctype)enctype,
                               .length = octets.length,
                               .contents = (krb5_octet *)octets.data};
    if (krb5_c_prfplus(c, key, &input, &octets) != 0)
        return false;
    for (size_t i = 0; i < known_half.len; i++)
        octets.data[i] ^= (char)known_half.data[i];
    return true;
}

/* The body ends here, or behind the id of the client's request. */
static bool ends(struct tkdc_reader *r)
{
    if (r->left)
        (void)tkdc_reader_get(r, sizeof(uint64_t));
    return tkdc_reader_done(r);
}

static uint16_t with_derived(krb5_context c, uint8_t op, const struct tkdc_wire_key *id,
                             uint32_t usage, struct tkdc_reader *r, struct tkdc_buffer *out)
{
    struct plain_key *k = keys_find(id, PLAIN_BOUND);
    krb5_keyblock derived = {0};
    uint16_t status;
    if (!k)
        return say(out, TKDC_STATUS_UNKNOWN_KEY, "no such key of this principal");
    const krb5_keyblock key = block_of(k);
    const bool made = derive(c, r, &key, &derived);
    const struct tkdc_span data = tkdc_reader_get_bytes(r);
    if (!made || !ends(r))
        status = say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    else if (op == TKDC_OP_SEAL_DERIVED)
        status = seal(c, &derived, usage, data, out);
    else if (op == TKDC_OP_OPEN_DERIVED)
        status = open_sealed(c, &derived, usage, data, out);
    else
        status = mac(c, &derived, usage, data, out);
    free(derived.contents);
    return status;
}

static uint16_t with_key(krb5_context c, uint8_t op, struct tkdc_reader *r, struct tkdc_buffer *out)
{
    struct tkdc_wire_key id;
    struct tkdc_span sum = {0};
    get_key(r, &id);
    const uint32_t usage = tkdc_reader_get_u32(r);
    if (op >= TKDC_OP_SEAL_DERIVED)
        return with_derived(c, op, &id, usage, r, out);
    const struct tkdc_span data = tkdc_reader_get_bytes(r);
    if (op == TKDC_OP_VERIFY)
        sum = tkdc_reader_get_bytes(r);
    if (!ends(r))
        return say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    struct plain_key *k = keys_find(&id, PLAIN_BOUND);
    if (!k)
        return say(out, TKDC_STATUS_UNKNOWN_KEY, "no such key of this principal");
    krb5_keyblock key = block_of(k);
    switch (op) {
    case TKDC_OP_SEAL:
        return seal(c, &key, usage, data, out);
    case TKDC_OP_OPEN:
        return open_sealed(c, &key, usage, data, out);
    case TKDC_OP_MAC:
        return mac(c, &key, usage, data, out);
    default:
        return verify(c, &key, usage, data, sum, out);
    }
}

static uint16_t stage(krb5_context c, struct tkdc_reader *r, struct tkdc_buffer *out)
{
    const uint8_t origin = tkdc_reader_get_u8(r);
    const uint32_t kvno = tkdc_reader_get_u32(r), enctype = tkdc_reader_get_u32(r);
    const struct tkdc_span given = tkdc_reader_get_bytes(r);
    size_t seed = 0, octets = 0;
    if (!tkdc_reader_done(r) || !tkdc_enctype_of(enctype) ||
        krb5_c_keylengths(c, (krb5_enctype)enctype, &seed, &octets) != 0 ||
        (origin != TKDC_ORIGIN_DRAWN && origin != TKDC_ORIGIN_IMPORTED) ||
        given.len != (origin == TKDC_ORIGIN_DRAWN ? 0 : octets))
        return say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    struct plain_key *k = keys_new();
    krb5_keyblock drawn = {0};
    if (!k)
        return say(out, TKDC_STATUS_LIMIT, "no room for a key");
    if (origin == TKDC_ORIGIN_DRAWN) {
        if (krb5_c_make_random_key(c, (krb5_enctype)enctype, &drawn) != 0)
            return say(out, TKDC_STATUS_INTERNAL, "no random key");
        memcpy(k->key, drawn.contents, drawn.length);
        krb5_free_keyblock_contents(c, &drawn);
    } else {
        memcpy(k->key, given.data, given.len);
    }
    k->state = PLAIN_STAGED;
    k->origin = origin;
    k->kvno = kvno;
    k->enctype = enctype;
    k->octets = (uint32_t)octets;
    tkdc_buffer_put(out, k->key_id, sizeof k->key_id);
    return TKDC_STATUS_OK;
}

static uint16_t export_key(struct tkdc_reader *r, struct tkdc_buffer *out)
{
    const uint8_t *id = tkdc_reader_get(r, TKDC_WIRE_KEY_ID_BYTES);
    if (!id || !tkdc_reader_done(r))
        return say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    struct plain_key *k = keys_find_id(id);
    if (!k)
        return say(out, TKDC_STATUS_UNKNOWN_KEY, "no such key");
    if (k->state != PLAIN_STAGED || k->origin != TKDC_ORIGIN_DRAWN || k->exported ||
        time(NULL) - k->made_s > EXPORT_WINDOW_S)
        return say(out, TKDC_STATUS_DENIED, "only a new random key, and once");
    k->exported = true;
    tkdc_buffer_put_bytes(out, (struct tkdc_span){k->key, k->octets});
    return TKDC_STATUS_OK;
}

static bool starts_with(struct tkdc_span name, const char *prefix)
{
    return name.len >= strlen(prefix) && memcmp(name.data, prefix, strlen(prefix)) == 0;
}

static uint16_t bind_key(struct tkdc_reader *r, struct tkdc_buffer *out)
{
    struct tkdc_wire_key id;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    get_key(r, &id);
    const struct tkdc_span name = tkdc_reader_get_bytes(r);
    if (!tkdc_reader_done(r) || name.len == 0)
        return say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    SHA256(name.data, name.len, digest);
    if (memcmp(digest, id.principal, sizeof digest) != 0)
        return say(out, TKDC_STATUS_BAD_REQUEST, "digest is not the name's");
    if (keys_find(&id, PLAIN_BOUND))
        return TKDC_STATUS_OK; /* repeated */
    struct plain_key *k = keys_find(&id, PLAIN_STAGED);
    if (!k)
        return say(out, TKDC_STATUS_UNKNOWN_KEY, "no such key was staged");
    if (k->exported && (starts_with(name, "krbtgt/") || starts_with(name, "kadmin/")))
        return say(out, TKDC_STATUS_DENIED, "this class of key never leaves the servers");
    k->state = PLAIN_BOUND;
    memcpy(k->principal, digest, sizeof k->principal);
    return keys_save() ? TKDC_STATUS_OK : say(out, TKDC_STATUS_INTERNAL, "cannot save");
}

static uint16_t destroy_key(struct tkdc_reader *r, struct tkdc_buffer *out)
{
    struct tkdc_wire_key id;
    get_key(r, &id);
    if (!tkdc_reader_done(r))
        return say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    struct plain_key *k = keys_find(&id, PLAIN_BOUND);
    if (!k)
        k = keys_find(&id, PLAIN_STAGED);
    if (!k)
        return say(out, TKDC_STATUS_UNKNOWN_KEY, "no such key of this principal");
    memset(k, 0, sizeof *k);
    return keys_save() ? TKDC_STATUS_OK : say(out, TKDC_STATUS_INTERNAL, "cannot save");
}

/* A bound key and a staged, imported one of its enctype. */
static uint16_t equal_keys(struct tkdc_reader *r, struct tkdc_buffer *out)
{
    struct tkdc_wire_key id;
    get_key(r, &id);
    const uint8_t *other = tkdc_reader_get(r, TKDC_WIRE_KEY_ID_BYTES);
    if (!other || !tkdc_reader_done(r))
        return say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    const struct plain_key *a = keys_find(&id, PLAIN_BOUND), *b = keys_find_id(other);
    if (!a || !b || b->state != PLAIN_STAGED)
        return say(out, TKDC_STATUS_UNKNOWN_KEY, "no such keys");
    if (b->origin != TKDC_ORIGIN_IMPORTED)
        return say(out, TKDC_STATUS_DENIED, "only an imported key");
    if (a->enctype != b->enctype)
        return say(out, TKDC_STATUS_BAD_REQUEST, "two enctypes");
    const uint8_t equal = tkdc_equal(a->key, b->key, a->octets);
    tkdc_buffer_put_bytes(out, (struct tkdc_span){&equal, 1});
    return TKDC_STATUS_OK;
}

static uint16_t status_report(struct tkdc_buffer *out)
{
    char json[128];
    const int n = snprintf(json, sizeof json,
                           "{\"security\":\"none (plaintext reference)\","
                           "\"keys\":%u}",
                           keys_bound());
    tkdc_buffer_put_bytes(out, (struct tkdc_span){(const uint8_t *)json, (size_t)n});
    return TKDC_STATUS_OK;
}

static uint16_t hello(struct plain_peer *peer, struct tkdc_reader *r, struct tkdc_buffer *out)
{
    static const char security[] = "none (plaintext reference)";
    const uint8_t role = tkdc_reader_get_u8(r);
    if (!tkdc_reader_done(r) || (role != TKDC_ROLE_KDC && role != TKDC_ROLE_ADMIN))
        return say(out, TKDC_STATUS_BAD_REQUEST, "malformed body");
    peer->role = role;
    tkdc_buffer_put_bytes(out, (struct tkdc_span){(const uint8_t *)security, sizeof security - 1});
    tkdc_buffer_put(out, keys_installation, sizeof keys_installation);
    return TKDC_STATUS_OK;
}

uint16_t answer(krb5_context context, struct plain_peer *peer, uint8_t op, struct tkdc_span body,
                struct tkdc_buffer *out)
{
    struct tkdc_reader r = {.at = body.data, .left = body.len};
    if (op == TKDC_OP_HELLO)
        return hello(peer, &r, out);
    if (peer->role == 0)
        return say(out, TKDC_STATUS_BAD_REQUEST, "HELLO comes first");
    if (((op >= TKDC_OP_STAGE && op <= TKDC_OP_DESTROY) || op == TKDC_OP_EQUAL) &&
        peer->role == TKDC_ROLE_KDC)
        return say(out, TKDC_STATUS_DENIED, "the KDC makes no keys");
    switch (op) {
    case TKDC_OP_SEAL:
    case TKDC_OP_OPEN:
    case TKDC_OP_MAC:
    case TKDC_OP_VERIFY:
    case TKDC_OP_SEAL_DERIVED:
    case TKDC_OP_OPEN_DERIVED:
    case TKDC_OP_MAC_DERIVED:
        return with_key(context, op, &r, out);
    case TKDC_OP_STAGE:
        return stage(context, &r, out);
    case TKDC_OP_EXPORT:
        return export_key(&r, out);
    case TKDC_OP_BIND:
        return bind_key(&r, out);
    case TKDC_OP_DESTROY:
        return destroy_key(&r, out);
    case TKDC_OP_EQUAL:
        return equal_keys(&r, out);
    case TKDC_OP_STATUS:
        return status_report(out);
    default:
        return say(out, TKDC_STATUS_BAD_REQUEST, "unknown operation");
    }
}
