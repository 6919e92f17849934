/*
 * One kernel, cold: a process reads its module, plans a graph of it alone as a client would submit it, and compiles the
 * launch. The arguments are buffers that are large enough for anything.
 */
#include "tests/bench/compile/cost.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuser/plan/plan.h"
#include "ir/core/layout.h"
#include "ir/spirv/spirv.h"
#include "tests/support/graph_make.h"

enum {
    BUFFER_BYTES = 1 << 28,
    LOCAL_ARGUMENT = 16 << 10,
    WORK_GROUP = 4096,
    LOCAL_BYTES = 256 << 10,
    POLL_US = 500,
    PATIENCE = 10
};
static const rlim_t MEMORY = (rlim_t)2 << 30; /* as a compiler of the daemon has */

/* ---- measures ---- */

static double usage_ms(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-3;
}

double cost_processor_ms(void)
{
    return usage_ms(RUSAGE_SELF) + usage_ms(RUSAGE_CHILDREN);
}

double cost_wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

unsigned cost_instructions(const char *assembly)
{
    unsigned n = 0;
    for (const char *line = assembly; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        n += *line == '\t' && line[1] >= 'a' && line[1] <= 'z';
    }
    return n;
}

/* Of what is loaded and never written: code and constants. */
static size_t code_bytes(const struct cpu_object *object)
{
    const Elf64_Ehdr *header = (const void *)object->elf;
    size_t bytes = 0;
    if (object->elf_size < sizeof *header || header->e_ident[EI_CLASS] != ELFCLASS64) return 0;
    const Elf64_Shdr *sections = (const void *)(object->elf + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_PROGBITS && !(sections[i].sh_flags & SHF_WRITE) &&
            sections[i].sh_flags & SHF_ALLOC)
            bytes += sections[i].sh_size;
    return bytes;
}

/* ---- a module ---- */

static struct ir_module *read_module(const char *path, struct diag_list *list)
{
    const char *slash = strrchr(path, '/');
    char *bytes = malloc(IR_SPIRV_MAX_SIZE);
    FILE *in = fopen(path, "rb");
    size_t size = in && bytes ? fread(bytes, 1, IR_SPIRV_MAX_SIZE, in) : 0;
    if (in) fclose(in);
    struct ir_module *module = ir_read_spirv(bytes, size, slash ? slash + 1 : path, list);
    free(bytes);
    return module;
}

static struct ir_function *find_kernel(const struct ir_module *m, unsigned number)
{
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i]->linkage == IR_LINKAGE_KERNEL && number-- == 0) return m->functions[i];
    return NULL;
}

/* ---- a graph of one kernel ---- */

static struct fuser_arg argument(struct test_graph *g, const struct ir_param *p, uint32_t i)
{
    const struct fuser_props none = {0};
    ir_type type = p->value->type;
    char name[16];
    snprintf(name, sizeof name, "b%u", i);
    if (ir_type_kind(type) == IR_KIND_IMAGE) {
        uint32_t image = test_buffer(g, name, IR_I8, BUFFER_BYTES, none);
        g->graph.buffers[image].image = true;
        g->graph.buffers[image].form = ir_type_image_form(type);
        return test_arg_buffer(image);
    }
    if (!ir_type_is_ptr(type)) return test_arg_value(test_value(g, (uint32_t)ir_type_size(g->module, type)));
    if (p->by_value) return test_arg_value(test_value(g, (uint32_t)ir_type_size(g->module, p->elem)));
    if (ir_type_space(type) == IR_SPACE_LOCAL) return test_arg_local(LOCAL_ARGUMENT);
    uint32_t buffer = test_buffer(g, name, IR_VOID, 0, none);
    g->graph.buffers[buffer].bytes = BUFFER_BYTES;
    return test_arg_buffer(buffer);
}

static struct nd_range range_for(const struct ir_function *kernel)
{
    const uint32_t *required = kernel->work_group_size;
    if (!required[0]) return test_range_2d(1024, 256);
    struct nd_range range = {.dims = 3};
    for (int d = 0; d < 3; d++) {
        range.local[d] = required[d];
        range.global[d] = required[d] > 1 || d == 0 ? (uint64_t)required[d] * 16 : 1;
    }
    return range;
}

static void set_device(struct fuser_device *d, const struct cpu_target *target)
{
    const uint32_t *sizes = cpu_sub_group_sizes();
    d->max_work_group_size = WORK_GROUP;
    d->max_local_bytes = LOCAL_BYTES;
    d->primary_sub_group_size = CPU_PRIMARY_SUB_GROUP_SIZE;
    d->register_bytes = cpu_register_bytes(target->isa);
    d->fma = target->isa >= CPU_ISA_AVX2;
    for (d->n_sub_group_sizes = 0; sizes[d->n_sub_group_sizes]; d->n_sub_group_sizes++)
        d->sub_group_sizes[d->n_sub_group_sizes] = sizes[d->n_sub_group_sizes];
}

