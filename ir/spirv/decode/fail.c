/* Findings, and what they refuse. */
#include "ir/spirv/decode/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"
#include "ir/spirv/decode/location.h"
#include "ir/spirv/decode/tools.h"

void spirv_begin_function(struct spirv_reader *r, struct spirv_function *f)
{
    r->subject = (struct spirv_subject){.function = f};
}

void spirv_begin_variable(struct spirv_reader *r, const struct spirv_inst *variable)
{
    r->subject = (struct spirv_subject){.variable = variable};
}

static const char *function_name(const struct spirv_reader *r)
{
    const struct spirv_function *f = r->subject.function;
    if (!f) return NULL;
    if (f->ir) return f->ir->name;
    return f->name ? f->name : r->index.ids[f->id].name;
}

/* The text with the place that it is about in front, as long as the reader. */
static const char *placed(struct spirv_reader *r, const struct spirv_inst *inst, const char *text)
{
    struct strbuf all = {0};
    char place[256];
    if (spirv_loc(r, inst).line)
        strbuf_printf(&all, "%s: ", ir_loc_text(r->module, spirv_loc(r, inst), place, sizeof place));
    strbuf_printf(&all, "Op%s: ", tools_op_name(inst->op));
    strbuf_add(&all, text);
    char *joined = strbuf_take(&all);
    const char *kept = arena_strndup(r->arena, joined, strlen(joined));
    free(joined);
    return kept;
}

static void refuse(struct spirv_reader *r, const struct spirv_inst *inst, const char *text)
{
    struct spirv_globals *g = &r->globals;
    struct spirv_function *f = r->subject.function;
    if (f) {
        if (!f->refused) f->refused = placed(r, inst, text);
    } else if (r->subject.variable) {
        g->refusals = arena_grow(r->arena, g->refusals, g->n_refusals, sizeof *g->refusals);
        g->refusals[g->n_refusals++] = (struct spirv_refusal){r->subject.variable->id, placed(r, inst, text)};
    } else {
        r->findings->failed = true;
    }
}

void spirv_fail(struct spirv_reader *r, const struct spirv_inst *inst, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->subject.failed = true;
    diag_add(r->findings->list, function_name(r), NULL, inst->line, 0, "Op%s: %s", tools_op_name(inst->op), text);
    diag_set_file(r->findings->list, ir_loc_file(r->module, spirv_loc(r, inst)));
    refuse(r, inst, text);
}
