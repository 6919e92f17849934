/* Collects the findings of a run. */
#include "ir/interp/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_INST = UINT32_MAX };

/* What has been reported: the same mistake at the same place is told once. */
struct reported {
    enum interp_finding_kind kind;
    uint32_t inst, other;
};

static bool is_new(const struct machine *m, const struct reported *r)
{
    for (uint32_t i = 0; i < m->result->n_findings; i++) {
        const struct reported *known = &m->reported[i];
        if (known->kind == r->kind && known->inst == r->inst && known->other == r->other) return false;
    }
    return true;
}

static struct interp_finding *new_finding(struct machine *m, const struct reported *r)
{
    struct interp_result *result = m->result;
    if (result->n_findings == m->options.max_findings || !is_new(m, r)) return NULL;
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
    struct interp_finding *finding = new_finding(m, &r);
    if (!finding) return;
    finding->kind = kind;
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
