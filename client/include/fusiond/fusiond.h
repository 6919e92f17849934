/*
 * libfusiond: graphs of compute kernels, fused and run by the fusiond service.
 *
 * Conventions
 *  - Every function that can fail returns a fusion_status; on failure fusion_last_error() of the calling
 *    thread has the object, the reason and the numbers, and out parameters are untouched.
 *  - Objects belong to the session they were made in and die with it at the latest. Destroying NULL is fine.
 *  - Thread safety: one session may be used by several threads at once (calls are serialized inside);
 *    one graph object must not be changed by two threads at a time.
 *  - A child made by fork() cannot use its parent's sessions: calls fail with FUSION_CONNECTION, and destroying objects
 *    there frees memory only. It can read and write the memory it has mapped, and open sessions of its own.
 *  - Sizes are bytes unless the name says count. Text is UTF-8.
 *  - Structs that the caller allocates begin with their size, which FUSION_SIZED() sets; version.h says what that is
 * for.
 *  - Properties have the meaning of sycl_ext_oneapi_graph_fusion.
 */
#ifndef FUSIOND_H
#define FUSIOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fusiond/finalize.h>
#include <fusiond/status.h>
#include <fusiond/version.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fusion_session fusion_session;
typedef struct fusion_module fusion_module;
typedef struct fusion_buffer fusion_buffer;
typedef struct fusion_image fusion_image;
typedef struct fusion_queue fusion_queue;
typedef struct fusion_graph fusion_graph;
typedef struct fusion_exec fusion_exec; /* an executable graph: the handle */
typedef uint32_t fusion_node;           /* a node of its graph, 0, 1, 2 ... in the order of adding */
typedef uint64_t fusion_event;          /* a submission of its session, or a command that was recorded; 0: none */

/* ---- errors ---- */

typedef struct fusion_error {
    fusion_status status;
    char object[128]; /* what it is about: "kernel k.add, argument 2 `t`" */
    char reason[1024];
} fusion_error;

/* The last failure of the calling thread; status FUSION_SUCCESS when there was none. Never NULL. */
FUSION_API const fusion_error *fusion_last_error(void);

/* ---- session ---- */

typedef struct fusion_connect_options {
    size_t size;               /* FUSION_SIZED(fusion_connect_options) */
    const char *name;          /* how the daemon's status names this client; NULL: the program's name */
    uint32_t time_limit_ms;    /* of one submission; 0: the daemon's default. Handles and submissions may have less */
    uint32_t request_limit_ms; /* how long a request may take before FUSION_TIMEOUT; 0: 60000. The session goes on, and
                                  what the request still makes is given back */
    bool private_daemon;       /* always start a private one */
    bool running_only;         /* start none: FUSION_CONNECTION where no service answers */
    uint64_t threads;          /* of this process, at most 64, that finalize for fusion_graph_finalize_async(); 0: 4 */
    const char *cgroup;        /* folder of a control group (version 2) that is delegated to this user, in which its
                                  kernels run; NULL: $FUSION_CGROUP, else where the service runs them */
} fusion_connect_options;

/*
 * Connects. address: path of a socket; NULL: $FUSION_SOCKET, else the system's socket
 * (/run/fusiond/fusiond.sock), else a private daemon is started for this process and ends with it. Its executable:
 * $FUSIOND, else the one beside the library (of its build tree or prefix, wherever that is), else the installed one. It
 * has the process's environment, limits and standard error, and none of its other descriptors, signal masks or ignored
 * signals. options may be NULL. FUSION_CONNECTION, FUSION_VERSION; FUSION_PROTOCOL: what answers there is no fusiond;
 * FUSION_INVALID: the control group is none, is another user's, or the service cannot run kernels there.
 */
FUSION_API fusion_status fusion_connect(const char *address, const fusion_connect_options *options,
                                        fusion_session **session);
/* Ends the session; all its objects are destroyed. Waits for nothing but for callbacks that run in its threads, and not
   even for these when it is called in one. What is pending ends with FUSION_CONNECTION. NULL is fine. */
FUSION_API void fusion_disconnect(fusion_session *session);
/* A descriptor that becomes readable when a submission completes, for event loops; -1 where closed. Call
   fusion_session_dispatch() when it does. Owned by the session. */
