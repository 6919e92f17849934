/* The picture of an executable: groups as boxes, buffers between kernels, internalized ones dashed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/text.h"
#include "client/exec/exec.h"

static void print_size(FILE *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1000 && unit < 4; unit++) value /= 1000;
    fprintf(out, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* A line of so many columns ends at this blank, as the next word does not fit any more. */
static bool ends_line(const char *text, size_t column, size_t width)
{
    return *text == ' ' && column + strcspn(text + 1, " ") >= width;
}

/* A text in lines of some words, as part of a label. */
static void print_wrapped(FILE *out, const char *text)
{
    enum { WIDTH = 56 };
    for (size_t column = 0; *text; text++, column++) {
        bool breaks = ends_line(text, column, WIDTH);
        if (breaks) column = 0;
        if (*text == '"' || *text == '\\') fputc('\\', out);
        if (breaks)
            fputs("\\n", out);
        else
            fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
}

/* Remarks about the node, or buffer, are shown where the pointer rests. */
static void print_tooltip(FILE *out, const fusion_exec *e, const char *node, const char *buffer)
{
    bool some = false;
    for (uint32_t i = 0; i < e->report.n_remarks; i++) {
        const fusion_remark *m = &e->report.remarks[i];
        const char *wanted = buffer ? buffer : node;
        if ((!buffer && *m->buffer) || strcmp(buffer ? m->buffer : m->node, wanted) != 0) continue;
        fputs(some ? "\\n" : ", tooltip=\"", out);
        print_wrapped(out, m->text);
        some = true;
    }
    if (some) fputc('"', out);
}

static void print_sizes(FILE *out, const uint64_t sizes[3], uint32_t dims)
{
    for (uint32_t d = 0; d < dims; d++) fprintf(out, "%s%" PRIu64, d ? " x " : "", sizes[d]);
}

static void print_node(FILE *out, const fusion_exec *e, uint32_t node)
{
    const struct exec_node *n = &e->nodes[node];
    fprintf(out, "  node%" PRIu32 " [shape=%s, label=\"", node, n->kind == PROTO_NODE_KERNEL ? "box" : "ellipse");
    print_wrapped(out, e->node_names[node]);
    if (n->kind == PROTO_NODE_KERNEL) {
        fputs("\\n", out);
        print_sizes(out, n->global, n->dims);
        if (n->local[0]) fputs(" by ", out);
        if (n->local[0]) print_sizes(out, n->local, n->dims);
    }
    fputc('"', out);
    print_tooltip(out, e, e->node_names[node], NULL);
    fputs("];\n", out);
}

/* Its memory is a ring, for several launches. */
static bool is_ring(const fusion_exec *e, uint32_t slot)
{
    for (uint32_t i = 0; i < e->report.n_internalized; i++)
        if (strcmp(e->report.internalized[i].buffer, e->slot_names[slot]) == 0)
            return strcmp(e->report.internalized[i].memory, "ring") == 0;
    return false;
}

static void print_slot(FILE *out, const fusion_exec *e, uint32_t slot)
{
    static const char memory[] = "shape=cylinder, style=filled, fillcolor=\"#f4ecd8\"";
    static const char internal[] = "shape=note, style=dashed, color=gray50, fontcolor=gray35";
    fprintf(out, "  slot%" PRIu32 " [fontsize=10, %s, label=\"", slot, e->slot_needed[slot] ? memory : internal);
    for (const char *c = e->slot_names[slot]; *c; c++)
        fputc(*c == '"' || *c == '\\' || (unsigned char)*c < 0x20 ? '_' : *c, out);
    fputs("\\n", out);
    print_size(out, e->slot_bytes[slot]);
    if (!e->slot_needed[slot]) fputs(is_ring(e, slot) ? ", a ring of memory" : ", no memory", out);
    if (e->slot_saved[slot]) {
        fputs("\\nsaves ", out);
        print_size(out, e->slot_saved[slot]);
        fputs(" of traffic", out);
    }
    fputc('"', out);
    print_tooltip(out, e, NULL, e->slot_names[slot]);
    fputs("];\n", out);
}

/* The same in a label of HTML's kind, in which parts have colours; names break behind an underscore. */
static void print_html(FILE *out, const char *text)
{
    enum { WIDTH = 44 };
    for (size_t column = 0; *text; text++, column++) {
        bool breaks = ends_line(text, column, WIDTH) || (*text == '_' && column >= WIDTH);
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        default: fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
        }
        if (!breaks) continue;
        fputs("<br/>", out);
        column = 0;
    }
}

