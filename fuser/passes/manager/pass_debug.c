/* FUSIOND_DEBUG: what passes do, printed, and verified in release builds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuser/passes/manager/pass_debug.h"
#include "ir/core/ir.h"
#include "ir/text/print/print.h"

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool is_word(const char *at, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(at, word, n) == 0;
}

/* The value behind "key=" is this one; true of other words. */
static bool allows(const char *at, size_t n, const char *key, const char *value)
{
    size_t k = strlen(key);
    return n < k || memcmp(at, key, k) != 0 || is_word(at + k, n - k, value);
}

struct pass_debug pass_debug_before(const char *pass, const struct ir_function *f)
{
    struct pass_debug d = {.pass = pass};
    const char *asked = getenv("FUSIOND_DEBUG");
    bool wanted = true;
    if (!asked || !f->body) return d;
    for (const char *at = asked; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        d.ir |= is_word(at, n, "ir");
        d.time |= is_word(at, n, "time");
        d.verify |= is_word(at, n, "verify");
        wanted &= allows(at, n, "after=", pass) && allows(at, n, "kernel=", f->name);
        at += n;
    }
    d.ir &= wanted;
    d.time &= wanted;
    if (d.time) {
        d.operations = ir_count(f->body);
        d.started = nanoseconds();
    }
    return d;
}

void pass_debug_after(const struct pass_debug *d, const struct ir_function *f, bool changed)
{
    if (d->time) {
        uint64_t took = nanoseconds() - d->started;
        fprintf(stderr, "pass %s, function %s: %llu us, %u operations, then %u\n", d->pass, f->name,
                (unsigned long long)(took / 1000), d->operations, ir_count(f->body));
    }
    if (d->ir && changed) {
        char *text = ir_print_function(f);
        fprintf(stderr, "// after %s\n%s\n", d->pass, text);
        free(text);
    }
}