FUSION_API int fusion_session_fd(fusion_session *session);
FUSION_API fusion_status fusion_session_dispatch(fusion_session *session);
/* What kernels print with printf comes to standard output, or to this function (NULL: to standard output again). It is
   there when a submission is seen to be complete: by waiting for it or polling it, at the latest when the session ends.
   Text is a stream, in any pieces. Its order: submissions, in them launches, in these the work-items by global linear
   id, each in the order of its calls; a submission prints at most 1 MiB less 4 KiB, and a line at the end says what was
   dropped. The function must not use the session. */
typedef void fusion_print_function(void *data, const char *text, size_t bytes);
FUSION_API fusion_status fusion_session_set_print(fusion_session *session, fusion_print_function *function, void *data);
/* The daemon's counters and limits as one JSON object; free() it. */
FUSION_API fusion_status fusion_session_status(fusion_session *session, char **json);
/* The daemon's counters as OpenMetrics text, for monitoring; free() it. */
FUSION_API fusion_status fusion_session_metrics(fusion_session *session, char **text);

/* ---- devices ---- */

typedef struct fusion_device_info {
    size_t size;   /* FUSION_SIZED(fusion_device_info), set by the caller */
    char name[64]; /* "cpu", "reference" */
    char description[128];
    char target[256];  /* what code is made for: instruction set, compiler */
    char aspects[512]; /* names, separated by one space; ext_oneapi_graph_fusion where it fuses */
    uint64_t max_work_group_size, local_memory_bytes;
    uint32_t compute_units;
    uint32_t max_num_sub_groups, primary_sub_group_size;
    uint32_t n_sub_group_sizes, sub_group_sizes[8];
    bool sub_group_independent_forward_progress;
    uint32_t image_max_width, image_max_height; /* 0: no images */
    uint32_t image_max_slices;                  /* depth of a 3-D image, layers of an array */
    uint32_t image_max_buffer_size;             /* pixels of an image of a buffer */
    char extensions[512]; /* of SYCL and OpenCL that kernels may use, by name, separated by one space */
} fusion_device_info;

/* Values of SYCL's feature-test macros SYCL_EXT_ONEAPI_SUB_GROUP and SYCL_EXT_ONEAPI_GRAPH_FUSION, for a SYCL
   implementation to define where a device has SYCL_INTEL_sub_group and sycl_ext_oneapi_graph_fusion. */
#define FUSION_SYCL_EXT_ONEAPI_SUB_GROUP 1
#define FUSION_SYCL_EXT_ONEAPI_GRAPH_FUSION 1
FUSION_API fusion_status fusion_device_count(fusion_session *session, uint32_t *count);
FUSION_API fusion_status fusion_device_get(fusion_session *session, uint32_t index, fusion_device_info *info);
/* A device that the service could use, and why it is not here. FUSION_NOT_FOUND: there are no more. */
FUSION_API fusion_status fusion_device_absent(fusion_session *session, uint32_t index, char name[64], char reason[256]);

#include <fusiond/module.h>

/* ---- memory ---- */

typedef enum fusion_type {
    FUSION_BYTES,
    FUSION_I8,
    FUSION_I16,
    FUSION_I32,
    FUSION_I64,
    FUSION_U8,
    FUSION_U16,
    FUSION_U32,
    FUSION_U64,
    FUSION_F16,
    FUSION_F32,
    FUSION_F64
} fusion_type;

typedef enum fusion_property {
    FUSION_ACCESS_SCOPE_WORK_GROUP = 1 << 0, /* each element is accessed by one work-group at most */
    FUSION_ACCESS_SCOPE_WORK_ITEM = 1 << 1,  /* each element is accessed by one work-item at most */
    FUSION_INTERNAL_MEMORY = 1 << 2,         /* fusion_internal_memory: contents are not needed after the graph */
    FUSION_NO_INIT = 1 << 3,                 /* no_init: contents before the graph do not matter */
} fusion_property;

/* A buffer of count elements; properties: fusion_property bits. No memory is taken until it is mapped
   or a submission needs it: an internalized buffer never takes any. name is for messages and reports, which
   call a buffer without one (NULL) by the kernel and parameter that take it first, "scale.out":
   two buffers or images of a graph have two names, else the call that adds a node with the second one fails with
   FUSION_INVALID. In a graph with others inside, whose buffers may be called alike, the second is NAME.1 in reports. A
   buffer may be called like a node. Contents start as 0. */
