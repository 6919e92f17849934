// Work-items that part between barriers, by data as well as by ids, and meet again: loops whose end comes from local
// memory, continues and breaks inside of ifs, returns that few or none take.

//: kernel search_breadth_first 64 64
//: buffer i32 65 iota
//: buffer i32 65 iota
//: buffer i32 65 zero
//: buffer i32 1 zero
// A ring of 64 nodes: the edges of node i are [i, i + 1), and lead to i + 1.
kernel void search_breadth_first(global const int *rows, global const int *edges, global int *distance, global int *levels)
{
    local int queue[2][64], tail[2];
    int l = get_local_id(0), size = get_local_size(0), now = 0, level = 0;
    distance[l] = -1;
    if (l == 0) {
        queue[0][0] = 5;
        tail[0] = 1;
        tail[1] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (l == 0) distance[5] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    while (tail[now] > 0) {
        int count = tail[now];
        for (int i = l; i < count; i += size) {
            int node = queue[now][i];
            for (int e = rows[node]; e < rows[node + 1]; e++) {
                int to = (edges[e] + 1) % 64;
                if (atomic_cmpxchg((volatile global int *)&distance[to], -1, level + 1) != -1) continue;
                int at = atomic_inc(&tail[1 - now]);
                if (at < 64) queue[1 - now][at] = to;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (l == 0) tail[now] = 0;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        now = 1 - now;
        level++;
    }
    if (l == 0) levels[0] = level;
}

//: kernel take_from_list 64 16
//: pocl PoCL 3.1 has work-items go on that continued
//: buffer i32 256 uniform -9 40
//: buffer i32 256 zero
kernel void take_from_list(global const int *work, global int *out)
{
    local int next, more;
    int l = get_local_id(0), sum = 0;
    if (l == 0) next = 16 * get_group_id(0);
    for (;;) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 0) {
            more = next < 250;
            if (more) next += 64;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!more) return;
        int i = next - 64 + l;
        if (i >= 250) continue;
        int v = work[i];
        if (v < 0) continue;
        sum += v;
        out[i] = sum;
    }
}

//: kernel go_on_from_deep_inside 128 32
//: buffer i32 128 uniform -50 200
//: buffer i32 128 zero
//: value i32 6
kernel void go_on_from_deep_inside(global const int *in, global int *out, int n)
{
    local int s[32];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < n; k++) {
        s[l] = in[get_group_id(0) * 32 + (l + k) % 32];
        barrier(CLK_LOCAL_MEM_FENCE);
        int v = s[31 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (v > 0) {
            sum += v;
            if (v & 1) {
                sum ^= 3;
                for (int j = 0; j < 5; j++) {
                    if (j == v % 7) break;
                    sum = sum * 3 + j;
                }
                if (v & 2) continue;
                sum += 7;
            } else if (v > 100) {
                continue;
            }
            sum *= 3;
        }
        sum -= 1;
    }
    out[get_global_id(0)] = sum;
}

//: kernel switch_between_barriers 128 32
//: buffer i32 128 uniform 0 99
//: buffer i32 128 zero
//: value i32 7
kernel void switch_between_barriers(global const int *in, global int *out, int n)
{
    local int s[32];
    int l = get_local_id(0), sum = 0;
    for (int k = 0; k < n; k++) {
        s[l] = in[get_global_id(0)] + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        int v = s[(l + k) % 32];
        barrier(CLK_LOCAL_MEM_FENCE);
        switch (v % 7) {
        case 0: continue;
        case 1: sum += v; break;
        case 2: sum -= v; continue;
        case 3: sum ^= v;
        case 4: sum *= 3; break;
        default:
            for (int j = 0; j < v % 5; j++) {
                if (j == k) break;
                sum = sum * 3 + j;
            }
        }
        sum += 1;
    }
    out[get_global_id(0)] = sum;
}

//: kernel errors_that_do_not_happen 128 32
//: pocl PoCL 3.1 dies of it
//: buffer i32 128 uniform 0 99
//: buffer i32 128 zero
// The return stands inside of an if that work-items part in, and before a barrier: right, as nobody takes it.
kernel void errors_that_do_not_happen(global const int *in, global int *out)
{
    local int s[32];
    int l = get_local_id(0), g = get_global_id(0);
    s[l] = 0;
    if (l < 5) {
        if (in[g] < 0) return;
        for (int i = 0; i < in[g]; i++) {
            if (i > 1000) return;
            s[l] = s[l] * 3 + i;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = s[l % 7];
}

//: kernel leave_together_each_by_its_way 128 32
//: buffer i32 128 uniform 0 99
//: buffer i32 128 zero
//: value i32 9
kernel void leave_together_each_by_its_way(global const int *in, global int *out, int n)
{
    local int s[32];
    int l = get_local_id(0), g = get_global_id(0), sum = 0;
    for (int k = 0;; k++) {
        s[l] = in[g] + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += s[(l + k) % 32];
        if (s[0] >= in[get_group_id(0) * 32] + n) {
            if (l == 3) return;
            if (l < 9) {
                out[g] = -sum;
                break;
            }
            sum += l;
            break;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[g] += sum;
}

//: kernel many_returns_at_the_end 128 32
//: buffer i32 128 uniform 0 30
//: buffer i32 128 zero
#define AT(N, V)                                                                                                                \
    if (v == N) {                                                                                                               \
        out[g] = V;                                                                                                             \
        return;                                                                                                                 \
    }
kernel void many_returns_at_the_end(global const int *in, global int *out)
{
    local int s[32];
    int l = get_local_id(0), g = get_global_id(0);
    s[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = s[31 - l];
    AT(0, 7) AT(1, 5) AT(2, 3) AT(3, 11) AT(4, 13) AT(5, 17) AT(6, 19) AT(7, 23) AT(8, 29) AT(9, 31)
    AT(10, 37) AT(11, 41) AT(12, 43) AT(13, 47) AT(14, 53) AT(15, 59) AT(16, 61) AT(17, 67) AT(18, 71) AT(19, 73)
    out[g] = v;
}
