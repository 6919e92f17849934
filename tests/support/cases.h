/* How many random cases a property test runs. */
#pragma once

#include <stdlib.h>

/* The number in FUSIOND_TEST_CASES, or `usual`. */
static inline unsigned test_cases(unsigned usual)
{
    const char *s = getenv("FUSIOND_TEST_CASES");
    unsigned long n = s ? strtoul(s, NULL, 10) : 0;
    return n ? (unsigned)n : usual;
}

/* The same of random graphs, which have a number of their own: FUSIOND_TEST_GRAPHS. */
static inline unsigned test_graphs(unsigned usual)
{
    const char *s = getenv("FUSIOND_TEST_GRAPHS");
    unsigned long n = s ? strtoul(s, NULL, 10) : 0;
    return n ? (unsigned)n : test_cases(usual);
}
