/*
 * What it takes to make code: each kernel of the modules given, cold and in a process of its own, then the distribution
 * and the slowest. tools/bench --compile runs it.
 *
 * bench_compile [--isa NAME] [--effort NAME] [--limit SECONDS] [--loops FILE.spv] FILE.spv ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/compile/cost.h"

enum { SLOWEST = 25, LIMIT_S = 60 };

static const char *const outcomes[] = {"?", "made", "interpreted", "refused", "time limit", "died"};

static double total_ms(const struct cost *c)
{
    return c->plan_ms + c->code_ms;
}

static void print_head(void)
{
    printf("%8s %8s %8s %9s %7s %7s %5s %-10s kernel\n", "plan ms", "code ms", "wall ms", "statements", "instr.",
           "bytes", "lanes", "effort");
}

static void print_cost(const struct cost *c)
{
    bool made = c->outcome == OUTCOME_MADE;
    printf("%8.1f %8.1f %8.1f %9u %7u %7zu %5u %-10s %s %s%s%s\n", c->plan_ms, c->code_ms, c->wall_ms, c->statements,
           c->instructions, c->bytes, c->lanes, made ? cpu_effort_name(c->effort) : outcomes[c->outcome], c->file,
           c->kernel, *c->why ? ": " : "", c->why);
    fflush(stdout);
}

/* ---- all of them ---- */

struct costs {
    struct cost *items;
    size_t n;
};

static void add(struct costs *all, const struct cost *c)
{
    if (all->n % 256 == 0) all->items = realloc(all->items, (all->n + 256) * sizeof *c);
    if (!all->items) abort();
    all->items[all->n++] = *c;
}

static void take_module(struct costs *all, const char *path, const struct cost_options *options)
{
    int n = cost_kernels(path);
    for (int i = 0; i < n; i++) {
        struct cost c = cost_of_kernel(path, (unsigned)i, options);
        print_cost(&c);
        add(all, &c);
    }
}

static int slower_first(const void *a, const void *b)
{
    double x = total_ms(a), y = total_ms(b);
    return (x < y) - (x > y);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double get_plan(const struct cost *c)
{
    return c->plan_ms;
}
static double get_code(const struct cost *c)
{
    return c->code_ms;
}
static double get_wall(const struct cost *c)
{
    return c->wall_ms;
}
static double get_statements(const struct cost *c)
{
    return c->statements;
}
static double get_instructions(const struct cost *c)
{
    return c->instructions;
}
static double get_bytes(const struct cost *c)
{
    return (double)c->bytes;
}

static void print_distribution(const struct costs *all, const char *name, double (*get)(const struct cost *c))
{
    static const double shares[] = {0.5, 0.9, 0.95, 0.99, 1};
    double *values = calloc(all->n, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].outcome != OUTCOME_REFUSED) values[n++] = get(&all->items[i]);
    printf("%-24s", name);
    qsort(values, n, sizeof *values, compare);
    for (size_t k = 0; n && k < sizeof shares / sizeof *shares; k++)
        printf(" %10.1f", values[(size_t)((double)(n - 1) * shares[k] + 0.5)]);
    putchar('\n');
    free(values);
}

static void print_counts(const struct costs *all)
{
    unsigned by_outcome[sizeof outcomes / sizeof *outcomes] = {0}, by_effort[CPU_EFFORT_COUNT] = {0};
    for (size_t i = 0; i < all->n; i++) {
        by_outcome[all->items[i].outcome]++;
        if (all->items[i].outcome == OUTCOME_MADE) by_effort[all->items[i].effort]++;
    }
    printf("\n%zu kernels:", all->n);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        if (by_outcome[i]) printf(" %u %s", by_outcome[i], outcomes[i]);
    printf("; effort:");
    for (int i = 0; i < CPU_EFFORT_COUNT; i++)
        if (by_effort[i]) printf(" %u %s", by_effort[i], cpu_effort_name((enum cpu_effort)i));
    putchar('\n');
}

static void print_summary(struct costs *all)
{
    print_counts(all);
    printf("%-24s %10s %10s %10s %10s %10s\n", "", "median", "90 %", "95 %", "99 %", "worst");
    print_distribution(all, "plan and code, ms", total_ms);
    print_distribution(all, "plan, ms", get_plan);
    print_distribution(all, "code, ms", get_code);
    print_distribution(all, "by the clock, ms", get_wall);
    print_distribution(all, "statements", get_statements);
    print_distribution(all, "instructions", get_instructions);
    print_distribution(all, "bytes", get_bytes);
    printf("\nThe slowest:\n");
    print_head();
    qsort(all->items, all->n, sizeof *all->items, slower_first);
    for (size_t i = 0; i < all->n && i < SLOWEST; i++) print_cost(&all->items[i]);
}

static enum cpu_isa isa_named(const char *name)
{
    for (int isa = 0; isa < CPU_ISA_COUNT; isa++)
        if (strcmp(name, cpu_isa_name((enum cpu_isa)isa)) == 0) return (enum cpu_isa)isa;
    fprintf(stderr, "bench_compile: no instruction set %s\n", name);
    exit(2);
}

static enum cpu_effort effort_named(const char *name)
{
    for (int effort = 0; effort < CPU_EFFORT_COUNT; effort++)
        if (strcmp(name, cpu_effort_name((enum cpu_effort)effort)) == 0) return (enum cpu_effort)effort;
    fprintf(stderr, "bench_compile: no effort %s\n", name);
    exit(2);
}

/* Up to the first file. */
static bool parse(int argc, char **argv, int *at, struct cost_options *options, const char **loops)
{
    for (; *at < argc && strncmp(argv[*at], "--", 2) == 0; *at += 2) {
        const char *name = argv[*at], *value = *at + 1 < argc ? argv[*at + 1] : NULL;
        if (value && strcmp(name, "--isa") == 0)
            options->isa = isa_named(value);
        else if (value && strcmp(name, "--effort") == 0)
            options->effort = effort_named(value);
        else if (value && strcmp(name, "--limit") == 0)
            options->limit_s = (unsigned)atoi(value);
        else if (value && strcmp(name, "--loops") == 0)
            *loops = value;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct cost_options options = {CPU_ISA_COUNT - 1, CPU_EFFORT_FULL, LIMIT_S};
    struct costs all = {0};
    const char *loops = NULL;
    int i = 1;
    if (!parse(argc, argv, &i, &options, &loops))
        return fputs("usage: bench_compile [--isa NAME] [--effort NAME] [--limit SECONDS] [--loops FILE.spv] FILE.spv "
                     "...\n",
                     stderr),
               2;
    if (i < argc) print_head();
    for (; i < argc; i++) take_module(&all, argv[i], &options);
    if (all.n) print_summary(&all);
    if (loops) loops_compare(loops, &options);
    free(all.items);
    return 0;
}
