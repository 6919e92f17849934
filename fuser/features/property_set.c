/* Property files. */
#include "fuser/features/property_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

static const char set_name[] = "SYCL/device requirements";
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { TYPE_NUMBER = 1, TYPE_BYTES = 2, SIZE_BYTES = 8 };

/* ---- writing ---- */

/* Bits that are left of a byte, and where they go. */
struct encoder {
    struct strbuf *out;
    unsigned bits, n_bits;
};

static void put_byte(struct encoder *e, uint8_t byte)
{
    e->bits |= (unsigned)byte << e->n_bits;
    for (e->n_bits += 8; e->n_bits >= 6; e->n_bits -= 6, e->bits >>= 6)
        strbuf_printf(e->out, "%c", letters[e->bits & 63]);
}

static void put_word(struct encoder *e, uint64_t word, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) put_byte(e, (uint8_t)(word >> 8 * i));
}

static void put_property(struct strbuf *out, const char *name, const uint32_t *words, size_t n)
{
    struct encoder e = {.out = out};
    strbuf_printf(out, "%s=%d|", name, TYPE_BYTES);
    put_word(&e, n * 32, SIZE_BYTES);
    for (size_t i = 0; i < n; i++) put_word(&e, words[i], 4);
    if (e.n_bits) strbuf_printf(out, "%c", letters[e.bits & 63]);
    strbuf_add(out, "\n");
}

static void put_work_groups(struct strbuf *out, const struct property_set *s)
{
    uint32_t *words = arena_realloc(NULL, 4 * (size_t)s->n_work_groups * sizeof *words);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_work_groups; i++) {
        words[n++] = s->work_groups[i].n_dims;
        for (uint32_t d = 0; d < s->work_groups[i].n_dims; d++) words[n++] = s->work_groups[i].dims[d];
    }
    put_property(out, "reqd_work_group_size", words, n);
    free(words);
}

char *property_set_write(const struct property_set *s)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "[%s]\n", set_name);
    if (s->aspects.n) put_property(&out, "aspect", s->aspects.items, s->aspects.n);
    if (s->fixed) put_property(&out, "fixed_target", s->fixed_targets.items, s->fixed_targets.n);
    if (s->sub_group_sizes.n) put_property(&out, "reqd_sub_group_size", s->sub_group_sizes.items, s->sub_group_sizes.n);
    if (s->n_work_groups) put_work_groups(&out, s);
    return strbuf_take(&out);
}

/* ---- reading ---- */

struct reader {
    struct arena *a;
    const char *name;
    unsigned line;
    struct error *e;
};

static int fail(struct reader *r, const char *why)
{
    return error_set(r->e, 1, r->name, "line %u: %s", r->line, why);
}

static uint64_t word_at(const uint8_t *bytes, unsigned n)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < n; i++) word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

/* The bytes of a value as numbers. */
static int read_bytes(struct reader *r, const char *value, size_t n, struct property_list *out)
{
    uint8_t *bytes = arena_alloc(r->a, n + SIZE_BYTES);
    size_t n_bytes = 0;
    unsigned bits = 0, n_bits = 0;
    for (size_t i = 0; i < n; i++) {
        const char *letter = value[i] ? strchr(letters, value[i]) : NULL;
        if (!letter) return fail(r, "a value has a character that stands for nothing");
        bits |= (unsigned)(letter - letters) << n_bits;
        n_bits += 6;
        if (n_bits < 8) continue;
        bytes[n_bytes++] = (uint8_t)bits;
        bits >>= 8;
        n_bits -= 8;
    }
    if (n_bytes < SIZE_BYTES) return fail(r, "a value is too short for its length");
    uint64_t size = word_at(bytes, SIZE_BYTES);
    if (size % 32 || size / 8 > n_bytes - SIZE_BYTES) return fail(r, "a value is not as long as it says");
    out->n = (uint32_t)(size / 32);
    out->items = arena_alloc(r->a, (out->n + 1) * sizeof *out->items);
    for (uint32_t i = 0; i < out->n; i++) out->items[i] = (uint32_t)word_at(bytes + SIZE_BYTES + (size_t)4 * i, 4);
    return 0;
}

/* "2|ABCD", or "1|16", a number alone. */
static int read_value(struct reader *r, const char *value, size_t n, struct property_list *out)
{
    char text[16];
    if (n < 3 || value[1] != '|') return fail(r, "a property has no value");
    if (value[0] - '0' == TYPE_BYTES) return read_bytes(r, value + 2, n - 2, out);
    if (value[0] - '0' != TYPE_NUMBER || n - 2 >= sizeof text) return fail(r, "a property has no type that is known");
    snprintf(text, sizeof text, "%.*s", (int)(n - 2), value + 2);
    out->n = 1;
    out->items = arena_alloc(r->a, sizeof *out->items);
    out->items[0] = (uint32_t)strtoul(text, NULL, 10);
    return 0;
}

static int read_work_groups(struct reader *r, const char *value, size_t n, struct property_set *s)
{
    struct property_list words;
    if (read_value(r, value, n, &words) != 0) return -1;
    s->n_work_groups = 0; /* of several lines the last one counts */
    s->work_groups = arena_alloc(r->a, (words.n + 1) * sizeof *s->work_groups);
    for (uint32_t at = 0; at < words.n; s->n_work_groups++) {
        struct property_work_group *g = &s->work_groups[s->n_work_groups];
        g->n_dims = words.items[at++];
        if (g->n_dims < 1 || g->n_dims > 3 || g->n_dims > words.n - at)
            return fail(r, "a work-group size has neither 1, 2 nor 3 dimensions");
        for (uint32_t d = 0; d < g->n_dims; d++) g->dims[d] = words.items[at++];
    }
    return 0;
}

static bool is_named(const char *line, size_t n, const char *name)
{
    return n == strlen(name) && memcmp(line, name, n) == 0;
}

static int read_property(struct reader *r, const char *line, size_t n, struct property_set *s)
{
    const char *equals = memchr(line, '=', n);
    if (!equals) return fail(r, "a line is neither the name of a set nor a property");
    size_t name = (size_t)(equals - line), value = n - name - 1;
    /* Later releases of these tools say `aspects`. */
    if (is_named(line, name, "aspect") || is_named(line, name, "aspects"))
        return read_value(r, equals + 1, value, &s->aspects);
    if (is_named(line, name, "reqd_sub_group_size")) return read_value(r, equals + 1, value, &s->sub_group_sizes);
    if (is_named(line, name, "reqd_work_group_size")) return read_work_groups(r, equals + 1, value, s);
    if (!is_named(line, name, "fixed_target")) return 0;
    s->fixed = true;
    return read_value(r, equals + 1, value, &s->fixed_targets);
}

int property_set_read(struct property_set *s, struct arena *a, const char *text, const char *name, struct error *e)
{
    struct reader r = {.a = a, .name = name, .e = e};
    bool inside = false;
    int found = 0;
    *s = (struct property_set){0};
    while (*text) {
        size_t n = strcspn(text, "\n");
        r.line++;
        if (*text == '[') {
            const char *end = memchr(text, ']', n);
            if (!end) return fail(&r, "the name of a set does not end");
            inside = is_named(text + 1, (size_t)(end - text) - 1, set_name);
            if (inside) found = 1;
        } else if (inside && n && read_property(&r, text, n, s) != 0) {
            return -1;
        }
        text += n + (text[n] == '\n');
    }
    return found;
}
