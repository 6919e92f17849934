/* Several elements of a buffer for each work-item, kept in variables. */
#pragma once

#include "fuser/plan/storage/search.h"

bool private_slices_find(struct storage_search *l, struct plan_storage *out);
