/* Job plan: a graph and its modules in; the report, the executor's program and the kernels to compile out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/devices.h"
#include "daemon/compiler/job.h"
#include "daemon/compiler/pack.h"
#include "daemon/compiler/plan_pack.h"
#include "daemon/compiler/translate.h"
#include "fuser/plan/plan.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/msgpack/codec.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/graph.h"
#include "proto/limits.h"
#include "proto/writer.h"

/* Everything of one job. */
struct planning {
    struct arena *arena;
    struct proto_graph *wire;
    struct ir_module **modules;
    struct fuser_graph *graph;
    const struct device *device, *runs_on; /* planned for; to debug, another than that */
    struct fuser_options options;
    bool keep_ir, debug;
    struct fuser_plan *plan, *apart;
};

/* What tuning chose. */
static int read_choices(struct planning *p, const struct proto_message *m, struct error *e)
{
    char *text;
    if (!proto_get(&m->params, "tuning")) return 0;
    if (!proto_get_string(&m->params, "tuning", &text, PROTO_MAX_TUNING)) return job_missing(e, m, "tuning");
    const char *kept = arena_strndup(p->arena, text, strlen(text));
    free(text);
    if (fuser_choices_read(&p->options.choices, kept)) return 0;
    return error_set(e, FUSION_INVALID, "tuning", "`%s` is not understood", kept);
}

static int read_device(struct planning *p, const struct proto_message *m, struct error *e)
{
    char *name;
    if (job_read_gpu(m, e) != 0) return -1;
    if (!proto_get_string(&m->params, "device", &name, PROTO_MAX_NAME)) return job_missing(e, m, "device");
    p->device = devices_find(name);
    if (!p->device) {
        struct strbuf names = {0};
        for (unsigned i = 0; i < devices_count(); i++)
            strbuf_printf(&names, "%s%s",
                          !i                        ? ""
                          : i + 1 < devices_count() ? ", "
                                                    : " and ",
                          devices_get(i)->properties.name);
        char *text = strbuf_take(&names);
        error_set(e, FUSION_NOT_FOUND, NULL, "there is no such device; there are %s", text);
        error_about(e, "device %s", name);
        free(text);
    }
    free(name);
    return p->device ? 0 : -1;
}

static void read_machine(const struct proto_message *m)
{
    const void *bytes = NULL;
    size_t size = 0;
    if (!proto_get_bytes(&m->params, "machine", &bytes, &size)) bytes = NULL;
    devices_take_figures(bytes, size);
}

static int read_options(struct planning *p, const struct proto_message *m, struct error *e)
{
    static const enum fuser_mode modes[] = {FUSER_MODE_NONE, FUSER_MODE_ENABLE, FUSER_MODE_REQUIRE};
    static const enum fuser_barriers barriers[] = {FUSER_BARRIERS_AUTOMATIC, FUSER_BARRIERS_NONE,
                                                   FUSER_BARRIERS_NEEDED};
    uint64_t mode, which;
    if (!proto_get_uint(&m->params, "mode", &mode) || mode >= sizeof modes / sizeof *modes)
        return job_missing(e, m, "mode");
    read_machine(m);
    if (read_device(p, m, e) != 0) return -1;
    p->options = (struct fuser_options){.mode = modes[mode], .device = p->device->properties};
    proto_get_bool(&m->params, "insert_barriers", &p->options.insert_barriers);
    if (proto_get_uint(&m->params, "barriers", &which) && which < sizeof barriers / sizeof *barriers)
        p->options.barriers = barriers[which];
    proto_get_bool(&m->params, "keep_ir", &p->keep_ir);
    p->options.explain = p->keep_ir;
    proto_get_bool(&m->params, "debug", &p->debug);
    proto_get_bool(&m->params, "bounds", &p->options.bounds);
    p->options.bounds &= !p->debug; /* the interpreter checks all */
    p->runs_on = p->debug ? devices_debugger() : p->device;
    return read_choices(p, m, e);
}

static int read_graph(struct planning *p, const struct proto_message *m, struct error *e)
{
    const void *bytes;
    size_t size;
    if (!proto_get_bytes(&m->params, "graph", &bytes, &size)) return job_missing(e, m, "graph");
    p->wire = proto_graph_decode(bytes, size, e);
    return p->wire ? 0 : -1;
}

static int read_modules(struct planning *p, const struct proto_message *m, struct error *e)
{
    const msgpack_object *list = proto_get(&m->params, "modules");
    if (!list || list->type != MSGPACK_OBJECT_ARRAY) return job_missing(e, m, "modules");
    if (list->via.array.size != p->wire->n_modules)
        return error_set(e, FUSION_INVALID, "graph", "it uses %u modules, but %u came with it", p->wire->n_modules,
                         list->via.array.size);
    p->modules = arena_alloc(p->arena, p->wire->n_modules * sizeof *p->modules);
    for (uint32_t i = 0; i < p->wire->n_modules; i++) {
        const msgpack_object *o = &list->via.array.ptr[i];
        if (o->type != MSGPACK_OBJECT_BIN) return job_missing(e, m, "modules");
        p->modules[i] = job_decode_module(o->via.bin.ptr, o->via.bin.size, "of the graph", e);
        if (!p->modules[i]) return -1;
    }
    return 0;
}

/* Kernels of the launches, then of the spares. */
static uint32_t plan_n_kernels(const struct fuser_plan *plan)
{
    return plan->n_launches + plan->n_spares;
}

