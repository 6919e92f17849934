/* The property tables of the fusion specification. */
#include "fuser/graph/props.h"

bool fuser_props_inherit(const struct fuser_props *buffer, const struct fuser_props *accessor, struct fuser_props *out)
{
    enum fuser_scope b = buffer->access_scope, a = accessor->access_scope;
    *out = (struct fuser_props){.access_scope = a ? a : b,
                                .internal_memory = buffer->internal_memory || accessor->internal_memory,
                                .no_init = buffer->no_init || accessor->no_init};
    return !a || !b || a == b;
}

enum fuser_scope fuser_scope_merge(enum fuser_scope a, enum fuser_scope b)
{
    return a == b ? a : FUSER_SCOPE_NONE;
}

const char *fuser_scope_name(enum fuser_scope s)
{
    static const char *const names[] = {"no access scope", "access_scope_work_group", "access_scope_work_item"};
    return names[s];
}
