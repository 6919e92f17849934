/* The options and values of a saved executable, as bytes. */
#include "client/exec/saved_options.h"

#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/exec/finalize.h"

enum { N_NUMBERS = 8, MOST_LANES = 16, MOST_DEVICE_NAME = 64 };

/* ---- writing ---- */

struct out {
    uint8_t *at;
};

static void put(struct out *o, const void *bytes, size_t n)
{
    if (n) memcpy(o->at, bytes, n);
    o->at += n;
}

static void put_number(struct out *o, uint32_t n)
{
    const uint8_t bytes[4] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24)};
    put(o, bytes, sizeof bytes);
}

uint8_t *client_saved_options_write(const struct exec_source *s, size_t *size)
{
    const fusion_finalize_options *f = &s->options;
    const uint32_t numbers[N_NUMBERS] = {f->mode,          f->insert_barriers, f->barriers, f->keep_ir,
                                         f->keep_assembly, f->debug,           f->tier,     f->bounds};
    size_t name = strlen(f->device);
    *size = (N_NUMBERS + 1) * 4 + name;
    for (uint32_t i = 0; i < s->n_values; i++) *size += 8 + s->values[i].size;
    uint8_t *bytes = malloc(*size);
    struct out o = {bytes};
    if (!bytes) return NULL;
    for (int i = 0; i < N_NUMBERS; i++) put_number(&o, numbers[i]);
    put_number(&o, (uint32_t)name);
    put(&o, f->device, name);
    for (uint32_t i = 0; i < s->n_values; i++) {
        put_number(&o, s->values[i].type.element);
        put_number(&o, s->values[i].type.lanes);
        put(&o, s->values[i].data, s->values[i].size);
    }
    return bytes;
}

/* ---- reading ---- */

struct in {
    const uint8_t *at;
    size_t left;
    bool failed; /* more was asked for than there is: all that comes is 0 */
};

static const uint8_t *take(struct in *i, size_t n)
{
    const uint8_t *at = i->at;
    if (n > i->left) i->failed = true;
    if (i->failed) return NULL;
    i->at += n;
    i->left -= n;
    return at;
}

static uint32_t take_number(struct in *i)
{
    const uint8_t *b = take(i, 4);
    return b ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24 : 0;
}

static void take_options(struct in *i, struct client_pool *pool, fusion_finalize_options *f)
{
    uint32_t numbers[N_NUMBERS];
    for (int k = 0; k < N_NUMBERS; k++) numbers[k] = take_number(i);
    uint32_t name = take_number(i);
    const uint8_t *device = name && name <= MOST_DEVICE_NAME ? take(i, name) : NULL;
    if (!device || memchr(device, 0, name)) i->failed = true;
    if (i->failed) return;
    *f = (fusion_finalize_options){.mode = (fusion_mode)numbers[0],
                                   .insert_barriers = numbers[1],
                                   .barriers = (fusion_barriers)numbers[2],
                                   .keep_ir = numbers[3],
                                   .keep_assembly = numbers[4],
                                   .debug = numbers[5],
                                   .tier = (fusion_tier)numbers[6],
                                   .bounds = numbers[7],
                                   .device = client_pool_text(pool, (const char *)device, name)};
}

/* False: no memory. */
static bool take_value(struct in *i, uint32_t size, struct value_bytes *v)
{
    struct client_value_type type;
    type.element = (fusion_type)take_number(i);
    type.lanes = take_number(i);
    const uint8_t *bytes = take(i, size);
    if ((unsigned)type.element > FUSION_F64 || type.lanes > MOST_LANES) i->failed = true;
    if (i->failed) return true;
    *v = (struct value_bytes){malloc(size ? size : 1), size, type};
    if (v->data) memcpy(v->data, bytes, size);
    return v->data;
}

fusion_status client_saved_options_read(const void *bytes, size_t size, const char *object, struct client_pool *pool,
                                        fusion_finalize_options *options, fusion_graph *g)
{
    struct in in = {bytes, size, false};
    take_options(&in, pool, options);
    for (uint32_t i = 0; i < g->wire.n_values && !in.failed; i++)
        if (!take_value(&in, g->wire.values[i].size, &g->values[i])) return client_no_memory(object);
    if (in.failed || in.left)
        return client_error(FUSION_INVALID, object, "the saved executable does not say how it was finalized");
    if (pool->failed) return client_no_memory(object);
    return client_check_finalize_options(options);
}
