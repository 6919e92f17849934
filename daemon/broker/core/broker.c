/* What the parts of the daemon share. */
#include "daemon/broker/core/broker.h"

uint64_t broker_new_id(struct broker *broker)
{
    return ++broker->next_id;
}

void broker_stop(struct broker *broker)
{
    uv_stop(&broker->loop);
}
