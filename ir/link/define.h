/* Definitions in the result. */
#pragma once

#include "ir/link/linker.h"

/* Makes the definitions in the result, under names of their own, without their bodies; imports become what they
   stand for. */
void link_define(struct linker *l);
