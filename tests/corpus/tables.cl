// Tables in constant memory that hold addresses: of strings, of rows, of structs that point at each other.

constant char *constant words[] = {"alpha", "be", "gamma-ray", "delta"};

//: kernel string_table 64 16
//: buffer u32 64 bits
//: buffer i32 64 zero
kernel void string_table(global const uint *which, global int *out)
{
    size_t i = get_global_id(0);
    constant char *s = words[which[i] % 4u];
    int n = 0, sum = 0;
    while (s[n]) sum = sum * 31 + s[n++];
    out[i] = sum ^ n << 24;
}

//: kernel characters 40 8
//: buffer i32 40 zero
kernel void characters(global int *out)
{
    size_t i = get_global_id(0);
    out[i] = "the quick brown fox jumps over the lazy"[i % 40] + words[2][i % 10];
}

struct entry {
    short code;
    float scale;
    constant char *name;
    constant int *table;
};
constant int primes[] = {2, 3, 5, 7, 11, 13};
constant int squares[] = {0, 1, 4, 9, 16, 25};
constant struct entry entries[] = {
    {1, 0.5f, "one", primes}, {2, 1.5f, "two", squares + 2}, {3, 2.5f, 0, &primes[3]}, {4, 4.0f, &"four"[1], squares}};

//: kernel struct_table 64 16
//: buffer u32 64 bits
//: buffer f32 64 zero
kernel void struct_table(global const uint *in, global float *out)
{
    size_t i = get_global_id(0);
    constant struct entry *e = &entries[in[i] % 4u];
    float r = e->code + e->scale * e->table[i % 3];
    if (e->name) r += e->name[i % 3];
    out[i] = r;
}

constant float rising[4] = {1.0f, 2.0f, 3.0f, 4.0f};
constant float falling[4] = {8.0f, 4.0f, 2.0f, 1.0f};
constant float saw[4] = {-1.0f, 1.0f, -1.0f, 1.0f};
constant float *constant filters[2][2] = {{rising, falling}, {saw, rising}};

// The filter that a value asks for, by its pointer.
//: kernel dispatch 64 16
//: buffer u32 64 bits
//: buffer f32 68 iota
//: buffer f32 64 zero
kernel void dispatch(global const uint *kind, global const float *in, global float *out)
{
    size_t i = get_global_id(0);
    constant float *taps = filters[kind[i] & 1][kind[i] >> 1 & 1];
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) sum += taps[k] * in[i + k];
    out[i] = sum;
}

// One row for the whole work-group, through local memory.
//: kernel group_rows 64 16
//: buffer f32 64 zero
//: local 16
kernel void group_rows(global float *out, local float *row)
{
    constant float *from = filters[0][get_group_id(0) & 1];
    if (get_local_id(0) < 4) row[get_local_id(0)] = from[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = row[get_local_id(0) & 3] + row[(get_local_id(0) + 1) & 3];
}

struct node {
    constant struct node *next;
    int value;
    uchar2 tag;
};
constant struct node third = {0, 30, (uchar2)(5, 6)};
constant struct node second = {&third, 20, (uchar2)(3, 4)};
constant struct node first = {&second, 10, (uchar2)(1, 2)};

//: kernel linked 64 16
//: buffer i32 64 zero
kernel void linked(global int *out)
{
    int left = get_global_id(0) % 5, sum = 0;
    for (constant struct node *p = &first; p && left; p = p->next, left--) sum = sum * 3 + p->value + p->tag.y;
    out[get_global_id(0)] = sum;
}

// A pointer and a pointer to it as the initial values themselves.
constant int *constant middle = &primes[2];
constant int *constant *constant way = &middle;

//: kernel pointers 16 4
//: buffer i32 16 zero
kernel void pointers(global int *out)
{
    int i = get_global_id(0);
    out[i] = (*way)[i % 3] + *middle;
}
