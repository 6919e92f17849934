/* Selections of events. */
#pragma once

#include "ir/spirv/base/words.h"

/* They become the event that is chosen where the condition holds. */
void spirv_choose_events(struct spirv_words *m);
