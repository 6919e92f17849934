/* Entries as they lie in a server that several daemons share: a MAC before the contents. */
#pragma once

#include <stdbool.h>

#include "daemon/broker/cache/entry.h"
#include "daemon/broker/core/blob.h"
#include "ir/base/error.h"

enum { REMOTE_MAC_BYTES = 32, REMOTE_NAME_SIZE = 96 };

struct remote_key {
    uint8_t bytes[32];
};

/* 0, or -1 with the error. */
int remote_key_read(struct remote_key *key, const char *file, struct error *e);
/* What an entry is called on the server. */
void remote_entry_name(char name[REMOTE_NAME_SIZE], enum cache_kind kind, const struct hash *key);
/* The MAC of an entry: of what it is, and of its contents. */
void remote_entry_mac(const struct remote_key *with, enum cache_kind kind, const struct hash *key, const void *bytes,
                      size_t size, uint8_t mac[REMOTE_MAC_BYTES]);
/* The contents of what a server has under that name; NULL: nobody with the key put it there. */
struct blob *remote_entry_read(const struct remote_key *with, enum cache_kind kind, const struct hash *key,
                               const void *bytes, size_t size);
