/* What a kernel's work-items that follow each other have in common. */
#pragma once

#include "fuser/coarsen/coarse.h"

/* Fills in u, assumed, ahead, joined and items. False: the kernel stays as it is. */
bool survey(struct coarse *c);

struct coarse_place survey_place(const struct coarse *c, const struct ir_inst *access);
bool survey_same_base(const struct coarse_place *a, const struct coarse_place *b);
