/* An executable explained: why each buffer is where it is, why launches end where they do, and what would change it. */
#include "tools/inspect/run/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/inspect/graph/types.h"
#include "tools/inspect/run/report.h"
#include "tools/inspect/terminal/json.h"
#include "tools/inspect/terminal/numbers.h"

/* Of a buffer of the file. */
struct place {
    const char *memory;           /* "global", or that of the report */
    const fusion_remark *why;     /* NULL: nothing was said */
    const fusion_remark *instead; /* what would change it, if anything */
    uint64_t bytes, traffic;      /* traffic: what it saves */
};

static bool begins(const char *code, const char *with)
{
    return strncmp(code, with, strlen(with)) == 0;
}

static bool is_cut(const fusion_remark *m)
{
    return begins(m->code, "not_fused_");
}

static bool is_about_home(const fusion_remark *m)
{
    return *m->buffer && (begins(m->code, "internalized_") || begins(m->code, "not_internalized_") ||
                          strcmp(m->code, "internalization_possible") == 0 || strcmp(m->code, "ring_memory") == 0);
}

static uint64_t bytes_of(const struct file_buffer *b)
{
    return b->count * type_bytes(b->type);
}

static struct place place_of(const struct file_buffer *b, const fusion_report *r)
{
    struct place p = {.memory = "global", .bytes = bytes_of(b)};
    for (uint32_t i = 0; i < r->n_internalized; i++) {
        if (strcmp(r->internalized[i].buffer, b->name) != 0) continue;
        p.memory = r->internalized[i].memory;
        p.traffic = r->internalized[i].traffic;
    }
    for (uint32_t i = 0; i < r->n_remarks; i++) {
        const fusion_remark *m = &r->remarks[i];
        if (!is_about_home(m) || strcmp(m->buffer, b->name) != 0) continue;
        if (!p.why || strcmp(m->code, "ring_memory") == 0) p.why = m;
        if (strcmp(m->code, "internalization_possible") == 0 || strcmp(m->code, "not_internalized_accessor") == 0)
            p.instead = m;
    }
    return p;
}

static const char *reason_of(const struct place *p, const struct file_buffer *b)
{
    if (p->why) return p->why->text;
    return b->is_image ? "an image always has memory" : "no kernels that could be fused use it";
}

/* ---- properties ---- */

static const char *const properties[] = {"fusion_internal_memory",  "no_init",         "access_scope_work_item",
                                         "access_scope_work_group", "insert_barriers", "require_fusion"};

/* Those that a sentence on what is not done names. */
static json_object *properties_json(const fusion_remark *m)
{
    json_object *list = json_object_new_array();
    for (unsigned i = 0; m && i < sizeof properties / sizeof *properties; i++)
        if (strstr(m->text, properties[i])) json_object_array_add(list, json_object_new_string(properties[i]));
    return list;
}

/* ---- JSON ---- */

static json_object *buffer_json(const struct file_buffer *b, const fusion_report *r)
{
    struct place p = place_of(b, r);
    json_object *o = json_object_new_object();
    json_object_object_add(o, "name", json_object_new_string(b->name));
    json_object_object_add(o, "bytes", json_object_new_int64((int64_t)p.bytes));
    json_object_object_add(o, "memory", json_object_new_string(p.memory));
    json_object_object_add(o, "saved", json_object_new_int64((int64_t)p.traffic));
    json_object_object_add(o, "code", json_object_new_string(p.why ? p.why->code : ""));
    json_object_object_add(o, "node", json_object_new_string(p.why ? p.why->node : ""));
    json_object_object_add(o, "reason", json_object_new_string(reason_of(&p, b)));
    json_object_object_add(o, "properties", properties_json(p.instead));
    return o;
}

/* The launch that begins with the node, from 1 on; 0: none does. */
static uint32_t launch_of(const fusion_exec *e, const char *node)
{
    const fusion_report *r = fusion_exec_report(e);
    for (uint32_t i = 0; i < r->n_groups; i++)
        if (r->groups[i].n_nodes && strcmp(fusion_exec_node_name(e, r->groups[i].nodes[0]), node) == 0) return i + 1;
    return 0;
}

