#include "tests/level_zero/driver/native.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct head {
    char magic[8];
    uint64_t version, size, sum;
};

static const char magic[8] = "zetest";

/* For tests: of this driver, which takes no binaries of another. */
static uint64_t version(void)
{
    const char *build = getenv("FUSIOND_TEST_ZE_BUILD");
    return build ? strtoull(build, NULL, 10) : 1;
}

/* FNV-1a: finds what was damaged by accident. */
static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) sum = (sum ^ bytes[i]) * 0x100000001b3;
    return sum;
}

/* For tests of what waits for a binary. */
static void misbehave(void)
{
    const char *how = getenv("FUSIOND_TEST_ZE_NATIVE");
    if (how && strcmp(how, "crashes") == 0) abort();
    while (how && strcmp(how, "hangs") == 0) pause();
}

size_t native_size(size_t module_size)
{
    misbehave();
    return sizeof(struct head) + module_size;
}

void native_write(uint8_t *out, const uint8_t *module, size_t size)
{
    struct head head = {.version = version(), .size = size, .sum = sum_of(module, size)};
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
        memcmp(head.magic, magic, sizeof magic) == 0 && head.version == version() && head.size == size - sizeof head;
    if (!ours || head.sum != sum_of(binary + sizeof head, head.size)) return NULL;
    *module_size = head.size;
    return binary + sizeof head;
}
