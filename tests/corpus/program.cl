// Variables of the program: initial values, private to nobody, reached from functions and through generic pointers.
//: language CL2.0
//: pocl PoCL 3.1 has no program-scope variables in global memory

global int seed = 41;
global float table[8] = {0.5f, -1.0f, 2.25f, 3.0f, -0.125f, 6.0f, 7.5f, -8.0f};
global uint histogram[16];
struct cell { char tag; short low; float4 at; };
global struct cell cells[3] = {{1, 2, {3, 4, 5, 6}}, {-1, -2, {-3, -4, -5, -6}}};
global atomic_int tickets = ATOMIC_VAR_INIT(100);

static int next_seed(int by)
{
    static global int calls = 7;
    return seed * by + calls;
}

static float sum_of(const float *values, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += values[i];
    return sum;
}

//: kernel initial_values 16 4
//: buffer f32 16 zero
//: buffer i32 16 zero
kernel void initial_values(global float *f, global int *out)
{
    int i = get_global_id(0);
    f[i] = table[i & 7] + cells[i % 3].at.z + sum_of(table, i & 7);
    out[i] = next_seed(i) + cells[i % 3].tag * 1000 + cells[i % 3].low;
}

//: kernel count_values 256 256
//: buffer u32 256 uniform 0 99
//: buffer u32 16 zero
kernel void count_values(global const uint *in, global uint *out)
{
    size_t i = get_global_id(0);
    atomic_inc(&histogram[in[i] & 15]);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i < 16) out[i] = histogram[i];
}

//: kernel one_writes 1 1
//: buffer i32 20 uniform -50 50
//: buffer i32 20 zero
kernel void one_writes(global const int *in, global int *out)
{
    for (int i = 0; i < 20; i++) {
        cells[i % 3].low += (short)in[i];
        seed += cells[i % 3].low;
        table[i & 7] *= 0.5f;
        out[i] = seed + (int)(table[(i + 3) & 7] * 64);
    }
}

//: kernel tickets_taken 64 16
//: buffer u32 64 zero
kernel void tickets_taken(global uint *seen)
{
    int mine = atomic_fetch_add_explicit(&tickets, 1, memory_order_relaxed, memory_scope_device);
    if (mine >= 100 && mine < 164) seen[mine - 100] = (uint)mine;
}
