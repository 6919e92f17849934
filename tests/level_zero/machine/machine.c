/* The driver's side of the machine. */
#include "tests/level_zero/machine/machine.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/level_zero/machine/channel.h"
#include "tests/level_zero/machine/futex.h"
#include "tests/level_zero/machine/listen.h"

extern char **environ;

static struct {
    pthread_once_t once;
    bool present;
    struct machine_facts facts;
    struct machine_channel *channels;
    int memory;
    int life; /* a socket that ends with the machine */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    bool taken[MACHINE_CHANNELS];
} machine = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

/* ---- channels ---- */

static struct machine_channel *take_channel(void)
{
    struct machine_channel *c = NULL;
    pthread_mutex_lock(&machine.lock);
    while (!c) {
        for (unsigned i = 0; i < MACHINE_CHANNELS && !c; i++) {
            if (machine.taken[i]) continue;
            machine.taken[i] = true;
            c = &machine.channels[i];
        }
        if (!c) pthread_cond_wait(&machine.freed, &machine.lock);
    }
    pthread_mutex_unlock(&machine.lock);
    return c;
}

static void give_channel(struct machine_channel *c)
{
    pthread_mutex_lock(&machine.lock);
    machine.taken[c - machine.channels] = false;
    pthread_cond_signal(&machine.freed);
    pthread_mutex_unlock(&machine.lock);
}

static bool is_alive(void)
{
    struct pollfd life = {.fd = machine.life, .events = POLLIN};
    return poll(&life, 1, 0) == 0;
}

/* What was filled in is asked, and answered in the same place. False: the machine has ended. */
static bool ask(struct machine_channel *c, enum machine_call call)
{
    enum { LOOK_MS = 20 };
    c->call = call;
    atomic_store(&c->state, MACHINE_ASKED);
    futex_wake(&c->state);
    while (atomic_load(&c->state) == MACHINE_ASKED) {
        futex_wait(&c->state, MACHINE_ASKED, LOOK_MS);
        if (atomic_load(&c->state) == MACHINE_ASKED && !is_alive()) return false;
    }
    atomic_store(&c->state, MACHINE_IDLE);
    return true;
}

/* ---- the process ---- */

static int spawn(int memory, int life)
{
    char *arguments[] = {(char *)MACHINE, NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, memory, MACHINE_MEMORY_FD);
    posix_spawn_file_actions_adddup2(&files, life, MACHINE_LIFE_FD);
    pid_t child;
    int code = posix_spawn(&child, MACHINE, &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    return code;
}

/* Descriptors that are not among those that the machine gets its own as. */
static int out_of_the_way(int fd)
{
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);
    if (fd >= 0) close(fd);
    return moved;
}

static bool map_memory(void)
{
    machine.memory = out_of_the_way(memfd_create("level-zero", MFD_CLOEXEC));
    if (machine.memory < 0 || ftruncate(machine.memory, (off_t)MACHINE_BYTES) != 0) return false;
    int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    machine.channels = mmap(MACHINE_ADDRESS, MACHINE_BYTES, PROT_READ | PROT_WRITE, flags, machine.memory, 0);
    return machine.channels == (void *)MACHINE_ADDRESS;
}

static int start_own(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return -1;
    int theirs = out_of_the_way(pair[1]), code = spawn(machine.memory, theirs);
    close(theirs);
    return code == 0 ? pair[0] : -1;
}

/* FUSIOND_TEST_ZE_MACHINE: the socket of a machine that is there already, for processes that cannot start one. */
static void start(void)
{
    const char *path = getenv("FUSIOND_TEST_ZE_MACHINE");
    if (!map_memory()) return;
    machine.life = path ? listen_connect(path, machine.memory) : start_own();
    if (machine.life < 0) return;
    struct machine_channel *c = take_channel();
    machine.present = ask(c, MACHINE_FACTS) && c->object;
    machine.facts = c->facts;
    give_channel(c);
}

