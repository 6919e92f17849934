/* The search: coordinate by coordinate. A plan counts as better where it is in two measurements, each of runs in turn.
 */
#include "tools/inspect/run/tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/run/runs.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/progress.h"

enum { ROUNDS = 11, MOST_CUTS = 12, MOST_TRIED_CUTS = 32 };

static const double better_by = 1.03; /* less is noise */

/* What is made otherwise: words as fusion_finalize_options has them; NULL, 0: nothing. */
struct choices {
    const char *recompute, *bands, *items;
    uint32_t n_cuts, cuts[MOST_CUTS];
};

struct search {
    struct loaded *l;
    const struct options *options;
    void (*told)(const struct tuning_trial *t);
    struct tuning_result *out;
    struct choices best;
    fusion_exec *first, *exec; /* what the cost model chose, and the best */
};

/* ---- text ---- */

static void append(struct tuning *t, const char *name, const char *value)
{
    size_t used = strlen(t->text);
    if (value) snprintf(t->text + used, sizeof t->text - used, "%s%s=%s", used ? " " : "", name, value);
}

static struct tuning text_of(const struct choices *c)
{
    struct tuning t = {""};
    append(&t, "recompute", c->recompute);
    append(&t, "bands", c->bands);
    append(&t, "items", c->items);
    for (uint32_t i = 0; i < c->n_cuts; i++) {
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, c->cuts[i]);
        append(&t, "cut", number);
    }
    return t;
}

/* ---- plans ---- */

static fusion_status plan(const struct search *s, const struct tuning *t, bool keep, fusion_exec **exec)
{
    fusion_finalize_options o = s->options->finalize;
    o.tier = FUSION_TIER_COMPILED;
    o.tuning = t->text;
    o.keep_tuning = keep;
    return fusion_graph_finalize(s->l->graph, &o, exec);
}

static bool is_about_plan(const fusion_remark *m)
{
    return strcmp(m->code, "tuned") != 0 && strncmp(m->code, "not_fused", strlen("not_fused")) != 0;
}

static const fusion_remark *next_remark(const fusion_report *r, uint32_t *i)
{
    while (*i < r->n_remarks && !is_about_plan(&r->remarks[*i])) ++*i;
    return *i < r->n_remarks ? &r->remarks[(*i)++] : NULL;
}

/* What was done is told in remarks; local sizes are not. */
static bool is_same_plan(const fusion_exec *a, const fusion_exec *b)
{
    const fusion_report *x = fusion_exec_report(a), *y = fusion_exec_report(b);
    if (x->n_groups != y->n_groups || x->bytes_fused != y->bytes_fused) return false;
    for (uint32_t i = 0, k = 0;;) {
        const fusion_remark *m = next_remark(x, &i), *n = next_remark(y, &k);
        if (!m || !n) return m == n;
        if (strcmp(m->code, n->code) != 0 || strcmp(m->text, n->text) != 0) return false;
    }
}

/* ---- times ---- */

