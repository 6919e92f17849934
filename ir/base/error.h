/* Why something failed: one type for all rooms, from the kernel language to the client library. Findings about a
   module's source, of which there may be many, each with a place, are another thing: diag.h. */
#pragma once

#include <stdarg.h>

enum { ERROR_OBJECT = 320, ERROR_REASON = 8192 /* findings of a compiler, one a line */ };

/* code 0: nothing has failed, and the texts mean nothing. It is large: error_clear() costs less than = {0}. */
struct error {
    int code;                  /* a fusion_status, or of an enum of the room that sets it */
    char object[ERROR_OBJECT]; /* what it is about: "node scale", "buffer 17"; may be empty */
    char reason[ERROR_REASON]; /* a sentence with the numbers */
};

void error_clear(struct error *e);
/* Sets all of it; longer texts are cut off. object NULL: empty. Object and arguments may point into e, %m is errno.
   Returns -1, so that failing is one statement. Here and below e may be NULL: nobody wants to know. */
int error_set(struct error *e, int code, const char *object, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int error_vset(struct error *e, int code, const char *object, const char *format, va_list args);
/* The same about an object that a number names: "buffer 17". */
int error_set_id(struct error *e, int code, const char *kind, unsigned long long id, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Says what it is about, where who found the reason did not know: return error_about(e, "buffer %u", id). Returns -1.
 */
int error_about(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
