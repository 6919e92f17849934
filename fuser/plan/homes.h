/* Shared by the files that look for the homes of buffers: one look at one buffer. */
#pragma once

#include "fuser/plan/planner.h"

static const int64_t MAX_OFFSET = (int64_t)1 << 40; /* of places in what belongs to a work-item or work-group */

struct home_look {
    struct planner *p;
    uint32_t buffer, group;
    const struct nd_range *range; /* of the ids that accesses are looked at in: the group's, or its linear ids */
    bool linear;
    uint64_t local_left; /* bytes of work-group memory that are free */
    bool quiet;
    bool visible; /* fusion_internal_memory is missing */
    uint32_t n_uses;
    const uint32_t
        *uses; /* that read or write; in linear order, once only kernels of the group are known to be there */
    uint32_t n_all;
    const uint32_t *all; /* those too that only need its address */
    const struct plan_use *first;
    struct launched_access side; /* its first site */
    bool no_init;              /* each accessor has it */
    enum fuser_scope scope;    /* of the accessors together */
};

const char *home_buffer_name(const struct home_look *l);
const char *home_node_name(const struct home_look *l, const struct plan_use *use);
static inline const struct plan_use *home_use(const struct home_look *l, uint32_t i)
{
    return &l->p->uses[l->uses[i]];
}

/* Says why the buffer stays in memory, unless nobody asked. False. */
bool home_stays(const struct home_look *l, const char *code, const struct plan_use *use, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The access is a load or store of numbers. */
bool home_is_plain(const struct home_look *l, const struct plan_use *use, const struct access_site *site);
/* The local size of the group, NULL where it is not known. */
const uint64_t *home_local_size(const struct home_look *l);
/* No byte belongs to two work-items (or work-groups): proved for all pairs of accesses, or asserted, which *word
   then says. */
bool home_is_owned(const struct home_look *l, enum dependence_between between, const char **word);
/* The same where all accesses are at one element of their work-item. */
bool home_one_is_owned(const struct home_look *l, const char **word);
/* Some node reaches the buffer through several arguments: the order of its accesses is not known. */
bool home_uses_share_node(const struct home_look *l, const struct plan_use *use);
/* Each work-item of the group executes the access. */
bool home_all_execute(const struct home_look *l, const struct access_site *site);

/* home_private.c: several elements for each work-item, as variables */
bool home_in_pieces(struct home_look *l, struct plan_home *out);
/* home_local.c: a block for each work-group, in its memory */
bool home_in_group(struct home_look *l, struct plan_home *out);
