/* Packing what several replies share. */
#include "daemon/compiler/pack.h"

#include <string.h>

#include "ir/core/aspects.h"
#include "proto/writer.h"

void pack_aspects(struct proto_writer *w, uint64_t aspects)
{
    proto_pack_key(w, "aspects");
    msgpack_pack_array(&w->packer, (size_t)__builtin_popcountll(aspects));
    for (unsigned bit = 0; bit < IR_ASPECT_COUNT; bit++) {
        if (!(aspects >> bit & 1)) continue;
        const char *name = ir_aspect_name(bit);
        msgpack_pack_str_with_body(&w->packer, name, strlen(name));
    }
}

void pack_numbers(struct proto_writer *w, const char *key, const uint64_t *numbers, size_t n)
{
    proto_pack_key(w, key);
    msgpack_pack_array(&w->packer, n);
    for (size_t i = 0; i < n; i++) msgpack_pack_uint64(&w->packer, numbers[i]);
}
