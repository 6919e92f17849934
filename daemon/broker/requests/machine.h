/* The figures of the machine that plans go by: measured by the first plan job that has none, then kept. */
#pragma once

#include "daemon/broker/core/blob.h"
#include "daemon/broker/core/broker.h"
#include "daemon/broker/core/hash.h"
#include "proto/writer.h"

/* A reference; NULL: they are not known. target: what code is made for. */
struct blob *machine_figures(const struct broker *broker, const struct hash *target);
/* Takes them from the reply of a plan job, where it has measured. */
void machine_learn(const struct broker *broker, const struct hash *target, const msgpack_object *plan, uid_t owner);
