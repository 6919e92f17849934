/*
 * OpenCL C to SPIR-V. The compiler is the user's and runs as the user: what may be included is what the user may read.
 * It is a program of its own, so that no compiler lives in this process.
 */
#include <fusiond/fusiond.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/base/error.h"
#include "client/session/locate.h"
#include "client/session/spawn.h"

/* The program's input, output and messages: memory, which needs nobody to read it meanwhile. */
struct exchange {
    int fds[3];
};

static int memory_of(const void *bytes, size_t size)
{
    int fd = memfd_create("fusiond-clc", MFD_CLOEXEC);
    const char *at = bytes;
    while (fd >= 0 && size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        if (n > 0) at += n, size -= (size_t)n;
    }
    if (fd >= 0) lseek(fd, 0, SEEK_SET);
    return fd;
}

static fusion_status exchange_open(struct exchange *e, const char *name, const void *source, size_t size)
{
    e->fds[0] = source ? memory_of(source, size) : CLIENT_SPAWN_NULL;
    e->fds[1] = memory_of(NULL, 0);
    e->fds[2] = memory_of(NULL, 0);
    if (e->fds[1] >= 0 && e->fds[2] >= 0 && (e->fds[0] >= 0 || !source)) return FUSION_SUCCESS;
    return client_errno(errno == ENOMEM ? FUSION_OUT_OF_MEMORY : FUSION_IO, name, "memory for its compiler");
}

static void exchange_close(struct exchange *e)
{
    for (int i = 0; i < 3; i++)
        if (e->fds[i] >= 0) close(e->fds[i]);
}

/* All of it, with a 0 byte behind; NULL where memory is out. */
static char *read_back(int fd, size_t *size)
{
    struct stat st;
    *size = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    char *bytes = malloc(*size + 1);
    size_t done = 0;
    while (bytes && done < *size) {
        ssize_t n = pread(fd, bytes + done, *size - done, (off_t)done);
        if (n == 0 || (n < 0 && errno != EINTR)) break;
        if (n > 0) done += (size_t)n;
    }
    if (!bytes) return NULL;
    *size = done;
    bytes[done] = 0;
    return bytes;
}

/* Whether it worked is seen from its output: who ignores the end of children, or waits for all, gets no status here. */
static fusion_status run(const char *name, bool from_memory, const char *options, const struct exchange *e)
{
    char path[PATH_MAX];
    const char *const of_file[] = {"fusiond-clc", "--options", options, "-o", "-", "--", name, NULL};
    const char *const of_memory[] = {"fusiond-clc", "--options", options, "-o", "-", "--name", name, "-", NULL};
    const char *const *argv = from_memory ? of_memory : of_file;
    pid_t pid;
    client_locate(&client_clc, path);
    int failure = client_spawn(path, (char *const *)argv, e->fds, 3, &pid);
    if (failure)
        return client_error(failure == ENOMEM ? FUSION_OUT_OF_MEMORY : FUSION_FEATURE_NOT_SUPPORTED, name,
                            "OpenCL C: %s could not be started: %s (set FUSIOND_CLC to its path)", path,
                            strerror(failure));
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return FUSION_SUCCESS;
}

static fusion_status take_results(const char *name, const struct exchange *e, void **spirv, size_t *size, char **log)
{
    size_t log_size;
    char *said = read_back(e->fds[2], &log_size), *module = read_back(e->fds[1], size);
    fusion_status status = FUSION_SUCCESS;
    if (!said || !module)
        status = client_no_memory(name);
    else if (!*size)
        status = client_error(FUSION_INVALID, "OpenCL C", "%s", log_size ? said : "its compiler ended without a word");
    if (log && said) {
        *log = said;
        said = NULL;
    }
    free(said);
    if (status == FUSION_SUCCESS)
        *spirv = module;
    else
        free(module);
    return status;
}

fusion_status fusion_compile_opencl_c(const char *name, const void *source, size_t size, const char *build_options,
                                      void **spirv, size_t *spirv_size, char **log)
{
    struct exchange e;
    if (log) *log = NULL;
    if (!name || !*name) return client_error(FUSION_INVALID, "OpenCL C", "it has no name");
    /* As any other file, though another process reads it. */
    if (!source && access(name, R_OK) < 0) return client_errno(FUSION_IO, name, "opening");
    fusion_status status = exchange_open(&e, name, source, size);
    if (status == FUSION_SUCCESS) status = run(name, source != NULL, build_options ? build_options : "", &e);
    if (status == FUSION_SUCCESS) status = take_results(name, &e, spirv, spirv_size, log);
    exchange_close(&e);
    return status;
}

bool fusion_is_opencl_c(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".cl") == 0;
}
