/*
 * Running submissions. They begin in their order, and most of them end before the next one begins. Kernels that wait
 * for pipes run on threads of their own: meanwhile submissions that came later begin, where nobody can tell (order.h),
 * as one of them may have what such a kernel waits for. The others wait for those that came before them.
 */
#include "daemon/executor/ring/submit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/executor/program/executables.h"
#include "daemon/executor/ring/completion.h"
#include "daemon/executor/ring/order.h"
#include "daemon/executor/ring/relay.h"
#include "daemon/executor/ring/take_back.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/wait.h"
#include "daemon/executor/run/watchdog.h"
#include "ir/base/arena.h"
#include "ir/printf/printer.h"

struct submitter {
    struct executables *executables;
    struct submission all[RUNNING_MOST];
    struct submission *free;
    struct submission *first, *last; /* in the order in which they came, those that have not ended */
    uint64_t newest;                 /* sequence of the last one that came */
};

struct submitter *submit_new(struct buffers *buffers, struct executables *executables, struct pool *pool,
                             submit_spares_fn *spares_run)
{
    struct submitter *s = memset(arena_realloc(NULL, sizeof *s), 0, sizeof *s);
    s->executables = executables;
    for (uint32_t i = 0; i < RUNNING_MOST; i++) {
        struct submission *one = &s->all[i];
        one->spares_run = spares_run;
        one->context = (struct launch_context){.pool = pool, .buffers = buffers, .wake = completion_wake};
        one->next = s->free;
        s->free = one;
    }
    return s;
}

bool submit_has_room(const struct submitter *s)
{
    return s->free;
}

/* ---- the list ---- */

static struct submission *add(struct submitter *s, const uint8_t *entry)
{
    struct submission *one = s->free;
    s->free = one->next;
    one->next = NULL;
    one->entry = entry;
    memcpy(&one->header, entry, sizeof one->header);
    one->before = s->newest;
    s->newest = one->header.sequence;
    if (s->last)
        s->last->next = one;
    else
        completion_oldest(one->header.sequence);
    *(s->last ? &s->last->next : &s->first) = one;
    s->last = one;
    return one;
}

static void drop(struct submitter *s, struct submission *one)
{
    struct submission *before = NULL, **link = &s->first;
    for (; *link != one; link = &before->next) before = *link;
    *link = one->next;
    if (s->last == one) s->last = before;
    one->next = s->free;
    s->free = one;
    free(one->copy);
    one->copy = NULL;
    one->x = NULL;
    one->running = NULL;
    one->alone = one->begun = false;
}

/* ---- the end of one ---- */

/* What was printed since the last call. */
static void tell_prints(struct ir_printer *printer)
{
    size_t bytes;
    uint64_t dropped;
    const char *text = ir_printer_take(printer, &bytes, &dropped);
    if (bytes || dropped) completion_print(text, bytes, dropped);
}

/* Those that ended before it are complete with it. */
static void tell(struct submitter *s, struct submission *one)
{
    struct error e = one->error;
    uint64_t sequence = one->header.sequence, run_ns = one->run_ns;
    bool oldest = s->first == one;
    drop(s, one);
    completion_tell(sequence, (fusion_status)e.code, run_ns, e.object, e.reason);
    if (!oldest) return;
    uint64_t complete = s->first ? s->first->before : s->newest;
    if (complete != sequence) completion_advance(complete);
    completion_oldest(s->first ? s->first->header.sequence : 0);
}

static void end_run(struct submission *one)
{
    one->run_ns = wait_now_ns() - one->began_ns;
    if (running_measured(one->running)) one->run_ns = running_measured(one->running);
    if (!running_claim(one->running))
        for (;;) pause(); /* somebody took it over, and is about to end the process */
}

static void finish(struct submitter *s, struct submission *one)
{
    if (one->x) {
        /* Before the completion: a client that frees memory then finds its addresses free. */
        submission_release(one);
        tell_prints(one->x->printer);
        executables_put(one->x);
    }
    tell(s, one);
}

