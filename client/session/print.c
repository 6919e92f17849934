/* What kernels have printed: taken from the ring when a submission is seen to be complete. */
#include "client/session/print.h"

#include <stdio.h>

#include "client/base/error.h"

static void to_standard_output(void *data, const char *text, size_t bytes)
{
    (void)data;
    fwrite(text, 1, bytes, stdout);
}

fusion_status fusion_session_set_print(fusion_session *s, fusion_print_function *function, void *data)
{
    if (!s) return client_error(FUSION_INVALID, "session", "there is none");
    pthread_mutex_lock(&s->print_lock);
    s->print = function;
    s->print_data = data;
    pthread_mutex_unlock(&s->print_lock);
    return FUSION_SUCCESS;
}

void client_print(fusion_session *s)
{
    char text[4096];
    size_t n;
    if (!s->ring || atomic_load(&s->ring->printed) == atomic_load(&s->ring->print_taken)) return;
    pthread_mutex_lock(&s->print_lock);
    fusion_print_function *print = s->print ? s->print : to_standard_output;
    bool some = false;
    for (size_t left = RING_PRINT_BYTES; left && (n = ring_take_print(s->ring, text, sizeof text)); some = true) {
        print(s->print_data, text, n);
        left -= n < left ? n : left;
    }
    if (some && !s->print) fflush(stdout);
    pthread_mutex_unlock(&s->print_lock);
}
