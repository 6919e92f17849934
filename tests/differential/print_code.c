/*
 * A line for each thing that the compiler side makes of modules and of random graphs, with a hash of it. What two
 * versions of the project print of the same input says where they differ: tools/same-code.
 *   print_code FILE.spv ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuser/cpu/compile.h"
#include "fuser/passes/manager/pipelines.h"
#include "ir/spirv/spirv.h"
#include "ir/text/print/print.h"
#include "tests/support/random_graph.h"

enum { GRAPHS = 400 };

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3;
    return hash;
}

static uint64_t hash_of(const char *text)
{
    return hash_text(0xcbf29ce484222325, text);
}

static void print_findings(const struct diag_list *list)
{
    char *text = diag_format(list);
    text[strcspn(text, "\n")] = 0;
    printf(" refused: %s\n", text);
    free(text);
}

/* In a process of its own: libgccjit keeps state of one instruction set for the next. */
static void print_kernel(const char *file, const struct ir_function *kernel, enum cpu_isa isa)
{
    struct cpu_options options = {.target = cpu_target_host(isa), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    fflush(NULL);
    pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child) return;
    printf("code %s %s %s", file, kernel->name, cpu_isa_name(isa));
    if (cpu_compile(kernel, &options, &object, &list) != 0)
        print_findings(&list);
    else
        printf(" %016llx lanes %u effort %s statements %u\n", (unsigned long long)hash_of(object.assembly),
               object.lanes, cpu_effort_name(object.effort), object.statements);
    fflush(NULL);
    _exit(0);
}

static void print_module(const char *path)
{
    struct diag_list list = {0};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *bytes = malloc(IR_SPIRV_MAX_SIZE);
    FILE *in = fopen(path, "rb");
    size_t size = in ? fread(bytes, 1, IR_SPIRV_MAX_SIZE, in) : 0;
    if (in) fclose(in);
    struct ir_module *module = ir_read_spirv(bytes, size, name, &list);
    if (module) {
        char *text = ir_print(module);
        printf("module %s %016llx\n", name, (unsigned long long)hash_of(text));
        free(text);
        for (uint32_t i = 0; i < module->n_functions; i++) {
            struct ir_function *f = module->functions[i];
            if (f->linkage != IR_LINKAGE_KERNEL || f->refused) continue;
            f->assumes = IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY; /* as most launches have it */
            pipeline_run(&pipeline_cleanup, f);
            print_kernel(name, f, (enum cpu_isa)(hash_of(f->name) % CPU_ISA_COUNT));
        }
    } else {
        printf("module %s", name);
        print_findings(&list);
    }
    ir_module_free(module);
    diag_clear(&list);
    free(bytes);
}

static void print_plan(uint64_t seed)
{
    struct random_graph_knobs knobs = random_graph_knobs(seed);
    struct test_graph *g = random_graph_new(seed, &knobs);
    struct error error = {0};
    struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &error);
    if (plan) {
        uint64_t kernels = hash_of(""), remarks = hash_of("");
        for (uint32_t i = 0; i < plan->n_launches; i++) {
            char *text = ir_print(plan->launches[i].module);
            kernels = hash_text(kernels, text);
            free(text);
        }
        for (uint32_t i = 0; i < plan->n_remarks; i++) {
            remarks = hash_text(remarks, plan->remarks[i].code);
            remarks = hash_text(remarks, plan->remarks[i].text);
        }
        printf("plan %llu launches %u %016llx remarks %u %016llx\n", (unsigned long long)seed, plan->n_launches,
               (unsigned long long)kernels, plan->n_remarks, (unsigned long long)remarks);
    } else {
        printf("plan %llu refused: %s: %s\n", (unsigned long long)seed, error.object, error.reason);
    }
    fuser_plan_free(plan);
    test_graph_free(g);
}

int main(int argc, char **argv)
{
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) print_plan(seed);
    for (int i = 1; i < argc; i++) print_module(argv[i]);
    return 0;
}
