/* A block of a buffer for each work-group, kept in its memory. */
#pragma once

#include "fuser/plan/storage/search.h"

bool local_array_find(struct storage_search *l, struct plan_storage *out);
