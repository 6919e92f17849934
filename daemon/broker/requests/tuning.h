/* What tuning found best for a graph: kept for its user, and taken where a request says nothing else. */
#pragma once

#include "daemon/broker/core/broker.h"
#include "daemon/broker/core/hash.h"

/* plan: the hash of the plan without tuning. */
struct hash tuning_key(const struct hash *plan, uid_t user);
/* A text, to be freed; NULL: nothing was kept. */
char *tuning_kept(const struct broker *broker, const struct hash *key);
void tuning_keep(const struct broker *broker, const struct hash *key, const char *text, uid_t user);
