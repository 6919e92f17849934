/* Job module: reads a client's module, tells its kernels and gives the canonical bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/devices.h"
#include "daemon/compiler/job.h"
#include "daemon/compiler/kernel_query.h"
#include "daemon/compiler/module_check.h"
#include "daemon/compiler/module_job.h"
#include "daemon/compiler/module_options.h"
#include "daemon/compiler/pack.h"
#include "fuser/access/access.h"
#include "fuser/features/bundle.h"
#include "ir/analysis/pipe_uses.h"
#include "ir/base/strbuf.h"
#include "ir/core/pipe_properties.h"
#include "ir/link/sub_group_size.h"
#include "ir/msgpack/codec.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "ir/text/print/print_type.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/writer.h"

/* msgpack modules begin with an array, SPIR-V with its magic number in either byte order; text with neither. */
static bool is_msgpack(const uint8_t *data, size_t size)
{
    return size && ((data[0] >= 0x90 && data[0] <= 0x9f) || data[0] == 0xdc || data[0] == 0xdd);
}

static struct ir_module *read_bundle(struct ahead_load *code, const uint8_t *data, size_t size, uint32_t part,
                                     const char *object, struct error *e)
{
    const struct fuser_device *cpu = &devices_get(0)->properties;
    code->part = part;
    code->n_targets = cpu->n_targets;
    code->targets = cpu->targets;
    struct ir_module *m = ahead_load(code, data, size, object, e);
    if (!m) e->code = code->other_version ? FUSION_VERSION : FUSION_INVALID;
    return m;
}

static struct ir_module *read_with(const uint8_t *data, size_t size, const char *name, const char *object,
                                   const struct module_options *options, struct ahead_load *code, struct error *e)
{
    struct diag_list findings = {0};
    if (options->spirv.n_constants && !ir_is_spirv(data, size)) {
        error_set(e, FUSION_INVALID, object, "it is no SPIR-V module, so it has no specialization constants");
        return NULL;
    }
    if (bundle_is(data, size)) return read_bundle(code, data, size, options->part, object, e);
    bool text = !ir_is_spirv(data, size) && !is_msgpack(data, size);
    struct ir_module *m = text                     ? ir_parse((const char *)data, size, name, &findings)
                          : is_msgpack(data, size) ? ir_decode(data, size, &findings)
                                                   : ir_read_spirv_with(data, size, name, &options->spirv, &findings);
    if (!m && text) job_fail_text(e, object, name, (const char *)data, size, &findings);
    if (!m && !text) job_fail_findings(e, FUSION_INVALID, object, name, &findings);
    diag_clear(&findings);
    return m;
}

static struct ir_module *read_module(const struct proto_message *message, const uint8_t *data, size_t size,
                                     const char *name, struct ahead_load *code, struct error *e)
{
    char object[300];
    struct module_options options;
    snprintf(object, sizeof object, "module %s", name);
    struct ir_module *m = NULL;
    if (module_options_read(&options, message, object, e) == 0)
        m = read_with(data, size, name, object, &options, code, e);
    if (m && options.sub_group_size) ir_default_sub_group_size(m, options.sub_group_size);
    module_options_clear(&options);
    return m;
}

/* ---- kernels ---- */

/* What the kernel does with a pointer where it does not say so. The range only bounds the ids: any that is
   large in every dimension finds each access. */
static enum ir_access find_access(const struct access_analysis *a, uint32_t param)
{
    const struct access_summary *s = &a->params[param];
    if (s->escapes || (!s->reads && !s->writes)) return IR_ACCESS_UNKNOWN;
    return s->reads && s->writes ? IR_ACCESS_READ_WRITE : s->writes ? IR_ACCESS_WRITE : IR_ACCESS_READ;
}

static bool is_pointer(const struct ir_param *p)
{
    return ir_type_is_ptr(p->value->type) && !p->by_value;
}

static enum ir_access image_access(ir_type type)
{
    static const enum ir_access accesses[] = {IR_ACCESS_READ, IR_ACCESS_WRITE, IR_ACCESS_READ_WRITE};
    return accesses[ir_type_handle_access(type)];
}

