/*
 * How compiled CPU code is called. The contract between fuser/cpu (which makes the code) and the
 * executor (which loads and calls it); a change of it must change KERNEL_ABI_VERSION, which is part of
 * every cache key.
 */
#pragma once

#include <stdint.h>

#include "ir/base/pipe_ring.h"
#include "ir/image/image.h"

enum {
    KERNEL_ABI_VERSION = 7,
    KERNEL_MAX_ARGS_BYTES = 64 << 10, /* of the block that holds all arguments */
    KERNEL_LOCAL_MARGIN = 128,        /* bytes behind work-group memory that kernels may touch: whole registers do */
};

/* Where a launch is; the same for each work-group of it. */
struct kernel_launch {
    uint64_t global_size[3];                  /* work-items; unused dimensions 1 */
    uint64_t global_offset[3];                /* unused dimensions 0 */
    uint64_t local_size[3];                   /* work-items of a complete work-group; unused dimensions 1 */
    uint64_t num_groups[3];                   /* ceil(global / local); the last one of a dimension may be incomplete */
    uint32_t dims;                            /* 1 to 3 */
    uint32_t flags;                           /* enum kernel_launch_flag */
    uint64_t local_bytes;                     /* of `local` that a thread has for itself */
    const struct kernel_functions *functions; /* what the kernel calls; see fuser/cpu/runtime/runtime.h */
    struct ir_printer *printer;               /* what takes what the kernel prints; NULL: it is dropped */
};

enum kernel_launch_flag {
    /* The buffers the kernel only writes are larger than the caches and are not read back soon:
       stores past the cache pay. */
    KERNEL_LAUNCH_STREAM = 1 << 0,
};

/* One end of a pipe: packets before number `reserved` are taken or put; those before `done` for good, the others belong
   to reservations (ir/core/reservation.h) that are open, or committed after one that is. The other end reads `done`. */
struct kernel_pipe_end {
    uint64_t done, reserved;
    uint64_t seen;     /* how many the other end has done, when it was looked at last */
    uint32_t lock;     /* 0: free */
    uint32_t alone;    /* one thread has the end, and needs no lock */
    uint8_t apart[96]; /* from what the other end writes: lines of the cache */
};

/*
 * A pipe: first in, first out, each packet at its number modulo `capacity`. Readers may take packets number
 * read.reserved to write.done - 1; writers may put up to capacity packets from number read.done on. Its memory is this
 * record, all packets, and a mark for each: not 0 where its reservation is committed before an older one of its end.
 *
 * Of a host pipe, the packets and how far each side is lie in a ring (ir/base/pipe_ring.h), whose one end is the
 * kernels'; the record's packets and the host's end are unused then.
 */
struct kernel_pipe {
    uint32_t packet_size, capacity;
    uint32_t sleeps; /* somebody sleeps until `bell` changes */
    uint32_t unused;
    _Atomic uint64_t bell;
    struct pipe_ring_port port; /* ring NULL: kernels have both ends */
    uint8_t apart[48];
    struct kernel_pipe_end read, write;
    uint8_t packets[];
};

static inline uint64_t kernel_pipe_bytes(uint64_t packet_size, uint64_t capacity)
{
    return sizeof(struct kernel_pipe) + capacity * (packet_size + 1);
}

/* How texels are read and written; above the bits of a sampler (enum ir_sampler). */
enum kernel_texel_flag {
    KERNEL_TEXEL_SAMPLED = 1 << 16, /* by a sampler; else coordinates outside the image read zeros */
    KERNEL_TEXEL_FLOATS = 1 << 17,  /* coordinates are f32, not i32 */
    KERNEL_TEXEL_INTS = 1 << 18,    /* texels are i32x4, not f32x4 */
    KERNEL_TEXEL_FORM = 19, /* three bits from this one on: enum ir_image_form, which says what coordinates are */
};