FUSION_API fusion_status fusion_buffer_create(fusion_session *session, const char *name, fusion_type type,
                                              uint64_t count, unsigned properties, fusion_buffer **buffer);
FUSION_API uint64_t fusion_buffer_bytes(const fusion_buffer *buffer);
FUSION_API bool fusion_buffer_has_memory(const fusion_buffer *buffer);
/* Waits for submissions that use it. Executables that have it bound stay valid when it is rebound. */
FUSION_API void fusion_buffer_destroy(fusion_buffer *buffer);

typedef enum fusion_usm_kind { FUSION_USM_HOST, FUSION_USM_DEVICE, FUSION_USM_SHARED } fusion_usm_kind;
/* A USM allocation: its address is the same in kernels. 64-byte aligned, contents 0. */
FUSION_API fusion_status fusion_malloc(fusion_session *session, fusion_usm_kind kind, size_t bytes, void **pointer);
/* Waits for submissions that use it; NULL is fine. */
FUSION_API fusion_status fusion_free(fusion_session *session, void *pointer);

#include <fusiond/access.h>

/* ---- images ---- */

/* OpenCL's constants. BGRA, ARGB and ABGR go with channels of 8 bits, RGB and RGBx with packed ones (SHORT_565,
   SHORT_555, INT_101010), INTENSITY and LUMINANCE with normalized ones and floats, DEPTH with UNORM_INT16 and FLOAT,
   sRGB with UNORM_INT8, and INT_101010_2 with RGBA. */
typedef enum fusion_channel_order {
    FUSION_CHANNEL_R = 0x10b0,
    FUSION_CHANNEL_A,
    FUSION_CHANNEL_RG,
    FUSION_CHANNEL_RA,
    FUSION_CHANNEL_RGB,
    FUSION_CHANNEL_RGBA,
    FUSION_CHANNEL_BGRA,
    FUSION_CHANNEL_ARGB,
    FUSION_CHANNEL_INTENSITY,
    FUSION_CHANNEL_LUMINANCE,
    FUSION_CHANNEL_RX,
    FUSION_CHANNEL_RGX,
    FUSION_CHANNEL_RGBX,
    FUSION_CHANNEL_DEPTH,
    FUSION_CHANNEL_SRGBA = 0x10c1,
    FUSION_CHANNEL_SBGRA,
    FUSION_CHANNEL_ABGR
} fusion_channel_order;

typedef enum fusion_channel_type {
    FUSION_SNORM_INT8 = 0x10d0,
    FUSION_SNORM_INT16,
    FUSION_UNORM_INT8,
    FUSION_UNORM_INT16,
    FUSION_UNORM_SHORT_565,
    FUSION_UNORM_SHORT_555,
    FUSION_UNORM_INT_101010,
    FUSION_SIGNED_INT8 = 0x10d7,
    FUSION_SIGNED_INT16,
    FUSION_SIGNED_INT32,
    FUSION_UNSIGNED_INT8,
    FUSION_UNSIGNED_INT16,
    FUSION_UNSIGNED_INT32,
    FUSION_HALF_FLOAT,
    FUSION_FLOAT,
    FUSION_UNORM_INT_101010_2 = 0x10e0
} fusion_channel_type;

/* As OpenCL's cl_mem_object_type. */
typedef enum fusion_image_type {
    FUSION_IMAGE_2D,
    FUSION_IMAGE_1D,
    FUSION_IMAGE_1D_ARRAY,
    FUSION_IMAGE_1D_BUFFER,
    FUSION_IMAGE_2D_ARRAY,
    FUSION_IMAGE_3D
} fusion_image_type;

typedef struct fusion_image_desc {
    size_t size;            /* FUSION_SIZED(fusion_image_desc) */
    uint32_t width, height; /* pixels, 1 to the device's limits; height of the 1-D types: 0 or 1 */
    uint32_t row_pitch;     /* bytes from a row to the next, a multiple of a pixel's; 0: rows without gaps */
    fusion_channel_order channel_order;
    fusion_channel_type channel_type;
    fusion_image_type type;
    uint32_t depth;        /* slices of an image of type 3D; else 0 */
    uint32_t array_size;   /* layers of an array; else 0 */
    uint64_t slice_pitch;  /* bytes from a slice or layer to the next, a multiple of the row pitch; 0: without gaps */
    fusion_buffer *buffer; /* 1D_BUFFER: whose memory the image is, from `offset` on, a multiple of a pixel's bytes; it
                              must outlive the image, which shares what kernels and copies do to it. Else NULL */
    uint64_t offset;
} fusion_image_desc;

