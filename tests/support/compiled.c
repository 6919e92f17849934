/* Kernels compiled in a child and run in the test's own process. */
#include "tests/support/compiled.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuser/cpu/runtime/runtime.h"

unsigned compiled_isas(enum cpu_isa isas[CPU_ISA_COUNT])
{
    unsigned n = 0;
    for (enum cpu_isa isa = CPU_ISA_GENERIC; isa < CPU_ISA_COUNT; isa++)
        if (cpu_target_host(isa).isa == isa) isas[n++] = isa;
    return n;
}

/* The child's part: the object goes to fd. Returns its exit status. */
static int make_object(const struct ir_function *kernel, const struct cpu_options *options, int fd)
{
    struct cpu_object object;
    struct diag_list list = {0};
    bool made = cpu_compile(kernel, options, &object, &list) == 0;
    if (!made) {
        char *text = diag_format(&list);
        fprintf(stderr, "# %s", text);
        free(text);
    }
    diag_clear(&list);
    made = made && write(fd, object.elf, object.elf_size) == (ssize_t)object.elf_size;
    cpu_object_clear(&object);
    return made ? 0 : 1;
}

/* In a process of its own, as in the service: libgccjit keeps state of one instruction set for the next, and an
   internal error of it ends the process. */
static bool compile_in_child(const struct ir_function *kernel, const struct cpu_options *options, int fd)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* the test library's handler would go on with the next test here */
        signal(SIGABRT, SIG_DFL);
        _exit(make_object(kernel, options, fd));
    }
    if (waitpid(child, &status, 0) != child) return false;
    if (status) fprintf(stderr, "# the compiler's status is %#x\n", (unsigned)status);
    return status == 0;
}

static bool load(struct compiled *c, const char *path)
{
    c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!c->library) {
        fprintf(stderr, "# %s\n", dlerror());
        return false;
    }
    c->entry = (kernel_entry *)dlsym(c->library, KERNEL_ENTRY_SYMBOL);
    c->info = dlsym(c->library, KERNEL_INFO_SYMBOL);
    return c->entry && c->info && c->info->abi_version == KERNEL_ABI_VERSION;
}

bool compiled_make_for(struct compiled *c, const struct ir_function *kernel, const struct cpu_target *target,
                       enum cpu_effort effort)
{
    *c = (struct compiled){0};
    struct cpu_options options = {.target = *target, .effort = effort};
    char path[] = "/tmp/fusion-test-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return false;
    bool made = compile_in_child(kernel, &options, fd) && load(c, path);
    close(fd);
    unlink(path);
    if (!made) compiled_clear(c);
    return made;
}

bool compiled_make_with(struct compiled *c, const struct ir_function *kernel, enum cpu_isa isa, enum cpu_effort effort)
{
    struct cpu_target target = cpu_target_host(isa);
    return compiled_make_for(c, kernel, &target, effort);
}

bool compiled_make(struct compiled *c, const struct ir_function *kernel, enum cpu_isa isa, bool scalar)
{
    return compiled_make_with(c, kernel, isa, scalar ? CPU_EFFORT_SCALAR : CPU_EFFORT_FULL);
}

bool compiled_make_batch(struct compiled *c, const struct ir_function *kernel, enum batch_loops loops)
{
    *c = (struct compiled){.batch = batch_new(kernel, loops)};
    c->info = batch_info(c->batch);
    return true;
}

void compiled_clear(struct compiled *c)
{
    batch_free(c->batch);
    if (c->library) dlclose(c->library);
    *c = (struct compiled){0};
}

static struct kernel_launch launch_of(const struct nd_range *range, uint32_t flags)
{
    struct kernel_launch l = {.dims = range->dims, .flags = flags, .functions = &kernel_runtime};
    for (unsigned d = 0; d < 3; d++) {
        bool used = d < range->dims;
        l.global_size[d] = used ? range->global[d] : 1;
        l.global_offset[d] = used ? range->offset[d] : 0;
        l.local_size[d] = used ? range->local[d] : 1;
        l.num_groups[d] = (l.global_size[d] + l.local_size[d] - 1) / l.local_size[d];
    }
    return l;
}