static int compare_ratios(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static bool run(struct search *s, fusion_exec *exec, uint64_t *ns)
{
    fusion_event event;
    if (fusion_exec_submit(exec, NULL, 0, &event) == FUSION_SUCCESS &&
        fusion_event_wait(s->l->session, event, -1, ns) == FUSION_SUCCESS)
        return true;
    print_error("tune");
    return false;
}

/* The median of the ratios of neighbouring runs, each once not counted; ms: of the second's. */
static bool compare(struct search *s, fusion_exec *a, fusion_exec *b, double *ratio, double *ms)
{
    double ratios[ROUNDS], times[ROUNDS];
    uint64_t first, second;
    for (int i = -1; i < ROUNDS; i++) {
        if (!run(s, a, &first) || !run(s, b, &second)) return false;
        if (i < 0) continue;
        times[i] = (double)(second ? second : 1);
        ratios[i] = (double)first / times[i];
    }
    qsort(ratios, ROUNDS, sizeof *ratios, compare_ratios);
    qsort(times, ROUNDS, sizeof *times, compare_ratios);
    *ratio = ratios[ROUNDS / 2];
    *ms = times[ROUNDS / 2] / 1e6;
    return true;
}

/* ---- trials ---- */

static bool measure(struct search *s, fusion_exec *exec, struct tuning_trial *t)
{
    double again;
    t->launches = fusion_exec_report(exec)->launches;
    t->outcome = TRIAL_WORSE;
    if (!compare(s, s->exec, exec, &t->ratio, &t->ms)) return false;
    if (t->ratio < better_by) return true;
    if (!compare(s, s->exec, exec, &again, &t->ms)) return false;
    if (again < t->ratio) t->ratio = again;
    if (t->ratio >= better_by) t->outcome = TRIAL_BETTER;
    return true;
}

static bool note(struct search *s, const struct tuning_trial *t)
{
    struct tuning_trial *more = reallocarray(s->out->trials, s->out->n_trials + 1, sizeof *more);
    if (!more) {
        complain("tune", "out_of_memory", "no memory for one more trial");
        return false;
    }
    s->out->trials = more;
    more[s->out->n_trials++] = *t;
    progress_end();
    if (s->told) s->told(t);
    progress("measuring the next plan", 0, 0);
    return true;
}

/* One plan more. It becomes the best where it is. */
static bool try(struct search *s, const struct choices *c, enum trial_outcome *outcome)
{
    struct tuning_trial t = {.tuning = text_of(c)};
    fusion_exec *exec = NULL;
    bool ok = true;
    if (plan(s, &t.tuning, false, &exec) != FUSION_SUCCESS)
        t.outcome = TRIAL_REFUSED;
    else if (!c->items && is_same_plan(s->exec, exec))
        t.outcome = TRIAL_SAME;
    else
        ok = measure(s, exec, &t);
    *outcome = t.outcome;
    if (ok && t.outcome == TRIAL_BETTER) {
        if (s->exec != s->first) fusion_exec_destroy(s->exec);
        s->exec = exec;
        s->best = *c;
    } else {
        fusion_exec_destroy(exec);
    }
    return ok && note(s, &t);
}

static bool try_words(struct search *s, const char **(*word)(struct choices *c), const char *const *values)
{
    for (; *values; values++) {
        enum trial_outcome outcome;
        struct choices c = s->best;
        *word(&c) = *values;
        if (!try(s, &c, &outcome)) return false;
    }
    return true;
}

static const char **recompute_of(struct choices *c)
{
    return &c->recompute;
}

static const char **bands_of(struct choices *c)
{
    return &c->bands;
}

static const char **items_of(struct choices *c)
{
    return &c->items;
}

/* Each launch in two, at each place; where that was better, the halves as well. */
static bool try_cuts(struct search *s)
{
    bool *tried = calloc(UINT16_MAX + 1, sizeof *tried), ok = tried != NULL, found = true;
    for (uint32_t n = 0; ok && found && n < MOST_TRIED_CUTS && s->best.n_cuts < MOST_CUTS; n++) {
        const fusion_report *r = fusion_exec_report(s->exec);
        struct choices c = s->best;
        enum trial_outcome outcome;
        found = false;
        for (uint32_t g = 0; g < r->n_groups && !found; g++)
            for (uint32_t i = 1; i < r->groups[g].n_nodes && !found; i++) {
                uint32_t node = r->groups[g].nodes[i];
                if (node > UINT16_MAX || tried[node]) continue;
                found = tried[node] = true;
                c.cuts[c.n_cuts++] = node;
            }
        if (found) ok = try(s, &c, &outcome);
    }
    free(tried);
    return ok;
}

static bool search(struct search *s)
{
    static const char *const recompute[] = {"no", NULL}, *const bands[] = {"no", "2", "4", "8", NULL},
                             *const items[] = {"256", "64", NULL};
    return try_words(s, recompute_of, recompute) && try_words(s, bands_of, bands) && try_cuts(s) &&
           try_words(s, items_of, items);
}

bool tuning_search(struct loaded *l, const struct options *o, void (*told)(const struct tuning_trial *t),
                   struct tuning_result *out)
{
    struct search s = {.l = l, .options = o, .told = told, .out = out};
    const struct tuning none = {""};
    double ms;
    *out = (struct tuning_result){.ratio = 1};
    progress("planning", 0, 0);
    if (plan(&s, &none, false, &s.first) != FUSION_SUCCESS) return loaded_fail(l);
    s.exec = s.first;
    if (!search(&s)) return false;
    if (s.exec != s.first && !compare(&s, s.first, s.exec, &out->ratio, &ms)) return false;
    if (out->ratio >= better_by)
        out->best = text_of(&s.best);
    else
        out->ratio = 1; /* steps that were noise */
    if (plan(&s, &out->best, true, &s.exec) != FUSION_SUCCESS) return loaded_fail(l);
    return true;
}

void tuning_clear(struct tuning_result *r)
{
    free(r->trials);
}
