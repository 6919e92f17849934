/* Drives a run: checks the call, makes the machine, goes over the work-groups in linear order. */
#include "ir/interp/interp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp/barrier.h"
#include "ir/interp/bind.h"
#include "ir/interp/code.h"
#include "ir/interp/exec.h"
#include "ir/interp/machine.h"
#include "ir/interp/memory.h"
#include "ir/interp/pipe.h"
#include "ir/interp/report.h"
#include "ir/interp/shadow.h"

enum { MAX_GROUP_VOLUME = 65536, DEFAULT_SUB_GROUP_SIZE = 8, DEFAULT_FINDINGS = 16 };

/* ---- the call ---- */

static bool refuse_call(struct machine *m, enum interp_finding_kind kind, const char *why)
{
    interp_report(m, kind, NULL, NULL, "%s", why);
    return false;
}

static bool check_dimension(struct machine *m, int d)
{
    const struct nd_range *r = &m->range;
    uint64_t required = m->kernel->work_group_size[d];
    if (r->local[d] == 0) return refuse_call(m, INTERP_INVALID, "the local size is 0 in one dimension");
    if ((uint32_t)d >= r->dims && (r->global[d] != 1 || r->offset[d] != 0 || r->local[d] != 1))
        return refuse_call(m, INTERP_INVALID, "a dimension that is not used must have size 1, offset 0, local size 1");
    if (required && r->local[d] != required) {
        interp_report(m, INTERP_INVALID, NULL, NULL,
                      "the local size is %" PRIu64 " in dimension %d, but the kernel requires %" PRIu64, r->local[d], d,
                      required);
        return false;
    }
    return true;
}

static bool check_range(struct machine *m)
{
    if (!m->kernel->body) return refuse_call(m, INTERP_INVALID, "the kernel is imported and has no body");
    if (!m->args && m->kernel->n_params)
        return refuse_call(m, INTERP_INVALID, "the kernel has parameters, but there are no arguments");
    if (m->range.dims < 1 || m->range.dims > 3)
        return refuse_call(m, INTERP_INVALID, "the range must have 1 to 3 dimensions");
    if (m->kernel->assumes & IR_ASSUME_SMALL_IDS && !nd_range_is_small(&m->range))
        return refuse_call(m, INTERP_INVALID, "the kernel assumes sizes and ids below 2^31");
    const struct nd_range alike = m->kernel->assumes & IR_ASSUME_LAST_GROUP ? nd_range_of_others(&m->range) : m->range;
    if (m->kernel->assumes & IR_ASSUME_PAIRED_GROUPS && !nd_range_has_groups_by(&alike, 2))
        return refuse_call(m, INTERP_INVALID, "the kernel assumes an even number of work-groups in x");
    if (m->kernel->assumes & IR_ASSUME_LANE_GROUPS && !nd_range_has_groups_by(&alike, IR_LANE_GROUPS))
        return refuse_call(m, INTERP_INVALID, "the kernel assumes a multiple of 16 work-groups in x");
    uint64_t volume = 1, total = 1;
    for (int d = 0; d < 3; d++) {
        if (!check_dimension(m, d)) return false;
        if (m->kernel->assumes & IR_ASSUME_WHOLE_GROUPS && m->range.global[d] % m->range.local[d] != 0)
            return refuse_call(m, INTERP_INVALID, "the kernel assumes local sizes that divide global ones");
        m->n_groups[d] = m->range.global[d] / m->range.local[d] + (m->range.global[d] % m->range.local[d] != 0);
        if (__builtin_mul_overflow(volume, m->range.local[d], &volume) || volume > MAX_GROUP_VOLUME)
            return refuse_call(m, INTERP_LIMIT, "a work-group has more than 65536 work-items");
        if (__builtin_mul_overflow(total, m->n_groups[d], &total)) total = UINT64_MAX;
    }
    if (total > UINT32_MAX / volume - 1) return refuse_call(m, INTERP_LIMIT, "the range has more than 2^32 work-items");
    m->group_volume = (uint32_t)volume;
    return true;
}

static void take_options(struct machine *m, const struct interp_options *options)
{
    if (options) m->options = *options;
    if (!m->options.max_steps) m->options.max_steps = 1ull << 32;
    if (!m->options.max_findings) m->options.max_findings = DEFAULT_FINDINGS;
    uint32_t own = m->kernel->sub_group_size;
    m->sub_group_size = m->options.sub_group_size ? m->options.sub_group_size : DEFAULT_SUB_GROUP_SIZE;
    if (own != 0 && own < IR_SUB_GROUP_AUTOMATIC) m->sub_group_size = own;
}

