/* An error of the executor as it goes out in replies and completions. */
#pragma once

#include "proto/include/fusiond/status.h"

struct exec_error {
    fusion_status status;
    char object[320]; /* "slot t": what it is about */
    char reason[512];
};

/* Fills in e; always returns -1, so that failing is one statement. */
int exec_fail(struct exec_error *e, fusion_status status, const char *object, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for an object that is named by a number: "buffer 17". */
int exec_fail_id(struct exec_error *e, fusion_status status, const char *kind, unsigned long long id,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
