/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys are master keys. K/M protects handles and nothing else here, and
 * it must be readable without the servers, so it never becomes a handle.
 *
 * libkdb5 brings master keys through the same callback as any other key:
 * encrypted under themselves (create, add_mkey: remembered by digest from
 * then on), the new one under an old one (the auxiliary list), and old ones
 * under the new one (members of the list).
 */
#include <openssl/sha.h>
#include <string.h>

#include "equal.h"
#include "module.h"

enum { REMEMBERED = 32 };

static uint8_t remembered[REMEMBERED][SHA256_DIGEST_LENGTH];
static unsigned remembered_count;

static bool same_key(const krb5_keyblock *a, const krb5_keyblock *b)
{
    return a->enctype == b->enctype && a->length == b->length &&
           tkdc_equal(a->contents, b->contents, a->length);
}

static void remember(const uint8_t digest[SHA256_DIGEST_LENGTH])
{
    memcpy(remembered[remembered_count++ % REMEMBERED], digest, SHA256_DIGEST_LENGTH);
}

static bool is_remembered(const uint8_t digest[SHA256_DIGEST_LENGTH])
{
    const unsigned filled = remembered_count < REMEMBERED ? remembered_count : REMEMBERED;
    for (unsigned i = 0; i < filled; i++)
        if (tkdc_equal(remembered[i], digest, SHA256_DIGEST_LENGTH))
            return true;
    return false;
}

bool master_is_master_key(krb5_context context, const krb5_keyblock *mkey, const krb5_keyblock *key)
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256(key->contents, key->length, digest);
    if (is_remembered(digest))
        return true;
    bool is_master = same_key(mkey, key);
    for (krb5_keylist_node *n = krb5_db_mkey_list_alias(context); n && !is_master; n = n->next)
        is_master = same_key(&n->keyblock, key);
    if (is_master)
        remember(digest);
    return is_master;
}

bool master_is_listed(krb5_context context, const krb5_keyblock *mkey)
{
    krb5_keylist_node *const list = krb5_db_mkey_list_alias(context);
    for (krb5_keylist_node *n = list; n; n = n->next)
        if (same_key(&n->keyblock, mkey))
            return true;
    return !list;
}
