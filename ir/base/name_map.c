/* A crit-bit tree: inner nodes say which bit of the key decides, so that a search looks at each byte
   of the key a bounded number of times. Bits beyond a key's end are 0; a key holds no 0 byte, so no key
   looks like the beginning of another. */
#include "ir/base/name_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/arena.h"

struct node {
    bool is_leaf;
};

struct leaf {
    struct node node;
    const char *name;
    size_t n;
    void *value;
};

struct branch {
    struct node node;
    unsigned char bit; /* 7 is a byte's highest */
    size_t byte;
    struct node *child[2];
};

static unsigned char byte_at(const char *name, size_t n, size_t i)
{
    return i < n ? (unsigned char)name[i] : 0;
}

static int direction(const struct branch *b, const char *name, size_t n)
{
    return byte_at(name, n, b->byte) >> b->bit & 1;
}

static struct leaf *nearest(struct node *node, const char *name, size_t n)
{
    while (!node->is_leaf) {
        struct branch *b = (struct branch *)node;
        node = b->child[direction(b, name, n)];
    }
    return (struct leaf *)node;
}

static bool leaf_is(const struct leaf *leaf, const char *name, size_t n)
{
    return leaf->n == n && memcmp(leaf->name, name, n) == 0;
}

void *names_get(const struct names *map, const char *name, size_t n)
{
    if (!map->root) return NULL;
    const struct leaf *leaf = nearest(map->root, name, n);
    return leaf_is(leaf, name, n) ? leaf->value : NULL;
}

static struct leaf *leaf_new(struct names *map, const char *name, size_t n)
{
    struct leaf *leaf = arena_alloc(map->arena, sizeof *leaf);
    *leaf = (struct leaf){.node.is_leaf = true, .name = name, .n = n};
    return leaf;
}

/* Whether a branch decides on a bit before (byte, bit). */
static bool comes_before(const struct branch *b, size_t byte, unsigned bit)
{
    return b->byte < byte || (b->byte == byte && b->bit > bit);
}

void **names_put(struct names *map, const char *name, size_t n)
{
    if (!map->root) {
        struct leaf *leaf = leaf_new(map, name, n);
        map->root = &leaf->node;
        return &leaf->value;
    }
    struct leaf *near = nearest(map->root, name, n);
    if (leaf_is(near, name, n)) return &near->value;
    size_t byte = 0;
    while (byte_at(near->name, near->n, byte) == byte_at(name, n, byte)) byte++;
    unsigned difference = byte_at(near->name, near->n, byte) ^ byte_at(name, n, byte);
    unsigned bit = 31 - (unsigned)__builtin_clz(difference);

    struct node **at = (struct node **)&map->root;
    while (!(*at)->is_leaf && comes_before((struct branch *)*at, byte, bit)) {
        struct branch *b = (struct branch *)*at;
        at = &b->child[direction(b, name, n)];
    }
    struct leaf *leaf = leaf_new(map, name, n);
    struct branch *b = arena_alloc(map->arena, sizeof *b);
    *b = (struct branch){.byte = byte, .bit = (unsigned char)bit};
    b->child[direction(b, name, n)] = &leaf->node;
    b->child[!direction(b, name, n)] = *at;
    *at = &b->node;
    return &leaf->value;
}
