/* Names a pipe, and uses one of another unit and one of a library that comes later. */
#include "pipes.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

FUSION_HOST_PIPE(numbers, int);

#ifdef __cplusplus
extern "C"
#endif
    const void *
    other_units_sums(void);

static fusion_session *session;

static void check(int good, const char *what)
{
    if (good) return;
    printf("%s: %s: %s\n", what, fusion_last_error()->object, fusion_last_error()->reason);
    exit(1);
}

static fusion_module *load(const char *path)
{
    fusion_module *m;
    check(!fusion_module_load_file(session, path, &m), "loading");
    return m;
}

/* Another address, and the same pipe, from the moment it is there until it goes. */
static void try_library(fusion_module *m, const char *path, fusion_pipe *sums)
{
    fusion_pipe *p;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    check(library != NULL, "dlopen");
    const void *(*address)(void) = (const void *(*)(void))dlsym(library, "librarys_sums");
    const void *its = address();
    check(its != other_units_sums(), "the library has an address of its own");
    check(!fusion_pipe_open_host(m, its, NULL, &p) && p == sums, "two addresses of one pipe");
    dlclose(library);
    check(fusion_pipe_open_host(m, its, NULL, &p) == FUSION_NOT_FOUND, "an address that went with its library");
    check(!fusion_pipe_open_host(m, other_units_sums(), NULL, &p) && p == sums, "the address that stayed");
}

static void try_others(fusion_module *m, fusion_module *without)
{
    fusion_pipe *p;
    int local = 0;
    check(fusion_pipe_open_host(m, &local, NULL, &p) == FUSION_NOT_FOUND, "an address that was not added");
    check(fusion_pipe_open_host(without, &numbers, NULL, &p) == FUSION_NOT_FOUND, "an id that a module does not have");
    check(fusion_host_pipe_map_add(&numbers, "sums") == FUSION_INVALID, "one address of two ids");
    check(!fusion_host_pipe_map_add(&local, "no module has this") &&
              fusion_pipe_open_host(m, &local, NULL, &p) == FUSION_NOT_FOUND,
          "an id that no module has");
    check(!fusion_host_pipe_map_add(&local, "no module has this"), "adding twice");
    fusion_host_pipe_map_remove(&local);
    check(fusion_host_pipe_map_add(&local, "sums") == FUSION_INVALID, "removed once, it is still there");
    fusion_host_pipe_map_remove(&local);
    check(!fusion_host_pipe_map_add(&local, "sums"), "removed twice, it stands for something else");
    fusion_host_pipe_map_remove(&local);
}

int main(int argc, char **argv)
{
    fusion_pipe *in, *out;
    fusion_graph *g;
    fusion_exec *e;
    fusion_event event;
    long long sum = 0;
    if (argc != 4) return 2;
    check(!fusion_connect(NULL, NULL, &session), "connecting");
    fusion_module *m = load(argv[1]), *without = load(argv[2]);
    check(!fusion_pipe_open_host(m, &numbers, NULL, &in), "own pipe");
    check(!fusion_pipe_open_host(m, other_units_sums(), NULL, &out), "pipe of another unit");
    try_library(m, argv[3], out);
    try_others(m, without);

    fusion_arg n = fusion_arg_i32(100);
    fusion_kernel_node node = {.module = m, .kernel = "add", .dims = 1, .global = {1}, .n_args = 1, .args = &n};
    check(!fusion_graph_create(session, &g) && !fusion_graph_add_kernel(g, &node, NULL) &&
              !fusion_graph_finalize(g, NULL, &e) && !fusion_exec_submit(e, NULL, 0, &event),
          "submitting");
    for (int i = 0; i < 100; i++) {
        check(!fusion_pipe_write(in, &i, 1, 20000, NULL), "writing");
        check(!fusion_pipe_read(out, &sum, 1, 20000, NULL), "reading");
    }
    check(!fusion_event_wait(session, event, 20000, NULL), "waiting");
    printf("%lld\n", sum);
    fusion_disconnect(session);
}

#include "pipes.footer.h"
