/* Provenance: which parameters a pointer may come from. */
#pragma once

#include "fuser/access/walk_state.h"

void provenance_find(struct access_walk *w); /* makes w->provenance, to be freed */
bool provenance_has(const struct access_walk *w, const struct ir_value *pointer, uint32_t param);
/* It may come from memory or from an integer. */
bool provenance_is_unknown(const struct access_walk *w, const struct ir_value *pointer);
