/* Job link: several modules as the compiler gave them become one. */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/compiler/module_check.h"
#include "daemon/compiler/module_job.h"
#include "ir/base/diag.h"
#include "ir/link/link.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/writer.h"

/* The parts of one job. */
struct parts {
    uint32_t n;
    struct ir_module **modules;
};

static void parts_clear(struct parts *p)
{
    for (uint32_t i = 0; p->modules && i < p->n; i++) ir_module_free(p->modules[i]);
    free(p->modules);
}

static int parts_read(struct parts *p, const struct proto_message *m, struct error *e)
{
    const msgpack_object *list = proto_get(&m->params, "modules");
    if (!list || list->type != MSGPACK_OBJECT_ARRAY || !list->via.array.size) return job_missing(e, m, "modules");
    p->n = list->via.array.size;
    p->modules = calloc(p->n, sizeof *p->modules);
    if (!p->modules) return error_set(e, FUSION_OUT_OF_MEMORY, m->method, "out of memory");
    for (uint32_t i = 0; i < p->n; i++) {
        const msgpack_object *o = &list->via.array.ptr[i];
        if (o->type != MSGPACK_OBJECT_BIN) return job_missing(e, m, "modules");
        p->modules[i] = job_decode_module(o->via.bin.ptr, o->via.bin.size, "to be linked", e);
        if (!p->modules[i]) return -1;
    }
    return 0;
}

static struct ir_module *link_parts(const struct parts *p, const char *name, struct error *e)
{
    char object[300];
    struct diag_list findings = {0};
    struct ir_module *linked = ir_link((const struct ir_module *const *)p->modules, p->n, name, &findings);
    /* Findings of the linker say themselves which line of which module they mean. */
    for (size_t i = 0; i < findings.n; i++)
        if (!findings.items[i].file) findings.items[i].line = 0;
    snprintf(object, sizeof object, "module %s", name);
    if (!linked) job_fail_findings(e, FUSION_INVALID, object, name, &findings);
    diag_clear(&findings);
    return linked;
}

int job_link(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    char *name;
    struct parts parts = {0};
    struct ir_module *linked = NULL;
    if (!proto_get_string(&m->params, "name", &name, PROTO_MAX_NAME)) return job_missing(e, m, "name");
    if (parts_read(&parts, m, e) == 0) linked = link_parts(&parts, name, e);
    int result = linked ? module_check(linked, name, e) : -1;
    if (result == 0) {
        const struct module_units units = {(const struct ir_module *const *)parts.modules, parts.n};
        const struct ahead_load none = {0};
        job_reply_module(m, reply, linked, units, &none, name);
    }
    ir_module_free(linked);
    parts_clear(&parts);
    free(name);
    return result;
}
