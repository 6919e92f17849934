/* Content hashes: what caches are keyed by. BLAKE2b, 256 bits. */
#pragma once

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash {
    uint8_t bytes[32];
};

/* Several values into one hash. Each goes in with its length, so that no two sequences of values meet. */
struct hasher {
    crypto_generichash_state state;
};

/* domain: what kind of thing is hashed, so that equal contents of two kinds differ. */
void hasher_begin(struct hasher *h, const char *domain);
void hasher_add(struct hasher *h, const void *bytes, size_t size);
void hasher_add_text(struct hasher *h, const char *text);
void hasher_add_uint(struct hasher *h, uint64_t value);
void hasher_add_hash(struct hasher *h, const struct hash *hash);
struct hash hasher_end(struct hasher *h);

bool hash_equal(const struct hash *a, const struct hash *b);
/* The first 64 bits: a table's key; whoever looks it up compares the whole. */
uint64_t hash_prefix(const struct hash *h);
/* Of a file's contents; false where it cannot be read. */
bool hash_file(const char *path, struct hash *hash);
