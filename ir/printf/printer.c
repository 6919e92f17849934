/* Messages lie one behind the other as they came, and are put in order when a launch ends. */
#include "ir/printf/printer.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/printf/finding.h"

struct message {
    uint64_t item, number; /* number: how many came before */
    size_t at, bytes;      /* in the text of the launch */
};

struct ir_printer {
    size_t most, bytes; /* of all messages */
    uint64_t dropped;
    struct strbuf launch; /* in the order in which they came */
    struct message *messages;
    size_t n, capacity;
    struct strbuf ended, taken;
    uint64_t place;        /* of the finding so far; UINT64_MAX: there is none */
    struct strbuf finding; /* its text */
    bool settled;          /* it is that of a launch that has ended */
    char lock;
};

struct ir_printer *ir_printer_new(size_t most_bytes)
{
    struct ir_printer *p = arena_realloc(NULL, sizeof *p);
    *p = (struct ir_printer){.most = most_bytes, .place = UINT64_MAX};
    return p;
}

void ir_printer_free(struct ir_printer *p)
{
    if (!p) return;
    free(p->launch.text);
    free(p->ended.text);
    free(p->taken.text);
    free(p->finding.text);
    free(p->messages);
    free(p);
}

/* Held while one message is copied. */
static void lock(struct ir_printer *p)
{
    while (__atomic_test_and_set(&p->lock, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(struct ir_printer *p)
{
    __atomic_clear(&p->lock, __ATOMIC_RELEASE);
}

static bool add(struct ir_printer *p, uint64_t item, const char *text, size_t bytes)
{
    /* As many empty messages as bytes, at most. */
    if (bytes + 1 > p->most - p->bytes) {
        p->dropped++;
        return false;
    }
    if (p->n == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 64;
        p->messages = arena_realloc(p->messages, p->capacity * sizeof *p->messages);
    }
    p->messages[p->n] = (struct message){item, p->n, p->launch.size, bytes};
    p->n++;
    p->bytes += bytes ? bytes : 1;
    strbuf_add_bytes(&p->launch, text, bytes);
    return true;
}

bool ir_printer_add(struct ir_printer *p, uint64_t item, const char *text, size_t bytes)
{
    if (!p) return false;
    lock(p);
    bool kept = add(p, item, text, bytes);
    unlock(p);
    return kept;
}

void ir_printer_drop(struct ir_printer *p, uint64_t n)
{
    lock(p);
    p->dropped += n;
    unlock(p);
}

static int compare(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void ir_printer_find(struct ir_printer *p, uint64_t place, const char *site, int64_t offset)
{
    /* Of millions of findings few are the first so far: the others leave without the lock. */
    if (!p || place >= __atomic_load_n(&p->place, __ATOMIC_RELAXED)) return;
    lock(p);
    if (!p->settled && place < p->place) {
        __atomic_store_n(&p->place, place, __ATOMIC_RELAXED);
        p->finding.size = 0;
        ir_finding_text(&p->finding, site, place, offset);
    }
    unlock(p);
}

void ir_printer_find_unknown(struct ir_printer *p)
{
    lock(p);
    if (p->place == UINT64_MAX) {
        p->place = UINT64_MAX - 1;
        strbuf_printf(&p->finding, "kernel\nan access outside of its memory, of which there was no room to tell");
    }
    unlock(p);
}

const char *ir_printer_take_finding(struct ir_printer *p)
{
    if (!p->settled) return NULL;
    p->settled = false;
    p->place = UINT64_MAX;
    p->finding.size = 0;
    return p->finding.text;
}

void ir_printer_end_launch(struct ir_printer *p)
{
    p->settled |= p->place != UINT64_MAX;
    if (!p->n) return;
    qsort(p->messages, p->n, sizeof *p->messages, compare);
    for (size_t k = 0; k < p->n; k++)
        strbuf_add_bytes(&p->ended, p->launch.text + p->messages[k].at, p->messages[k].bytes);
    p->n = p->launch.size = 0;
}

const char *ir_printer_take(struct ir_printer *p, size_t *bytes, uint64_t *dropped)
{
    struct strbuf empty = p->taken;
    empty.size = 0;
    p->taken = p->ended;
    p->ended = empty;
    *bytes = p->taken.size;
    *dropped = p->dropped;
    p->bytes = p->dropped = 0;
    return p->taken.text ? p->taken.text : "";
}

static void free_text(struct strbuf *b)
{
    free(b->text);
    *b = (struct strbuf){0};
}

void ir_printer_trim(struct ir_printer *p)
{
    free_text(&p->launch);
    free_text(&p->ended);
    free_text(&p->taken);
    free(p->messages);
    p->messages = NULL;
    p->n = p->capacity = 0;
}