/* Of an image, in pixels; z counts slices or layers. 0 for a height of a 1-D image, and for a depth, is 1. */
typedef struct fusion_region {
    uint32_t x, y, width, height, z, depth;
} fusion_region;

/* An image. Like a buffer it takes memory when it is mapped, read, written, or a submission needs it, and starts as 0.
   It is never kept out of memory by fusion, nor is a buffer that a kernel takes as an image. name may be NULL.
   FUSION_INVALID: OpenCL has no such image; FUSION_FEATURE_NOT_SUPPORTED: it has, but we have not. */
FUSION_API fusion_status fusion_image_create(fusion_session *session, const char *name, const fusion_image_desc *desc,
                                             fusion_image **image);
/* With the pitches filled in. */
FUSION_API const fusion_image_desc *fusion_image_describe(const fusion_image *image);
FUSION_API uint32_t fusion_image_pixel_bytes(const fusion_image *image);
/* Its memory in this process, slice by slice and row by row, as fusion_buffer_map(). */
FUSION_API fusion_status fusion_image_map(fusion_image *image, void **memory);
/* Copies a region (NULL: all of it) between the image and host memory, whose rows are row_pitch bytes apart (0: without
   gaps); slices or layers follow each other. Waits for submissions that use the image. */
FUSION_API fusion_status fusion_image_read(fusion_image *image, const fusion_region *region, void *to,
                                           size_t row_pitch);
FUSION_API fusion_status fusion_image_write(fusion_image *image, const fusion_region *region, const void *from,
                                            size_t row_pitch);
FUSION_API void fusion_image_destroy(fusion_image *image); /* as fusion_buffer_destroy() */

/* How a kernel reads between and outside pixels. */
typedef enum fusion_addressing {
    FUSION_ADDRESS_NONE, /* coordinates are inside the image: the kernel's word */
    FUSION_ADDRESS_CLAMP_TO_EDGE,
    FUSION_ADDRESS_CLAMP,          /* the border colour */
    FUSION_ADDRESS_REPEAT,         /* needs normalized coordinates */
    FUSION_ADDRESS_MIRRORED_REPEAT /* needs normalized coordinates */
} fusion_addressing;
typedef enum fusion_filter { FUSION_FILTER_NEAREST, FUSION_FILTER_LINEAR } fusion_filter;

typedef struct fusion_sampler {
    bool normalized; /* coordinates from 0 to 1 instead of pixels */
    fusion_addressing addressing;
    fusion_filter filter;
} fusion_sampler;

/* ---- arguments ---- */

typedef enum fusion_arg_kind {
    FUSION_ARG_BUFFER,
    FUSION_ARG_POINTER,
    FUSION_ARG_VALUE,
    FUSION_ARG_LOCAL,
    FUSION_ARG_IMAGE,
    FUSION_ARG_SAMPLER
} fusion_arg_kind;
typedef enum fusion_access {
    FUSION_ACCESS_READ = 1,
    FUSION_ACCESS_WRITE = 2,
    FUSION_ACCESS_READ_WRITE = 3
} fusion_access;

typedef struct fusion_arg {
    fusion_arg_kind kind;
    fusion_buffer *buffer;   /* BUFFER: an accessor on `bytes` bytes from `offset` */
    void *pointer;           /* POINTER: into a USM allocation (an annotated_ptr when it has properties) */
    fusion_image *image;     /* IMAGE, all of it */
    fusion_sampler sampler;  /* SAMPLER: a value of 8 bytes to fusion_rebind, see fusion_sampler_value() */
    fusion_access access;    /* BUFFER, POINTER, IMAGE: what the kernel's parameter is for, or more */
    uint64_t offset;         /* BUFFER */
    uint64_t bytes;          /* BUFFER: 0 to the end; VALUE, LOCAL: size */
    fusion_type type;        /* VALUE: what its numbers are; FUSION_BYTES: anything of its size */
    uint32_t lanes;          /* VALUE with a type: how many numbers */
    unsigned properties;     /* BUFFER, POINTER: of this accessor */
    unsigned char data[128]; /* VALUE up to 128 bytes */
    const void *large;       /* VALUE above; read while the node is added */
    uint64_t reserved[4];    /* 0 */
} fusion_arg;

