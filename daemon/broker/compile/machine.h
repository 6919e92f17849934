/* The figures of the machine that plans go by, kept in the cache. A compiler measures them, not one of its jobs: what
   all users' plans depend on comes from nobody who has seen something of one. */
#pragma once

#include "daemon/broker/core/blob.h"
#include "daemon/broker/core/broker.h"
#include "daemon/broker/core/hash.h"

/* A reference; NULL: they are not known. target: what code is made for. */
struct blob *machine_figures(const struct broker *broker, const struct hash *target);
void machine_learn(const struct broker *broker, const struct hash *target, const void *bytes, size_t size);
