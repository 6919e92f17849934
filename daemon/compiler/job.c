/* What the jobs share. */
#include "daemon/compiler/job.h"

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

int job_fail_findings(struct error *e, fusion_status status, const char *object, const char *name,
                      const struct diag_list *findings)
{
    enum { ROOM_FOR_COUNT = 40 };
    size_t used = 0, shown = 0;
    error_set(e, status, object, "no reason was given");
    for (; shown < findings->n; shown++) {
        size_t room = sizeof e->reason - used - ROOM_FOR_COUNT;
        int n = format_finding(e->reason + used, room, name, &findings->items[shown]);
        if (n < 0 || (size_t)n >= room) break;
        used += (size_t)n;
    }
    size_t left = findings->n - shown + findings->dropped;
    if (left)
        snprintf(e->reason + used, sizeof e->reason - used, "... and %zu more\n", left);
    else if (used)
        e->reason[used - 1] = 0; /* the last line's end */
    return -1;
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
