/* What the jobs share. */
#include "daemon/compiler/job.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/compiler/devices.h"
#include "ir/msgpack/codec.h"
#include "proto/fields.h"
#include "proto/frame.h"

enum job_care job_care;

int job_missing(struct error *e, const struct proto_message *m, const char *key)
{
    return error_set(e, FUSION_PROTOCOL, m->method, "parameter %s is missing or has another type", key);
}

int job_read_gpu(const struct proto_message *m, struct error *e)
{
    const void *bytes;
    size_t size;
    if (!proto_get_bytes(&m->params, "gpu", &bytes, &size) || devices_add_gpu(bytes, size)) return 0;
    return error_set(e, FUSION_PROTOCOL, m->method, "what came as a GPU's description is none");
}

/* One line; bytes of it. */
static int format_finding(char *to, size_t size, const char *name, const struct diag *d)
{
    char place[300] = "";
    const char *file = d->file ? d->file : "", *before = d->file && name ? ": " : "";
    if (d->line && d->column) snprintf(place, sizeof place, "%s%.250s:%u:%u", before, file, d->line, d->column);
    if (d->line && !d->column) snprintf(place, sizeof place, "%s%.250s:%u", before, file, d->line);
    return snprintf(to, size, "%s%s%s%s%s%s%s%s%s\n", name ? name : "", place, name || place[0] ? ": " : "",
                    d->function ? "function " : "", d->function ? d->function : "", d->block ? ", block " : "",
                    d->block ? d->block : "", d->function || d->block ? ": " : "", d->text);
}

/* What a module was read from. */
struct source {
    const char *text; /* NULL: not shown */
    size_t n;
};

/* The line, from 1 on; bytes of it. */
static size_t find_line(const struct source *source, uint32_t line, const char **start)
{
    const char *at = source->text, *end = source->text + source->n, *stop;
    while (--line && at && (at = memchr(at, '\n', (size_t)(end - at)))) at++;
    *start = at;
    if (!at) return 0;
    stop = memchr(at, '\n', (size_t)(end - at));
    return (size_t)((stop ? stop : end) - at);
}

/* The finding's line and a caret below its column; of a long line, what is around it. Bytes of it. */
static int format_place(char *to, size_t size, const struct source *source, const struct diag *d)
{
    enum { WIDTH = 100, BEFORE = 60 };
    char shown[WIDTH + 1];
    const char *line;
    if (!source->text || d->file || !d->line || !d->column) return 0;
    size_t n = find_line(source, d->line, &line), column = d->column - 1;
    if (!line || column > n) return 0;
    size_t from = column > BEFORE ? column - BEFORE : 0, length = n - from < WIDTH ? n - from : WIDTH;
    for (size_t i = 0; i < length; i++) {
        char c = line[from + i];
        shown[i] = (char)(c >= ' ' && c <= '~' ? c : c == '\t' || c == '\r' ? ' ' : '?');
    }
    return snprintf(to, size, "  %.*s\n  %*s^\n", (int)length, shown, (int)(column - from), "");
}

/* A finding that has no room, as its names or a compiler's own words are long; bytes of it. */
static size_t cut_finding(char *text, size_t size)
{
    static const char more[] = " ...\n";
    memcpy(text + size - sizeof more, more, sizeof more);
    return size - 1;
}

/* As many as there is room for, whole but for the first one, which is told in any case. */
static size_t format_findings(char *to, size_t size, const char *name, const struct source *source,
                              const struct diag_list *findings, size_t *shown)
{
    size_t used = 0;
    for (*shown = 0; *shown < findings->n; ++*shown) {
        const struct diag *d = &findings->items[*shown];
        int n = format_finding(to + used, size - used, name, d);
        bool has_room = n >= 0 && (size_t)n < size - used;
        if (!has_room && used) break;
        used += has_room ? (size_t)n : cut_finding(to, size);
        n = format_place(to + used, size - used, source, d);
        if (n > 0 && (size_t)n < size - used) used += (size_t)n;
    }
    return used;
}

static int fail(struct error *e, fusion_status status, const char *object, const char *name,
                const struct source *source, const struct diag_list *findings)
{
    enum { ROOM_FOR_COUNT = 40 };
    size_t shown;
    error_set(e, status, object, "no reason was given");
    size_t used = format_findings(e->reason, sizeof e->reason - ROOM_FOR_COUNT, name, source, findings, &shown);
    size_t left = findings->n - shown + findings->dropped;
    if (left)
        snprintf(e->reason + used, sizeof e->reason - used, "... and %zu more\n", left);
    else if (used)
        e->reason[used - 1] = 0; /* the last line's end */
    return -1;
}

int job_fail_findings(struct error *e, fusion_status status, const char *object, const char *name,
                      const struct diag_list *findings)
{
    return fail(e, status, object, name, &(struct source){0}, findings);
}

int job_fail_text(struct error *e, const char *object, const char *name, const char *text, size_t n,
                  const struct diag_list *findings)
{
    return fail(e, FUSION_INVALID, object, name, &(struct source){text, n}, findings);
}

struct ir_module *job_decode_module(const void *bytes, size_t size, const char *name, struct error *e)
{
    struct diag_list findings = {0};
    struct ir_module *m = ir_decode(bytes, size, &findings);
    if (!m) {
        char object[300];
        snprintf(object, sizeof object, "module %s", name);
        job_fail_findings(e, FUSION_INVALID, object, name, &findings);
    }
    diag_clear(&findings);
    return m;
}
