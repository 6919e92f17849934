/* What an image requires in the end: of its entries, and of functions of other units that they reach unawares. */
#pragma once

#include "fuser/features/entries.h"
#include "fuser/features/property_set.h"
#include "ir/features/warnings.h"

/* first is one of the image's entries, which may share it. Lists of the result are the arena's. */
void image_check(const struct ir_module *image, const struct ir_module *whole, const struct split_entries *all,
                 const struct split_entry *first, struct arena *arena, struct property_set *out, ir_warn *warn,
                 void *data);
