/*
 * Which buffers of a launch can do without memory, and where they live instead.
 *
 * This room takes one buffer and the kernels of a launch that use it, mapped to the launch's ids, and gives a decision
 * (decision.h): memory, variables of the work-item (private.h), an array of the work-group (local.h). Uses access/.
 */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/mapping/id_mapping.h"
#include "fuser/plan/order/order.h"
#include "fuser/plan/storage/decision.h"

/* A launch whose buffers are looked at. */
struct storage_query {
    struct plan_context *ctx;
    const struct plan_facts *facts;
    const struct plan_order *order;
    const struct id_mapping *mapping;
    struct node_run run; /* a part of the order */
    const struct nd_range *range;
    bool barriers; /* stand between kernels of the run */
    /* By buffer: no value of it flows from one group to another, so that only the uses in `group` count; NULL: none. */
    const bool *apart;
    struct node_run group; /* that the run is, or is a part of */
};

/* Can the buffer live in registers, or in local_left bytes of work-group memory? Leaves a remark where the user asked
   for it (internal_memory) and it cannot, or where only that property is missing. */
/* Nobody but the launch ever reads or writes the buffer, which writes it, and no element belongs to two work-items: if
   nothing is left to read, as each takes what it stored itself, memory is not needed. */
bool storage_is_unseen(const struct storage_query *q, uint32_t buffer);
/* The group of the query, its run, writes each element of the buffer before it reads it, and could keep it in
   registers. keep: what the proof went by is gone by for good. */
bool storage_is_made_again(const struct storage_query *q, uint32_t buffer, bool keep);
bool storage_find(const struct storage_query *q, uint32_t buffer, uint64_t local_left, struct plan_storage *out);