static void pack_arg(struct proto_writer *w, const struct ir_function *f, uint32_t i, const struct access_analysis *a)
{
    static const char *const access_names[] = {"unknown", "read", "write", "read_write"};
    const struct ir_param *p = &f->params[i];
    char type[256], full[520], elem[256];
    ir_print_type(f->module, p->value->type, type, sizeof type);
    snprintf(full, sizeof full, "%s%s%s", type, p->elem != IR_VOID ? " " : "",
             p->elem != IR_VOID ? ir_print_type(f->module, p->elem, elem, sizeof elem) : "");
    bool global = is_pointer(p) && ir_type_space(p->value->type) != IR_SPACE_LOCAL;
    bool image = ir_type_kind(p->value->type) == IR_KIND_IMAGE;
    enum ir_access access = p->access != IR_ACCESS_UNKNOWN ? p->access : find_access(a, i);
    if (image) access = image_access(p->value->type);
    uint64_t size = is_pointer(p) || image ? 0 : ir_type_size(f->module, p->by_value ? p->elem : p->value->type);
    proto_pack_map(w, 4);
    proto_pack_string(w, "name", p->value->name ? p->value->name : "");
    proto_pack_string(w, "type", p->by_value ? elem : full);
    proto_pack_string(w, "access", global || image ? access_names[access] : "");
    proto_pack_uint(w, "size", size);
}

static void pack_sub_group_size(struct proto_writer *w, uint32_t size)
{
    char number[16] = "";
    if (size) snprintf(number, sizeof number, "%" PRIu32, size);
    proto_pack_string(w, "sub_group_size",
                      size == IR_SUB_GROUP_AUTOMATIC ? "automatic"
                      : size == IR_SUB_GROUP_PRIMARY ? "primary"
                                                     : number);
}

static void pack_kernel(struct proto_writer *w, const struct ir_function *f, struct module_features *features)
{
    const struct nd_range any = {.dims = 3, .global = {1 << 20, 1 << 20, 1 << 20}};
    struct access_analysis *a = access_analyse(f, &any, 0, false, NULL);
    uint64_t group[3] = {f->work_group_size[0], f->work_group_size[1], f->work_group_size[2]};
    proto_pack_map(w, 8);
    proto_pack_string(w, "name", f->name);
    module_features_pack(features, w, f);
    proto_pack_key(w, "args");
    msgpack_pack_array(&w->packer, f->n_params);
    for (uint32_t i = 0; i < f->n_params; i++) pack_arg(w, f, i, a);
    pack_numbers(w, "work_group_size", group, 3);
    pack_sub_group_size(w, f->sub_group_size);
    kernel_query_pack(w, f, a);
    access_analysis_free(a);
}

static void pack_kernels(struct proto_writer *w, const struct ir_module *m, struct module_features *features)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_functions; i++) n += m->functions[i]->linkage == IR_LINKAGE_KERNEL;
    proto_pack_key(w, "kernels");
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i]->linkage == IR_LINKAGE_KERNEL) pack_kernel(w, m->functions[i], features);
}

/* ---- pipes ---- */

static bool is_pipe(const struct ir_global *g)
{
    return ir_type_kind(g->type) == IR_KIND_PIPE && g->linkage != IR_LINKAGE_IMPORT;
}

static void pack_properties(struct proto_writer *w, const struct ir_global *g)
{
    proto_pack_key(w, "properties");
    msgpack_pack_array(&w->packer, g->n_properties);
    for (uint32_t i = 0; i < g->n_properties; i++) {
        struct strbuf out = {0};
        ir_pipe_print_property(&out, &g->properties[i]);
        char *text = strbuf_take(&out);
        msgpack_pack_str_with_body(&w->packer, text, strlen(text));
        free(text);
    }
}

