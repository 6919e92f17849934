/* Names of the language, from those of the source. */
#include "ir/spirv/decode/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *spirv_unique_name(struct spirv_reader *r, struct names *map, const char *wish, const char *otherwise)
{
    if (!wish || !*wish) wish = otherwise;
    size_t n = strlen(wish);
    if (n > 1000) n = 1000;
    char *name = arena_alloc(r->arena, n + 24), *at = name;
    if (isdigit((unsigned char)wish[0])) *at++ = '_';
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)wish[i];
        bool good = c < 128 && (isalnum(c) || c == '_' || ((c == '.' || c == '$') && at != name));
        *at++ = good ? (char)c : '_';
    }
    *at = 0;
    size_t length = (size_t)(at - name);
    /* The pointer kept for a name is the number of the last suffix given to it, plus 1. */
    void **kept = names_put(map, name, length);
    if (!*kept) {
        *kept = (void *)1;
        return ir_strdup(r->module, name);
    }
    char *suffixed = arena_alloc(r->arena, length + 24);
    for (uintptr_t k = (uintptr_t)*kept;; k++) {
        snprintf(suffixed, length + 24, "%s.%llu", name, (unsigned long long)k);
        void **other = names_put(map, suffixed, strlen(suffixed));
        if (*other) continue;
        *other = (void *)1;
        *names_put(map, name, length) = (void *)(k + 1);
        return ir_strdup(r->module, suffixed);
    }
}
