/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's keys: see keys.h. */
#include "keys.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint8_t keys_installation[TKDC_WIRE_INSTALLATION_BYTES];

static struct plain_key *keys;
static unsigned count;
static char file[4096];

static bool read_hex(const char *text, uint8_t *out, size_t octets)
{
    if (strlen(text) != 2 * octets)
        return false;
    for (size_t i = 0; i < octets; i++) {
        unsigned v;
        if (sscanf(text + 2 * i, "%2x", &v) != 1)
            return false;
        out[i] = (uint8_t)v;
    }
    return true;
}

static void write_hex(FILE *f, const uint8_t *in, size_t octets)
{
    for (size_t i = 0; i < octets; i++)
        fprintf(f, "%02x", in[i]);
}

static bool read_line(const char *line)
{
    char id[40], principal[80], key[80];
    struct plain_key *k = keys_new();
    unsigned origin;
    if (!k || sscanf(line, "%39s %79s %u %u %u %79s", id, principal, &k->kvno, &k->enctype, &origin,
                     key) != 6)
        return false;
    k->state = PLAIN_BOUND;
    k->origin = (uint8_t)origin;
    k->octets = (uint32_t)strlen(key) / 2;
    return k->octets <= KEY_OCTETS_MAX && read_hex(id, k->key_id, sizeof k->key_id) &&
           read_hex(principal, k->principal, sizeof k->principal) &&
           read_hex(key, k->key, k->octets);
}

bool keys_open(const char *path)
{
    char line[512];
    keys = calloc(KEYS_MAX, sizeof *keys);
    snprintf(file, sizeof file, "%s", path);
    FILE *f = fopen(path, "r");
    if (!f)
        return RAND_bytes(keys_installation, sizeof keys_installation) == 1 && keys_save();
    bool good = fgets(line, sizeof line, f) != NULL;
    line[strcspn(line, "\n")] = '\0';
    good = good && read_hex(line, keys_installation, sizeof keys_installation);
    while (good && fgets(line, sizeof line, f))
        good = read_line(line);
    fclose(f);
    return good;
}

bool keys_save(void)
{
    char next[4200];
    snprintf(next, sizeof next, "%s.new", file);
    FILE *f = fopen(next, "w");
    if (!f)
        return false;
    write_hex(f, keys_installation, sizeof keys_installation);
    fputc('\n', f);
    for (unsigned i = 0; i < count; i++) {
        const struct plain_key *k = &keys[i];
        if (k->state != PLAIN_BOUND)
            continue;
        write_hex(f, k->key_id, sizeof k->key_id);
        fputc(' ', f);
        write_hex(f, k->principal, sizeof k->principal);
        fprintf(f, " %u %u %u ", k->kvno, k->enctype, k->origin);
        write_hex(f, k->key, k->octets);
        fputc('\n', f);
    }
    return fclose(f) == 0 && rename(next, file) == 0;
}

struct plain_key *keys_new(void)
{
    struct plain_key *k = NULL;
    for (unsigned i = 0; i < count && !k; i++)
        if (keys[i].state == PLAIN_FREE)
            k = &keys[i];
    if (!k && count < KEYS_MAX)
        k = &keys[count++];
    if (!k)
        return NULL;
    memset(k, 0, sizeof *k);
    k->made_s = (int64_t)time(NULL);
    if (RAND_bytes(k->key_id, sizeof k->key_id) != 1)
        return NULL;
    return k;
}

struct plain_key *keys_find_id(const uint8_t id[TKDC_WIRE_KEY_ID_BYTES])
{
    for (unsigned i = 0; i < count; i++)
        if (keys[i].state != PLAIN_FREE && memcmp(keys[i].key_id, id, sizeof keys[i].key_id) == 0)
            return &keys[i];
    return NULL;
}

struct plain_key *keys_find(const struct tkdc_wire_key *id, enum plain_state state)
{
    struct plain_key *k = keys_find_id(id->key_id);
    if (!k || k->state != state || k->kvno != id->kvno || k->enctype != id->enctype ||
        memcmp(id->installation, keys_installation, sizeof keys_installation) != 0)
        return NULL;
    if (state == PLAIN_BOUND && memcmp(k->principal, id->principal, sizeof k->principal) != 0)
        return NULL;
    return k;
}

unsigned keys_bound(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++)
        n += keys[i].state == PLAIN_BOUND;
    return n;
}
