/* What reading a module may cost, in proportion to its size, whatever the module is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spirv_budget {
    uint64_t effort;         /* nanoseconds, more or less, that control flow may still take */
    uint64_t values;         /* words for values that control flow may still carry */
    uint64_t initial_values; /* bytes that initial values of variables may still take */
};

/* For a module of so many words. */
struct spirv_budget spirv_budget_of(size_t n_words);
/* Takes n of what is left; false: there is not so much. */
bool spirv_spend(uint64_t *left, uint64_t n);
/* The same for the effort, of which nothing is left then: what would take too long is not tried in parts. */
bool spirv_spend_effort(struct spirv_budget *budget, uint64_t n);
