/* Starts the Python script with memory to share, and talks to it line by line. */
#include "tests/bench/numexpr.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARRAYS = 5 };

struct numexpr {
    pid_t child;
    FILE *to, *from;
    unsigned n_in, n_arrays;
    int fd[MAX_ARRAYS];
    void *memory[MAX_ARRAYS];
    size_t bytes;
};

static bool make_array(struct numexpr *x, unsigned i)
{
    x->fd[i] = memfd_create("array", 0); /* inherited by the child */
    if (x->fd[i] < 0 || ftruncate(x->fd[i], (off_t)x->bytes) != 0) return false;
    x->memory[i] = mmap(NULL, x->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, x->fd[i], 0);
    return x->memory[i] != MAP_FAILED;
}

static void run_child(const struct numexpr *x, const char *script, const char *work, size_t count)
{
    char number[24], inputs[12], fds[MAX_ARRAYS][12];
    snprintf(number, sizeof number, "%zu", count);
    snprintf(inputs, sizeof inputs, "%u", x->n_in);
    const char *argv[6 + MAX_ARRAYS] = {"/usr/bin/python3", script, work, number, inputs};
    for (unsigned i = 0; i < x->n_arrays; i++) {
        snprintf(fds[i], sizeof fds[i], "%d", x->fd[i]);
        argv[5 + i] = fds[i];
    }
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    execv(argv[0], (char *const *)argv);
    _exit(1);
}

static bool start_child(struct numexpr *x, const char *script, const char *work, size_t count)
{
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) return false;
    x->child = fork();
    if (x->child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        run_child(x, script, work, count);
    }
    close(in[0]);
    close(out[1]);
    x->to = fdopen(in[1], "w");
    x->from = fdopen(out[0], "r");
    char line[32];
    return x->child > 0 && x->to && x->from && fgets(line, sizeof line, x->from) && strcmp(line, "ready\n") == 0;
}

struct numexpr *numexpr_open(const char *script, const char *work, const struct peer_data *data, unsigned n_in,
                             unsigned n_out)
{
    struct numexpr *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->n_in = n_in;
    x->bytes = data->columns * sizeof(float);
    for (; x->n_arrays < n_in + n_out; x->n_arrays++) {
        if (!make_array(x, x->n_arrays)) goto fail;
        if (x->n_arrays < n_in) memcpy(x->memory[x->n_arrays], data->in[x->n_arrays], x->bytes);
    }
    signal(SIGPIPE, SIG_IGN);
    if (start_child(x, script, work, data->columns)) return x;
fail:
    numexpr_close(x);
    return NULL;
}

bool numexpr_run(void *self, unsigned repeat, double *ms)
{
    struct numexpr *x = self;
    char line[64];
    if (fprintf(x->to, "%u\n", repeat) < 0 || fflush(x->to) != 0) return false;
    return fgets(line, sizeof line, x->from) && sscanf(line, "%lf", ms) == 1;
}

void numexpr_results(const struct numexpr *x, struct peer_data *data)
{
    for (unsigned i = x->n_in; i < x->n_arrays; i++) memcpy(data->out[i - x->n_in], x->memory[i], x->bytes);
}

void numexpr_close(struct numexpr *x)
{
    if (!x) return;
    if (x->to) fclose(x->to); /* the end of its input ends it */
    if (x->from) fclose(x->from);
    if (x->child > 0) waitpid(x->child, NULL, 0);
    for (unsigned i = 0; i < x->n_arrays; i++) {
        munmap(x->memory[i], x->bytes);
        close(x->fd[i]);
    }
    free(x);
}
