/* Findings of the linker, with their place. */
#pragma once

#include "ir/link/linker.h"

/* A finding at a place of a module; f may be NULL. */
void link_fail(struct linker *l, const struct ir_function *f, struct ir_loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "module a.spv (a.cl:12)", as long as linking takes. */
const char *link_place(struct linker *l, uint32_t module, struct ir_loc loc);
/* The same without the module: "a.cl:12", "line 12"; "an unknown line" where there is none. */
const char *link_line(struct linker *l, uint32_t module, struct ir_loc loc);