FUSION_API fusion_arg fusion_arg_buffer(fusion_buffer *buffer, fusion_access access);
FUSION_API fusion_arg fusion_arg_read(fusion_buffer *buffer);
FUSION_API fusion_arg fusion_arg_write(fusion_buffer *buffer);
FUSION_API fusion_arg fusion_arg_read_write(fusion_buffer *buffer);
FUSION_API fusion_arg fusion_arg_pointer(void *pointer, fusion_access access, unsigned properties);
/* Values with their type, which has to be the one of the kernel's parameter: nothing is converted. Kernels know
   integers without signs: i32 and u32 are the same. A bool is an i8, too. */
FUSION_API fusion_arg fusion_arg_bool(bool value);
FUSION_API fusion_arg fusion_arg_i8(int8_t value);
FUSION_API fusion_arg fusion_arg_i16(int16_t value);
FUSION_API fusion_arg fusion_arg_i32(int32_t value);
FUSION_API fusion_arg fusion_arg_i64(int64_t value);
FUSION_API fusion_arg fusion_arg_u8(uint8_t value);
FUSION_API fusion_arg fusion_arg_u16(uint16_t value);
FUSION_API fusion_arg fusion_arg_u32(uint32_t value);
FUSION_API fusion_arg fusion_arg_u64(uint64_t value);
FUSION_API fusion_arg fusion_arg_f32(float value);
FUSION_API fusion_arg fusion_arg_f64(double value);
/* 2 to 16 numbers of one type, which follow each other; 3 take the place of 4 in the parameter, but not in memory. */
FUSION_API fusion_arg fusion_arg_vector(fusion_type type, uint32_t lanes, const void *values);
/* A struct, or any other value as its bytes: only their number is looked at. */
FUSION_API fusion_arg fusion_arg_value(const void *value, size_t bytes);
FUSION_API fusion_arg fusion_arg_local(size_t bytes); /* work-group memory */
FUSION_API fusion_arg fusion_arg_image(fusion_image *image, fusion_access access);
FUSION_API fusion_arg fusion_arg_sampler(fusion_sampler sampler);
/* What a sampler is as the value of an argument: to rebind it. */
FUSION_API fusion_status fusion_sampler_value(const fusion_sampler *sampler, uint64_t *value);

/* ---- graphs ---- */

typedef struct fusion_kernel_node {
    size_t size;      /* FUSION_SIZED(fusion_kernel_node) */
    const char *name; /* of one node of the graph; NULL: the kernel's name, made unique with .1, .2 ... */
    fusion_module *module;
    const char *kernel;
    uint32_t dims;                           /* 1 to 3 */
    uint64_t global[3], offset[3], local[3]; /* local all 0: the service chooses */
    uint32_t n_args;
    const fusion_arg *args;
    uint32_t n_depends_on;
    const fusion_node *depends_on;
} fusion_kernel_node;

typedef struct fusion_memory { /* a place in a buffer or USM allocation, or in this process alone */
    fusion_buffer *buffer;     /* or */
    void *pointer;             /* into a USM allocation, or */
    uint64_t offset;           /* buffer */
    void *host;                /* any memory of this process: one side of a copy; touched while the graph runs */
} fusion_memory;

FUSION_API fusion_status fusion_graph_create(fusion_session *session, fusion_graph **graph);
FUSION_API void fusion_graph_destroy(fusion_graph *graph);
/* Explicit building. The nodes of depends_on may be added later (a node's number is known beforehand);
   cycles are found at finalize. node may be NULL. Edges also follow from the accesses, in the order of adding.
   FUSION_NOT_FOUND: the module has no such kernel, the reason says which it has. FUSION_INVALID: the number of
   arguments, the kind of one, the type of a value or of a buffer's elements are not the kernel's; the reason has both
   types and the kernel's parameters. fusion_queue_submit() does the same. */
FUSION_API fusion_status fusion_graph_add_kernel(fusion_graph *graph, const fusion_kernel_node *kernel,
                                                 fusion_node *node);
FUSION_API fusion_status fusion_graph_add_copy(fusion_graph *graph, const char *name, fusion_memory from,
                                               fusion_memory to, uint64_t bytes, const fusion_node *depends_on,
                                               uint32_t n_depends_on, fusion_node *node);
