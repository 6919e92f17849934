/* A kernel's arguments, as the interpreter takes them. */
#include "tests/corpus/corpus.h"

void corpus_arguments(const struct corpus_kernel *k, uint8_t *data, struct corpus_arguments *to)
{
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct corpus_arg *a = &k->args[i];
        to->args[i] = (struct interp_arg){.kind = a->kind, .size = a->size, .data = (void *)a->value};
        uint8_t *memory = data + corpus_buffer_at(k, i);
        if (a->kind == INTERP_ARG_BUFFER) to->args[i].data = memory;
        if (a->kind == INTERP_ARG_IMAGE) {
            to->images[i] = a->image;
            to->images[i].data = memory;
            to->args[i].data = &to->images[i];
        }
        if (a->kind == INTERP_ARG_PIPE) {
            to->pipes[i] = a->pipe;
            to->pipes[i].packets = memory;
            to->args[i].data = &to->pipes[i];
        }
    }
}