static void prepare_machine(struct machine *m)
{
    m->entry = interp_code_build(&m->code, m->kernel);
    uint32_t params = 0;
    for (const struct code_function *f = m->entry; f; f = f->next)
        if (f->ir->n_params > params) params = f->ir->n_params;
    m->words = arena_alloc(m->arena, (m->code.most_words + 1) * sizeof *m->words);
    m->by_value = arena_alloc(m->arena, (params + 1) * sizeof *m->by_value);
    struct group *g = &m->group;
    uint32_t sub_groups = m->group_volume / m->sub_group_size + 1;
    g->items = arena_alloc(m->arena, m->group_volume * sizeof *g->items);
    g->party = arena_alloc(m->arena, m->group_volume * sizeof *g->party);
    g->sub_barrier_time = arena_alloc(m->arena, sub_groups * sizeof *g->sub_barrier_time);
}

static void finish_machine(struct machine *m)
{
    if (m->group.items)
        for (uint32_t i = 0; i < m->group_volume; i++) interp_item_clear(m, &m->group.items[i]);
    interp_shadow_free(m);
    if (!m->stopped) interp_pipe_finish(m);
    interp_memory_finish(&m->memory);
    interp_report_finish(m);
    arena_free(m->arena);
}

/* ---- groups ---- */

static void place_item(struct machine *m, uint32_t linear)
{
    struct group *g = &m->group;
    struct item *item = &g->items[linear];
    uint64_t rest = linear, number = 0, stride = 1;
    for (int d = 0; d < 3; d++) {
        item->local[d] = rest % g->size[d];
        item->global[d] = m->range.offset[d] + g->id[d] * m->range.local[d] + item->local[d];
        number += item->local[d] * stride;
        rest /= g->size[d];
        stride *= m->range.local[d];
    }
    item->linear = linear;
    item->number = (uint32_t)(g->index * m->group_volume + number);
    item->sub_group = linear / m->sub_group_size;
    item->sub_local = linear % m->sub_group_size;
}

static void place_group(struct machine *m, uint32_t index)
{
    struct group *g = &m->group;
    uint64_t rest = index;
    g->index = index;
    g->n_items = 1;
    for (int d = 0; d < 3; d++) {
        g->id[d] = rest % m->n_groups[d];
        rest /= m->n_groups[d];
        uint64_t left = m->range.global[d] - g->id[d] * m->range.local[d];
        g->size[d] = left < m->range.local[d] ? left : m->range.local[d];
        g->n_items *= (uint32_t)g->size[d];
    }
    g->n_sub_groups = (g->n_items + m->sub_group_size - 1) / m->sub_group_size;
    memset(g->barrier_time, 0, sizeof g->barrier_time);
    memset(g->sub_barrier_time, 0, g->n_sub_groups * sizeof *g->sub_barrier_time);
    for (uint32_t i = 0; i < g->n_items; i++) place_item(m, i);
    interp_bind_group(m);
}

static bool all_done(const struct group *g)
{
    for (uint32_t i = 0; i < g->n_items; i++)
        if (g->items[i].state != ITEM_DONE) return false;
    return true;
}

static void run_group(struct machine *m)
{
    struct group *g = &m->group;
    for (uint32_t i = 0; i < g->n_items && !m->stopped; i++)
        if (interp_item_start(m, &g->items[i])) interp_item_run(m, &g->items[i]);
    while (!m->stopped && !all_done(g)) {
        if (!interp_pass_barrier(m)) {
            interp_report_divergence(m);
            m->stopped = true;
        }
        for (uint32_t i = 0; i < g->n_items; i++) interp_item_run(m, &g->items[i]);
    }
}

static void run_groups(struct machine *m)
{
    uint32_t n = (uint32_t)(m->n_groups[0] * m->n_groups[1] * m->n_groups[2]);
    for (uint32_t i = 0; i < n && !m->stopped; i++) {
        place_group(m, i);
        run_group(m);
    }
}

int interp_run(const struct ir_function *kernel, const struct nd_range *range, const struct interp_arg *args,
               const struct interp_options *options, struct interp_result *result)
{
    memset(result, 0, sizeof *result);
    struct machine m = {
        .kernel = kernel, .module = kernel->module, .range = *range, .args = args, .result = result, .time = 1};
    m.arena = m.code.arena = arena_new();
    interp_memory_init(&m.memory);
    take_options(&m, options);
    bool ok = check_range(&m);
    if (ok) {
        prepare_machine(&m);
        ok = interp_bind(&m);
    }
    if (ok) run_groups(&m);
    result->completed = ok && !m.stopped;
    finish_machine(&m);
    return ok ? 0 : -1;
}

void interp_result_clear(struct interp_result *result)
{
    if (!result) return;
    free(result->findings);
    memset(result, 0, sizeof *result);
}
