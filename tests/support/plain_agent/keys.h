/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's keys, in the clear: memory and one file. See main.c. */
#ifndef TKDC_PLAIN_AGENT_KEYS_H
#define TKDC_PLAIN_AGENT_KEYS_H

#include <krb5.h>

#include "wire.h"

enum { KEYS_MAX = 65536, KEY_OCTETS_MAX = 32, EXPORT_WINDOW_S = 60 };

enum plain_state { PLAIN_FREE = 0, PLAIN_STAGED, PLAIN_BOUND };

struct plain_key {
    enum plain_state state;
    uint8_t origin; /* enum tkdc_wire_origin */
    bool exported;
    int64_t made_s;
    uint8_t key_id[TKDC_WIRE_KEY_ID_BYTES];
    uint8_t principal[TKDC_WIRE_PRINCIPAL_BYTES];
    uint32_t kvno;
    uint32_t enctype;
    uint32_t octets;
    uint8_t key[KEY_OCTETS_MAX];
};

extern uint8_t keys_installation[TKDC_WIRE_INSTALLATION_BYTES];

/* Reads the file, or draws an installation id and writes it. */
bool keys_open(const char *path);
/* Writes bound keys; staged ones live in memory only. */
bool keys_save(void);
struct plain_key *keys_new(void);
struct plain_key *keys_find_id(const uint8_t id[TKDC_WIRE_KEY_ID_BYTES]);
/* NULL unless every member matches a key in this state. */
struct plain_key *keys_find(const struct tkdc_wire_key *id, enum plain_state state);
unsigned keys_bound(void);

#endif
