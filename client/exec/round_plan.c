/* The plan of several rounds. It is made once, in a thread of the session, from what the executable was made of;
   whatever is in the way, rounds go one by one. */
#include "client/exec/round_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/exec/finalize.h"
#include "client/exec/source.h"
#include "client/module/pipe.h"
#include "client/session/request.h"
#include "proto/limits.h"

enum {
    MOST_ROUNDS = 8,
    MOST_NODES = 64, /* of all rounds: what is gained grows little behind that, and plans take longer */
    GAIN = 10,       /* a tenth of the time at least, by the cost model */
    BEHIND = -1000,  /* graphs that somebody waits for are finalized first */
};

static void drop(fusion_exec *e)
{
    fusion_future_destroy(e->rounds.future);
    fusion_exec_destroy(e->rounds.exec);
}

/* ---- the graph ---- */

/* "step" of the second round is "step@2". */
static bool rename_node(struct proto_node *n, uint32_t round)
{
    char name[PROTO_MAX_NAME + 1];
    snprintf(name, sizeof name, "%.*s@%" PRIu32, PROTO_MAX_NAME - 11, n->name, round);
    char *own = strdup(name);
    if (!own) return false;
    free(n->name);
    n->name = own;
    return true;
}

/* Nodes of one more round, which are taken. The rounds have values in common, so that a rebinding is for all. */
static bool add_round(struct proto_graph *all, struct proto_graph *round)
{
    const uint32_t number = all->n_nodes / round->n_nodes + 1;
    for (uint32_t i = 0; i < round->n_nodes; i++)
        if (!rename_node(&round->nodes[i], number)) return false;
    struct proto_node *nodes = reallocarray(all->nodes, all->n_nodes + round->n_nodes, sizeof *nodes);
    if (!nodes) return false;
    all->nodes = nodes;
    for (uint32_t i = 0; i < round->n_nodes; i++) {
        struct proto_node *n = &nodes[all->n_nodes + i];
        *n = round->nodes[i];
        for (uint32_t d = 0; d < n->n_deps; d++) n->deps[d] += all->n_nodes;
    }
    all->n_nodes += round->n_nodes;
    round->n_nodes = 0;
    return true;
}

static struct proto_graph *decode(const struct exec_source *s)
{
    struct error unused;
    return proto_graph_decode(s->graph, s->graph_size, &unused);
}

static struct proto_graph *repeat(const struct exec_source *s, uint32_t rounds)
{
    struct proto_graph *all = decode(s);
    for (uint32_t i = 1; i < rounds && all; i++) {
        struct proto_graph *round = decode(s);
        bool added = round && add_round(all, round);
        if (round) proto_graph_free(round);
        if (added) continue;
        proto_graph_free(all);
        all = NULL;
    }
    return all;
}

static bool take_values(fusion_graph *g, const struct exec_source *s)
{
    for (uint32_t i = 0; i < s->n_values; i++) {
        g->values[i] = s->values[i];
        g->values[i].data = malloc(s->values[i].size + 1);
        if (!g->values[i].data) return false;
        memcpy(g->values[i].data, s->values[i].data, s->values[i].size);
    }
    return true;
}

/* As fusion_graph_set_outputs() had them. */
static bool take_outputs(fusion_graph *g)
{
    const struct proto_graph *w = &g->wire;
    g->outputs.memory = calloc(w->n_slots + 1, sizeof *g->outputs.memory);
    for (uint32_t i = 0; i < w->n_slots && g->outputs.memory; i++) {
        g->outputs.declared |= w->slots[i].unread;
        if (!w->slots[i].unread) g->outputs.memory[g->outputs.n++] = g->slot_memory[i];
    }
    return g->outputs.memory;
}

static fusion_graph *graph_of_rounds(const fusion_exec *e, uint32_t rounds)
{
    const struct exec_source *s = e->source;
    struct proto_graph *wire = repeat(s, rounds);
    fusion_graph *g = wire ? client_graph_of_wire(e->session, wire) : NULL;
    if (!g) return NULL;
    memcpy(g->modules, s->modules, s->n_modules * sizeof *g->modules);
    memcpy(g->slot_memory, e->slot_memory, e->n_slots * sizeof *g->slot_memory);
    if (take_values(g, s) && take_outputs(g)) return g;
    client_graph_free(g);
    return NULL;
}

