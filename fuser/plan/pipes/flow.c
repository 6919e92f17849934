/*
 * Whether packets of a pipe go from one kernel to another as if there were no pipe. Nobody else may use it in the
 * graph. Two ways: both are one work-item each, and the first puts packets round by round of a loop, which can go on
 * where the second takes one (merge/pull.c).
 */
#include "fuser/plan/pipes/flow.h"

#include <stdarg.h>
#include <stdio.h>

#include "fuser/access/guards.h"
#include "fuser/graph/range.h"
#include "fuser/merge/merge_state.h"
#include "fuser/passes/loops/equal_loops.h"
#include "fuser/plan/pipes/at_once.h"

enum { MOST_READS = 4 };

struct look {
    const struct plan_facts *facts;
    const struct id_mapping *mapping;
    const struct plan_use *first, *second;
    const struct access_summary *puts, *takes;
    struct pipe_flow *out;
};

static const char *node_name(const struct look *l, const struct plan_use *use)
{
    return l->facts->graph->nodes[use->node].name;
}

static bool in_the_way(const struct look *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool in_the_way(const struct look *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(l->out->why, sizeof l->out->why, format, args);
    va_end(args);
    return false;
}

/* ---- who uses it ---- */

static bool has_end(const struct look *l, const struct plan_use *use, const struct access_summary *s, bool puts)
{
    if (s->packets_unknown)
        return in_the_way(l, "%.100s does more with it in line %u than to put and take single packets",
                          node_name(l, use), s->packets_line);
    for (uint32_t i = 0; i < s->n_packets; i++)
        if (s->packets[i].puts != puts)
            return in_the_way(l,
                              puts ? "%.100s takes packets in line %u, and comes before who puts them"
                                   : "%.100s puts packets, too, in line %u",
                              node_name(l, use), s->packets[i].site.line);
    if (!s->n_packets) return in_the_way(l, "%.100s moves no packets", node_name(l, use));
    return true;
}

static bool is_between_two(const struct look *l)
{
    const uint32_t *start = &l->facts->buffer_uses_start[l->first->buffer];
    if (start[1] - start[0] == 2) return true;
    return in_the_way(l, "%u kernels of the graph use it, so that packets of one may be taken by another",
                      start[1] - start[0]);
}

static bool run_as_one(const struct look *l, const struct plan_context *ctx)
{
    if (!ctx->options->device.is_gpu) return true;
    return in_the_way(l, "on device %.60s packets stay in memory", ctx->options->device.name);
}

/* ---- equally many for each work-item ---- */

static bool run_in_one_order(const struct look *l)
{
    const struct plan_facts *f = l->facts;
    const struct nd_range *a = &f->nodes[l->first->node].range, *b = &f->nodes[l->second->node].range;
    if (range_same(a, b) && (a->dims == 1 || !range_has_other_local(a, b))) return true;
    return in_the_way(l, "they do not have the same work-items in the same order");
}

/* Who comes to the one comes to the other. */
static bool implies(const struct look *l, const struct plan_use *from, const struct access_packet *there,
                    const struct plan_use *to, const struct access_packet *here)
{
    struct launched_access a = id_mapping_access(l->mapping, from, &there->site);
    struct launched_access b = id_mapping_access(l->mapping, to, &here->site);
    return guards_let_pass(&b, 1, &a, NULL);
}

static bool are_pairs(const struct look *l)
{
    char puts[300], takes[300];
    if (l->puts->n_packets != l->takes->n_packets)
        return in_the_way(l, "%.100s puts %u packets, and %.100s takes %u", node_name(l, l->first), l->puts->n_packets,
                          node_name(l, l->second), l->takes->n_packets);
    for (uint32_t i = 0; i < l->puts->n_packets; i++) {
        const struct access_packet *put = &l->puts->packets[i], *take = &l->takes->packets[i];
        plan_line_text(&l->facts->graph->nodes[l->first->node], put->site.line, puts, sizeof puts);
        plan_line_text(&l->facts->graph->nodes[l->second->node], take->site.line, takes, sizeof takes);
        if (put->site.type != take->site.type)
            return in_the_way(l, "%.100s takes packets as another type than %.100s puts", takes, puts);
        if (!implies(l, l->first, put, l->second, take) || !implies(l, l->second, take, l->first, put))
            return in_the_way(
                l,
                "that a work-item puts a packet in %.100s where it takes one in %.100s, and only then, is "
                "not proved",
                puts, takes);
    }
    return true;
}

static bool each_waits(const struct access_summary *s)
{
    for (uint32_t i = 0; i < s->n_packets; i++)
        if (!s->packets[i].waits) return false;
    return true;
}

/* All packets fit into the pipe, or those who put them would wait for those who take them. */
static bool have_room(const struct look *l)
{
    const struct access_packet *put = &l->puts->packets[0];
    const struct ir_module *module = l->facts->nodes[l->first->node].access->kernel->module;
    uint64_t items = range_items(&l->facts->nodes[l->first->node].range);
    uint64_t capacity = l->facts->graph->buffers[l->first->buffer].bytes / ir_type_size(module, put->site.type), most;
    if (__builtin_mul_overflow(items, (uint64_t)l->puts->n_packets, &most)) most = UINT64_MAX;
    if (most <= capacity || (each_waits(l->puts) && each_waits(l->takes) &&
                             nodes_may_run_at_once(l->facts, l->first->node, l->second->node)))
        return true;
    return in_the_way(l, "%llu packets may be put and %llu fit, and the kernels do not wait for each other",
                      (unsigned long long)most, (unsigned long long)capacity);
}

static bool can_be_registers(const struct look *l)
{
    if (l->puts->n_packets > FUSE_MOST_PACKETS)
        return in_the_way(l, "each work-item puts more than %d packets", FUSE_MOST_PACKETS);
    return run_in_one_order(l) && are_pairs(l) && have_room(l);
}

/* ---- loops of single work-items ---- */

static bool all_wait(const struct look *l, const struct plan_use *use, const struct access_summary *s)
{
    for (uint32_t i = 0; i < s->n_packets; i++)
        if (!s->packets[i].waits)
            return in_the_way(l, "in line %u %.100s does not wait for %s, but goes on without", s->packets[i].site.line,
                              node_name(l, use), s->packets[i].puts ? "room" : "a packet");
    return true;
}

static const struct ir_inst *loop_around(const struct ir_inst *inst)
{
    const struct ir_inst *outer = inst->parent->parent;
    while (outer && outer->op != IR_OP_LOOP) outer = outer->parent->parent;
    return outer;
}

static bool puts_by_rounds(const struct look *l)
{
    const struct access_packet *put = &l->puts->packets[0];
    struct tested_loop loop;
    const char *name = node_name(l, l->first);
    if (l->puts->n_packets > 1)
        return in_the_way(l, "%.100s puts packets in several places, lines %u and %u", name, put->site.line,
                          l->puts->packets[1].site.line);
    if (!put->loop)
        return in_the_way(l, "%.100s puts one packet, and %.100s takes others in a loop", name,
                          node_name(l, l->second));
    if (loop_around(put->loop))
        return in_the_way(l, "%.100s puts packets in line %u in a loop inside of another one", name, put->site.line);
    if (!tested_loop_read((struct ir_inst *)put->loop, &loop))
        return in_the_way(l, "the loop in which %.100s puts packets, line %u, is left in several places", name,
                          put->site.line);
    if (l->takes->n_packets > MOST_READS)
        return in_the_way(l, "%.100s takes packets in more than %d places", node_name(l, l->second), MOST_READS);
    return true;
}

static bool can_be_pulled(const struct look *l)
{
    const struct plan_facts *f = l->facts;
    const struct nd_range *a = &f->nodes[l->first->node].range, *b = &f->nodes[l->second->node].range;
    if (range_items(a) != 1 || range_items(b) != 1)
        return in_the_way(l, "packets are put or taken in loops, by more than one work-item");
    if (!all_wait(l, l->first, l->puts) || !all_wait(l, l->second, l->takes)) return false;
    if (!nodes_may_run_at_once(f, l->first->node, l->second->node))
        return in_the_way(l, "%.100s depends on %.100s otherwise, too, so that they cannot run at the same time",
                          node_name(l, l->second), node_name(l, l->first));
    return puts_by_rounds(l);
}

/* ---- the look ---- */

static bool is_in_loop(const struct access_summary *s)
{
    for (uint32_t i = 0; i < s->n_packets; i++)
        if (s->packets[i].loop) return true;
    return false;
}

struct pipe_flow pipe_flow_find(const struct plan_context *ctx, const struct id_mapping *m,
                                const struct plan_use *first, const struct plan_use *second)
{
    struct pipe_flow out = {.kind = FUSE_FLOW_NONE};
    const struct look l = {.facts = m->facts,
                           .mapping = m,
                           .first = first,
                           .second = second,
                           .puts = id_mapping_summary(m, first),
                           .takes = id_mapping_summary(m, second),
                           .out = &out};
    if (!run_as_one(&l, ctx) || !has_end(&l, first, l.puts, true) || !has_end(&l, second, l.takes, false) ||
        !is_between_two(&l))
        return out;
    if (is_in_loop(l.puts) || is_in_loop(l.takes)) {
        if (can_be_pulled(&l)) out.kind = FUSE_FLOW_PULLED;
        return out;
    }
    if (can_be_registers(&l)) out.kind = FUSE_FLOW_REGISTERS;
    return out;
}