/* Copies rows of `bytes` bytes, whose beginnings are from_pitch and to_pitch bytes apart. */
FUSION_API fusion_status fusion_graph_add_copy_2d(fusion_graph *graph, const char *name, fusion_memory from,
                                                  uint64_t from_pitch, fusion_memory to, uint64_t to_pitch,
                                                  uint64_t bytes, uint32_t rows, const fusion_node *depends_on,
                                                  uint32_t n_depends_on, fusion_node *node);
FUSION_API fusion_status fusion_graph_add_fill(fusion_graph *graph, const char *name, fusion_memory to, uint64_t bytes,
                                               const void *pattern, uint32_t pattern_bytes,
                                               const fusion_node *depends_on, uint32_t n_depends_on, fusion_node *node);

/* Where the pixels of a rectangle are: in an image, from (x, y) on, or in rows of a buffer, USM allocation or memory of
   this process. */
typedef struct fusion_pixels {
    fusion_image *image;
    uint32_t x, y;
    fusion_memory memory; /* where image is NULL */
    uint64_t row_pitch;   /* of memory: bytes from a row to the next; 0: rows without gaps */
    uint32_t z;           /* of an image: the slice or layer */
    uint64_t slice_pitch; /* of memory: bytes from a slice or layer to the next; 0: without gaps */
} fusion_pixels;

/* Copies width x height pixels as they are, between two images of the same format, or an image and memory; of one slice
   or layer, where the image has several. */
FUSION_API fusion_status fusion_graph_add_copy_pixels(fusion_graph *graph, const char *name, fusion_pixels from,
                                                      fusion_pixels to, uint32_t width, uint32_t height,
                                                      const fusion_node *depends_on, uint32_t n_depends_on,
                                                      fusion_node *node);
/* The same of several slices or layers. */
FUSION_API fusion_status fusion_graph_add_copy_pixels_3d(fusion_graph *graph, const char *name, fusion_pixels from,
                                                         fusion_pixels to, uint32_t width, uint32_t height,
                                                         uint32_t depth, const fusion_node *depends_on,
                                                         uint32_t n_depends_on, fusion_node *node);
/* pixel: the bytes of one, in the image's format. region NULL: all of it. */
FUSION_API fusion_status fusion_graph_add_fill_image(fusion_graph *graph, const char *name, fusion_image *to,
                                                     const fusion_region *region, const void *pixel,
                                                     const fusion_node *depends_on, uint32_t n_depends_on,
                                                     fusion_node *node);

/* A function of this process as a node. It runs once for each submission, in the thread that submits, while
   fusion_exec_submit() waits for what comes before it. args: the buffers, pointers and images it touches; edges follow
   from them. Also for copies with `host` memory, which are such functions. */
typedef void fusion_host_function(void *data);
FUSION_API fusion_status fusion_graph_add_host_task(fusion_graph *graph, const char *name, const fusion_arg *args,
                                                    uint32_t n_args, fusion_host_function *function, void *data,
                                                    const fusion_node *depends_on, uint32_t n_depends_on,
                                                    fusion_node *node);
/* A copy of inner, as it is now, as one node of graph; name NULL: "graph". options (may be NULL: FUSION_NONE): how it
   is finalized by itself, its device being that of graph. That counts where graph is finalized with FUSION_NONE; where
   graph is fused, the nodes of inner are nodes of graph like all others, and fused with them. */
FUSION_API fusion_status fusion_graph_add_graph(fusion_graph *graph, const char *name, const fusion_graph *inner,
                                                const fusion_finalize_options *options, const fusion_node *depends_on,
                                                uint32_t n_depends_on, fusion_node *node);

/* Queues: what is submitted to one runs at once, in order; while it records, it becomes a node instead, which runs as
   it would have then: see docs/fusion.md, "Edges". A host task without arguments may have to do with anything, so it
   stands where it was recorded. */
FUSION_API fusion_status fusion_queue_create(fusion_session *session, fusion_queue **queue);
FUSION_API void fusion_queue_destroy(fusion_queue *queue); /* ends a recording, waits for nothing */
/* Several queues can record into one graph; FUSION_BUSY where the queue records already. */
FUSION_API fusion_status fusion_graph_begin_recording(fusion_graph *graph, fusion_queue *queue);
FUSION_API fusion_status fusion_graph_end_recording(fusion_graph *graph); /* of all its queues */
/* The queue's next command also waits for these: submissions, or commands that were recorded. One that was recorded
   into another graph makes this graph one to be submitted after that one, and so does memory that two graphs use which
   are recorded at the same time. FUSION_INVALID: they would wait for each other; it was recorded and not submitted, and
   this queue does not record. */
