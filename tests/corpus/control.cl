// Control flow: what -O0 and -O2 make of loops, switches, jumps and returns in odd places.

//: kernel collatz 64 16
//: buffer u32 64 uniform 1 1000
//: buffer u32 64 zero
kernel void collatz(global const uint *in, global uint *out)
{
    uint n = in[get_global_id(0)], steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        if (++steps > 300) break;
    }
    out[get_global_id(0)] = steps;
}

//: kernel switch_fall_through 64 16
//: buffer i32 64 uniform -2 9
//: buffer i32 64 zero
kernel void switch_fall_through(global const int *in, global int *out)
{
    int v = in[get_global_id(0)], r = 1;
    switch (v) {
    case 0: r += 1;
    case 1: r *= 3;
    case 2: r += 5; break;
    case 3:
        if (r) r = 77;
        else
    case 4: r = 44;
    case -1: r ^= 9;
    default: r = -r;
    case 7: r *= 2; break;
    case 8: return;
    }
    out[get_global_id(0)] = r;
}

//: kernel switch_sparse 64 16
//: buffer i64 64 special 1
//: buffer i32 64 zero
kernel void switch_sparse(global const long *in, global int *out)
{
    int r;
    switch (in[get_global_id(0)]) {
    case 0: r = 1; break;
    case 31: r = 2; break;
    case -3: r = 3; break;
    case 0x123456789abcdef: r = 4; break;
    case 0x7fffffffffffffff: r = 5; break;
    case 127:
    case 128:
    case 255: r = 6; break;
    default: r = 0;
    }
    out[get_global_id(0)] = r;
}

//: kernel nested_breaks 32 8
//: buffer i32 256 uniform 0 20
//: buffer i32 32 zero
kernel void nested_breaks(global const int *in, global int *out)
{
    int base = get_global_id(0) * 8, found = -1, work = 0;
    for (int i = 0; i < 8 && found < 0; i++) {
        for (int j = i + 1; j < 8; j++) {
            work++;
            if (in[base + i] == 3) break;
            if (in[base + j] > 18) continue;
            if (in[base + i] + in[base + j] == 20) {
                found = i * 8 + j;
                break;
            }
            for (int k = j; k < 8; k++) {
                work += 100;
                if (in[base + k] == 7) goto out_of_both;
            }
        }
        work += 10000;
    out_of_both:
        work ^= 1;
    }
    out[get_global_id(0)] = found * 1000000 + work;
}

// Leaves its loops by five ways.
static int hunt(global const int *p, int limit)
{
    for (int i = 0;; i++) {
        if (i >= 16) return -1;
        if (p[i] < 0) return -2;
        for (int j = 0; j < i; j++) {
            if (p[j] == p[i]) return i * 16 + j;
            if (p[j] > limit) {
                if (j & 1) return -3;
                break;
            }
        }
        do {
            limit--;
            if (limit == 40) return limit + i;
        } while (limit % 5);
    }
}
//: kernel early_returns 32 8
//: buffer i32 512 uniform -2 60
//: buffer i32 32 zero
kernel void early_returns(global const int *in, global int *out)
{
    int i = get_global_id(0);
    if (i == 3) return;
    int r = hunt(in + i * 16, 60 + i);
    if (r == -1 || (r > 0 && (r & 1))) {
        out[i] = r;
        return;
    }
    out[i] = r * 2;
}

// A loop by jumps, with two ways in that come together before it.
//: kernel jumps 64 16
//: buffer i32 64 uniform 0 100
//: buffer i32 64 zero
kernel void jumps(global const int *in, global int *out)
{
    int v = in[get_global_id(0)], n = 0;
    if (v > 50) goto start;
    v += 7;
start:
    n++;
    if (v <= 10) goto end;
    if ((v & 3) == 0) {
        v >>= 2;
        goto start;
    }
    v -= 2;
    if (n < 40) goto start;
    n = -1;
end:
    out[get_global_id(0)] = n * 1000 + v;
}

// A protocol: states, falling through and leaving the loop from inside the switch.
//: kernel state_machine 32 8
//: buffer u8 512 uniform 0 3
//: buffer i32 32 zero
kernel void state_machine(global const uchar *in, global int *out)
{
    enum { IDLE, HEAD, BODY, FAILED } state = IDLE;
    int messages = 0, length = 0;
    for (int i = 0; i < 16; i++) {
        uchar c = in[get_global_id(0) * 16 + i];
        switch (state) {
        case IDLE:
            if (c == 0) continue;
            state = c == 1 ? HEAD : FAILED;
            break;
        case HEAD:
            length = c;
            state = BODY;
            if (length) break;
        case BODY:
            if (length-- > 0) break;
            messages++;
            state = IDLE;
            break;
        case FAILED:
            if (c == 3) goto done;
            if (c == 0) state = IDLE;
        }
    }
done:
    out[get_global_id(0)] = messages * 100 + state * 10 + length;
}