static json_object *cut_json(const fusion_exec *e, const fusion_remark *m)
{
    json_object *o = json_object_new_object();
    json_object_object_add(o, "code", json_object_new_string(m->code));
    json_object_object_add(o, "node", json_object_new_string(m->node));
    json_object_object_add(o, "launch", json_object_new_int64(launch_of(e, m->node)));
    json_object_object_add(o, "buffer", json_object_new_string(m->buffer));
    json_object_object_add(o, "reason", json_object_new_string(m->text));
    json_object_object_add(o, "properties", properties_json(m));
    return o;
}

static json_object *kernel_json(const fusion_group *g)
{
    json_object *o = json_object_new_object();
    json_object_object_add(o, "kernel", json_object_new_string(g->kernel));
    json_object_object_add(o, "lanes", json_object_new_int64(g->lanes));
    json_object_object_add(o, "effort", json_object_new_string(g->effort));
    json_object_object_add(o, "tier", json_object_new_string(g->tier));
    if (g->ir) json_object_object_add(o, "ir", json_object_new_string(g->ir));
    if (g->assembly) json_object_object_add(o, "assembly", json_object_new_string(g->assembly));
    return o;
}

void explain_json(const struct loaded *l, const fusion_exec *exec)
{
    const fusion_report *r = fusion_exec_report(exec);
    json_object *json = report_json(exec), *buffers = json_object_new_array(), *cuts = json_object_new_array(),
                *kernels = json_object_new_array();
    for (uint32_t i = 0; i < l->file->n_buffers; i++)
        json_object_array_add(buffers, buffer_json(&l->file->buffers[i], r));
    for (uint32_t i = 0; i < r->n_remarks; i++)
        if (is_cut(&r->remarks[i])) json_object_array_add(cuts, cut_json(exec, &r->remarks[i]));
    for (uint32_t i = 0; i < r->n_groups; i++) json_object_array_add(kernels, kernel_json(&r->groups[i]));
    json_object_object_add(json, "buffers", buffers);
    json_object_object_add(json, "cuts", cuts);
    json_object_object_add(json, "kernels", kernels);
    print_json(json);
    json_object_put(json);
}

/* ---- text ---- */

static void print_buffer(const struct file_buffer *b, const fusion_report *r)
{
    struct place p = place_of(b, r);
    char size[32];
    printf("  %s, %s, %s memory: %s\n", b->name, size_text(p.bytes, size), p.memory, reason_of(&p, b));
    if (p.instead && p.instead != p.why) printf("    %s\n", p.instead->text);
}

static void print_cuts(const fusion_exec *exec)
{
    const fusion_report *r = fusion_exec_report(exec);
    for (uint32_t i = 0; i < r->n_remarks; i++) {
        uint32_t launch = is_cut(&r->remarks[i]) ? launch_of(exec, r->remarks[i].node) : 0;
        if (!is_cut(&r->remarks[i])) continue;
        if (launch) {
            printf("  before launch %" PRIu32 ": %s\n", launch, r->remarks[i].text);
        } else {
            printf("  %s\n", r->remarks[i].text);
        }
    }
}

void explain_print(const struct loaded *l, const fusion_exec *exec, bool ir)
{
    const fusion_report *r = fusion_exec_report(exec);
    report_print_summary(exec);
    puts("buffers:");
    for (uint32_t i = 0; i < l->file->n_buffers; i++) print_buffer(&l->file->buffers[i], r);
    puts("cuts:");
    print_cuts(exec);
    for (uint32_t i = 0; i < r->n_remarks; i++)
        if (!is_cut(&r->remarks[i]) && !is_about_home(&r->remarks[i])) report_print_remark(&r->remarks[i]);
    for (uint32_t i = 0; i < r->n_groups; i++) {
        if (ir && r->groups[i].ir) printf("\n// launch %" PRIu32 "\n%s", i + 1, r->groups[i].ir);
        if (r->groups[i].assembly) printf("\n# assembly of launch %" PRIu32 "\n%s", i + 1, r->groups[i].assembly);
    }
}