bool machine_start(void)
{
    pthread_once(&machine.once, start);
    return machine.present;
}

const struct machine_facts *machine_facts(void)
{
    return &machine.facts;
}

/* ---- memory ---- */

uint8_t *machine_memory(size_t *size)
{
    *size = MACHINE_BYTES - MACHINE_HEAD;
    return MACHINE_ADDRESS + MACHINE_HEAD;
}

/* A call about an object, or a piece of memory: what it answers as object. */
static uint64_t call(enum machine_call which, uint64_t object, const void *at, size_t size, int file)
{
    struct machine_channel *c = take_channel();
    c->object = object;
    c->at = (uintptr_t)at;
    c->size = size;
    c->file = file;
    uint64_t answer = ask(c, which) ? c->object : 0;
    give_channel(c);
    return answer;
}

bool machine_show(void *at, size_t size, int file)
{
    return call(MACHINE_SHOW, 0, at, size, file) != 0;
}

void machine_hide(void *at, size_t size)
{
    call(MACHINE_HIDE, 0, at, size, -1);
}

void machine_restore(void *at, size_t size)
{
    off_t offset = (off_t)((uint8_t *)at - MACHINE_ADDRESS);
    if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, machine.memory, offset) != at)
        abort();
}

/* ---- programs ---- */

uint64_t machine_build(const uint8_t *spirv, size_t size, char **log)
{
    struct machine_channel *c = take_channel();
    uint64_t program = 0;
    *log = NULL;
    if (size <= sizeof c->text) {
        c->size = size;
        memcpy(c->text, spirv, size);
        bool answered = ask(c, MACHINE_BUILD);
        program = answered ? c->object : 0;
        if (answered && c->text[0]) *log = strndup(c->text, sizeof c->text);
    }
    give_channel(c);
    return program;
}

void machine_free_program(uint64_t program)
{
    if (program) call(MACHINE_FREE_PROGRAM, program, NULL, 0, -1);
}

uint64_t machine_kernel(uint64_t program, const char *name, uint64_t *local_bytes)
{
    uint64_t kernel = 0;
    struct machine_channel *c = take_channel();
    c->object = program;
    if (strlen(name) < sizeof c->text) {
        strcpy(c->text, name);
        kernel = ask(c, MACHINE_KERNEL) ? c->object : 0;
        *local_bytes = c->size;
    }
    give_channel(c);
    return kernel;
}

void machine_free_kernel(uint64_t kernel)
{
    if (kernel) call(MACHINE_FREE_KERNEL, kernel, NULL, 0, -1);
}

/* False: there is no room for all of them. */
static bool send_arguments(struct machine_channel *c, const struct spirv_kernel *facts,
                           const struct machine_argument *arguments)
{
    size_t at = 0;
    for (uint32_t i = 0; i < facts->n_parameters; i++) {
        const struct machine_argument *a = &arguments[i];
        size_t bytes = machine_sent_bytes(a->bytes ? (uint32_t)a->size : 0);
        if (bytes > sizeof c->text - at) return false;
        struct machine_sent_argument *sent = (struct machine_sent_argument *)(c->text + at);
        *sent = (struct machine_sent_argument){.kind = facts->parameters[i].kind, .size = (uint32_t)a->size};
        if (a->bytes) memcpy(sent->bytes, a->bytes, a->size);
        at += bytes;
    }
    c->n_arguments = facts->n_parameters;
    return true;
}

bool machine_run(uint64_t kernel, const struct spirv_kernel *facts, const struct machine_argument *arguments,
                 const struct machine_range *range)
{
    if (!range->groups[0] || !range->groups[1] || !range->groups[2]) return true;
    struct machine_channel *c = take_channel();
    c->object = kernel;
    c->range = *range;
    bool good = send_arguments(c, facts, arguments) && ask(c, MACHINE_RUN) && c->object;
    give_channel(c);
    return good;
}
