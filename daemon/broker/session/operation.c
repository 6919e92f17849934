/* Requests that take time. */
#include "daemon/broker/session/operation.h"

#include <uv.h>

#include "proto/frame.h"

void operations_init(struct operations *all, struct session *session, struct user *user)
{
    LIST_INIT(&all->list);
    all->session = session;
    all->user = user;
}

void operations_cancel(struct operations *all)
{
    struct operation *o;
    while ((o = LIST_FIRST(&all->list))) {
        operation_end(o);
        o->cancel(o);
    }
}

struct operation *operations_find(struct operations *all, uint32_t request)
{
    struct operation *o;
    LIST_FOREACH(o, &all->list, link)
    {
        if (o->request == request) return o->settled ? NULL : o;
    }
    return NULL;
}

void operation_begin(struct operation *o, struct operations *all, const struct proto_message *m,
                     void (*cancel)(struct operation *operation))
{
    *o = (struct operation){.all = all,
                            .session = all->session,
                            .request = m->id,
                            .bytes = m->size,
                            .started_ns = uv_hrtime(),
                            .cancel = cancel};
    LIST_INSERT_HEAD(&all->list, o, link);
    all->n++;
    all->bytes += o->bytes;
}

void operation_end(struct operation *o)
{
    LIST_REMOVE(o, link);
    o->all->n--;
    o->all->bytes -= o->bytes;
    operation_release(o);
}

bool operation_hold(struct operation *o, const struct user_cost *cost, struct error *error)
{
    if (!user_charge_all(o->all->user, cost, error)) return false;
    for (int i = 0; i < USER_RESOURCES; i++) o->held.of[i] += cost->of[i];
    return true;
}

void operation_release(struct operation *o)
{
    user_refund_all(o->all->user, &o->held);
    o->held = (struct user_cost){0};
}
