/*
 * Running submissions. They begin in their order, or by priority where one has had any, and most of them end before the
 * next one begins. Kernels that wait for pipes run on threads of their own: meanwhile submissions that came later
 * begin, where nobody can tell (order.h), as one of them may have what such a kernel waits for. The others wait for
 * those that came before them.
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

enum { MOST_KEPT_BYTES = 16 << 20 };

struct submitter {
    struct executables *executables;
    submit_spares_fn *spares_run;
    struct launch_context context;
    struct submission *free;
    uint32_t n, n_begun;
    uint64_t kept_bytes;             /* of those that wait */
    struct submission *first, *last; /* in the order in which they came, those that have not ended */
    uint64_t newest;                 /* sequence of the last one that came */
};

struct submitter *submit_new(struct buffers *buffers, struct executables *executables, struct pool *pool,
                             submit_spares_fn *spares_run)
{
    struct submitter *s = memset(arena_realloc(NULL, sizeof *s), 0, sizeof *s);
    s->executables = executables;
    s->spares_run = spares_run;
    s->context = (struct launch_context){
        .pool = pool, .buffers = buffers, .wake = completion_wake, .cancelled = completion_is_cancelled};
    return s;
}

bool submit_has_room(const struct submitter *s)
{
    return s->n < RING_MAX_PENDING && s->kept_bytes < MOST_KEPT_BYTES;
}

bool submit_is_idle(const struct submitter *s)
{
    return s->n == 0;
}

/* ---- the list ---- */

/* One is kept for the next, with the room that it has. */
static struct submission *take_free(struct submitter *s)
{
    struct submission *one = s->free;
    s->free = NULL;
    if (one) return one;
    one = memset(arena_realloc(NULL, sizeof *one), 0, sizeof *one);
    one->spares_run = s->spares_run;
    one->context = s->context;
    return one;
}

static void put_free(struct submitter *s, struct submission *one)
{
    s->kept_bytes -= one->kept_bytes;
    free(one->copy);
    one->copy = NULL;
    one->kept_bytes = 0;
    one->x = one->other = NULL;
    one->running = NULL;
    one->behind = NULL;
    one->alone = one->begun = false;
    if (s->free)
        submission_free(one);
    else
        s->free = one;
}

static struct submission *add(struct submitter *s, const uint8_t *entry)
{
    struct submission *one = take_free(s);
    one->next = NULL;
    one->entry = entry;
    memcpy(&one->header, entry, sizeof one->header);
    one->before = s->newest ? s->newest : one->header.sequence - 1;
    s->newest = one->header.sequence;
    if (!s->last) completion_oldest(one->header.sequence);
    *(s->last ? &s->last->next : &s->first) = one;
    s->last = one;
    s->n++;
    return one;
}

static void drop(struct submitter *s, struct submission *one)
{
    struct submission *before = NULL, **link = &s->first;
    for (; *link != one; link = &before->next) before = *link;
    *link = one->next;
    if (s->last == one) s->last = before;
    s->n--;
    s->n_begun -= one->begun;
    for (struct submission *later = one->next; later; later = later->next)
        if (later->behind == one) later->behind = NULL;
    put_free(s, one);
}

/* ---- the end of one ---- */