/* ---- making it ---- */

/* Not where nothing is fused, or looked at between nodes, or where a round leaves packets to the next. */
static uint32_t rounds_for(const fusion_exec *e)
{
    const fusion_finalize_options *o = &e->source->options;
    uint32_t nodes = e->report.n_order, rounds = MOST_ROUNDS;
    if (!e->report.n_order || o->mode == FUSION_NONE || o->debug || strcmp(o->device, "cpu") != 0 || e->n_actions ||
        client_pipes_any(e->session, e->source->modules, e->source->n_modules))
        return 0;
    while (rounds * nodes > MOST_NODES) rounds /= 2;
    return rounds > 1 ? rounds : 0;
}

/* What is only known of one round's nodes is proved, or not fused: nobody vouches for several. The handle has its code
   from the beginning, so that it is never slower than what there is. */
static void begin(fusion_exec *e)
{
    struct exec_rounds *plan = &e->rounds;
    fusion_finalize_options options = e->source->options;
    plan->begun = true;
    plan->drop = drop;
    plan->n = rounds_for(e);
    fusion_graph *g = plan->n ? graph_of_rounds(e, plan->n) : NULL;
    if (!g) return;
    options.mode = FUSION_ENABLE;
    options.tier = FUSION_TIER_COMPILED;
    options.keep_ir = options.keep_assembly = options.keep_tuning = false;
    client_finalize_later(g, &options, BEHIND, &plan->future);
}

/* ---- whether it pays ---- */

/* 0: not known. */
static uint64_t predicted_ns(const fusion_exec *e)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < e->report.n_groups; i++) {
        if (!e->report.predicted_ns[i]) return 0;
        all += e->report.predicted_ns[i];
    }
    return all;
}

static bool pays(const fusion_exec *one, const fusion_exec *several, uint32_t rounds)
{
    uint64_t each = predicted_ns(one), all = predicted_ns(several);
    return each && all && !several->on_gpu && all <= rounds * each / 100 * (100 - GAIN);
}

static void settle(fusion_exec *e, int timeout_ms)
{
    struct exec_rounds *plan = &e->rounds;
    fusion_exec *made = NULL;
    fusion_error before = *fusion_last_error(); /* that there is no such plan is no error of the caller's */
    fusion_status status = fusion_future_wait(plan->future, timeout_ms, &made);
    if (status != FUSION_TIMEOUT) {
        fusion_future_destroy(plan->future);
        plan->future = NULL;
    }
    if (made && pays(e, made, plan->n))
        plan->exec = made;
    else
        fusion_exec_destroy(made);
    client_error(before.status, before.object, "%s", before.reason);
}

/* Who waits for the plan holds the lock; false: longer than that. What is left of the time comes back. */
static bool lock_for(struct exec_rounds *plan, int *timeout_ms)
{
    if (*timeout_ms == 0) return pthread_mutex_trylock(&plan->lock) == 0;
    if (*timeout_ms < 0) return pthread_mutex_lock(&plan->lock) == 0;
    const uint64_t until = client_now_ms() + (uint64_t)*timeout_ms;
    const struct timespec at = client_time_at(until);
    if (pthread_mutex_clocklock(&plan->lock, CLOCK_MONOTONIC, &at) != 0) return false;
    const uint64_t now = client_now_ms();
    *timeout_ms = now < until ? (int)(until - now) : 0;
    return true;
}

fusion_exec *client_round_plan_get(fusion_exec *e, int timeout_ms)
{
    struct exec_rounds *plan = &e->rounds;
    if (!lock_for(plan, &timeout_ms)) return NULL;
    if (!plan->begun) begin(e);
    if (plan->future) settle(e, timeout_ms);
    fusion_exec *exec = plan->exec;
    pthread_mutex_unlock(&plan->lock);
    return exec;
}

bool client_round_plan_pending(fusion_exec *e)
{
    if (pthread_mutex_trylock(&e->rounds.lock) != 0) return true; /* somebody waits for it */
    bool pending = e->rounds.future;
    pthread_mutex_unlock(&e->rounds.lock);
    return pending;
}