static void pack_pipe(struct proto_writer *w, const struct ir_module *m, uint32_t variable)
{
    const struct ir_global *g = m->globals[variable];
    struct ir_pipe_uses uses = ir_pipe_uses_of_global(m, g);
    char type[256];
    proto_pack_map(w, 9);
    proto_pack_string(w, "name", g->name);
    proto_pack_string(w, "id", g->host_access ? g->host_access : "");
    proto_pack_string(w, "type", ir_print_type(m, g->packet, type, sizeof type));
    proto_pack_uint(w, "packet", ir_type_size(m, g->packet));
    proto_pack_uint(w, "capacity", g->capacity);
    pack_properties(w, g);
    proto_pack_uint(w, "variable", variable);
    proto_pack_bool(w, "read", uses.reads);
    proto_pack_bool(w, "written", uses.writes);
}

static void pack_pipes(struct proto_writer *w, const struct ir_module *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_globals; i++) n += is_pipe(m->globals[i]);
    proto_pack_key(w, "pipes");
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < m->n_globals; i++)
        if (is_pipe(m->globals[i])) pack_pipe(w, m, i);
}

/* Of a bundle. */
static void pack_code(struct proto_writer *w, const char *key, const struct ahead_code *list, uint32_t n)
{
    if (!n) return;
    proto_pack_key(w, key);
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < n; i++) {
        proto_pack_map(w, 5);
        proto_pack_string(w, "target", list[i].target);
        proto_pack_bytes(w, "launch", list[i].launch, list[i].launch_size);
        proto_pack_bytes(w, "object", list[i].object, list[i].object_size);
        proto_pack_uint(w, "lanes", list[i].lanes);
        proto_pack_string(w, "effort", list[i].effort);
    }
}

static void pack_executable(struct proto_writer *w, const struct ahead_executable *x)
{
    proto_pack_key(w, "executable");
    proto_pack_map(w, 3);
    proto_pack_bytes(w, "graph", x->graph, x->graph_size);
    proto_pack_bytes(w, "options", x->options, x->options_size);
    proto_pack_uint(w, "modules", x->n_modules);
}

void job_reply_module(const struct proto_message *m, struct proto_writer *reply, struct ir_module *module,
                      struct module_units units, const struct ahead_load *code, const char *name)
{
    size_t ir_size;
    bool want_text = false, executable = code->executable.graph;
    proto_get_bool(&m->params, "want_text", &want_text);
    /* What the client calls it is what messages call it; an executable's are called as they were. */
    if (!executable) module->name = ir_strdup(module, name);
    uint8_t *ir = ir_encode(module, &ir_size);
    char *text = want_text ? ir_print(module) : NULL;
    proto_begin_reply(reply, m->id);
    proto_pack_map(reply, 4 + want_text + executable + (code->n_objects != 0) + (code->n_binaries != 0));
    struct module_features *features = module_features_new(module, units);
    pack_kernels(reply, module, features);
    module_features_pack_warnings(features, reply);
    module_features_free(features);
    pack_pipes(reply, module);
    proto_pack_bytes(reply, "ir", ir, ir_size);
    if (want_text) proto_pack_string(reply, "text", text);
    if (executable) pack_executable(reply, &code->executable);
    pack_code(reply, "objects", code->objects, code->n_objects);
    pack_code(reply, "binaries", code->binaries, code->n_binaries);
    free(text);
    free(ir);
}

int job_module(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    const void *data;
    size_t size;
    char *name = NULL;
    struct ahead_load code = {0};
    if (!proto_get_string(&m->params, "name", &name, PROTO_MAX_NAME)) return job_missing(e, m, "name");
    int result = -1;
    if (!proto_get_bytes(&m->params, "data", &data, &size)) {
        job_missing(e, m, "data");
        goto out_name;
    }
    struct ir_module *module = read_module(m, data, size, name, &code, e);
    if (!module) goto out_name;
    if (module_check(module, name, e) != 0) goto out_module;
    job_reply_module(m, reply, module, (struct module_units){(const struct ir_module *const *)&module, 1}, &code, name);
    result = 0;
out_module:
    ir_module_free(module);
out_name:
    ahead_load_clear(&code);
    free(name);
    return result;
}
