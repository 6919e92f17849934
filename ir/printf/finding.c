/* Accesses outside of their memory, in words. */
#include "ir/printf/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT, PLACE, RANGE, ACCESS, ELEMENT, MEMORY, LINES };

static void add_line(struct strbuf *to, const char *text, bool is_last)
{
    for (; *text; text++) strbuf_add_bytes(to, *text == '\n' ? " " : text, 1); /* names may have any byte */
    if (!is_last) strbuf_add_bytes(to, "\n", 1);
}

void ir_site_write(struct strbuf *to, const struct ir_site *s)
{
    const uint64_t *g = s->range.global, *o = s->range.offset;
    add_line(to, s->object, false);
    add_line(to, s->place, false);
    strbuf_printf(to, "%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->range.dims,
                  g[0], g[1], g[2], o[0], o[1], o[2]);
    add_line(to, s->access, false);
    strbuf_printf(to, "%" PRIu64 "\n", s->element_bytes);
    add_line(to, s->memory, true);
}

static bool read_range(const char *text, struct nd_range *r)
{
    uint64_t *g = r->global, *o = r->offset;
    int n = sscanf(text, "%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &r->dims, &g[0],
                   &g[1], &g[2], &o[0], &o[1], &o[2]);
    return n == 7 && r->dims >= 1 && r->dims <= 3 && g[0] && g[1] && g[2];
}

/* text, which is changed, is what the site's lines lie in. */
static bool read_site(char *text, struct ir_site *s)
{
    char *lines[LINES];
    int n = 0;
    for (char *next = text; next && n < LINES; text = next) {
        lines[n++] = text;
        next = strchr(text, '\n');
        if (next) *next++ = 0;
    }
    if (n < LINES || !read_range(lines[RANGE], &s->range)) return false;
    s->object = lines[OBJECT];
    s->place = lines[PLACE];
    s->access = lines[ACCESS];
    s->element_bytes = strtoull(lines[ELEMENT], NULL, 10);
    s->memory = lines[MEMORY];
    return true;
}

/* The element that a byte is in; those before the memory have negative numbers. */
static int64_t element_of(int64_t byte, uint64_t size)
{
    int64_t each = size && size < INT32_MAX ? (int64_t)size : 1;
    return byte / each - (byte % each < 0);
}

void ir_finding_begin(struct strbuf *to, const char *place, const struct nd_range *range, const uint64_t item[3])
{
    strbuf_printf(to, "%s, work-item %s%" PRIu64, place, range->dims > 1 ? "(" : "", item[0]);
    for (unsigned d = 1; d < range->dims; d++) strbuf_printf(to, ", %" PRIu64, item[d]);
    strbuf_printf(to, "%s: ", range->dims > 1 ? ")" : "");
}

void ir_finding_end(struct strbuf *to, int64_t offset, uint64_t element_bytes)
{
    strbuf_printf(to, ": element %" PRId64, element_of(offset, element_bytes));
}

void ir_finding_text(struct strbuf *to, const char *site, uint64_t place, int64_t offset)
{
    struct ir_site s = {0};
    uint64_t item[3], linear = place & (((uint64_t)1 << IR_PLACE_ITEM_BITS) - 1);
    char *text = strdup(site);
    if (!text) abort();
    if (read_site(text, &s)) {
        for (unsigned d = 0; d < 3; d++) {
            item[d] = linear % s.range.global[d] + s.range.offset[d];
            linear /= s.range.global[d];
        }
        strbuf_printf(to, "%s\n", s.object);
        ir_finding_begin(to, s.place, &s.range, item);
        strbuf_printf(to, "%s at offset %" PRId64 " of %s", s.access, offset, s.memory);
        ir_finding_end(to, offset, s.element_bytes);
    } else {
        strbuf_printf(to, "kernel\nan access outside of its memory, whose description is broken");
    }
    free(text);
}
