/* Telling the broker what GPUs there are. */
#include "daemon/executor/describe.h"

#include <stdlib.h>

#include "daemon/gpu/description.h"
#include "daemon/gpu/properties.h"
#include "proto/fields.h"
#include "proto/transfer.h"
#include "proto/writer.h"

static void pack_gpu(struct proto_writer *w, const struct devices_gpu *gpu)
{
    size_t size;
    uint8_t *bytes;
    proto_pack_map(w, gpu->description ? 3 : 2);
    proto_pack_string(w, "name", gpu->name);
    if (!gpu->description) {
        proto_pack_string(w, "absent", gpu->absent);
        return;
    }
    proto_pack_key(w, "device");
    gpu_pack_device(&w->packer, gpu->description);
    bytes = gpu_description_encode(gpu->description, &size);
    proto_pack_bytes(w, "description", bytes, size);
    free(bytes);
}

int describe_gpus(int connection, const struct devices_gpu *gpus, unsigned n)
{
    struct proto_writer w;
    unsigned tested = 0;
    for (unsigned i = 0; i < n; i++) tested += gpus[i].tested;
    proto_begin_notice(&w, "gpus");
    proto_pack_map(&w, 2);
    proto_pack_uint(&w, "tested", tested);
    proto_pack_key(&w, "gpus");
    msgpack_pack_array(&w.packer, n);
    for (unsigned i = 0; i < n; i++) pack_gpu(&w, &gpus[i]);
    int result = proto_finish(&w) ? proto_send(connection, &w, 0) : -1;
    proto_writer_clear(&w);
    return result;
}
