#include "tests/level_zero/driver/state.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock;
static pthread_cond_t changed;
static bool lost;

/* As some drivers do it, who waits for the lock lends its holder his priority: the kernel does, on other system calls
   than those of a mutex that does not. */
__attribute__((constructor)) static void make_lock(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

__attribute__((constructor)) static void use_the_monotonic_clock(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void state_lock(void)
{
    pthread_mutex_lock(&lock);
}

void state_unlock(void)
{
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

uint64_t state_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* False: the time is over. */
static bool wait_for_a_change(uint64_t end)
{
    if (end == UINT64_MAX) return pthread_cond_wait(&changed, &lock) == 0;
    struct timespec t = {.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000)};
    return pthread_cond_timedwait(&changed, &lock, &t) == 0;
}

ze_result_t state_await(bool (*is_so)(const void *of), const void *of, uint64_t nanoseconds)
{
    uint64_t now = state_nanoseconds();
    uint64_t end = nanoseconds > UINT64_MAX - now ? UINT64_MAX : now + nanoseconds;
    pthread_mutex_lock(&lock);
    bool in_time = true;
    while (!lost && !is_so(of) && in_time) in_time = wait_for_a_change(end);
    ze_result_t result = lost ? ZE_RESULT_ERROR_DEVICE_LOST : is_so(of) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    pthread_mutex_unlock(&lock);
    return result;
}

void state_lose_device(void)
{
    state_lock();
    lost = true;
    state_unlock();
}

bool state_device_is_lost(void)
{
    pthread_mutex_lock(&lock);
    bool is = lost;
    pthread_mutex_unlock(&lock);
    return is;
}