/* Why a launch begins with the node, not with one before it; NULL: nothing says so. */
static const char *find_cut(const fusion_exec *e, const fusion_group *group)
{
    static const char cut[] = "not_fused_";
    const char *node = group->n_nodes ? fusion_exec_node_name(e, group->nodes[0]) : NULL;
    for (uint32_t i = 0; i < e->report.n_remarks && node; i++) {
        const fusion_remark *m = &e->report.remarks[i];
        if (strncmp(m->code, cut, sizeof cut - 1) == 0 && strcmp(m->node, node) == 0) return m->text;
    }
    return NULL;
}

/* Name, bytes and cut: a node beside the first kernel, where no line runs through it, as lines do through the label of
   a cluster. */
static void print_title(FILE *out, const fusion_exec *e, uint32_t index)
{
    const fusion_group *group = &e->report.groups[index];
    const char *cut = find_cut(e, group);
    fprintf(out, "  title%" PRIu32 " [shape=plaintext, fontsize=11, label=<launch %" PRIu32 ": ", index, index + 1);
    print_html(out, group->kernel);
    fputs("<br/>", out);
    print_size(out, group->bytes);
    fputs(" of traffic", out);
    if (cut) {
        fputs("<font point-size=\"9\" color=\"#9c3a1c\"><br/>cut before it:<br/>", out);
        print_html(out, cut);
        fputs("</font>", out);
    }
    fputs(">];\n", out);
    if (group->n_nodes && group->nodes[0] < e->n_nodes)
        fprintf(out, "  { rank=same; title%" PRIu32 "; node%" PRIu32 "; }\n", index, group->nodes[0]);
}

/* An internalized buffer lies inside the launch that keeps it. printed: by slot. */
static void print_group_slots(FILE *out, const fusion_exec *e, const fusion_group *group, bool *printed)
{
    for (uint32_t i = 0; i < group->n_nodes; i++) {
        const struct exec_node *n = group->nodes[i] < e->n_nodes ? &e->nodes[group->nodes[i]] : NULL;
        for (uint32_t a = 0; n && a < n->n_args; a++) {
            uint32_t slot = n->args[a].index;
            if (n->args[a].kind != PROTO_ARG_SLOT || e->slot_needed[slot] || is_ring(e, slot) || printed[slot])
                continue;
            print_slot(out, e, slot);
            printed[slot] = true;
        }
    }
}

static void print_group(FILE *out, const fusion_exec *e, uint32_t index, bool *drawn, bool *printed)
{
    const fusion_group *group = &e->report.groups[index];
    fprintf(out,
            "  subgraph cluster%" PRIu32
            " {\n  style=\"rounded,filled\"; color=\"#4a7bb5\"; fillcolor=\"#eaf1fa\"; label=\"\";\n",
            index);
    for (uint32_t i = 0; i < group->n_nodes; i++) {
        if (group->nodes[i] >= e->n_nodes) continue;
        print_node(out, e, group->nodes[i]);
        drawn[group->nodes[i]] = true;
    }
    print_group_slots(out, e, group, printed);
    print_title(out, e, index);
    fputs("  }\n", out);
}

/* drawn: by node, then by slot. */
static void print_nodes(FILE *out, const fusion_exec *e, bool *drawn)
{
    for (uint32_t g = 0; g < e->report.n_groups; g++) print_group(out, e, g, drawn, drawn + e->n_nodes);
    for (uint32_t i = 0; i < e->n_nodes; i++)
        if (!drawn[i]) print_node(out, e, i);
    for (uint32_t s = 0; s < e->n_slots; s++)
        if (e->slot_needed[s] || is_ring(e, s)) print_slot(out, e, s);
}

