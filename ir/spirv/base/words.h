/* A module as words, as it came and while it is rewritten into a form that can be validated. */
#pragma once

#include <spirv/unified1/spirv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/spirv/base/budget.h"
#include "ir/spirv/base/findings.h"
#include "ir/spirv/base/pipes.h"

enum { SPIRV_HEADER_WORDS = 5 };

struct spirv_words {
    struct arena *arena; /* for the reading only */
    struct spirv_findings *findings;
    struct spirv_budget *budget;
    uint32_t *words; /* in this machine's byte order */
    size_t n_words;
    uint32_t bound;        /* of ids */
    uint32_t *value_types; /* by id: id of its type */
    uint32_t *int_types;   /* by id of an integer type: its width */
    struct spirv_pipes pipes;
};

/* The id that an instruction defines, or 0; *type is what stands for its type. For words that nothing has checked. */
uint32_t spirv_result(const struct spirv_words *m, const uint32_t *inst, uint32_t *type);
/* A copy of a list by id with room for more ids. */
uint32_t *spirv_grow_by_id(const struct spirv_words *m, const uint32_t *list, size_t more);
bool spirv_is_terminator(unsigned op);
/* Likewise the word that holds target number k of the terminator at a word, or 0. */
size_t spirv_target(const struct spirv_words *m, const uint32_t *words, size_t at, uint32_t k);
