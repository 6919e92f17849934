/* Arguments of random kernels. */
#include "tests/support/random_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/print/print.h"

static const enum interp_arg_kind kinds[] = {
    [RANDOM_BUFFER] = INTERP_ARG_BUFFER, [RANDOM_SCALAR] = INTERP_ARG_BYTES, [RANDOM_LOCAL] = INTERP_ARG_LOCAL};

static void *filled(const struct random_arg *a, uint64_t seed)
{
    void *data = malloc(a->size + 1);
    if (!data) abort();
    if (a->kind == RANDOM_SCALAR)
        memcpy(data, a->value, a->size);
    else
        random_kernel_fill(a, seed, data);
    return data;
}

struct interp_arg *random_args(const struct random_kernel *k, uint64_t seed)
{
    struct interp_arg *args = calloc(k->n_args + 1, sizeof *args);
    if (!args) abort();
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct random_arg *a = &k->args[i];
        args[i] = (struct interp_arg){.kind = kinds[a->kind], .size = a->size};
        if (a->kind != RANDOM_LOCAL) args[i].data = filled(a, seed + i);
    }
    return args;
}

void random_args_free(const struct random_kernel *k, struct interp_arg *args)
{
    if (!args) return;
    for (uint32_t i = 0; i < k->n_args; i++) free(args[i].data);
    free(args);
}

bool random_args_equal(const struct random_kernel *k, const struct interp_arg *want, const struct interp_arg *got,
                       const char *how, uint64_t seed)
{
    for (uint32_t i = 0; i < k->n_args; i++) {
        if (k->args[i].kind != RANDOM_BUFFER) continue;
        int64_t at = random_kernel_compare(&k->args[i], want[i].data, got[i].data, 1e-5);
        if (at < 0) continue;
        char *text = ir_print(k->module);
        fprintf(stderr, "# seed %llu, %s: buffer %u differs at element %lld\n%s\n", (unsigned long long)seed, how, i,
                (long long)at, text);
        free(text);
        return false;
    }
    return true;
}
