/* The variables that entry points list. */
#pragma once

#include "ir/spirv/base/words.h"

/* Lists all of the module. */
void spirv_complete_interfaces(struct spirv_words *m);
