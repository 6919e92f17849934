/* The end of a finalize, good or bad. */
#include "daemon/broker/requests/finalization.h"

#include <stdlib.h>

#include "proto/frame.h"

static void free_launches(struct finalize *f)
{
    for (uint32_t i = 0; i < f->n_launches; i++) {
        job_cancel(&f->launches[i].waiter);
        code_put(f->launches[i].code);
        free(f->launches[i].assembly);
    }
    free(f->launches);
}

void finalization_free(struct finalize *f)
{
    later_cancel(&f->operation.session->broker->laters, &f->later);
    job_cancel(&f->plan_waiter);
    job_cancel(&f->save_waiter);
    free_launches(f);
    blob_value_clear(&f->plan_value);
    blob_unref(f->plan);
    blob_unref(f->bindings);
    blob_unref(f->values);
    blob_unref(f->modules);
    blob_unref(f->pipes);
    blob_unref(f->graph);
    blob_unref(f->saved_options);
    free(f->tuning);
    free(f);
}

void finalization_cancel(struct operation *o)
{
    finalization_free((struct finalize *)o);
}

void finalization_fail(struct finalize *f, const struct error *error)
{
    operation_end(&f->operation);
    session_fail(f->operation.session, f->operation.request, error);
    finalization_free(f);
}

bool finalization_hold(struct finalize *f, size_t bytes, struct error *error)
{
    struct user_cost cost = {.of = {[USER_BYTES] = bytes}};
    if (operation_hold(&f->operation, &cost, error)) return true;
    error_about(error, "graph");
    return false;
}