/*
 * What kernels call. One call does the work of several work-items (lanes): of lane i where bit i of `lanes`
 * is set. Numbers lie component by component, `stride` lanes of each: component c of lane i is number
 * c * stride + i. Nothing outside an image is touched, whatever the coordinates; where an operation cannot
 * be (an image with other channels, a null image) reads give 0 and writes are dropped.
 */
struct kernel_functions {
    /* mode: kernel_texel_flag and the sampler's bits. */
    void (*image_read)(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                       const uint32_t *coordinates, uint32_t *texels);
    void (*image_write)(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                        const uint32_t *coordinates, const uint32_t *texels);
    /* n numbers of `bytes` bytes, one from each row: coordinates are x in bytes, y, and the id in the sub-group. */
    void (*image_block_read)(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                             const uint32_t *coordinates, void *numbers);
    void (*image_block_write)(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                              const uint32_t *coordinates, const void *numbers);
    /* 1, or 0 where the pipe is empty or full, or its packets have another size. */
    uint32_t (*pipe_read)(struct kernel_pipe *pipe, uint64_t packet_size, void *packet);
    uint32_t (*pipe_write)(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet);
    /* The same, but they return when it is done; of packets of another size nothing ever is. */
    void (*pipe_read_wait)(struct kernel_pipe *pipe, uint64_t packet_size, void *packet);
    void (*pipe_write_wait)(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet);
    uint32_t (*pipe_packets)(const struct kernel_pipe *pipe); /* that readers may take now */
    /* Reservations; writes: not 0 for the end of writers. The id, or 0 where there are not as many packets or as much
       room. What is not an index of an open reservation is not read and not written, and gives 0. */
    uint64_t (*pipe_reserve)(struct kernel_pipe *pipe, uint32_t writes, uint32_t n);
    uint32_t (*pipe_read_at)(struct kernel_pipe *pipe, uint64_t packet_size, void *packet, uint64_t id, uint32_t index);
    uint32_t (*pipe_write_at)(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet, uint64_t id,
                              uint32_t index);
    void (*pipe_commit)(struct kernel_pipe *pipe, uint32_t writes, uint64_t id);
    /* printf of the work-item with that linear id: 0, or -1 where it was dropped. */
    int32_t (*print)(struct ir_printer *printer, uint64_t item, const char *format, uint64_t size, const void *args);
    /* An access outside of its memory, so many bytes from its beginning; site: ir/printf/finding.h. */
    void (*finding)(struct ir_printer *printer, uint64_t place, const char *site, int64_t offset);
};

/*
 * Runs the work-groups first <= g < end of the launch, g = linear group id, x fastest.
 *   args   the argument block, laid out as ir_param_layout() says: buffers as addresses, scalars and
 *          by-value structs inline; of a local pointer its 8 bytes hold the offset of its memory in `local`;
 *          of an image the address of its struct ir_image, of a pipe that of its struct kernel_pipe, of a
 *          sampler enum ir_sampler in the first 4 of its 8 bytes
 *   local  work-group memory of `local_bytes` (see struct kernel_object_info), 64-byte aligned, one per
 *          calling thread; contents undefined. In this order, each part starting at a multiple of 64:
 *          the kernel's own local variables, scratch_per_item * work-items of a complete work-group,
 *          the memory of local pointers, KERNEL_LOCAL_MARGIN bytes that mean nothing
 * Several threads call it at the same time for different groups.
 */
typedef void kernel_entry(const struct kernel_launch *launch, const void *args, uint64_t first, uint64_t end,
                          void *local);

/* An object exports its entry under this name, and this one record about it. */
#define KERNEL_ENTRY_SYMBOL "fusion_kernel"
#define KERNEL_INFO_SYMBOL "fusion_kernel_info"

struct kernel_object_info {
    uint32_t abi_version;
    uint32_t lanes;             /* work-items computed at once, 1: scalar code */
    uint32_t args_size;         /* bytes of the argument block */
    uint32_t static_local_size; /* bytes of `local` the kernel's own local variables take, at its start */
    uint32_t scratch_per_item;  /* further bytes of `local` per work-item of a group (values across barriers) */
    uint32_t sub_group_size;
};
