/* What a kernel needs of an earlier one, byte by byte: from which work-item to which. */
#include "fuser/plan/grouping/kernel_dependence.h"

#include "fuser/access/witness.h"

/* Pairs of accesses looked at between two uses; beyond it nothing is proved. */
enum { MAX_PAIRS = 65536, MAX_RECORDED_PAIRS = 256 };

static const char *what_happens(const struct access_site *a, const struct access_site *b)
{
    if (!a->writes) return "reads what is then written";
    return b->reads ? "writes what is then read" : "writes what is then written again";
}

/* What is tried are the kernels' own ids. */
static bool is_as_launched(const struct launched_access *a, const struct launched_access *b)
{
    return a->range == a->own && b->range == b->own;
}

/* What could not be decided in general may have an example. Atomics may be meant to meet. */
static enum dependence race_or_open(enum access_dependence found, const struct launched_access *a,
                                    const struct launched_access *b, enum dependence_between between,
                                    const uint64_t *local, struct dependence_witness *pair)
{
    if (a->site->atomic && b->site->atomic) return DEPENDENCE_OPEN;
    const struct witness_question q = {a, b, between, local, false};
    if (found == ACCESS_DEPENDENCE_PROVED || (is_as_launched(a, b) && witness_find(&q, pair))) return DEPENDENCE_RACE;
    return DEPENDENCE_OPEN;
}

static enum dependence between_sites(const struct launched_access *a, const struct launched_access *b,
                                     const uint64_t *local, bool barriers, struct dependence_witness *pair)
{
    enum access_dependence found = dependence_find(a, b, BETWEEN_ITEMS, local, pair);
    if (found == ACCESS_DEPENDENCE_NONE) return DEPENDENCE_ITEM;
    if (!local || !barriers) return race_or_open(found, a, b, BETWEEN_ITEMS, local, pair);
    found = dependence_find(a, b, BETWEEN_GROUPS, local, pair);
    return found == ACCESS_DEPENDENCE_NONE ? DEPENDENCE_GROUP : race_or_open(found, a, b, BETWEEN_GROUPS, local, pair);
}

static void keep_worst(struct dependence_report *worst, enum dependence kind, const struct access_site *a,
                       const struct access_site *b, const struct dependence_witness *pair)
{
    if (kind <= worst->kind) return;
    *worst = (struct dependence_report){
        .kind = kind, .lines = {a->line, b->line}, .pair = *pair, .bytes = b->bytes, .what = what_happens(a, b)};
}

struct dependence_report kernel_dependence(const struct id_mapping *m, const struct plan_use *a,
                                           const struct plan_use *b, const uint64_t *local, bool barriers)
{
    struct dependence_report worst = {.kind = DEPENDENCE_NONE, .what = "shares memory with it"};
    if (!(a->writes || b->writes) || a->first >= b->end || b->first >= a->end) return worst;
    const struct access_summary *s = id_mapping_summary(m, a), *t = id_mapping_summary(m, b);
    if (s->escapes || t->escapes || (uint64_t)s->n_sites * t->n_sites > MAX_PAIRS) {
        worst.kind = DEPENDENCE_OPEN;
        return worst;
    }
    for (uint32_t i = 0; i < s->n_sites && worst.kind != DEPENDENCE_RACE; i++)
        for (uint32_t k = 0; k < t->n_sites && worst.kind != DEPENDENCE_RACE; k++) {
            const struct access_site *x = &s->sites[i], *y = &t->sites[k];
            if (!x->writes && !y->writes) continue;
            struct launched_access first = id_mapping_access(m, a, x), second = id_mapping_access(m, b, y);
            struct dependence_witness pair = {.byte = -1};
            keep_worst(&worst, between_sites(&first, &second, local, barriers, &pair), x, y, &pair);
        }
    return worst;
}

bool kernel_dependence_recorded(const struct id_mapping *m, const struct plan_use *a, const struct plan_use *b,
                                const uint64_t *local, bool barriers, struct dependence_report *report)
{
    const struct access_summary *s = id_mapping_summary(m, a), *t = id_mapping_summary(m, b);
    enum dependence_between between = local && barriers ? BETWEEN_GROUPS : BETWEEN_ITEMS;
    if (s->escapes || t->escapes || (uint64_t)s->n_sites * t->n_sites > MAX_RECORDED_PAIRS) return false;
    for (uint32_t i = 0; i < s->n_sites; i++)
        for (uint32_t k = 0; k < t->n_sites; k++) {
            const struct access_site *x = &s->sites[i], *y = &t->sites[k];
            const struct launched_access first = id_mapping_access(m, a, x), second = id_mapping_access(m, b, y);
            const struct witness_question q = {&first, &second, between, local, true};
            struct dependence_witness pair = {.byte = -1};
            if ((!x->writes && !y->writes) || (x->atomic && y->atomic) || !is_as_launched(&first, &second)) continue;
            if (!witness_find(&q, &pair)) continue;
            keep_worst(report, DEPENDENCE_RACE, x, y, &pair);
            return true;
        }
    return false;
}
