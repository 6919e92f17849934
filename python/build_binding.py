"""The binding to libfusiond: what of its header Python uses. The C compiler checks it against the header.

    build_binding.py OUT.c      writes the module's C source (Meson does)
"""
import sys

from cffi import FFI

DECLARATIONS = """
typedef int... fusion_status_int;
typedef struct fusion_session fusion_session;
typedef struct fusion_module fusion_module;
typedef struct fusion_buffer fusion_buffer;
typedef struct fusion_graph fusion_graph;
typedef struct fusion_exec fusion_exec;
typedef uint32_t fusion_node;
typedef uint64_t fusion_event;
typedef enum { FUSION_SUCCESS, FUSION_TIMEOUT, FUSION_BUSY, ... } fusion_status;
typedef struct { fusion_status status; char object[128]; char reason[1024]; ...; } fusion_error;
const fusion_error *fusion_last_error(void);
const char *fusion_status_name(fusion_status status);

typedef struct { size_t size; const char *name; uint32_t time_limit_ms, request_limit_ms; bool private_daemon;
    uint64_t threads; const char *cgroup; ...; }
    fusion_connect_options;
fusion_status fusion_connect(const char *address, const fusion_connect_options *options, fusion_session **session);
void fusion_disconnect(fusion_session *session);
fusion_status fusion_session_status(fusion_session *session, char **json);
fusion_status fusion_session_metrics(fusion_session *session, char **text);
typedef struct {
    size_t size; char name[64]; char description[128]; char target[256]; char aspects[512];
    uint64_t max_work_group_size, local_memory_bytes; uint32_t compute_units; ...; } fusion_device_info;
fusion_status fusion_device_count(fusion_session *session, uint32_t *count);
fusion_status fusion_device_get(fusion_session *session, uint32_t index, fusion_device_info *info);

typedef struct { const char *name, *type, *access; uint64_t size; ...; } fusion_kernel_arg;
typedef struct { const char *name, *aspects; uint32_t n_args; const fusion_kernel_arg *args; ...; } fusion_kernel_info;
typedef struct { size_t size; const char *sub_group_size; const char *build_options; ...; } fusion_module_options;
fusion_status fusion_module_load_with(fusion_session *session, const char *name, const void *bytes, size_t size,
    const fusion_module_options *options, fusion_module **module);
fusion_status fusion_module_load_file_with(fusion_session *session, const char *path,
    const fusion_module_options *options, fusion_module **module);
void fusion_module_destroy(fusion_module *module);
uint32_t fusion_module_kernel_count(const fusion_module *module);
const fusion_kernel_info *fusion_module_kernel(const fusion_module *module, uint32_t index);
const char *fusion_module_warning(const fusion_module *module, uint32_t index);

typedef enum { FUSION_BYTES, FUSION_I8, FUSION_I16, FUSION_I32, FUSION_I64, FUSION_U8, FUSION_U16, FUSION_U32,
    FUSION_U64, FUSION_F16, FUSION_F32, FUSION_F64, ... } fusion_type;
#define FUSION_INTERNAL_MEMORY ...
#define FUSION_NO_INIT ...
fusion_status fusion_buffer_create(fusion_session *session, const char *name, fusion_type type, uint64_t count,
    unsigned properties, fusion_buffer **buffer);
void fusion_buffer_destroy(fusion_buffer *buffer);
fusion_status fusion_buffer_map(fusion_buffer *buffer, void **memory);

typedef enum { FUSION_ACCESS_READ, FUSION_ACCESS_WRITE, FUSION_ACCESS_READ_WRITE, ... } fusion_access;
typedef struct { ...; } fusion_arg;
fusion_arg fusion_arg_buffer(fusion_buffer *buffer, fusion_access access);
fusion_arg fusion_arg_value(const void *value, size_t bytes);
fusion_arg fusion_arg_local(size_t bytes);

typedef struct {
    size_t size; const char *name; fusion_module *module; const char *kernel; uint32_t dims; uint64_t global[3], offset[3], local[3];
    uint32_t n_args; const fusion_arg *args; ...; } fusion_kernel_node;
fusion_status fusion_graph_create(fusion_session *session, fusion_graph **graph);
void fusion_graph_destroy(fusion_graph *graph);
fusion_status fusion_graph_add_kernel(fusion_graph *graph, const fusion_kernel_node *kernel, fusion_node *node);
fusion_status fusion_graph_set_outputs(fusion_graph *graph, const fusion_arg *outputs, uint32_t n);

typedef enum { FUSION_NONE, FUSION_ENABLE, FUSION_REQUIRE, ... } fusion_mode;
typedef enum { FUSION_TIER_AUTOMATIC, FUSION_TIER_QUICK, FUSION_TIER_COMPILED, ... } fusion_tier;
typedef struct { size_t size; fusion_mode mode; bool insert_barriers; const char *device; bool keep_ir, keep_assembly, debug;
    fusion_tier tier; bool bounds; uint64_t time_limit_ms; ...; } fusion_finalize_options;
fusion_status fusion_graph_finalize(fusion_graph *graph, const fusion_finalize_options *options, fusion_exec **exec);
void fusion_exec_destroy(fusion_exec *exec);
fusion_status fusion_exec_save(fusion_exec *exec, void **bytes, size_t *size);
fusion_status fusion_exec_load(fusion_session *session, const char *name, const void *bytes, size_t size,
    const fusion_finalize_options *options, fusion_exec **exec);
typedef struct { size_t size; const char *name; fusion_buffer *buffer; fusion_type type; uint64_t count;
    bool reads, writes, internalized; ...; } fusion_exec_memory_info;
fusion_status fusion_exec_memory(const fusion_exec *exec, uint32_t index, fusion_exec_memory_info *info);

typedef struct { const char *code, *node, *buffer, *text; ...; } fusion_remark;
typedef struct { uint32_t n_nodes; const fusion_node *nodes; const char *kernel; uint32_t lanes;
    const char *effort, *tier, *reason, *ir, *assembly; ...; } fusion_group;
typedef struct { const char *buffer, *memory; uint64_t bytes, traffic; ...; } fusion_internalized;
typedef struct { uint32_t launches, n_groups; const fusion_group *groups; uint32_t n_order; const fusion_node *order;
    uint32_t n_internalized; const fusion_internalized *internalized; uint32_t n_remarks; const fusion_remark *remarks;
    uint64_t bytes_fused, bytes_unfused; double compile_ms; const char *cache; ...; } fusion_report;
const fusion_report *fusion_exec_report(const fusion_exec *exec);
const char *fusion_exec_node_name(const fusion_exec *exec, fusion_node node);
fusion_status fusion_exec_dot(const fusion_exec *exec, char **dot);

typedef struct { fusion_buffer *from, *to; fusion_node node; uint32_t arg; const void *value; size_t value_bytes; ...; }
    fusion_rebind;
typedef struct { size_t size; int64_t priority; uint64_t time_limit_ms; ...; } fusion_submit_options;
fusion_status fusion_exec_submit_times(fusion_exec *exec, uint32_t count, const fusion_rebind *rebind, uint32_t n_rebind,
    const fusion_submit_options *options, fusion_event *event);
fusion_status fusion_event_wait(fusion_session *session, fusion_event event, int timeout_ms, uint64_t *run_ns);
fusion_status fusion_event_poll(fusion_session *session, fusion_event event);
fusion_status fusion_event_cancel(fusion_session *session, fusion_event event);
typedef void fusion_event_function(void *data, fusion_session *session, fusion_event event, fusion_status status);
fusion_status fusion_event_on_complete(fusion_session *session, fusion_event event, fusion_event_function *function,
    void *data);
typedef struct { size_t size; uint64_t queued_ns, submitted_ns, started_ns, ended_ns; ...; } fusion_event_times;
fusion_status fusion_event_times_get(fusion_session *session, fusion_event event, fusion_event_times *times);
fusion_status fusion_session_set_profiling(fusion_session *session, bool on);

typedef struct fusion_future fusion_future;
typedef void fusion_future_function(void *data, fusion_future *future);
typedef struct { size_t size; fusion_future_function *done; void *data; int64_t priority; ...; } fusion_async_options;
fusion_status fusion_graph_finalize_async(fusion_graph *graph, const fusion_finalize_options *options,
    const fusion_async_options *async, fusion_future **future);
fusion_status fusion_future_wait(fusion_future *future, int timeout_ms, fusion_exec **exec);
fusion_status fusion_future_poll(fusion_future *future);
fusion_status fusion_future_cancel(fusion_future *future);
void fusion_future_destroy(fusion_future *future);

extern "Python" void fusiond_python_completed(void *data, fusion_session *session, fusion_event event,
    fusion_status status);
extern "Python" void fusiond_python_finalized(void *data, fusion_future *future);
void free(void *pointer);
""".replace("typedef int... fusion_status_int;\n", "")

SOURCE = """
#include <stdlib.h>
#include <fusiond/fusiond.h>
#include <fusiond/profile.h>
"""

ffi = FFI()
ffi.cdef(DECLARATIONS)
ffi.set_source("fusiond._binding", SOURCE, libraries=["fusiond"])

if __name__ == "__main__":
    ffi.emit_c_code(sys.argv[1])