/* ---- beginning and going on ---- */

static bool go_on(struct submitter *s, struct submission *one)
{
    running_go_on(one->running);
    if (steps_go_on(&one->steps, &one->error) == STEPS_WAIT) return false;
    end_run(one);
    steps_end(&one->steps);
    finish(s, one);
    return true;
}

static void tell_time(uint64_t sequence, uint32_t step, uint32_t n_steps, uint64_t began_ns, uint64_t ended_ns)
{
    completion_time(&(struct ring_time){sequence, step, n_steps, began_ns, ended_ns});
}

/* What is said of it as long as it runs. */
static void begin_run(struct submission *one, const struct slot_memory *slots, uint32_t n_slots)
{
    one->running = running_begin(one->header.sequence, slots, n_slots);
    watchdog_wake();
    one->began_ns = wait_now_ns();
}

static void run_steps(struct submitter *s, struct submission *one)
{
    one->context.printer = one->x->printer;
    one->context.sequence = one->header.sequence;
    one->context.timed = completion_wants_times() ? tell_time : NULL;
    if (submission_prepare(one) != 0) {
        finish(s, one);
        return;
    }
    begin_run(one, one->slots, one->x->program->n_slots);
    steps_begin(&one->steps, &one->context, one->x, one->header.part, one->running);
    go_on(s, one);
}

/* Where there is an executor for GPUs it has the contents. */
static void run_alone(struct submitter *s, struct submission *one)
{
    if (one->header.executable) {
        relay_run(one->entry, &one->run_ns, &one->error);
    } else if (relay_is_open()) {
        take_back_by_relay(one);
    } else {
        begin_run(one, NULL, 0);
        take_back(one);
        end_run(one);
    }
    finish(s, one);
}

static void begin(struct submitter *s, struct submission *one)
{
    one->begun = true;
    if (one->x)
        run_steps(s, one);
    else if (one->alone)
        run_alone(s, one);
    else
        finish(s, one);
}

/* All that came before it allow it. */
static bool may_begin(const struct submitter *s, const struct submission *one)
{
    for (const struct submission *first = s->first; first != one; first = first->next) {
        enum order order = order_of(first, one);
        if (order == ORDER_AFTER) return false;
        if (order == ORDER_POLLS && !(first->begun && steps_sleep_for(&first->steps, one->x))) return false;
    }
    return true;
}

/* Whose it is. */
static void check(struct submitter *s, struct submission *one)
{
    const char *reason = "";
    error_clear(&one->error);
    one->run_ns = 0;
    if (one->header.sequence == UINT64_MAX) reason = "the sequence number is out of range";
    if (*reason || !ring_entry_valid(one->entry, &reason))
        error_set_id(&one->error, FUSION_PROTOCOL, "submission", one->header.sequence, "%s", reason);
    else if (one->header.executable && !relay_has(one->header.executable))
        one->x = executables_get(s->executables, one->header.executable, &one->error);
    one->alone = !one->x && !one->error.code;
}

static void keep_entry(struct submission *one)
{
    one->copy = arena_realloc(NULL, one->header.size);
    memcpy(one->copy, one->entry, one->header.size);
    one->entry = one->copy;
}

void submit_take(struct submitter *s, const uint8_t *entry)
{
    struct submission *one = add(s, entry);
    check(s, one);
    if (s->first == one) {
        begin(s, one);
        return;
    }
    if (s->first->next == one && s->first->x) submission_find_places(s->first);
    if (one->x) submission_find_places(one);
    if (may_begin(s, one))
        begin(s, one);
    else
        keep_entry(one);
}

bool submit_go_on(struct submitter *s)
{
    bool did = false;
    for (struct submission *one = s->first, *next; one; one = next) {
        next = one->next;
        if (one->begun) {
            did |= go_on(s, one);
        } else if (may_begin(s, one)) {
            begin(s, one);
            did = true;
        }
    }
    return did;
}
