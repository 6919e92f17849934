// Structs: nested, by value, arrays in them, unions, bit fields, packed; pointers to pointers.

struct particle {
    float4 at, speed;
    int kind;
    uchar flags[3];
};

//: kernel move_particles 32 8
//: buffer u8 1536 uniform 0 63
//: buffer f32 32 zero -> near:1e-5
//: value f32 0.125
kernel void move_particles(global struct particle *p, global float *speed, float dt)
{
    global struct particle *me = p + get_global_id(0);
    me->at += me->speed * dt;
    if (me->flags[1] & 1) me->kind++;
    me->flags[2] = me->flags[0] ^ me->kind;
    speed[get_global_id(0)] = fast_length(me->speed) < 1e30f ? me->speed.x : -1.0f;
}

struct inner {
    short a;
    long b;
};
struct outer {
    char tag;
    struct inner in[2];
    int3 v;
    double last;
};

struct settings {
    char tag;
    struct inner in[2];
};
// In the value below 0s stand for the padding before a struct that begins at 8.
//: kernel nested_by_value 16 4
//: value i64 7 i16 -3 i64 100000000000 i16 12 i64 -5
//: buffer i64 16 zero
kernel void nested_by_value(struct settings s, global long *out)
{
    size_t i = get_global_id(0);
    out[i] = s.tag + s.in[i & 1].a * s.in[i >> 1 & 1].b + (long)i;
}

//: kernel struct_size 1 1
//: buffer u32 8 zero
kernel void struct_size(global uint *out)
{
    out[0] = sizeof(struct outer);
    out[1] = sizeof(struct settings);
    out[2] = sizeof(struct particle);
    struct outer o[2];
    out[3] = (uint)((char *)&o[1].v - (char *)&o[0]);
    out[4] = (uint)((char *)&o[1].last - (char *)&o[1]);
    out[5] = (uint)((char *)&o[1] - (char *)&o[0].in[1].b);
}

//: kernel outer_in_memory 8 4
//: buffer u64 96 bits -> unset
//: buffer i64 8 zero
kernel void outer_in_memory(global struct outer *data, global long *out)
{
    size_t i = get_global_id(0);
    struct outer o = data[i];
    o.tag += 3;
    o.in[1] = o.in[0];
    o.v = o.v.zxy + 1;
    o.last = i;
    out[i] = o.in[1].b ^ o.tag ^ o.v.y;
    data[i].in[1] = o.in[1];
    data[i].v = o.v;
    data[i].last = o.last;
    out[i] += data[i].in[1].a * 3 + data[i].v.x * 5L + data[i].v.z * 7L + data[i].tag;
    out[i] ^= as_long(data[i].last);
}

struct pair {
    int lo, hi;
};
static struct pair widen(struct pair p, int by)
{
    struct pair r = {p.lo - by, p.hi + by};
    return r;
}
static void meet(struct pair *to, const struct pair *other)
{
    to->lo = max(to->lo, other->lo);
    to->hi = min(to->hi, other->hi);
}
//: kernel intervals 64 16
//: buffer i32 128 uniform -100 100
//: buffer i32 128 zero
kernel void intervals(global const struct pair *in, global struct pair *out)
{
    size_t i = get_global_id(0);
    struct pair a = widen(in[i], 10), b = widen(in[(i + 1) % get_global_size(0)], (int)i);
    meet(&a, &b);
    out[i] = a;
}

union number {
    float f;
    uint u;
    uchar bytes[4];
    struct {
        ushort low, high;
    } halves;
};
//: kernel union_views 64 16
//: buffer f32 64 mixed -10 10
//: buffer u32 64 zero
kernel void union_views(global const float *in, global uint *out)
{
    union number n;
    n.f = in[get_global_id(0)] == in[get_global_id(0)] ? in[get_global_id(0)] : 0.0f;
    n.bytes[0] ^= n.bytes[3];
    n.halves.high += n.halves.low;
    out[get_global_id(0)] = n.u;
}

struct __attribute__((packed)) packed {
    uchar a;
    uint b;
    ushort c;
};
//: kernel packed_fields 16 4
//: buffer u8 112 bits
//: buffer u32 16 zero
kernel void packed_fields(global struct packed *p, global uint *out)
{
    global struct packed *me = p + get_global_id(0);
    out[get_global_id(0)] = me->a + me->b + me->c;
    me->b = me->b + 1;
    me->c ^= 0xffff;
}

enum colour { RED = 1, GREEN = 5, BLUE };
struct cell {
    enum colour colour;
    bool known;
    uchar2 at;
};
//: kernel enums_and_bools 32 8
//: buffer u32 32 uniform 0 2000000000
//: buffer i32 32 zero
kernel void enums_and_bools(global const uint *in, global int *out)
{
    uint v = in[get_global_id(0)];
    struct cell c = {v & 1 ? RED : v & 2 ? GREEN : BLUE, v > 1000000000, (uchar2)(v >> 8, v >> 16)};
    struct cell d = c;
    d.known = !d.known && d.at.x > 9;
    out[get_global_id(0)] = c.colour * 1000 + c.known * 100 + d.known * 10 + (d.at.x > c.at.y);
}

struct node {
    int value, left, right;
};
// A tree in an array, walked with a stack.
//: kernel tree_walk 8 4
//: buffer i32 96 uniform 0 31
//: buffer i32 8 zero
kernel void tree_walk(global const struct node *nodes, global int *out)
{
    int stack[32], top = 0, sum = 0, steps = 0;
    stack[top++] = get_global_id(0);
    while (top > 0 && steps++ < 100) {
        int i = stack[--top];
        struct node n = nodes[i];
        sum = sum * 3 + n.value;
        int left = 2 * i + 1, right = 2 * i + 2;
        if (n.left > 8 && left < 32 && top < 31) stack[top++] = left;
        if (n.right > 8 && right < 32 && top < 31) stack[top++] = right;
    }
    out[get_global_id(0)] = sum;
}

struct matrix {
    float m[3][3];
};
//: kernel matrix_by_value 8 4
//: value f32 1 2 3 4 5 6 7 8 9
//: buffer f32 72 iota
kernel void matrix_by_value(struct matrix a, global struct matrix *b)
{
    struct matrix c, in = b[get_global_id(0)];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            c.m[i][j] = 0;
            for (int k = 0; k < 3; k++)
                c.m[i][j] += a.m[i][k] * in.m[k][j];
        }
    b[get_global_id(0)] = c;
}

// Pointers in private memory, chosen at run time.
//: kernel pointer_table 32 8
//: buffer i32 32 iota
//: buffer i32 32 uniform 0 100
//: buffer i32 32 zero
kernel void pointer_table(global const int *a, global const int *b, global int *out)
{
    global const int *table[3] = {a, b, a + 3};
    global const int **at = table;
    int sum = 0, i = get_global_id(0);
    for (int k = 0; k < 3; k++, at++)
        sum = sum * 7 + (*at)[(i + k) % 29];
    out[i] = sum + table[i % 3][0];
}

struct list {
    global int *data;
    int n;
};
static int total(const struct list *l)
{
    int sum = 0;
    for (int i = 0; i < l->n; i++)
        sum += l->data[i];
    return sum;
}
//: kernel pointer_in_struct 16 8
//: buffer i32 64 uniform -9 9
//: buffer i32 16 zero
kernel void pointer_in_struct(global int *data, global int *out)
{
    struct list l = {data + get_global_id(0) * 4, 4}, m = l;
    if (get_global_id(0) & 1) m.n = 2;
    m.data++;
    m.n--;
    out[get_global_id(0)] = total(&l) * 100 + total(&m);
}
