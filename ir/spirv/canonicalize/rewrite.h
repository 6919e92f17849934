/* A module written anew: declarations of its own before the first function, other instructions for some of those in
 * functions. */
#pragma once

#include "ir/spirv/base/words.h"

/* The words as they are put out. */
struct spirv_rewrite {
    uint32_t *out;
    size_t n;
};

void spirv_put(struct spirv_rewrite *r, const uint32_t *words, size_t n);

/* declare puts out declarations; replace puts out what stands for an instruction, or returns false where that stays.
   Together they put out at most `more` words more than there were. New ids are taken from m->bound. */
void spirv_rewrite(struct spirv_words *m, size_t more, void (*declare)(struct spirv_rewrite *r, void *data),
                   bool (*replace)(struct spirv_rewrite *r, const uint32_t *w, void *data), void *data);
