// What users write, compiled with -g: unions, tables with null pointers, structs by value in and out, goto, fall-through.
//: debug yes
typedef union {
    uint u;
    uchar b[4];
    float f;
} word_t;
__constant uchar sbox[16] = {0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76};

static uint sub_word(uint x)
{
    word_t w;
    w.u = x;
    for (int i = 0; i < 4; i++) w.b[i] = sbox[w.b[i] & 15] ^ (w.b[i] >> 4);
    return w.u;
}

//: kernel cipher 64 16
//: buffer u32 256 bits
//: buffer u32 44 bits
//: value u32 10
kernel void cipher(global uint4 *d, constant uint *keys, uint rounds)
{
    size_t i = get_global_id(0);
    uint4 s = d[i];
    for (uint r = 0; r < rounds; r++) {
        uint4 k = vload4(r, keys);
        s = (uint4)(sub_word(s.x), rotate(sub_word(s.y), 8u), rotate(sub_word(s.z), 16u), rotate(sub_word(s.w), 24u)) ^ k;
        s = s.yzwx ^ (s >> 3u);
    }
    d[i] = s;
}

struct entry {
    __constant char *name;
    global int *unused;
    int value;
    struct {
        __constant int *list;
        float weights[3];
    } more;
};
__constant int numbers[3] = {7, 11, 13};
__constant struct entry entries[4] = {
    {"one", 0, 1, {numbers, {0.5f, 1.5f}}}, {0, 0, 2}, {"three", 0, 3, {0, {2.0f}}}, {0, 0, 0, {numbers + 1}}};

//: kernel null_pointers 32 8
//: buffer i32 32 zero
kernel void null_pointers(global int *o)
{
    int i = get_global_id(0), sum = 0;
    __constant struct entry *e = &entries[i & 3];
    if (e->name) sum += e->name[i & 1] * 1000;
    if (e->more.list) sum += e->more.list[(i >> 2) & 1];
    o[i] = sum + e->value * 10 + (int)(e->more.weights[i % 3] * 4) + (e->unused == 0);
}

typedef struct {
    float3 o, d;
} ray_t;
typedef struct {
    bool hit;
    float t;
    float3 n;
    int id;
} hit_t;

static hit_t intersect(ray_t r, float4 s, int id)
{
    hit_t h;
    h.hit = false;
    float3 oc = r.o - s.xyz;
    float b = dot(oc, r.d), d = b * b - (dot(oc, oc) - s.w * s.w);
    if (d < 0) return h;
    h.t = -b - sqrt(d);
    if (h.t < 0.001f) return h;
    h.hit = true;
    h.n = (r.o + h.t * r.d - s.xyz) / s.w;
    h.id = id;
    return h;
}
static void closest(ray_t r, global const float4 *s, int n, hit_t *best)
{
    best->hit = false;
    best->t = INFINITY;
    for (int i = 0; i < n; i++) {
        hit_t h = intersect(r, s[i], i);
        if (h.hit && h.t < best->t) *best = h;
    }
}

//: kernel trace 16x16 8x8
//: buffer f32 1024 zero -> near:1e-4
//: buffer f32 32 uniform 1 4
//: value i32 8
kernel void trace(global float4 *image, global const float4 *spheres, int n)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    ray_t r;
    r.o = (float3)(2.5f, 2.5f, -6.0f);
    r.d = (float3)(x - w / 2 + 0.25f, y - w / 2 + 0.25f, w) / 24.0f;
    hit_t h;
    closest(r, spheres, n, &h);
    image[y * w + x] = h.hit ? (float4)(h.n, h.id) : (float4)(0.1f);
}

//: kernel tail_hash 64 16
//: buffer u8 512 bits
//: buffer u32 64 zero
kernel void tail_hash(global const uchar *in, global uint *out)
{
    int g = get_global_id(0), len = 3 + g % 6;
    global const uchar *p = in + g * 8;
    uint h = 0x9747b28cu ^ len;
    if (p[1] < 20) goto done;
    switch (p[len - 1]) {
    case 99: h ^= (uint)p[2] << 16;
    case 12: h ^= (uint)p[1] << 8;
    case 200: h ^= p[0]; h *= 0x5bd1e995u; break;
    default: h = ~h;
    }
    do {
        h = h * 33 + *p++;
    } while (--len > 0);
done:
    out[g] = h ^ h >> 13;
}

//: kernel sparse 64 16
//: buffer i32 65 iota
//: buffer i32 64 uniform 0 63
//: buffer f32 64 uniform -2 2
//: buffer f32 64 uniform -2 2
//: buffer f32 64 zero -> near:1e-5
kernel void sparse(global const int *rows, global const int *columns, global const float *v, global const float *x,
                   global float *y)
{
    int r = get_global_id(0);
    float sum = 0;
    for (int k = rows[r]; k < rows[r + 1] && k < 64; k++) sum = fma(v[k], x[columns[k]], sum);
    y[r] = sum;
}
