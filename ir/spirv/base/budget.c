/* The limits of time and memory. */
#include "ir/spirv/base/budget.h"

enum { EFFORT = 400000000, VALUES_PER_WORD = 16, VALUES = 10000 };

struct spirv_budget spirv_budget_of(size_t n_words)
{
    return (struct spirv_budget){.effort = EFFORT, .values = VALUES_PER_WORD * (uint64_t)n_words + VALUES};
}

bool spirv_spend(uint64_t *left, uint64_t n)
{
    if (n > *left) return false;
    *left -= n;
    return true;
}

bool spirv_spend_effort(struct spirv_budget *budget, uint64_t n)
{
    if (spirv_spend(&budget->effort, n)) return true;
    budget->effort = 0;
    return false;
}