static void print_edge(FILE *out, const fusion_exec *e, uint32_t slot, uint32_t node, bool read)
{
    const char *style = e->slot_needed[slot] ? "" : " [style=dashed, color=gray50]";
    if (read)
        fprintf(out, "  slot%" PRIu32 " -> node%" PRIu32 "%s;\n", slot, node, style);
    else
        fprintf(out, "  node%" PRIu32 " -> slot%" PRIu32 "%s;\n", node, slot, style);
}

static void print_edges(FILE *out, const fusion_exec *e)
{
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const struct exec_node *n = &e->nodes[i];
        for (uint32_t a = 0; a < n->n_args; a++) {
            if (n->args[a].kind != PROTO_ARG_SLOT) continue;
            if (n->args[a].access & PROTO_ACCESS_READ) print_edge(out, e, n->args[a].index, i, true);
            if (n->args[a].access & PROTO_ACCESS_WRITE) print_edge(out, e, n->args[a].index, i, false);
        }
        if (n->kind == PROTO_NODE_COPY) print_edge(out, e, n->from, i, true);
        if (n->kind == PROTO_NODE_COPY || n->kind == PROTO_NODE_FILL) print_edge(out, e, n->to, i, false);
        for (uint32_t d = 0; d < n->n_deps; d++)
            if (n->deps[d] < e->n_nodes)
                fprintf(out, "  node%" PRIu32 " -> node%" PRIu32 " [style=dotted, constraint=true];\n", n->deps[d], i);
    }
}

static const char legend[] =
    "  subgraph cluster_legend {\n  label=\"what is what\"; fontsize=10; color=gray70; node [fontsize=9];\n"
    "  legend_kernel [shape=box, label=\"kernel\\nits range by its work-groups\"];\n"
    "  legend_other [shape=ellipse, label=\"copy, fill, host task\\nbehind it by depends_on\"];\n"
    "  legend_memory [shape=cylinder, style=filled, fillcolor=\"#f4ecd8\", label=\"memory\\nwhich it writes\"];\n"
    "  legend_internal [shape=note, style=dashed, color=gray50, fontcolor=gray35, label=\"written, and\\nkept out of "
    "memory\"];\n"
    "  legend_kernel -> legend_memory;\n"
    "  legend_kernel -> legend_internal [style=dashed, color=gray50];\n"
    "  legend_kernel -> legend_other [style=dotted];\n  }\n";

static void print_graph(FILE *out, const fusion_exec *e, bool *drawn)
{
    fprintf(out,
            "digraph fusion {\n  rankdir=TB; fontname=\"sans-serif\"; node [fontname=\"sans-serif\"]; edge "
            "[fontname=\"sans-serif\"]; labelloc=t;\n  "
            "label=\"%" PRIu32 " nodes, %" PRIu32 " launch%s; global memory traffic ",
            e->n_nodes, e->report.launches, e->report.launches == 1 ? "" : "es");
    print_size(out, e->report.bytes_unfused);
    fputs(" unfused, ", out);
    print_size(out, e->report.bytes_fused);
    fputs(" now, ", out);
    print_size(out, e->report.bytes_unfused - e->report.bytes_fused);
    fputs(" saved\";\n", out);
    print_nodes(out, e, drawn);
    print_edges(out, e);
    fputs(legend, out);
    fputs("}\n", out);
}

fusion_status fusion_exec_dot(const fusion_exec *e, char **dot)
{
    struct client_text text;
    bool *drawn = calloc(e->n_nodes + e->n_slots + 1, sizeof *drawn);
    if (!drawn) return client_no_memory("picture");
    fusion_status status = client_text_open(&text, "picture");
    if (status == FUSION_SUCCESS) {
        print_graph(text.file, e, drawn);
        status = client_text_close(&text, "picture", dot);
    }
    free(drawn);
    return status;
}