//: kernel short_circuits 64 16
//: buffer i32 64 uniform -5 5
//: buffer i32 64 zero
kernel void short_circuits(global const int *in, global int *out)
{
    int i = get_global_id(0), a = in[i], b = in[(i + 1) & 63], c = in[(i + 2) & 63], n = 0;
    if (a > 0 && (b > 0 || (c != 0 && 10 / c > 3)) && ++n) n += 10;
    if (!(a < b) || ((n += 100), b < c)) n += 1000;
    out[i] = a ? b ? n : c ? n + 1 : n + 2 : (b > c) * n - 1;
}

//: kernel triangular_loops 16 4
//: buffer i32 16 zero
//: value i32 9
kernel void triangular_loops(global int *out, int n)
{
    int sum = 0;
    for (int i = (int)get_global_id(0); i < n; i += 2) {
        for (int j = i; j >= 0; j -= 3) {
            int k = 0;
            while (true) {
                if (k * k > j) break;
                if ((i ^ j ^ k) == 5) {
                    k += 2;
                    continue;
                }
                sum += k++;
            }
            sum = sum * 2 + j;
        }
    }
    out[get_global_id(0)] = sum;
}

// Numbers of rounds differ between neighbours; the barrier is outside.
//: kernel divergent_then_barrier 64 32
//: buffer u32 64 uniform 0 30
//: buffer u32 64 zero
kernel void divergent_then_barrier(global const uint *in, global uint *out)
{
    local uint t[32];
    uint l = get_local_id(0), n = in[get_global_id(0)], a = 1, b = 1;
    for (uint i = 0; i < n; i++) {
        uint c = a + b;
        a = b;
        b = c;
        if (b > 5000) break;
    }
    t[l] = b;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[31 - l] + (l & 1 ? t[l] : t[(l + 5) & 31]);
}

//: kernel barrier_in_uniform_branch 64 16
//: pocl@6.0 an assertion fails in PoCL 6.0's compiler: a barrier in an if in a loop
//: buffer i32 64 uniform 0 9
//: buffer i32 64 zero
//: value i32 3
kernel void barrier_in_uniform_branch(global const int *in, global int *out, int rounds)
{
    local int t[16];
    int l = get_local_id(0), v = in[get_global_id(0)];
    for (int r = 0; r < rounds; r++) {
        if (get_group_id(0) % 2 == 0) {
            t[l] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            v += t[(l + 1) & 15];
            barrier(CLK_LOCAL_MEM_FENCE);
        } else {
            v *= 2;
        }
    }
    out[get_global_id(0)] = v;
}

static int gcd(int a, int b)
{
    while (b) {
        int t = a % b;
        a = b;
        b = t;
    }
    return a;
}
static int lcm(int a, int b)
{
    return a / gcd(a, b) * b;
}
//: kernel calls 64 16
//: buffer i32 64 uniform 1 60
//: buffer i32 64 zero
kernel void calls(global const int *in, global int *out)
{
    int i = get_global_id(0);
    out[i] = gcd(in[i], in[63 - i]) + 1000 * lcm(in[i], 12);
}

// Newton's method, with the ways it may end.
//: kernel integer_roots 64 16
//: buffer u64 64 special 1
//: buffer u32 64 zero
kernel void integer_roots(global const ulong *in, global uint *out)
{
    ulong n = in[get_global_id(0)];
    uint r = 0;
    if (n < 2) {
        r = n;
    } else {
        ulong x = n / 2 + 1;
        for (;;) {
            ulong y = (x + n / x) / 2;
            if (y >= x) {
                r = x;
                break;
            }
            x = y;
        }
    }
    out[get_global_id(0)] = r;
}

//: kernel empty 16 4
kernel void empty(void)
{
}

//: kernel offsets_and_sizes 6x4x2 3x2x1
//: offset 5x7x11
//: buffer u32 768 zero
kernel void offsets_and_sizes(global uint *out)
{
    uint at = 0;
    for (int d = 2; d >= 0; d--)
        at = at * get_global_size(d) + (get_global_id(d) - get_global_offset(d));
    global uint *to = out + at * 16;
    for (uint d = 0; d < 3; d++) {
        to[d * 4] = get_global_id(d);
        to[d * 4 + 1] = get_local_id(d) * 100 + get_local_size(d);
        to[d * 4 + 2] = get_group_id(d) * 100 + get_num_groups(d);
        to[d * 4 + 3] = get_global_offset(d) * 100 + get_global_size(d);
    }
    to[12] = get_work_dim();
    to[13] = get_global_size(2) * 10 + get_local_size(1) * 100;
}

//: kernel required_size 32 16
//: buffer u32 32 zero
kernel __attribute__((reqd_work_group_size(16, 1, 1))) void required_size(global uint *out)
{
    out[get_global_id(0)] = get_local_size(0) * get_local_id(0);
}
