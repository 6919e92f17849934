/* Filters of system calls: tables of what stays allowed. What is not in a table fails with EPERM. */
#pragma once

#include <limits.h>
#include <linux/futex.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* A system call that stays, under conditions on its arguments that must all hold. Several rules of one call: any. */
struct filter_rule {
    int call;
    unsigned n_conditions;
    struct scmp_arg_cmp conditions[3];
};

#define FILTER_ANY(name)                                                                                               \
    {                                                                                                                  \
        SCMP_SYS(name), 0,                                                                                             \
        {                                                                                                              \
            {                                                                                                          \
                0                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
#define FILTER_IF(name, condition)                                                                                     \
    {                                                                                                                  \
        SCMP_SYS(name), 1,                                                                                             \
        {                                                                                                              \
            condition                                                                                                  \
        }                                                                                                              \
    }
#define FILTER_IF2(name, first, second)                                                                                \
    {                                                                                                                  \
        SCMP_SYS(name), 2,                                                                                             \
        {                                                                                                              \
            first, second                                                                                              \
        }                                                                                                              \
    }
#define FILTER_IF3(name, first, second, third)                                                                         \
    {                                                                                                                  \
        SCMP_SYS(name), 3,                                                                                             \
        {                                                                                                              \
            first, second, third                                                                                       \
        }                                                                                                              \
    }
#define FILTER_IS(argument, value) SCMP_CMP64(argument, SCMP_CMP_EQ, value)
#define FILTER_HAS(argument, mask, value) SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, value)

/* The futex operations of threads and C library; not those that inherit priorities or requeue. */
#define FILTER_FUTEX(operation) FILTER_IF(futex, FILTER_HAS(1, FUTEX_CMD_MASK &INT_MAX, operation))
/* Memory becomes executable only as a private mapping of a file, never with the right to write or by a change of
 * rights. */
#define FILTER_MEMORY                                                                                                  \
    FILTER_IF(mmap, FILTER_HAS(2, PROT_EXEC, 0)),                                                                      \
        FILTER_IF2(mmap, FILTER_HAS(2, PROT_EXEC | PROT_WRITE, PROT_EXEC),                                             \
                   FILTER_HAS(3, MAP_TYPE | MAP_ANONYMOUS, MAP_PRIVATE)),                                              \
        FILTER_IF(mprotect, FILTER_HAS(2, PROT_EXEC, 0)), FILTER_IF(mremap, FILTER_IS(3, MREMAP_MAYMOVE)),             \
        FILTER_ANY(munmap), FILTER_ANY(brk)

/* False where FUSIOND_NO_SECCOMP=1 or in sanitizer builds, whose runtime needs more. */
bool filter_wanted(void);
/* Adds the rules: 0, or a negative error number. */
int filter_add(scmp_filter_ctx filter, const struct filter_rule *rules, size_t n);
