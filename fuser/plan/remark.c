/* What the planner says: its one error, and a remark for each decision. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

bool plan_fail(struct planner *p, enum fuser_status status, const char *what, const char *name, const char *format, ...)
{
    va_list list;
    p->error->status = status;
    snprintf(p->error->object, sizeof p->error->object, "%s%s%s", what, name ? " " : "", name ? name : "");
    va_start(list, format);
    vsnprintf(p->error->reason, sizeof p->error->reason, format, list);
    va_end(list);
    return false;
}

void plan_remark(struct planner *p, const char *code, const char *node, const char *buffer, const char *format, ...)
{
    struct fuser_plan *plan = p->plan;
    char text[1024];
    va_list list;
    if (p->quiet) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    plan->remarks = arena_grow(plan->arena, plan->remarks, plan->n_remarks, sizeof *plan->remarks);
    plan->remarks[plan->n_remarks++] =
        (struct fuser_remark){.code = code,
                              .node = node ? arena_strndup(plan->arena, node, strlen(node)) : "",
                              .buffer = buffer ? arena_strndup(plan->arena, buffer, strlen(buffer)) : "",
                              .text = arena_strndup(plan->arena, text, strlen(text))};
}

const char *plan_place(const struct planner *p, uint32_t node, uint32_t line, char *buf, size_t size)
{
    if (line)
        snprintf(buf, size, "%s (line %u)", p->graph->nodes[node].name, line);
    else
        snprintf(buf, size, "%s", p->graph->nodes[node].name);
    return buf;
}
