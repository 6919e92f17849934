/* What planning says: its one error, and a remark for each decision. */
#include "fuser/plan/base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"

bool plan_fail(struct plan_context *ctx, enum fuser_status status, const char *what, const char *name,
               const char *format, ...)
{
    va_list list;
    char object[ERROR_OBJECT];
    snprintf(object, sizeof object, "%s%s%s", what, name ? " " : "", name ? name : "");
    va_start(list, format);
    error_vset(ctx->error, (int)status, object, format, list);
    va_end(list);
    return false;
}

void plan_remark(struct plan_context *ctx, const char *code, const char *node, const char *buffer, const char *format,
                 ...)
{
    char text[1024];
    va_list list;
    if (ctx->quiet) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    ctx->remarks = arena_grow(ctx->kept, ctx->remarks, ctx->n_remarks, sizeof *ctx->remarks);
    ctx->remarks[ctx->n_remarks++] =
        (struct fuser_remark){.code = code,
                              .node = node ? arena_strndup(ctx->kept, node, strlen(node)) : "",
                              .buffer = buffer ? arena_strndup(ctx->kept, buffer, strlen(buffer)) : "",
                              .text = arena_strndup(ctx->kept, text, strlen(text))};
}

const char *plan_ids_text(const struct nd_range *r, const int64_t id[3], char *buf, size_t size)
{
    if (r->dims == 1) snprintf(buf, size, "%lld", (long long)id[0]);
    if (r->dims == 2) snprintf(buf, size, "(%lld, %lld)", (long long)id[0], (long long)id[1]);
    if (r->dims == 3) snprintf(buf, size, "(%lld, %lld, %lld)", (long long)id[0], (long long)id[1], (long long)id[2]);
    return buf;
}

const char *plan_line_text(const struct fuser_node *node, uint32_t line, char *buf, size_t size)
{
    if (line)
        snprintf(buf, size, "%s (line %u)", node->name, line);
    else
        snprintf(buf, size, "%s", node->name);
    return buf;
}