static uint64_t to_64(uint64_t n)
{
    return (n + 63) / 64 * 64;
}

/* ---- pipes: the interpreter's packets lie elsewhere ---- */

static struct kernel_pipe *pipe_make(const struct interp_pipe *from)
{
    struct kernel_pipe *pipe = calloc(1, kernel_pipe_bytes(from->packet_size, from->capacity));
    pipe->packet_size = from->packet_size;
    pipe->capacity = from->capacity;
    pipe->read = (struct kernel_pipe_end){from->read, from->read, .seen = from->written};
    pipe->write = (struct kernel_pipe_end){from->written, from->written, .seen = from->read};
    memcpy(pipe->packets, from->packets, (size_t)from->capacity * from->packet_size);
    return pipe;
}

static void pipe_give_back(struct kernel_pipe *pipe, struct interp_pipe *to)
{
    to->read = pipe->read.done;
    to->written = pipe->write.done;
    memcpy(to->packets, pipe->packets, (size_t)to->capacity * to->packet_size);
    free(pipe);
}

/* ---- arguments ---- */

/* The argument block; returns the bytes of work-group memory that the launch needs. */
static uint64_t fill_args(const struct ir_function *kernel, const struct interp_arg *args, uint64_t local_at,
                          struct kernel_pipe **pipes, uint8_t *block)
{
    uint32_t *offsets = calloc(kernel->n_params + 1, sizeof *offsets);
    ir_param_layout(kernel, offsets);
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        const struct interp_arg *a = &args[i];
        if (a->kind == INTERP_ARG_BYTES) memcpy(block + offsets[i], a->data, a->size);
        if (a->kind == INTERP_ARG_BUFFER || a->kind == INTERP_ARG_IMAGE)
            memcpy(block + offsets[i], &a->data, sizeof a->data);
        if (a->kind == INTERP_ARG_PIPE) {
            pipes[i] = pipe_make(a->data);
            memcpy(block + offsets[i], &pipes[i], sizeof pipes[i]);
        }
        if (a->kind != INTERP_ARG_LOCAL) continue;
        memcpy(block + offsets[i], &local_at, sizeof local_at);
        local_at += to_64(a->size);
    }
    free(offsets);
    return local_at;
}

void compiled_run(const struct compiled *c, const struct ir_function *kernel, const struct nd_range *range,
                  const struct interp_arg *args, unsigned parts, uint32_t flags)
{
    struct kernel_launch l = launch_of(range, flags);
    l.printer = c->printer;
    uint64_t groups = l.num_groups[0] * l.num_groups[1] * l.num_groups[2];
    uint64_t items = l.local_size[0] * l.local_size[1] * l.local_size[2];
    uint8_t *block = calloc(1, c->info->args_size + 8);
    uint64_t local_at = to_64(c->info->static_local_size) + to_64(c->info->scratch_per_item * items);
    struct kernel_pipe **pipes = calloc(kernel->n_params + 1, sizeof(struct kernel_pipe *));
    uint64_t local_size = to_64(fill_args(kernel, args, local_at, pipes, block)) + KERNEL_LOCAL_MARGIN;
    if (c->batch) local_size += batch_frame_bytes(c->batch, items);
    void *local = aligned_alloc(64, local_size);
    l.local_bytes = local_size;
    for (unsigned p = 0; p < parts; p++) {
        memset(local, 0xa5, local_size);
        uint64_t first = groups * p / parts, end = groups * (p + 1) / parts;
        if (c->batch)
            batch_run(c->batch, &l, block, first, end, local);
        else
            c->entry(&l, block, first, end, local);
    }
    for (uint32_t i = 0; i < kernel->n_params; i++)
        if (pipes[i]) pipe_give_back(pipes[i], args[i].data);
    free(pipes);
    free(local);
    free(block);
}