static const struct fuser_launch *plan_kernel(const struct fuser_plan *plan, uint32_t i)
{
    return i < plan->n_launches ? &plan->launches[i] : &plan->spares[i - plan->n_launches];
}

/* What there is no code for is refused here, where names and lines are known; the compile job gets neither. */
static int check_plan(const struct planning *p, struct error *e)
{
    if (!p->device->check) return 0;
    for (uint32_t i = 0; i < plan_n_kernels(p->plan); i++) {
        const struct ir_function *kernel = plan_kernel(p->plan, i)->kernel;
        struct diag_list findings = {0};
        char object[300];
        bool fine = p->device->check(kernel, &findings);
        snprintf(object, sizeof object, "kernel %s on device %s", kernel->name, p->device->properties.name);
        const char *file = kernel->loc.file ? kernel->module->files[kernel->loc.file - 1] : "line";
        if (!fine)
            job_fail_findings(e, p->device->gpu ? FUSION_FEATURE_NOT_SUPPORTED : FUSION_KERNEL_NOT_SUPPORTED, object,
                              file, &findings);
        diag_clear(&findings);
        if (!fine) return -1;
    }
    return 0;
}

/* The same graph with each kernel by itself. */
static int plan_apart(struct planning *p, struct error *e)
{
    struct fuser_options options = p->options;
    struct error error = {0};
    options.mode = FUSER_MODE_NONE;
    p->apart = fuser_plan_new(p->graph, &options, &error);
    return p->apart ? 0 : error_set(e, FUSION_INTERNAL, error.object, "%s", error.reason);
}

/* What is checked while it runs must not depend on what a submission says. */
static void forget_values(struct fuser_graph *g)
{
    for (uint32_t i = 0; i < g->n_values; i++) g->values[i].alike = g->values[i].number = 0;
}

static int make_plan(struct planning *p, struct error *e)
{
    static const fusion_status statuses[] = {
        [FUSER_OK] = FUSION_INTERNAL,
        [FUSER_INVALID] = FUSION_INVALID,
        [FUSER_KERNEL_NOT_SUPPORTED] = FUSION_KERNEL_NOT_SUPPORTED,
        [FUSER_FEATURE_NOT_SUPPORTED] = FUSION_FEATURE_NOT_SUPPORTED,
    };
    struct error error = {0};
    p->graph = translate_graph(p->wire, p->modules, p->arena, e);
    if (!p->graph) return -1;
    p->options.debug = p->debug;
    if (p->debug) forget_values(p->graph);
    p->plan = fuser_plan_new(p->graph, &p->options, &error);
    if (!p->plan) return error_set(e, statuses[error.code], error.object, "%s", error.reason);
    if (check_plan(p, e) != 0) return -1;
    return p->debug ? plan_apart(p, e) : 0;
}

/* ---- the reply ---- */

static void pack_part(struct proto_writer *reply, const char *key, const struct planning *p,
                      void (*pack)(msgpack_packer *k, const struct plan_source *s))
{
    const struct plan_source source = {p->wire, p->graph, p->plan, p->runs_on, p->keep_ir, p->apart};
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    pack(&packer, &source);
    proto_pack_bytes(reply, key, bytes.data, bytes.size);
    msgpack_sbuffer_destroy(&bytes);
}

/* The kernels without what does not change their code, for the cache. The interpreter needs none. */
static void pack_kernels(struct proto_writer *reply, const struct planning *p)
{
    uint32_t n = p->runs_on->check ? plan_n_kernels(p->plan) : 0;
    proto_pack_key(reply, "kernels");
    msgpack_pack_array(&reply->packer, n);
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        uint8_t *bytes = ir_encode_anonymous(plan_kernel(p->plan, i)->module, &size);
        msgpack_pack_bin_with_body(&reply->packer, bytes, size);
        free(bytes);
    }
}

/* What each of them has to do, for whoever decides whether it is worth waiting for code. */
static void pack_work(struct proto_writer *reply, const struct planning *p)
{
    uint32_t n = p->runs_on->check ? p->plan->n_launches : 0;
    proto_pack_key(reply, "work");
    msgpack_pack_array(&reply->packer, n);
    for (uint32_t i = 0; i < n; i++) msgpack_pack_uint64(&reply->packer, p->plan->launches[i].work);
}

static void planning_finish(struct planning *p)
{
    fuser_plan_free(p->plan);
    fuser_plan_free(p->apart);
    for (uint32_t i = 0; p->modules && i < p->wire->n_modules; i++) ir_module_free(p->modules[i]);
    proto_graph_free(p->wire);
    arena_free(p->arena);
}

int job_plan(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    struct planning p = {.arena = arena_new()};
    int result = -1;
    if (read_options(&p, m, e) == 0 && read_graph(&p, m, e) == 0 && read_modules(&p, m, e) == 0 &&
        make_plan(&p, e) == 0) {
        proto_begin_reply(reply, m->id);
        proto_pack_map(reply, 5);
        pack_part(reply, "report", &p, plan_pack_report);
        pack_part(reply, "program", &p, plan_pack_program);
        pack_kernels(reply, &p);
        pack_work(reply, &p);
        proto_pack_uint(reply, "spares", p.runs_on->check ? p.plan->n_spares : 0);
        result = 0;
    }
    planning_finish(&p);
    return result;
}
