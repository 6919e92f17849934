/* Where pointers are: in which memory, and how many bytes from its beginning. */
#pragma once

#include "fuser/bounds/bounds_launch.h"
#include "ir/core/ir.h"

/* Memory that a kernel has: that of a parameter, or a variable. Numbers of memory begin at 1. */
struct bounds_root {
    uint64_t bytes;
    const char *text; /* as struct bounds_memory */
};

enum { PLACE_NONE, PLACE_MANY = -1, PLACE_UNKNOWN = -2 };

struct places {
    struct ir_function *kernel;
    struct arena *arena;
    uint32_t n_roots;
    struct bounds_root *roots; /* by number; the first is none */
    uint32_t n_values;
    int32_t *root;              /* by number of a pointer: of its memory, or PLACE_... */
    struct ir_value **offsets;  /* by number of a pointer: bytes, i64, where they are made already */
    struct ir_value **memories; /* the same of the number of its memory, i32, where there are several */
};

/* Numbers the kernel's values. */
void places_find(struct places *p, struct ir_function *kernel, const struct bounds_launch *launch);
void places_clear(struct places *p);
int32_t places_root(const struct places *p, const struct ir_value *pointer);
/* Makes the kernel carry the places of pointers that ifs give and loops carry. */
void places_carry(struct places *p);
/* How many bytes from its memory's beginning the pointer is; of one that places_root() knows. */
struct ir_value *places_offset(struct places *p, struct ir_value *pointer);
/* The number of its memory, of one that has several; 0: not known. */
struct ir_value *places_memory(struct places *p, struct ir_value *pointer);
