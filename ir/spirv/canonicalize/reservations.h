/* Ids of reservations of pipes. */
#pragma once

#include "ir/spirv/base/words.h"

/* Makes them numbers. */
void spirv_number_reservations(struct spirv_words *m);
