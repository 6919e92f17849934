/* Findings get the place where the verifier stands: function, block, instruction. */
#include "ir/verify/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 256 };

/* Which structured instruction of its kind in its block it is, from 1. */
static unsigned ordinal(const struct ir_inst *inst)
{
    unsigned n = 1;
    for (const struct ir_inst *i = inst->prev; i; i = i->prev)
        if (i->op == inst->op) n++;
    return n;
}

/* "body/loop 1/then 2"; of a very long path only the end. The blocks around block have sound links. */
static void block_path(const struct ir_block *block, char path[static PATH_SIZE])
{
    size_t at = PATH_SIZE - 1;
    path[at] = 0;
    for (; block; block = block->parent ? block->parent->parent : NULL) {
        char part[32] = "body";
        const struct ir_inst *p = block->parent;
        if (p) {
            const char *what = p->op == IR_OP_LOOP ? "loop" : block == p->blocks[0] ? "then" : "else";
            snprintf(part, sizeof part, "/%s %u", what, ordinal(p));
        }
        size_t n = strlen(part);
        if (n + 3 > at) {
            memcpy(path + (at -= 3), "...", 3);
            break;
        }
        memcpy(path + (at -= n), part, n);
    }
    memmove(path, path + at, PATH_SIZE - at);
}

void verify_report(struct verifier *v, const char *format, ...)
{
    v->n_findings++;
    if (!v->list) return;
    if (v->list->dropped) { /* it is full, and a place takes time to describe */
        v->list->dropped++;
        return;
    }
    char *text = NULL, path[PATH_SIZE];
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    if (v->block) block_path(v->block, path);
    struct ir_loc loc = v->inst ? v->inst->loc : v->f ? v->f->loc : (struct ir_loc){0, 0, 0};
    bool named = v->inst && v->inst->op < IR_OP_COUNT;
    diag_add(v->list, v->f ? v->f->name : NULL, v->block ? path : NULL, loc.line, loc.column, "%s%s%s",
             named ? ir_op_info(v->inst->op)->text : "", named ? ": " : "", text);
    diag_set_file(v->list, ir_loc_file(v->m, loc));
    free(text);
}
