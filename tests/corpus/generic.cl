// OpenCL C 2.0: the generic address space, its atomics, program variables, and functions that take generic pointers.
//: language CL2.0
//: pocl@3.1 PoCL 3.1 has no generic address space

//: kernel atomic_c11 64 16
//: buffer i32 64 uniform -1000 1000
//: buffer i32 8 zero
//: buffer i32 64 uniform 0 3
kernel void atomic_c11(global const int *in, global atomic_int *shared, global int *own)
{
    size_t i = get_global_id(0);
    int v = in[i];
    atomic_fetch_add_explicit(&shared[0], v, memory_order_relaxed, memory_scope_device);
    atomic_fetch_sub(&shared[1], v);
    atomic_fetch_min_explicit(&shared[2], v, memory_order_acq_rel, memory_scope_device);
    atomic_fetch_max(&shared[3], v);
    atomic_fetch_or(&shared[4], v & 0xf0);
    atomic_fetch_xor_explicit(&shared[5], v, memory_order_seq_cst, memory_scope_device);
    atomic_fetch_and(&shared[6], v | 3);
    global atomic_int *mine = (global atomic_int *)&own[i];
    int expected = 2;
    bool done = atomic_compare_exchange_strong(mine, &expected, v);
    int old = atomic_exchange(mine, expected + done);
    atomic_store(mine, atomic_load(mine) * 100 + old);
}


static int sum4(const int *p)
{
    int4 v = vload4(0, p);
    return v.x + v.y + v.z + v.w;
}
static void put(float *to, float v)
{
    *to = v;
}

// One function for pointers of all spaces.
//: kernel generic_pointers 32 8
//: buffer i32 128 uniform -50 50
//: buffer i32 32 zero
//: buffer f32 32 zero
kernel void generic_pointers(global const int *in, global int *out, global float *fractions)
{
    local int tile[32];
    int mine[4], l = get_local_id(0);
    size_t i = get_global_id(0);
    for (int k = 0; k < 4; k++) {
        mine[k] = in[i * 4 + k] * 2;
        tile[l * 4 + k] = in[i * 4 + 3 - k] + k;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int *chosen = i & 1 ? (const int *)mine : tile + (31 - l) / 4 * 4;
    out[i] = sum4(in + i * 4) + 1000 * sum4(mine) + 100000 * sum4(chosen);
    float whole, f;
    put(&f, fract(in[i] / 4.0f, &whole));
    put(fractions + i, f + whole * 8);
    vstore2((int2)(out[i], 7), 0, mine);
    out[i] ^= mine[0] + mine[1];
}

//: kernel generic_spaces 16 8
//: pocl@6.0 PoCL 6.0 finds each pointer in each address space on the CPU
//: buffer i32 16 zero
kernel void generic_spaces(global int *out)
{
    local int a[8];
    int b = 5;
    size_t i = get_global_id(0);
    int *p = i > 10 ? (int *)out : i > 4 ? (int *)&a[get_local_id(0)] : &b;
    out[i] = (to_global(p) != NULL) * 100 + (to_local(p) != NULL) * 10 + (to_private(p) != NULL);
}

// A variable of the program, by which the items of one group pass numbers.
global int shared_places[64];
//: kernel program_variable 64 64
//: buffer i32 64 bits
//: buffer i32 64 zero
kernel void program_variable(global const int *in, global int *out)
{
    int i = get_global_id(0);
    shared_places[i] = in[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = shared_places[(i * 7 + 3) & 63];
}

//: kernel ids_of_2_0 32x4 8x2
//: buffer u64 512 zero
kernel void ids_of_2_0(global ulong *out)
{
    size_t i = get_global_linear_id();
    out[i * 4] = get_local_linear_id();
    out[i * 4 + 1] = get_enqueued_local_size(0) * 10 + get_enqueued_local_size(1);
    out[i * 4 + 2] = ctz((uint)i) * 100 + ctz((ulong)i << 33) + ctz((uchar)(i << 3)) * 10000;
    out[i * 4 + 3] = i;
}

//: kernel flags_between_items 32 32
//: buffer i32 32 zero
kernel void flags_between_items(global int *out)
{
    local atomic_flag flag;
    local atomic_int winners, last;
    if (get_local_id(0) == 0) {
        atomic_flag_clear(&flag);
        atomic_init(&winners, 0);
        atomic_init(&last, -1);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (!atomic_flag_test_and_set(&flag)) atomic_fetch_add(&winners, 1);
    atomic_fetch_max_explicit(&last, (int)get_local_id(0), memory_order_relaxed, memory_scope_work_group);
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = atomic_load(&winners) * 100 + atomic_load_explicit(&last, memory_order_acquire, memory_scope_work_group);
}
