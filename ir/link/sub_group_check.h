/* Sub-group sizes of kernels and of what they call. */
#pragma once

#include "ir/link/linker.h"

/* Reports kernels that call functions of other modules made for other sub-group sizes. */
void link_check_sub_groups(struct linker *l);
