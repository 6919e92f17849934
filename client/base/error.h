/* The last error of each thread: what a failed call is about, and why. It is the public fusion_error, so there is no
 * other. */
#pragma once

#include <fusiond/fusiond.h>

/* Records the calling thread's last error and returns status. Takes no memory. */
fusion_status client_error(fusion_status status, const char *object, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For errno after a failed system call. */
fusion_status client_errno(fusion_status status, const char *object, const char *what);
/* FUSION_OUT_OF_MEMORY. */
fusion_status client_no_memory(const char *object);
