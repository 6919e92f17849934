/* Which of the known words somebody meant who wrote another one. */
#pragma once

#include <stddef.h>

/* A search: words are offered one by one, and the nearest one is kept. */
struct nearest {
    const char *word; /* what was written; n bytes */
    size_t n;
    const char *best; /* NULL: none is near enough to have been meant */
    size_t distance;  /* letters inserted, left out, changed, or swapped with the next */
};

struct nearest nearest_begin(const char *word, size_t n);
void nearest_offer(struct nearest *s, const char *known); /* NULL is passed over */
/* Of a list; NULL in it is passed over. */
const char *nearest_word(const char *word, size_t n, const char *const *known, size_t n_known);
/* " (did you mean `best`?)", or nothing; cut to what fits. */
const char *nearest_hint(const char *best, char *to, size_t size);
