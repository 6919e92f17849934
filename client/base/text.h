/* Texts that are printed into memory, for the caller to free(). */
#pragma once

#include <fusiond/fusiond.h>
#include <stdio.h>

struct client_text {
    FILE *file;
    char *text;
    size_t size;
};

fusion_status client_text_open(struct client_text *t, const char *object);
/* Closes it in any case; *text is set where there was memory for all of it. */
fusion_status client_text_close(struct client_text *t, const char *object, char **text);
