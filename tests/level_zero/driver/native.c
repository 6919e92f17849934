#include "tests/level_zero/driver/native.h"

#include <string.h>

struct head {
    char magic[8];
    uint64_t version, size, sum;
};

static const char magic[8] = "zetest";
enum { VERSION = 1 };

/* FNV-1a: finds what was damaged by accident. */
static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

size_t native_size(size_t module_size)
{
    return sizeof(struct head) + module_size;
}

void native_write(uint8_t *out, const uint8_t *module, size_t size)
{
    struct head head = {.version = VERSION, .size = size, .sum = sum_of(module, size)};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, module, size);
}

const uint8_t *native_read(const uint8_t *binary, size_t size, size_t *module_size)
{
    struct head head;
    if (size < sizeof head) return NULL;
    memcpy(&head, binary, sizeof head);
    bool ours =
        memcmp(head.magic, magic, sizeof magic) == 0 && head.version == VERSION && head.size == size - sizeof head;
    if (!ours || head.sum != sum_of(binary + sizeof head, head.size)) return NULL;
    *module_size = head.size;
    return binary + sizeof head;
}
