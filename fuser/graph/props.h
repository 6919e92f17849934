/* The property tables of the fusion specification. */
#pragma once

#include "fuser/graph/graph.h"

/* What holds for an accessor on a buffer with these properties. False: the two contradict each other. */
bool fuser_props_inherit(const struct fuser_props *buffer, const struct fuser_props *accessor, struct fuser_props *out);
/* What holds for two accessors on the same buffer. Commutative and associative. */
enum fuser_scope fuser_scope_merge(enum fuser_scope a, enum fuser_scope b);
const char *fuser_scope_name(enum fuser_scope s); /* as users write it */
