/* Memory of a module's objects. */
#include "ir/core/objects.h"

#include <string.h>

#include "ir/base/arena.h"

void *ir_alloc(struct ir_module *m, size_t bytes)
{
    return arena_alloc(m->arena, bytes);
}

char *ir_strdup(struct ir_module *m, const char *s)
{
    return s ? arena_strndup(m->arena, s, strlen(s)) : NULL;
}