FUSION_API fusion_status fusion_queue_depends_on(fusion_queue *queue, const fusion_event *events, uint32_t n);
/* The events of recorded commands stand for the last submission of what was recorded; before it, waiting is
   FUSION_INVALID. The node of such an event; false where it is a submission. */
FUSION_API bool fusion_event_node(fusion_event event, fusion_node *node);
FUSION_API fusion_status fusion_queue_submit(fusion_queue *queue, const fusion_kernel_node *kernel,
                                             fusion_event *event);
FUSION_API fusion_status fusion_queue_copy(fusion_queue *queue, fusion_memory from, fusion_memory to, uint64_t bytes,
                                           fusion_event *event);
FUSION_API fusion_status fusion_queue_copy_2d(fusion_queue *queue, fusion_memory from, uint64_t from_pitch,
                                              fusion_memory to, uint64_t to_pitch, uint64_t bytes, uint32_t rows,
                                              fusion_event *event);
FUSION_API fusion_status fusion_queue_fill(fusion_queue *queue, fusion_memory to, uint64_t bytes, const void *pattern,
                                           uint32_t pattern_bytes, fusion_event *event);
FUSION_API fusion_status fusion_queue_copy_pixels(fusion_queue *queue, fusion_pixels from, fusion_pixels to,
                                                  uint32_t width, uint32_t height, fusion_event *event);
FUSION_API fusion_status fusion_queue_copy_pixels_3d(fusion_queue *queue, fusion_pixels from, fusion_pixels to,
                                                     uint32_t width, uint32_t height, uint32_t depth,
                                                     fusion_event *event);
FUSION_API fusion_status fusion_queue_fill_image(fusion_queue *queue, fusion_image *to, const fusion_region *region,
                                                 const void *pixel, fusion_event *event);
FUSION_API fusion_status fusion_queue_host_task(fusion_queue *queue, const fusion_arg *args, uint32_t n_args,
                                                fusion_host_function *function, void *data, fusion_event *event);
FUSION_API fusion_status fusion_queue_wait(fusion_queue *queue); /* FUSION_INVALID while it records */

/* ---- finalize ---- */

FUSION_API fusion_status fusion_graph_set_outputs(fusion_graph *graph, const fusion_arg *outputs, uint32_t n);
/* Checks, fuses and compiles; options may be NULL (FUSION_NONE). The graph can be changed and finalized again.
   FUSION_INVALID, among others: a kernel is proved to access what its buffer or allocation does not have. The reason
   has the node, line, work-item, element and byte. Where an access depends on values, on what is in memory or on loops
   nothing is proved: "reference", a device that checks each access, and debug find those. */
FUSION_API fusion_status fusion_graph_finalize(fusion_graph *graph, const fusion_finalize_options *options,
                                               fusion_exec **exec);
FUSION_API void fusion_exec_destroy(fusion_exec *exec);

typedef struct fusion_remark {
    const char *code, *node, *buffer, *text; /* node, buffer: "" where it is about none */
} fusion_remark;

typedef struct fusion_group {
    uint32_t n_nodes;
    const fusion_node *nodes; /* in linear order */
    const char *kernel;       /* name of the launched kernel */
    uint32_t lanes;           /* work-items computed at once; 1: scalar code */
    /* Of the compiler: "full", or less where the kernel is large or the compiler failed: "one vector", "scalar",
       "plain vector" and "minimal" (no optimization), "interpreted" (no code); "": nothing was compiled. */
    const char *effort;
    /* "quick": interpreted until its code has been made; "final": it stays so, for this reason where it was quick and
       there is no code (else NULL); "": nothing was compiled. */
    const char *tier, *reason;
    const char *ir, *assembly; /* with keep_ir, keep_assembly; else NULL */
    uint64_t bytes;            /* global memory traffic of one run */
} fusion_group;

/* What one run does, one after another: a launch, or a copy, fill or part that runs in this process. */
typedef struct fusion_step {
    bool is_group;
    uint32_t index; /* of the report's groups, else the node */
} fusion_step;

