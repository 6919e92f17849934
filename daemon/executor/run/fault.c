/*
 * The handler of SIGSEGV and its like: completes the submission that the thread runs with what its kernel did, then
 * ends the process, whose memory can no longer be trusted. Nothing here allocates, locks or formats with
 * the C library.
 */
#include "daemon/executor/run/fault.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/executor/program/guard.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/running.h"
#include "proto/include/fusiond/status.h"

struct text {
    char bytes[168]; /* as a completion's reason */
    size_t size;
};

static void add(struct text *t, const char *s)
{
    while (*s && t->size < sizeof t->bytes - 1) t->bytes[t->size++] = *s++;
    t->bytes[t->size] = 0;
}

static void add_number(struct text *t, uint64_t n, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = 0;
    do {
        digits[--at] = "0123456789abcdef"[n % base];
        n /= base;
    } while (n);
    if (base == 16) add(t, "0x");
    add(t, digits + at);
}

/* Bytes from the slot's memory to the address; UINT64_MAX where it is far away. */
static uint64_t distance(const struct slot_memory *s, uintptr_t address, bool *beyond)
{
    uintptr_t first = (uintptr_t)s->memory, end = first + s->bytes;
    if (!s->memory) return UINT64_MAX;
    *beyond = address >= first;
    uint64_t d = address >= end ? address - end : address >= first ? 0 : first - address;
    return d < GUARD_BYTES ? d : UINT64_MAX;
}

static const struct slot_memory *nearest_slot(const struct running_seen *seen, uintptr_t address, uint64_t *bytes,
                                              bool *beyond)
{
    const struct slot_memory *slots, *best = NULL;
    uint32_t n = running_slots(seen, &slots);
    *bytes = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        bool is_beyond;
        uint64_t d = distance(&slots[i], address, &is_beyond);
        if (d >= *bytes) continue;
        *bytes = d;
        *beyond = is_beyond;
        best = &slots[i];
    }
    return best;
}

/* Which access it was the code does not know unless it checks. */
#define FIND_OUT "; the option bounds (--bounds) tells the line, work-item and element"

static void describe_access(struct text *t, const struct running_seen *seen, uintptr_t address)
{
    uint64_t bytes;
    bool beyond = false;
    const struct slot_memory *slot = nearest_slot(seen, address, &bytes, &beyond);
    add(t, "accessed address ");
    add_number(t, address, 16);
    if (!slot) {
        add(t, ", which is near no buffer of the graph" FIND_OUT);
        return;
    }
    add(t, ", ");
    add_number(t, bytes, 10);
    add(t, beyond ? " bytes beyond the end of buffer " : " bytes before the start of buffer ");
    add(t, slot->name);
    add(t, " (");
    add_number(t, slot->bytes, 10);
    add(t, " bytes)" FIND_OUT);
}

/* Code that is never to be reached is one instruction, `ud2`: there a vote of a work-group ends the program, too. */
static void describe_instruction(struct text *t, const unsigned char *at)
{
    if (at[0] == 0x0f && at[1] == 0x0b)
        add(t, "came to where it never should (SIGILL), as where work-items of a group part around a barrier; "
               "the option debug (--debug) tells the line");
    else
        add(t, "holds an instruction this processor does not have (SIGILL)");
}

static void describe(struct text *t, const struct running_seen *seen, int signal_number, const siginfo_t *info)
{
    switch (signal_number) {
    case SIGFPE: add(t, "did arithmetic the processor refuses (SIGFPE)"); return;
    case SIGILL: describe_instruction(t, info->si_addr); return;
    case SIGBUS:
        if (info->si_code == BUS_ADRERR) add(t, "found no memory behind its buffer (SIGBUS): ");
        break;
    default: break;
    }
    describe_access(t, seen, (uintptr_t)info->si_addr);
}

static void complete(const struct running_seen *seen, int signal_number, const siginfo_t *info)
{
    const char *kind, *name;
    struct text object = {.size = 0}, reason = {.size = 0};
    running_what(seen, &kind, &name);
    add(&object, kind);
    add(&object, " ");
    add(&object, name);
    describe(&reason, seen, signal_number, info);
    running_fail(seen, FUSION_KERNEL_FAULT, object.bytes, reason.bytes);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    struct running_seen seen;
    (void)context;
    bool some;
    while ((some = running_see_own(&seen)) && !running_take_over(&seen, 1)) {
    } /* who was first ends, or lets go */
    if (!some && !running_ends()) _exit(EXECUTOR_EXIT_INTERNAL);
    if (!some)
        for (;;) pause(); /* somebody else is about to end the process */
    complete(&seen, signal_number, info);
    _exit(EXECUTOR_EXIT_FAULT);
}

void fault_init(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
}

void fault_thread_init(void)
{
    /* AVX-512 state alone takes 3 KiB of the handler's frame. */
    enum { STACK_BYTES = 64 << 10 };
    void *memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    stack_t stack = {.ss_sp = memory, .ss_size = STACK_BYTES};
    if (sigaltstack(&stack, NULL) != 0) abort();
}
