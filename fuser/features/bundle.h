/*
 * Bundles: modules that were compiled ahead of time, as one file (docs/bundles.md). After 16 bytes that say what it is
 * come members: files with names. One is a table of images, whose cells name the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/error.h"
#include "ir/base/name_map.h"

#define BUNDLE_MAGIC "fusiond bundle 1"
#define BUNDLE_TABLE "images.table" /* [Target|Properties|Symbols|Code], a row for each image of each target */
#define BUNDLE_MODULE "module.fk"   /* all kernels, linked, in the msgpack form */
#define BUNDLE_LAUNCH "Launch"      /* columns of the table that Code names: a kernel as it is launched, */
#define BUNDLE_OBJECT "Object"      /* what was made of it, */
#define BUNDLE_LANES "Lanes"        /* and how: as the service tells of what it compiles */
#define BUNDLE_EFFORT "Effort"

/* Of a saved executable, besides: */
#define BUNDLE_VERSION "executable.version" /* text: of these members, and of how its code is called */
#define BUNDLE_GRAPH "executable.graph"     /* as it goes over the wire (proto/graph.h) */
#define BUNDLE_OPTIONS "executable.options" /* how it was finalized: the client's */
enum { BUNDLE_MAX_MEMBERS = 1 << 16 };

struct bundle_member {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

struct bundle {
    struct arena *arena;
    size_t n_members;
    struct bundle_member *members; /* each name once */
    struct names by_name;          /* place plus 1 */
};

void bundle_init(struct bundle *b);
void bundle_clear(struct bundle *b); /* all zeros is fine */
/* Takes copies. */
void bundle_add(struct bundle *b, const char *name, const void *bytes, size_t size);
const struct bundle_member *bundle_find(const struct bundle *b, const char *name); /* NULL: none */
/* Text members, as tables; NULL: there is none, or it is no text. The bundle's memory. */
const char *bundle_text(const struct bundle *b, const char *name);

bool bundle_is(const void *bytes, size_t size);
/* Into one that was initialized; members point into the bytes. 0, or -1 with the error. Trusts nothing. */
int bundle_read(struct bundle *b, const void *bytes, size_t size, const char *name, struct error *e);
uint8_t *bundle_write(const struct bundle *b, size_t *size); /* to be freed */
