/*
 * The machine's own process: a thread for each channel, which does what is asked there. It ends with the process that
 * started it, or asked for it: with the name of a socket, each process that connects gets one (listen.h).
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/level_zero/machine/channel.h"
#include "tests/level_zero/machine/futex.h"
#include "tests/level_zero/machine/listen.h"
#include "tests/level_zero/machine/opencl.h"

static struct machine_facts facts;
static bool present;

/* Addresses without memory are reserved, so that kernels fault there. */
static bool hide(void *at, size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return mmap(at, size, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

static bool show(const struct machine_channel *c)
{
    char path[64];
    void *at = (void *)(uintptr_t)c->at;
    off_t offset = c->file < 0 ? (off_t)((uint8_t *)at - MACHINE_ADDRESS) : 0;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getppid(), c->file);
    int file = c->file < 0 ? MACHINE_MEMORY_FD : open(path, O_RDWR | O_CLOEXEC);
    void *shown = mmap(at, c->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset);
    if (c->file >= 0 && file >= 0) close(file);
    return shown == at;
}

static uint64_t build(struct machine_channel *c)
{
    char *log;
    struct opencl_program *p = opencl_build((const uint8_t *)c->text, c->size, &log);
    snprintf(c->text, sizeof c->text, "%s", log ? log : "");
    free(log);
    return (uintptr_t)p;
}

static uint64_t make_kernel(struct machine_channel *c)
{
    struct opencl_kernel *k = opencl_kernel((struct opencl_program *)(uintptr_t)c->object, c->text);
    c->size = k ? opencl_local_memory(k) : 0;
    return (uintptr_t)k;
}

static uint64_t answer(struct machine_channel *c)
{
    void *object = (void *)(uintptr_t)c->object;
    switch ((enum machine_call)c->call) {
    case MACHINE_FACTS: c->facts = facts; return present;
    case MACHINE_SHOW: return show(c);
    case MACHINE_HIDE: return hide((void *)(uintptr_t)c->at, c->size);
    case MACHINE_BUILD: return build(c);
    case MACHINE_FREE_PROGRAM: opencl_free_program(object); return 1;
    case MACHINE_KERNEL: return make_kernel(c);
    case MACHINE_FREE_KERNEL: opencl_free_kernel(object); return 1;
    case MACHINE_RUN: return opencl_run(object, c);
    }
    return 0;
}

static void *serve(void *channel)
{
    struct machine_channel *c = channel;
    for (;;) {
        uint32_t state = atomic_load(&c->state);
        if (state != MACHINE_ASKED) {
            futex_wait(&c->state, state, 0);
            continue;
        }
        c->object = answer(c);
        atomic_store(&c->state, MACHINE_ANSWERED);
        futex_wake(&c->state);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1 && !listen_for_one(argv[1])) return 1;
    fcntl(MACHINE_MEMORY_FD, F_SETFD, FD_CLOEXEC);
    fcntl(MACHINE_LIFE_FD, F_SETFD, FD_CLOEXEC);
    if (mmap(MACHINE_ADDRESS, MACHINE_HEAD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, MACHINE_MEMORY_FD,
             0) != MACHINE_ADDRESS ||
        !hide(MACHINE_ADDRESS + MACHINE_HEAD, MACHINE_BYTES - MACHINE_HEAD))
        return 1;
    present = opencl_start(&facts);
    struct machine_channel *channels = (struct machine_channel *)MACHINE_ADDRESS;
    for (unsigned i = 0; i < MACHINE_CHANNELS; i++)
        if (pthread_create(&thread, NULL, serve, &channels[i]) != 0) return 1;
    struct pollfd life = {.fd = MACHINE_LIFE_FD, .events = POLLIN};
    while (poll(&life, 1, -1) <= 0) continue;
    _exit(0);
}
