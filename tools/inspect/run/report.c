/* An executable's report as JSON and as text. */
#include "tools/inspect/run/report.h"
#include "tools/inspect/terminal/numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_object *json_text(const char *text)
{
    return json_object_new_string(text ? text : "");
}

static json_object *json_ms(double ms)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", ms);
    return json_object_new_double_s(ms, text);
}

static json_object *nodes_json(const fusion_exec *e, const fusion_node *nodes, uint32_t n)
{
    json_object *list = json_object_new_array();
    for (uint32_t i = 0; i < n; i++) json_object_array_add(list, json_text(fusion_exec_node_name(e, nodes[i])));
    return list;
}

static json_object *remark_json(const fusion_remark *r)
{
    json_object *o = json_object_new_object();
    json_object_object_add(o, "code", json_text(r->code));
    json_object_object_add(o, "node", json_text(r->node));
    json_object_object_add(o, "buffer", json_text(r->buffer));
    json_object_object_add(o, "text", json_text(r->text));
    return o;
}

json_object *report_json(const fusion_exec *e)
{
    const fusion_report *r = fusion_exec_report(e);
    json_object *o = json_object_new_object(), *groups = json_object_new_array(),
                *internalized = json_object_new_array(), *remarks = json_object_new_array(),
                *tiers = json_object_new_array(), *predicted = json_object_new_array();
    for (uint32_t i = 0; i < r->n_groups; i++)
        json_object_array_add(groups, nodes_json(e, r->groups[i].nodes, r->groups[i].n_nodes));
    for (uint32_t i = 0; i < r->n_groups; i++) json_object_array_add(tiers, json_text(r->groups[i].tier));
    for (uint32_t i = 0; i < r->n_groups && r->predicted_ns; i++)
        json_object_array_add(predicted, json_ms((double)r->predicted_ns[i] / 1e6));
    for (uint32_t i = 0; i < r->n_internalized; i++)
        json_object_array_add(internalized, json_text(r->internalized[i].buffer));
    for (uint32_t i = 0; i < r->n_remarks; i++) json_object_array_add(remarks, remark_json(&r->remarks[i]));
    json_object_object_add(o, "launches", json_object_new_int64(r->launches));
    json_object_object_add(o, "groups", groups);
    json_object_object_add(o, "tiers", tiers);
    json_object_object_add(o, "predicted_ms", predicted);
    json_object_object_add(o, "internalized", internalized);
    json_object_object_add(o, "bytes_fused", json_object_new_int64((int64_t)r->bytes_fused));
    json_object_object_add(o, "bytes_unfused", json_object_new_int64((int64_t)r->bytes_unfused));
    json_object_object_add(o, "compile_ms", json_ms(r->compile_ms));
    json_object_object_add(o, "cache", json_text(r->cache));
    json_object_object_add(o, "remarks", remarks);
    json_object_object_add(o, "order", nodes_json(e, r->order, r->n_order));
    return o;
}

static bool is_quick(const fusion_group *g)
{
    return strcmp(g->tier, "quick") == 0;
}

void report_print_tiers(fusion_exec *e)
{
    const fusion_report *r = fusion_exec_report(e);
    bool *was_quick = calloc(r->n_groups + 1, sizeof *was_quick);
    for (uint32_t i = 0; was_quick && i < r->n_groups; i++) was_quick[i] = is_quick(&r->groups[i]);
    bool updated = was_quick && fusion_exec_update_report(e) == FUSION_SUCCESS;
    for (uint32_t i = 0; updated && i < r->n_groups; i++) {
        const fusion_group *g = &r->groups[i];
        if (!was_quick[i]) continue;
        printf("launch %" PRIu32 " was interpreted at first", i + 1);
        if (is_quick(g))
            puts("; its code is still being made");
        else if (g->reason)
            printf(" and stays so: %s\n", g->reason);
        else
            printf("; now it is code, effort: %s (%" PRIu32 " work-items at once)\n", g->effort, g->lanes);
    }
    free(was_quick);
}

void report_print_summary(const fusion_exec *e)
{
    const fusion_report *r = fusion_exec_report(e);
    char fused[32], unfused[32], predicted[NUMBER_TEXT];
    printf("linear order:");
    for (uint32_t i = 0; i < r->n_order; i++) printf(" %s", fusion_exec_node_name(e, r->order[i]));
    printf("\nlaunches: %" PRIu32 "\n", r->launches);
    for (uint32_t i = 0; i < r->n_groups; i++) {
        const fusion_group *g = &r->groups[i];
        printf("  %" PRIu32 ". %s (", i + 1, g->kernel);
        if (g->lanes)
            printf("%" PRIu32 " work-items at once", g->lanes);
        else
            printf("interpreted");
        if (*g->effort && strcmp(g->effort, "full") != 0) printf(", effort: %s", g->effort);
        if (is_quick(g)) printf(", until there is code");
        if (r->predicted_ns && r->predicted_ns[i]) printf(", some %s", time_text(r->predicted_ns[i], predicted));
        printf("):");
        for (uint32_t k = 0; k < g->n_nodes; k++) printf(" %s", fusion_exec_node_name(e, g->nodes[k]));
        putchar('\n');
    }
    printf("internalized:");
    for (uint32_t i = 0; i < r->n_internalized; i++)
        printf(" %s (%s)", r->internalized[i].buffer, r->internalized[i].memory);
    printf("%s\nglobal memory traffic: %s unfused, %s now\n", r->n_internalized ? "" : " none",
           size_text(r->bytes_unfused, unfused), size_text(r->bytes_fused, fused));
    printf("compiled in %.1f ms, cache: %s\n", r->compile_ms, r->cache);
}

void report_print_remark(const fusion_remark *m)
{
    printf("remark %s%s%s%s%s: %s\n", m->code, *m->node ? ", node " : "", m->node, *m->buffer ? ", buffer " : "",
           m->buffer, m->text);
}

void report_print(const fusion_exec *e)
{
    const fusion_report *r = fusion_exec_report(e);
    report_print_summary(e);
    for (uint32_t i = 0; i < r->n_remarks; i++) report_print_remark(&r->remarks[i]);
}