/* What was printed since the last call. */
static void tell_prints(struct ir_printer *printer)
{
    size_t bytes;
    uint64_t dropped;
    const char *text = ir_printer_take(printer, &bytes, &dropped);
    if (!bytes && !dropped) return;
    completion_print(text, bytes, dropped);
    ir_printer_trim(printer); /* each executable has its own */
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

static void put_executables(struct submission *one)
{
    executables_put(one->x);
    executables_put(one->other);
    one->x = one->other = NULL;
}

static void finish(struct submitter *s, struct submission *one)
{
    if (one->x) {
        /* Before the completion: a client that frees memory then finds its addresses free. */
        submission_release(one);
        tell_prints(one->x->printer);
        put_executables(one);
    }
    tell(s, one);
}

/* ---- beginning and going on ---- */

static void tell_time(uint64_t sequence, uint32_t step, uint32_t n_steps, uint64_t began_ns, uint64_t ended_ns)
{
    completion_time(&(struct ring_time){sequence, step, n_steps, began_ns, ended_ns});
}

/* The steps of a round, with what its launches take filled in. */
static void begin_steps(struct submission *one)
{
    one->context.printer = one->x->printer;
    steps_begin(&one->steps, &one->context, one->x, one->header.part, one->running);
}

/* What its launches take is found anew where the executable is another one, or how they run depends on what pipes have,
   and where they are watched. */
static int prepare_round(struct submission *one)
{
    bool same = --one->rounds > 0;
    if (same && !one->x->program->n_states && !one->x->program->debug) return 0;
    submission_release(one);
    if (!same) submission_exchange(one);
    return submission_prepare(one);
}

/* Another round of x, or the other executable's first. False: there is none, or it cannot run (the error). */
static bool begin_round(struct submission *one)
{
    if (one->rounds == 1 && !one->other_rounds) return false;
    tell_prints(one->x->printer);
    if (prepare_round(one) != 0) return false;
    begin_steps(one);
    return true;
}

static bool go_on(struct submitter *s, struct submission *one)
{
    if (running_go_on(one->running)) watchdog_wake(one->running);
    for (bool again = true; again;) {
        enum steps_state state = steps_go_on(&one->steps, &one->error);
        if (state == STEPS_WAIT) return false;
        steps_end(&one->steps);
        again = state == STEPS_DONE && begin_round(one);
    }
    end_run(one);
    finish(s, one);
    return true;
}

/* What is said of it as long as it runs. */
static void begin_run(struct submission *one, const struct slot_memory *slots, uint32_t n_slots)
{
    one->running = running_begin(one->header.sequence, one->header.time_limit_ms, slots, n_slots);
    watchdog_wake(one->running);
    one->began_ns = wait_now_ns();
}

static void run_steps(struct submitter *s, struct submission *one)
{
    one->context.sequence = one->header.sequence;
    one->context.timed = completion_wants_times() ? tell_time : NULL;
    if (submission_prepare(one) != 0) {
        finish(s, one);
        return;
    }
    begin_run(one, one->slots, one->x->program->n_slots);
    begin_steps(one);
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
    s->n_begun++;
    if (completion_is_cancelled(one->header.sequence) && !one->error.code) {
        error_set_id(&one->error, FUSION_CANCELLED, "submission", one->header.sequence,
                     "it was cancelled before it began");
        put_executables(one);
        one->alone = false;
    }
    if (one->x)
        run_steps(s, one);
    else if (one->alone)
        run_alone(s, one);
    else
        finish(s, one);
}

/* All that came before it allow it. */
static bool may_begin(const struct submitter *s, struct submission *one)
{
    if (one->behind || s->n_begun == RUNNING_MOST) return false;
    for (struct submission *first = s->first; first != one; first = first->next) {
        enum order order = order_of(first, one);
        if (order == ORDER_AFTER) one->behind = first;
        if (order == ORDER_AFTER) return false;
        if (order == ORDER_POLLS && !(first->begun && steps_sleep_for(&first->steps, one->x))) return false;
    }
    return true;
}

/* The executable that runs before the entry's own. */
static int take_first(const struct submitter *s, struct submission *one)
{
    struct executable *first = executables_get(s->executables, one->header.first, &one->error);
    if (!first) return -1;
    one->other = one->x;
    one->other_rounds = one->rounds;
    one->x = first;
    one->rounds = one->header.first_rounds ? one->header.first_rounds : 1;
    if (first->program->n_slots == one->other->program->n_slots &&
        first->program->n_values == one->other->program->n_values)
        return 0;
    return error_set_id(&one->error, FUSION_INVALID, "submission", one->header.sequence,
                        "its two executables do not have the same slots and values");
}

/* All that runs of the entry. */
static void take_executables(const struct submitter *s, struct submission *one)
{
    one->rounds = one->header.rounds ? one->header.rounds : 1;
    one->other_rounds = 0;
    one->x = executables_get(s->executables, one->header.executable, &one->error);
    if (one->x && one->header.first && take_first(s, one) != 0) put_executables(one);
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
        take_executables(s, one);
    one->alone = !one->x && !one->error.code;
}

static void keep_entry(struct submitter *s, struct submission *one)
{
    one->kept_bytes = one->header.size + submission_room(one);
    s->kept_bytes += one->kept_bytes;
    one->copy = arena_realloc(NULL, one->header.size);
    memcpy(one->copy, one->entry, one->header.size);
    one->entry = one->copy;
}

void submit_hold(struct submitter *s, const uint8_t *entry)
{
    struct submission *one = add(s, entry);
    check(s, one);
    if (s->first->next == one && s->first->x) submission_find_places(s->first);
    if (one->x) submission_find_places(one);
    keep_entry(s, one);
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
        keep_entry(s, one);
}

/* In its place the one that it waits for in the end, so that nothing of less priority keeps it waiting. NULL: that has
   begun, or is not known. */
static struct submission *to_begin_for(const struct submitter *s, struct submission *one)
{
    while (one && !one->begun && !may_begin(s, one)) one = one->behind;
    return one && !one->begun ? one : NULL;
}

/* Of those that do not begin before `than`, which is of no use, the next: less priority, or as much and younger. */
static struct submission *next_by_priority(const struct submitter *s, const struct submission *than)
{
    struct submission *best = NULL;
    bool behind = !than; /* in the list */
    for (struct submission *one = s->first; one; one = one->next) {
        int32_t priority = one->header.priority;
        bool later = !than || priority < than->header.priority || (priority == than->header.priority && behind);
        if (one == than) behind = true;
        if (one != than && later && !one->begun && (!best || priority > best->header.priority)) best = one;
    }
    return best;
}

/* False: none of those that wait may. */
static bool begin_by_priority(struct submitter *s)
{
    struct submission *one = NULL, *first = NULL;
    while (!first && (one = next_by_priority(s, one))) first = to_begin_for(s, one);
    if (first) begin(s, first);
    return first;
}

bool submit_go_on(struct submitter *s, bool by_priority)
{
    bool did = false;
    for (struct submission *one = s->first, *next; one; one = next) {
        next = one->next;
        if (one->begun) {
            did |= go_on(s, one);
        } else if (!by_priority && may_begin(s, one)) {
            begin(s, one);
            did = true;
        }
    }
    return (by_priority && begin_by_priority(s)) || did;
}
