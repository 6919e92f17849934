/* The search for where one buffer can live: what is known of its uses, and what has to hold of them. */
#pragma once

#include "fuser/access/dependence.h"
#include "fuser/access/guards.h"
#include "fuser/plan/base/context.h"
#include "fuser/plan/mapping/id_mapping.h"
#include "fuser/plan/order/order.h"
#include "fuser/plan/storage/decision.h"

static const int64_t MAX_OFFSET = (int64_t)1 << 40; /* of places in what belongs to a work-item or work-group */

struct storage_search {
    struct plan_context *ctx;
    const struct plan_facts *facts;
    const struct plan_order *order;
    const struct id_mapping *mapping;
    struct node_run run; /* the kernels of the launch */
    uint32_t buffer;
    const struct nd_range *range; /* of the ids that accesses are looked at in: the launch's, or its linear ids */
    bool linear;
    uint64_t local_left; /* bytes of work-group memory that are free */
    bool barriers;       /* stand between kernels */
    bool quiet;
    bool visible; /* fusion_internal_memory is missing */
    uint32_t n_uses;
    const uint32_t
        *uses; /* that read or write; in linear order, once only kernels of the launch are known to be there */
    uint32_t n_all;
    const uint32_t *all; /* those too that only need its address */
    const struct plan_use *first;
    struct launched_access side; /* its first site */
    bool no_init;                /* each accessor has it */
    enum fuser_scope scope;      /* of the accessors together */
    struct guards_taken *taken;  /* what proofs went by */
};

const char *storage_buffer_name(const struct storage_search *l);
const char *storage_node_name(const struct storage_search *l, const struct plan_use *use);
static inline const struct plan_use *storage_use(const struct storage_search *l, uint32_t i)
{
    return &l->facts->uses[l->uses[i]];
}

/* Says why the buffer stays in memory, unless nobody asked. False. */
bool storage_stays(const struct storage_search *l, const char *code, const struct plan_use *use, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* The access is a load or store of numbers. */
bool storage_is_plain(const struct storage_search *l, const struct plan_use *use, const struct access_site *site);
/* The local size of the launch, NULL where it is not known. */
const uint64_t *storage_local_size(const struct storage_search *l);
/* No byte belongs to two work-items (or work-groups): proved for all pairs of accesses, or asserted, which *assertion
   then says. */
bool storage_is_owned(const struct storage_search *l, enum dependence_between between, const char **assertion);
/* The same where all accesses are at one element of their work-item. */
bool storage_one_is_owned(const struct storage_search *l, const char **assertion);
/* Some node reaches the buffer through several arguments: the order of its accesses is not known. */
bool storage_uses_share_node(const struct storage_search *l, const struct plan_use *use);
/* Whether site w of use k is a store that comes before site r of use i, for a work-item that gets to both. Uses are in
   order. */
bool storage_comes_first(const struct storage_search *l, uint32_t k, uint32_t w, uint32_t i, uint32_t r);
/* Whether each work-item that comes to the latter has come to the former. */
bool storage_is_passed(const struct storage_search *l, uint32_t k, uint32_t w, uint32_t i, uint32_t r);
/* Whether each work-item that comes to site r of use i has written before, all accesses being at one element. */
bool storage_one_is_written(const struct storage_search *l, uint32_t i, uint32_t r);
/* The ids of the launch's work-items decide nothing about who executes the access. */
bool storage_all_may_execute(const struct storage_search *l, const struct access_site *site);
/* Each work-item of the launch executes the access. */
bool storage_all_execute(const struct storage_search *l, const struct access_site *site);