/* NULL with the reason. */
static struct fuser_plan *plan(struct ir_module *module, const struct ir_function *kernel,
                               const struct cpu_target *target, struct error *e)
{
    struct test_graph *g = test_graph_of(module);
    struct fuser_arg *args = calloc(kernel->n_params + 1, sizeof *args);
    set_device(&g->options.device, target);
    for (uint32_t i = 0; i < kernel->n_params; i++) args[i] = argument(g, &kernel->params[i], i);
    test_kernel(g, "node", kernel->name, range_for(kernel), args, kernel->n_params);
    return fuser_plan_new(&g->graph, &g->options, e);
}

/* ---- the process ---- */

static void say_findings(struct cost *c, const struct diag_list *list)
{
    char *text = diag_format(list);
    snprintf(c->why, sizeof c->why, "%s", text ? text : "");
    c->why[strcspn(c->why, "\n")] = 0;
    free(text);
}

static void compile(struct cost *c, const struct ir_function *kernel, const struct cpu_target *target,
                    enum cpu_effort effort)
{
    struct cpu_options options = {.target = *target, .keep_assembly = true, .effort = effort};
    struct cpu_object object = {0};
    struct diag_list list = {0};
    double start = cost_processor_ms();
    int result = cpu_compile(kernel, &options, &object, &list);
    c->code_ms = cost_processor_ms() - start;
    c->outcome = result == 0 ? OUTCOME_MADE : result == 1 ? OUTCOME_INTERPRETED : OUTCOME_REFUSED;
    if (result < 0) say_findings(c, &list);
    if (result != 0) return;
    c->statements = object.statements;
    c->lanes = object.lanes;
    c->effort = object.effort;
    c->instructions = cost_instructions(object.assembly);
    c->bytes = code_bytes(&object);
}

static void measure(struct cost *c, const char *path, unsigned number, const struct cost_options *options)
{
    struct cpu_target target = cpu_target_host(options->isa);
    struct error e = {0};
    struct ir_module *module = read_module(path, NULL);
    const struct ir_function *kernel = find_kernel(module, number);
    snprintf(c->kernel, sizeof c->kernel, "%s", kernel->name);
    c->outcome = OUTCOME_REFUSED;
    if (kernel->refused) {
        snprintf(c->why, sizeof c->why, "%s", kernel->refused);
        return;
    }
    double wall = cost_wall_ms(), start = cost_processor_ms();
    struct fuser_plan *made = plan(module, kernel, &target, &e);
    c->plan_ms = cost_processor_ms() - start;
    if (made)
        compile(c, made->launches[0].kernel, &target, options->effort);
    else
        snprintf(c->why, sizeof c->why, "%.60s: %.90s", e.object, e.reason);
    c->wall_ms = cost_wall_ms() - wall;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    c->memory_mb = (double)usage.ru_maxrss / 1024;
}

static struct cost *shared_cost(void)
{
    void *memory = mmap(NULL, sizeof(struct cost), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    return memory;
}

/* The limit is one of processor time, and the clock's a last resort where others take the processors. */
static void wait_for(pid_t child, struct cost *c, unsigned limit_s)
{
    double end = cost_wall_ms() + (double)limit_s * 1e3 * PATIENCE;
    int status;
    bool late = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (cost_wall_ms() > end && !late) late = kill(-child, SIGKILL) == 0;
        usleep(POLL_US);
    }
    if (!WIFSIGNALED(status) && !WEXITSTATUS(status)) return;
    if (late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
        c->outcome = OUTCOME_TIME_LIMIT;
        c->code_ms = limit_s * 1e3;
    } else {
        c->outcome = OUTCOME_DIED;
        snprintf(c->why, sizeof c->why, "%s", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "out of memory?");
    }
}

struct cost cost_of_kernel(const char *path, unsigned number, const struct cost_options *options)
{
    const char *slash = strrchr(path, '/');
    struct cost *shared = shared_cost();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY, MEMORY});
        setrlimit(RLIMIT_CPU, &(struct rlimit){options->limit_s, options->limit_s + 1});
        measure(shared, path, number, options);
        _exit(0);
    }
    setpgid(child, child);
    wait_for(child, shared, options->limit_s);
    struct cost cost = *shared;
    snprintf(cost.file, sizeof cost.file, "%s", slash ? slash + 1 : path);
    munmap(shared, sizeof *shared);
    return cost;
}

int cost_kernels(const char *path)
{
    struct diag_list list = {0};
    struct ir_module *module = read_module(path, &list);
    int n = 0;
    while (module && find_kernel(module, (unsigned)n)) n++;
    if (!module) {
        char *text = diag_format(&list);
        printf("%s: %.*s\n", path, (int)strcspn(text, "\n"), text);
        free(text);
        n = -1;
    }
    ir_module_free(module);
    diag_clear(&list);
    return n;
}
