/* The figures of the machine: what its cores compute, what its memory moves, how long a thread takes to wake. Each is
   the best of several tries, since whatever else runs only makes them worse. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "fuser/cost/cost.h"

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- operations ---- */

enum { SUMS = 10, ROUNDS = 4000, TRIES = 12 }; /* so many sums that none waits for its last addition */

typedef float four __attribute__((vector_size(16)));
typedef float eight __attribute__((vector_size(32)));
typedef float sixteen __attribute__((vector_size(64)));

/* Each sum is kept in its register by an empty statement that may have changed it. */
#define ADDITIONS(name, type, constraint, instructions)                                                                \
    __attribute__((target(instructions))) static void name(void)                                                       \
    {                                                                                                                  \
        type sum[SUMS] = {{0}}, one = {1};                                                                             \
        for (unsigned i = 0; i < ROUNDS; i++) _Pragma("GCC unroll 16") for (unsigned k = 0; k < SUMS; k++)             \
            {                                                                                                          \
                sum[k] += one;                                                                                         \
                __asm__ volatile("" : constraint(sum[k]));                                                             \
            }                                                                                                          \
    }

ADDITIONS(add_four, four, "+x", "sse2")
ADDITIONS(add_eight, eight, "+x", "avx2")
ADDITIONS(add_sixteen, sixteen, "+v", "avx512f")

/* Of three operations of a kernel one is an address or a number that a whole vector shares. */
static uint64_t measure_operations(unsigned lanes)
{
    void (*const additions)(void) = lanes == 16 ? add_sixteen : lanes == 8 ? add_eight : add_four;
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t began = now_ns();
        additions();
        uint64_t took = now_ns() - began;
        if (took && took < best) best = took;
    }
    return (uint64_t)SUMS * ROUNDS * lanes * 3 / 2 * 1000 / best;
}

/* ---- memory ---- */

enum { BYTES = 64 << 20, PASSES = 3, MOST_THREADS = 16 };

struct copying {
    pthread_mutex_t gate; /* open when all threads are there that can be had */
    pthread_barrier_t together;
    char *memory; /* half of it is copied to the other half */
    uint32_t threads;
};

struct copier {
    struct copying *of;
    uint32_t number;
    uint64_t began[PASSES], ended[PASSES];
};

static void *copy_part(void *data)
{
    struct copier *c = data;
    pthread_mutex_lock(&c->of->gate);
    pthread_mutex_unlock(&c->of->gate);
    size_t part = BYTES / 2 / c->of->threads;
    char *from = c->of->memory + part * c->number, *to = from + BYTES / 2;
    for (int i = 0; i < PASSES; i++) {
        pthread_barrier_wait(&c->of->together);
        c->began[i] = now_ns();
        memcpy(to, from, part);
        c->ended[i] = now_ns();
    }
    return NULL;
}

/* From the first that begins to the last that ends. */
static uint64_t best_pass(const struct copier *copiers, uint32_t n)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < PASSES; i++) {
        uint64_t began = UINT64_MAX, ended = 0;
        for (uint32_t k = 0; k < n; k++) {
            if (copiers[k].began[i] < began) began = copiers[k].began[i];
            if (copiers[k].ended[i] > ended) ended = copiers[k].ended[i];
        }
        if (ended - began < best) best = ended - began;
    }
    return best ? best : 1;
}

static uint64_t time_copies(struct copying *all, uint32_t cores)
{
    struct copier copiers[MOST_THREADS] = {{0}};
    pthread_t threads[MOST_THREADS];
    uint32_t n = 1;
    copiers[0].of = all;
    pthread_mutex_lock(&all->gate);
    for (; n < cores && n < MOST_THREADS; n++) {
        copiers[n] = (struct copier){.of = all, .number = n};
        if (pthread_create(&threads[n], NULL, copy_part, &copiers[n]) != 0) break;
    }
    all->threads = n;
    pthread_barrier_init(&all->together, NULL, n);
    pthread_mutex_unlock(&all->gate);
    copy_part(&copiers[0]);
    for (uint32_t i = 1; i < n; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all->together);
    return best_pass(copiers, n);
}

/* 0: not measured. */
static uint64_t measure_memory(uint32_t cores)
{
    struct copying all = {.gate = PTHREAD_MUTEX_INITIALIZER};
    all.memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all.memory == MAP_FAILED) return 0;
    madvise(all.memory, BYTES, MADV_HUGEPAGE);
    memset(all.memory, 1, BYTES);
    uint64_t ns = time_copies(&all, cores);
    munmap(all.memory, BYTES);
    return (uint64_t)BYTES * 1000 / ns;
}

/* ---- waking ---- */

enum { TURNS = 40 };

struct ball {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint32_t turn; /* the one thread has it at even ones, the other at odd ones */
    uint64_t best;
};

static void play(struct ball *b, uint32_t side)
{
    uint64_t last = 0;
    pthread_mutex_lock(&b->lock);
    while (b->turn < TURNS) {
        while (b->turn < TURNS && b->turn % 2 != side) pthread_cond_wait(&b->moved, &b->lock);
        uint64_t now = now_ns();
        if (last && (now - last) / 2 < b->best) b->best = (now - last) / 2;
        last = now;
        b->turn++;
        pthread_cond_signal(&b->moved);
    }
    pthread_mutex_unlock(&b->lock);
}

static void *play_odd(void *data)
{
    play(data, 1);
    return NULL;
}

/* Half of what it takes until the ball is back. 0: not measured. */
static uint64_t measure_waking(void)
{
    struct ball b = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, UINT64_MAX};
    pthread_t other;
    if (pthread_create(&other, NULL, play_odd, &b) != 0) return 0;
    play(&b, 0);
    pthread_join(other, NULL);
    return b.best;
}

void cost_measure(struct cost_machine *m, unsigned lanes)
{
    m->operations = measure_operations(lanes);
    m->bytes = measure_memory(m->cores);
    m->launch_ns = measure_waking();
    if (m->launch_ns > COST_MOST_LAUNCH_NS) m->launch_ns = COST_MOST_LAUNCH_NS;
}
