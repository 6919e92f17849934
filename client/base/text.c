/* Texts that are printed into memory. */
#include "client/base/text.h"

#include <stdlib.h>

#include "client/base/error.h"

fusion_status client_text_open(struct client_text *t, const char *object)
{
    *t = (struct client_text){0};
    t->file = open_memstream(&t->text, &t->size);
    return t->file ? FUSION_SUCCESS : client_no_memory(object);
}

fusion_status client_text_close(struct client_text *t, const char *object, char **text)
{
    bool failed = ferror(t->file);
    failed |= fclose(t->file) != 0;
    if (failed || !t->text) {
        free(t->text);
        return client_no_memory(object);
    }
    *text = t->text;
    return FUSION_SUCCESS;
}
