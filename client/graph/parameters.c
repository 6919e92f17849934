/* Do arguments fit the parameters that the kernel has? Asked where a node is made, of what the service told when it
   read the module; it asks again, and more, when the graph is finalized. */
#include "client/graph/parameters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/text.h"
#include "client/base/value_type.h"
#include "client/memory/buffer.h"
#include "ir/base/nearest.h"

/* ---- the kernel ---- */

/* Names of what the module has, as many as a message can take. */
static fusion_status no_such_kernel(const fusion_module *m, const char *name)
{
    char object[300], hint[120], known[512] = "";
    struct nearest near = nearest_begin(name, strlen(name));
    size_t used = 0;
    for (uint32_t i = 0; i < m->n_kernels; i++) nearest_offer(&near, m->kernels[i].name);
    for (uint32_t i = 0; i < m->n_kernels && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", m->kernels[i].name);
    snprintf(object, sizeof object, "kernel %.200s", name);
    return client_error(FUSION_NOT_FOUND, object, "module %.128s has no such kernel%s; it has %s%s", m->name,
                        nearest_hint(near.best, hint, sizeof hint), m->n_kernels ? known : "none",
                        used < sizeof known ? "" : " ...");
}

fusion_status client_find_kernel(const fusion_module *m, const char *name, const fusion_kernel_info **kernel)
{
    for (uint32_t i = 0; i < m->n_kernels; i++) {
        if (strcmp(m->kernels[i].name, name) != 0) continue;
        *kernel = &m->kernels[i];
        return FUSION_SUCCESS;
    }
    return no_such_kernel(m, name);
}

/* ---- arguments ---- */

static struct client_value_type given_type(const fusion_arg *a)
{
    return (struct client_value_type){a->type, a->lanes};
}

/* What was given, as messages call it. */
static const char *given_text(const fusion_arg *a, char text[64])
{
    char type[CLIENT_VALUE_TEXT];
    switch (a->kind) {
    case FUSION_ARG_BUFFER: return "a buffer";
    case FUSION_ARG_POINTER: return "a pointer";
    case FUSION_ARG_LOCAL: return "work-group memory";
    case FUSION_ARG_IMAGE: return "an image";
    case FUSION_ARG_SAMPLER: return "a sampler";
    case FUSION_ARG_VALUE: break;
    }
    if (a->type == FUSION_BYTES)
        snprintf(text, 64, "a value of %" PRIu64 " bytes", a->bytes);
    else
        snprintf(text, 64, "a value of type %s", client_value_text(given_type(a), type));
    return text;
}

static fusion_status refuse_kind(const char *object, const fusion_kernel_arg *p, const char *takes, const fusion_arg *a)
{
    char text[64];
    return client_error(FUSION_INVALID, object, "it is of type %s and takes %s, but %s was given", p->type, takes,
                        given_text(a, text));
}

/* Its elements' type, where the buffer says one and the parameter, too. */
static fusion_status check_buffer(const char *object, const fusion_kernel_arg *p, const fusion_buffer *b)
{
    const char *space = strchr(p->type, ' ');
    if (!b || !space || b->type == FUSION_BYTES) return FUSION_SUCCESS;
    struct client_value_type points_at = client_value_type_of(space + 1), has = {b->type, points_at.lanes};
    char text[CLIENT_VALUE_TEXT];
    if (points_at.element == FUSION_BYTES || client_value_type_is(points_at, has)) return FUSION_SUCCESS;
    has.lanes = 1;
    return client_error(FUSION_INVALID, object, "it is of type %s, but %s%s has elements of type %s", p->type,
                        b->memory.named ? "buffer " : "the buffer given", b->memory.named ? b->memory.name : "",
                        client_value_text(has, text));
}

static fusion_status check_value(const char *object, const fusion_kernel_arg *p, const fusion_arg *a)
{
    fusion_status status = client_value_check(object, p->type, client_value_type_of(p->type), given_type(a));
    if (status != FUSION_SUCCESS || a->bytes == p->size) return status;
    return client_error(FUSION_INVALID, object,
                        "it is of type %s and has %" PRIu64 " bytes, but the value given has %" PRIu64, p->type,
                        p->size, a->bytes);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static fusion_status check_arg(const char *object, const fusion_kernel_arg *p, const fusion_arg *a)
{
    if (begins(p->type, "ptr.local"))
        return a->kind == FUSION_ARG_LOCAL ? FUSION_SUCCESS : refuse_kind(object, p, "work-group memory", a);
    if (begins(p->type, "ptr.")) {
        if (a->kind == FUSION_ARG_BUFFER) return check_buffer(object, p, a->buffer);
        return a->kind == FUSION_ARG_POINTER ? FUSION_SUCCESS : refuse_kind(object, p, "a buffer or USM pointer", a);
    }
    if (begins(p->type, "image"))
        return a->kind == FUSION_ARG_IMAGE ? FUSION_SUCCESS : refuse_kind(object, p, "an image", a);
    if (strcmp(p->type, "sampler") == 0 && a->kind == FUSION_ARG_SAMPLER) return FUSION_SUCCESS;
    if (begins(p->type, "pipe")) return FUSION_SUCCESS; /* no graph can pass one: the service says so */
    if (a->kind != FUSION_ARG_VALUE)
        return refuse_kind(object, p, strcmp(p->type, "sampler") == 0 ? "a sampler" : "a value", a);
    return check_value(object, p, a);
}

/* "scale(a: ptr.global f32 read, k: f32)" */
static char *signature(const fusion_kernel_info *k)
{
    struct client_text out;
    char *text = NULL;
    if (client_text_open(&out, k->name) != FUSION_SUCCESS) return NULL;
    fprintf(out.file, "%s(", k->name);
    for (uint32_t i = 0; i < k->n_args; i++)
        fprintf(out.file, "%s%s: %s%s%s", i ? ", " : "", k->args[i].name, k->args[i].type,
                *k->args[i].access ? " " : "", k->args[i].access);
    fputc(')', out.file);
    return client_text_close(&out, k->name, &text) == FUSION_SUCCESS ? text : NULL;
}

/* The error with the kernel's parameters behind it. */
static fusion_status list_parameters(const fusion_kernel_info *k)
{
    fusion_error error = *fusion_last_error();
    char *text = signature(k);
    if (!text) return client_error(error.status, error.object, "%s", error.reason);
    client_error(error.status, error.object, "%s; the kernel is %s", error.reason, text);
    free(text);
    return error.status;
}

fusion_status client_check_args(const char *what, const fusion_kernel_info *k, const fusion_arg *args, uint32_t n_args)
{
    fusion_status status = FUSION_SUCCESS;
    if (n_args != k->n_args)
        status = client_error(FUSION_INVALID, what, "%" PRIu32 " arguments, but kernel %s has %" PRIu32 " parameters",
                              n_args, k->name, k->n_args);
    for (uint32_t i = 0; i < n_args && status == FUSION_SUCCESS; i++) {
        char object[300];
        snprintf(object, sizeof object, "%.150s, argument %" PRIu32 " `%.100s`", what, i, k->args[i].name);
        status = check_arg(object, &k->args[i], &args[i]);
    }
    return status == FUSION_SUCCESS ? status : list_parameters(k);
}
