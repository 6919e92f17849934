/* Content hashes. */
#include "daemon/broker/core/hash.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void hasher_begin(struct hasher *h, const char *domain)
{
    crypto_generichash_init(&h->state, NULL, 0, sizeof(struct hash));
    hasher_add_text(h, domain);
}

void hasher_add(struct hasher *h, const void *bytes, size_t size)
{
    uint64_t length = size;
    crypto_generichash_update(&h->state, (const uint8_t *)&length, sizeof length);
    crypto_generichash_update(&h->state, bytes, size);
}

void hasher_add_text(struct hasher *h, const char *text)
{
    hasher_add(h, text, strlen(text));
}

void hasher_add_uint(struct hasher *h, uint64_t value)
{
    hasher_add(h, &value, sizeof value);
}

void hasher_add_hash(struct hasher *h, const struct hash *hash)
{
    hasher_add(h, hash->bytes, sizeof hash->bytes);
}

struct hash hasher_end(struct hasher *h)
{
    struct hash hash;
    crypto_generichash_final(&h->state, hash.bytes, sizeof hash.bytes);
    return hash;
}

bool hash_equal(const struct hash *a, const struct hash *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

uint64_t hash_prefix(const struct hash *h)
{
    uint64_t prefix;
    memcpy(&prefix, h->bytes, sizeof prefix);
    return prefix;
}

bool hash_file(const char *path, struct hash *hash)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    struct hasher h;
    uint8_t part[16384];
    ssize_t got;
    hasher_begin(&h, "file");
    while ((got = read(fd, part, sizeof part)) > 0) crypto_generichash_update(&h.state, part, (size_t)got);
    close(fd);
    *hash = hasher_end(&h);
    return got == 0;
}
