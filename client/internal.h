/* What the files of libfusiond share. */
#pragma once

#include <fusiond/fusiond.h>
#include <obstack.h>
#include <pthread.h>
#include <sys/queue.h>

#include "client/names.h"
#include "ir/base/map.h"
#include "proto/frame.h"
#include "proto/graph.h"
#include "proto/ring.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

/* ---- errors (error.c) ---- */

/* Records the calling thread's last error and returns status. */
fusion_status client_error(fusion_status status, const char *object, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* For errno after a failed system call. */
fusion_status client_errno(fusion_status status, const char *object, const char *what);

/* ---- growing arrays (array.c) ---- */

/* Room for one more item behind the first n; array: the address of its pointer. False: no memory, and nothing changed. */
bool client_reserve(void *array, uint32_t n, uint32_t *capacity, size_t item);

/* ---- session (session.c) ---- */

/* First member of every object that its session frees at the latest. */
struct client_object {
    LIST_ENTRY(client_object) link;
    void (*free)(struct client_object *object); /* memory only, no requests */
};
void client_object_add(fusion_session *s, struct client_object *object, void (*free)(struct client_object *));
void client_object_remove(fusion_session *s, struct client_object *object);

/* A piece of memory shared with the executor: the memory of a buffer, or a USM allocation. */
struct memory {
    fusion_session *session;
    uint64_t id; /* 0: not registered */
    uint64_t bytes;
    void *map;               /* NULL: no memory taken yet */
    uint32_t late_attach;    /* the request to attach it that ran out of time; 0: none */
    void *late_map;
    bool usm;
    fusion_event last_event; /* the last submission that uses it */
    fusion_buffer *buffer;   /* NULL for USM */
    const fusion_image_desc *image; /* NULL: it is none */
};

struct fusion_session {
    LIST_ENTRY(fusion_session) link; /* fork.c */
    bool foreign;                    /* it is that of the process that forked this one */
    int fd;
    pid_t daemon_pid; /* of a private daemon; 0: none */
    int event_fd;
    struct ring *ring;
    uint32_t request_limit_ms;

    /* Locks that may be held for long, in the order in which they are taken. */
    pthread_mutex_t turn_lock;    /* recursive: runs of executables, one after another (submit.c) */
    pthread_mutex_t attach_lock;  /* memory.c */
    pthread_mutex_t request_lock; /* the socket (request.c) */
    struct proto_reader *reader;
    STAILQ_HEAD(, outgoing) outgoing; /* not sent to their end yet */
    struct client_late *late;
    uint32_t n_late;
    uint32_t next_request;
    bool broken; /* the connection has ended */

    pthread_mutex_t print_lock; /* recursive; held while what was printed is handed on (print.c) */
    fusion_print_function *print;
    void *print_data;

    pthread_mutex_t lock; /* everything below, and the ring's producer side */
    LIST_HEAD(, client_object) objects;
    uint64_t next_sequence;
    struct memory **memories; /* by slot; an id is slot + 1 + (serial << 20) */
    uint32_t n_memories, memories_capacity;
    uint32_t *free_places, n_free_places; /* slots */
    uint64_t memory_serial;
    struct memory **usm; /* sorted by address */
    uint32_t n_usm, usm_capacity;
    struct failure {
        fusion_event event;
        fusion_status status;
        char object[RING_OBJECT_BYTES], reason[RING_REASON_BYTES];
    } *failures; /* outcomes of failed submissions that left the ring, a ring buffer of its own */
    uint32_t n_failures;
    struct recording *recordings; /* recording.c */
    uint32_t n_recordings, recordings_capacity;
    uint32_t *open_recordings, n_open_recordings; /* numbers of those that are recorded into */
};

/* print.c: hands on what kernels have printed. Called without the session's lock, where a submission is seen to be
   complete. */
void client_print(fusion_session *s);
uint64_t client_now_ms(void);
void client_init_recursive(pthread_mutex_t *mutex);
/* Makes the locks that may be held for long. */
void client_session_init_long_locks(fusion_session *s);

/* fork.c: is the session that of the process that forked this one? Then nothing may be done with it but to free it. */
static inline bool client_is_foreign(const fusion_session *s) { return s->foreign; }
fusion_status client_foreign(const char *object); /* the error that says so */
void client_sessions_add(fusion_session *s);
void client_sessions_remove(fusion_session *s);

/* ---- requests (request.c) ---- */

/* Packs the params of a request. */
typedef void client_pack_fn(struct proto_writer *w, const void *data);

/* One request and its reply. reply may be NULL; otherwise proto_message_clear() it on success. */
fusion_status client_request(fusion_session *s, const char *method, client_pack_fn *pack, const void *data,
                             const int *fds, uint32_t n_fds, struct proto_message *reply);
/* The same. Where it runs out of time and the service is going to do it all the same, *late is its number, for
   client_request_resume(), which goes on waiting for its success. `pending`: it has to be asked for again. */
fusion_status client_request_late(fusion_session *s, const char *method, client_pack_fn *pack, const void *data,
                                  const int *fds, uint32_t n_fds, struct proto_message *reply, uint32_t *late);
fusion_status client_request_resume(fusion_session *s, const char *method, uint32_t late, bool *pending);
void client_requests_clear(fusion_session *s);
/* A request whose params are one id; its failure is of no interest (releases). */
void client_release(fusion_session *s, const char *method, const char *key, uint64_t id);

/* Starts a private daemon (launch.c); *fd is its connection. */
char *client_locate_daemon(void); /* locate.c; to be freed, NULL: no memory */
fusion_status client_launch_daemon(int *fd, pid_t *pid);

/* ---- memory (memory.c) ---- */

struct fusion_buffer {
    struct memory memory;
    char *name;
    fusion_type type;
    uint64_t count;
    unsigned properties;
};

/* A buffer of bytes that has a form; so it is made, found and freed as one. Of an image of a buffer only the name is
 * used. */
struct fusion_image {
    fusion_buffer buffer; /* first */
    fusion_image_desc desc;
};

/* Gives a buffer whose size and type are set its place in the session, and its name (NULL: one is made). */
fusion_status client_buffer_open(fusion_session *s, fusion_buffer *b, const char *name);
struct proto_image client_wire_image(const fusion_image_desc *desc);
/* Whose memory it is: an image's own, or of one of a buffer that buffer's; and a place in it, `offset` bytes behind the
   image's beginning. */
struct memory *client_image_memory(const fusion_image *image);
fusion_memory client_image_place(const fusion_image *image, uint64_t offset);
/* Of a pixel, in bytes from the image's beginning. */
uint64_t client_image_offset(const fusion_image *image, uint32_t x, uint32_t y, uint32_t z);
/* The region, or all of the image where it is NULL; checked to lie inside. */
fusion_status client_image_region(const fusion_image *image, const fusion_region *region, fusion_region *out);
/* The bits of a sampler. */
fusion_status client_sampler_bits(const fusion_sampler *sampler, const char *object, uint64_t *bits);

/* Takes the memory and attaches it to the executor, where that has not happened yet. */
fusion_status client_memory_ensure(struct memory *m);
struct memory *client_memory_find(fusion_session *s, uint64_t id);             /* session locked */
struct memory *client_usm_find(fusion_session *s, const void *pointer);        /* session locked; NULL: none */
fusion_status client_memory_of(fusion_session *s, const fusion_memory *place, uint64_t bytes, struct memory **m, uint64_t *offset);
void client_memories_clear(fusion_session *s);
uint32_t client_type_bytes(fusion_type type);
fusion_status client_check_properties(unsigned properties, const char *object);
struct proto_props client_props(unsigned properties);

/* ---- modules (module.c) ---- */

/* What is known of a kernel beyond its fusion_kernel_info, device by device. */
struct kernel_devices {
    uint32_t n;
    struct kernel_device {
        const char *name;
        fusion_kernel_device_info info;
        uint32_t max_sub_group_size; /* 0: the device lacks the size */
    } *devices;
};

struct fusion_module {
    struct client_object object;
    fusion_session *session;
    uint64_t id;
    char *name;
    struct obstack pool;
    uint32_t n_kernels;
    fusion_kernel_info *kernels;
    struct kernel_devices *devices; /* by kernel */
};

/* Reads the key `devices` of a kernel's description (kernel_query.c). */
void client_read_kernel_devices(fusion_module *m, uint32_t kernel, const msgpack_object *map);

/* Strings out of messages, NUL-terminated, in a pool. */
const char *client_pool_string(struct obstack *pool, const msgpack_object *o); /* "" where it is no string */
const char *client_pool_get(struct obstack *pool, const msgpack_object *map, const char *key);

/* ---- graphs (graph.c) ---- */

struct copy_2d {
    fusion_memory from, to;
    uint64_t from_pitch, to_pitch, bytes;
    uint32_t rows;
    uint32_t plane; /* rows of a slice, a slice pitch from each to the next; 0: there are no slices */
    uint64_t from_slice_pitch, to_slice_pitch;
};

struct fusion_graph {
    struct client_object object;
    fusion_session *session;
    struct proto_graph wire; /* grows as nodes are added */
    uint32_t slots_capacity, values_capacity, nodes_capacity, modules_capacity;
    uint64_t *slot_memory;   /* by slot: id of the memory */
    struct map slots; /* by that */
    struct value_bytes {
        uint8_t *data;
        uint32_t size;
    } *values;               /* by value: what it is unless a submission says otherwise */
    uint64_t *modules;       /* by wire module index: id */
    struct map module_places; /* by that */
    struct client_names node_names, slot_names; /* a buffer and a node may have one name */
    fusion_queue *recorders; /* by next_recorder */
    uint32_t recording;      /* its number; 0: was never recorded */
    struct graph_action *actions; /* what nodes of kind HOST do, sorted by node */
    uint32_t n_actions, actions_capacity;
    uint32_t *parent_of;          /* of a graph that was flattened: node of the graph it was; else NULL */
};

enum action_kind {
    ACTION_FUNCTION,
    ACTION_READ,  /* from a slot to memory of the process */
    ACTION_WRITE, /* the other way */
    ACTION_GRAPH,
};

struct graph_action {
    enum action_kind kind;
    uint32_t node;
    fusion_host_function *function;
    void *data;
    uint32_t slot; /* READ, WRITE */
    uint64_t offset, bytes;
    void *host;
    uint32_t rows; /* 0 or 1: one piece */
    uint64_t pitch, host_pitch;
    uint32_t plane; /* rows of a slice; 0: there are no slices */
    uint64_t slice_pitch, host_slice_pitch;
    fusion_graph *inner; /* GRAPH: the graph's own copy */
    fusion_finalize_options options;
    fusion_exec *exec; /* GRAPH, of an executable */
};

/* The steps of adding a node that commands of all kinds share. append() takes the node's parts, also where it fails. */
fusion_status client_graph_value(fusion_graph *g, const void *data, uint64_t size, uint32_t *index);
fusion_status client_graph_module(fusion_graph *g, uint64_t module, uint32_t *index);
fusion_status client_graph_args(fusion_graph *g, const char *what, const fusion_arg *args, uint32_t n_args, struct proto_node *n);
fusion_status client_graph_deps(struct proto_node *n, const fusion_node *deps, uint32_t n_deps);
fusion_status client_graph_name(fusion_graph *g, const char *given, const char *base, char **name);
fusion_status client_graph_append(fusion_graph *g, struct proto_node *n, fusion_status status, fusion_node *node);
void client_graph_free(fusion_graph *g); /* one that the session does not know */
fusion_graph *client_graph_new(fusion_session *s); /* the same; NULL: no memory */

void client_graph_take_back(fusion_graph *g); /* the node added last */

/* ---- recording (recording.c) ---- */

void client_queue_stop_recording(fusion_queue *q); /* where it does */
void client_recordings_clear(fusion_session *s);
/* The queue has added a node to the graph that it records: its edges, and its event. Takes it back where it must not be. */
fusion_status client_recorded(fusion_queue *q, fusion_event *event);
/* The submission that an event of a recorded node stands for; FUSION_INVALID: there is none yet. */
fusion_status client_event_resolve(fusion_session *s, fusion_event *event);
/* May what was recorded under that number (0: nothing was) be submitted now? And then: it is. */
fusion_status client_recording_ready(fusion_session *s, uint32_t recording);
void client_recording_submitted(fusion_session *s, uint32_t recording, fusion_event event);

/* ---- nodes that run in the client (host.c) ---- */

/* Appends a HOST node with what it does; status as for client_graph_append(). */
fusion_status client_graph_act(fusion_graph *g, struct proto_node *n, const struct graph_action *action,
                               fusion_status status, fusion_node *node);
/* A copy where one side is memory of the process. */
fusion_status client_graph_host_copy(fusion_graph *g, const char *name, const struct copy_2d *copy, const fusion_node *deps,
                                     uint32_t n_deps, fusion_node *node);
/* What the node does here; NULL: nothing. */
struct graph_action *client_graph_action(const fusion_graph *g, uint32_t node);
/* What the executable does between its parts, from the order of the nodes of graph. */
void client_exec_take_actions(fusion_exec *e, const fusion_graph *graph);
struct binding;
/* Runs number `index`; bindings are those of the submission, last is its event so far (0: none yet). */
fusion_status client_exec_act(fusion_exec *e, uint32_t index, const struct binding *bindings, const fusion_rebind *rebind,
                              uint32_t n_rebind, fusion_event *last);

/* ---- graphs in graphs (subgraph.c) ---- */

/* graph with the graphs inside it that are fused with it, or by nobody, in place of their nodes: graph itself where there
   are none. NULL: no memory. */
fusion_graph *client_graph_flatten(fusion_graph *graph, fusion_mode mode);
/* Finalizes the graphs that stay nodes, and adds what they say to the report. */
fusion_status client_exec_finish(fusion_exec *e, const fusion_finalize_options *options);

struct fusion_queue {
    struct client_object object;
    fusion_session *session;
    fusion_graph *recording; /* NULL: runs at once */
    struct queue_entry {
        uint8_t *key; /* the wire graph and module ids */
        size_t key_size;
        fusion_exec *exec;
    } *cache;
    uint32_t n_cache, next_evict;
    fusion_event last;
    pthread_mutex_t lock; /* recursive: commands that run at once, and their handles */
    fusion_queue *next_recorder; /* into the same graph */
    fusion_event *waits;         /* what the next command depends on */
    uint32_t n_waits;
    struct queue_order {         /* of what it has recorded so far, into the graph of that number */
        uint32_t recording;
        bool any_here, any_standing;
        fusion_node last_here;   /* that runs in this process */
        fusion_node standing;    /* the last one that all before come before, and all behind after: */
        fusion_node *since;      /* the nodes since */
        uint32_t n_since, since_capacity;
    } order;
};

/* What kinds of nodes need to become one (graph.c; graph_image.c has those of images). */
fusion_status client_graph_slot(fusion_graph *g, const struct memory *m, uint32_t *slot);
fusion_status client_graph_slot_at(fusion_graph *g, const fusion_memory *place, uint64_t bytes, uint32_t *slot, uint64_t *offset);
/* Names a filled-in node (base where name is NULL), gives it its dependences and puts it into the graph; frees it where
   status, or one of these, is a failure. */
fusion_status client_graph_add(fusion_graph *g, struct proto_node *n, fusion_status status, const char *name, const char *base,
                               const fusion_node *depends_on, uint32_t n_depends_on, fusion_node *node);

/* ---- executables (finalize.c, submit.c) ---- */

struct fusion_exec {
    struct client_object object;
    fusion_session *session;
    uint64_t id;
    struct obstack pool; /* everything the report points at */
    fusion_report report;
    uint32_t n_nodes, n_slots, n_values;
    const char **node_names;
    const char **slot_names;
    uint64_t *slot_memory, *slot_bytes;
    uint64_t *slot_saved; /* traffic, where it is not needed */
    struct proto_image *slot_images;
    bool *slot_needed; /* by the executor */
    bool *slot_host;   /* by copies to and from memory of the process */
    uint8_t *slot_access; /* SLOT_... bits: what was declared of it */
    uint32_t *value_sizes;
    struct exec_node {
        uint8_t kind;
        uint32_t n_args, n_deps;
        const struct proto_arg *args;
        const uint32_t *deps;
        uint32_t from, to;
    } *nodes;
    fusion_event last_event;
    uint32_t recording; /* of the graph it was made of; 0: none */
    uint32_t n_actions; /* in the order in which they run */
    struct graph_action *actions;
    bool *part_runs; /* n_actions + 1: there are steps before action i, behind the last one */
};

/* What nodes do with a slot: in the executor, and in this process. */
enum { SLOT_READ = 1, SLOT_WRITTEN = 2, SLOT_READ_HERE = 4, SLOT_WRITTEN_HERE = 8 };

/* Submits with slots and values replaced wholesale: memory[slot] and values[value] (queue.c). */
fusion_status client_submit_graph(fusion_exec *exec, const fusion_graph *graph, fusion_event *event);
fusion_status client_wait(fusion_session *s, fusion_event event, int timeout_ms, uint64_t *run_ns);
