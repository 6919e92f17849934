/* Collects the findings of a run. */
#include "ir/interp/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp/ids.h"

enum { NO_INST = UINT32_MAX };

/* What has been reported: the same mistake at the same place is told once. */
struct reported {
    enum interp_finding_kind kind;
    uint32_t inst, other;
};

static struct interp_finding *known_finding(const struct machine *m, const struct reported *r)
{
    for (uint32_t i = 0; i < m->result->n_findings; i++) {
        const struct reported *known = &m->reported[i];
        if (known->kind == r->kind && known->inst == r->inst && known->other == r->other)
            return &m->result->findings[i];
    }
    return NULL;
}

static struct interp_finding *new_finding(struct machine *m, const struct reported *r, uint64_t linear)
{
    struct interp_result *result = m->result;
    struct interp_finding *known = known_finding(m, r);
    /* Accesses outside are told of the first work-item by its id, whenever it ran. */
    if (known && r->kind == INTERP_OUT_OF_BOUNDS && linear < known->linear) return known;
    if (known || result->n_findings == m->options.max_findings) return NULL;
    uint32_t n = result->n_findings++;
    result->findings = arena_realloc(result->findings, (n + 1) * sizeof *result->findings);
    m->reported = arena_realloc(m->reported, (n + 1) * sizeof *m->reported);
    m->reported[n] = *r;
    memset(&result->findings[n], 0, sizeof result->findings[n]);
    return &result->findings[n];
}

static void add_finding(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                        const struct code_inst *at, const struct other_access *other, const char *format, va_list list)
{
    struct reported r = {kind, at ? at->id : NO_INST, other ? other->inst : NO_INST};
    uint64_t linear = item ? interp_global_linear(m, item) : 0;
    struct interp_finding *finding = new_finding(m, &r, linear);
    if (!finding) return;
    *finding = (struct interp_finding){.kind = kind, .linear = linear, .step = m->result->steps};
    finding->function = at ? at->block->function->ir->name : m->kernel->name;
    finding->line = at ? at->ir->loc.line : m->kernel->loc.line;
    if (item) memcpy(finding->item, item->global, sizeof finding->item);
    if (other) memcpy(finding->other, other->item, sizeof finding->other);
    vsnprintf(finding->text, sizeof finding->text, format, list);
}

void interp_report(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                   const struct code_inst *at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_finding(m, kind, item, at, NULL, format, list);
    va_end(list);
}

void interp_report_outside(struct machine *m, const struct item *item, const struct code_inst *at, int64_t offset,
                           uint64_t bytes, const char *text)
{
    interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s", text);
    struct interp_finding *f = known_finding(m, &(struct reported){INTERP_OUT_OF_BOUNDS, at->id, NO_INST});
    if (!f || f->linear != interp_global_linear(m, item) || f->step != m->result->steps) return;
    f->offset = offset;
    f->bytes = bytes;
}

void interp_report_pair(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                        const struct code_inst *at, const struct other_access *other, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_finding(m, kind, item, at, other, format, list);
    va_end(list);
}

void interp_report_finish(struct machine *m)
{
    free(m->reported);
    m->reported = NULL;
}