typedef struct fusion_internalized {
    const char *buffer, *memory; /* memory: "private", "local", "ring" (for what is in use at a time) or "none" */
    uint64_t bytes;              /* of memory that the buffer does not take; with "ring" but for that */
    uint64_t traffic;            /* bytes that its accesses do not move over memory */
} fusion_internalized;

/* What a compiler did for a finalize. Nanoseconds of CLOCK_MONOTONIC. */
typedef struct fusion_job {
    int32_t group;                          /* whose code; -1: the plan */
    uint64_t waited_ns, began_ns, ended_ns; /* since when for a compiler; the work */
} fusion_job;

typedef struct fusion_report {
    uint32_t launches; /* n_groups, and those of graphs that are nodes with a fusion of their own */
    uint32_t n_groups;
    const fusion_group *groups;
    uint32_t n_order;
    const fusion_node *order;
    uint32_t n_internalized;
    const fusion_internalized *internalized;
    uint32_t n_remarks;
    const fusion_remark *remarks;
    uint64_t bytes_fused, bytes_unfused; /* global memory traffic of one run */
    double compile_ms;                   /* as the client saw it: request to reply */
    const char *cache;                   /* "miss", "memory", "disk" */
    uint32_t n_steps;                    /* 0 with debug */
    const fusion_step *steps;
    uint32_t n_jobs; /* none of what was in a cache, or is made later */
    const fusion_job *jobs;
    const uint64_t *predicted_ns; /* of each group: what one run takes by the cost model; 0: not known */
} fusion_report;

/* What was done and why; lives as long as the executable. */
FUSION_API const fusion_report *fusion_exec_report(const fusion_exec *exec);
/* Asks what has become of launches that were quick, and sets lanes, effort, tier and reason of their groups. Not while
   another thread reads the report. */
FUSION_API fusion_status fusion_exec_update_report(fusion_exec *exec);
FUSION_API const char *fusion_exec_node_name(const fusion_exec *exec, fusion_node node); /* NULL: out of range */
/* The graph as a DOT drawing with its groups, internalized buffers and bytes; free() it. */
FUSION_API fusion_status fusion_exec_dot(const fusion_exec *exec, char **dot);

#include <fusiond/future.h>
#include <fusiond/saved.h>

/* ---- submit ---- */

typedef struct fusion_rebind {
    /* either a buffer or USM pointer in place of the one of the graph ... */
    fusion_buffer *from, *to;
    void *from_pointer, *to_pointer;
    /* ... or another image of the same size, pitch and format ... */
    fusion_image *from_image, *to_image;
    /* ... or (all of these NULL) another value for an argument of a node */
    fusion_node node;
    uint32_t arg;
    const void *value;
    size_t value_bytes;
    fusion_type type;     /* of the value's numbers: has to be the argument's; FUSION_BYTES: only the size has to be */
    uint64_t reserved[4]; /* 0 */
} fusion_rebind;

/* Queues one run of the handle; runs of a session execute in order, also those of several threads, but that a run whose
   kernels wait for pipes goes on beside later ones that share no memory with it that one of them writes, and may end
   after them: see docs/pipes.md, "Submissions". While a run with host tasks is under way, another thread's waits to be
   queued. A host task may submit runs itself, which execute where it stands; it must not wait for a thread that does.
   Rebinding never recompiles; a new buffer must be at least as large as the old one, kernels may touch as many bytes of
   it as the old one has, and buffers that were distinct must stay distinct. A pointer in place of another one moves all
   that the graph uses of the allocation. event may be NULL.
 */
FUSION_API fusion_status fusion_exec_submit(fusion_exec *exec, const fusion_rebind *rebind, uint32_t n_rebind,
                                            fusion_event *event);
/* Waits for a submission and gives its outcome; timeout_ms -1: no limit, FUSION_TIMEOUT beyond. run_ns may be
   NULL: time its steps took. */
FUSION_API fusion_status fusion_event_wait(fusion_session *session, fusion_event event, int timeout_ms,
                                           uint64_t *run_ns);
FUSION_API fusion_status fusion_event_poll(fusion_session *session, fusion_event event); /* FUSION_BUSY: not yet */

#include <fusiond/event.h>
#include <fusiond/submit.h>

#ifdef __cplusplus
}
#endif
#endif
