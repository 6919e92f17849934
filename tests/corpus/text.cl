// Strings: search, matching, encoding, counting.

// A naive search; letters of four kinds make matches likely.
//: kernel search_naive 256 64
//: buffer u8 256 uniform 97 100
//: buffer u8 3 uniform 97 100
//: buffer u8 256 zero
//: value i32 256
//: value i32 3
kernel void search_naive(global const char *text, constant char *what, global uchar *found, int n, int m)
{
    int i = get_global_id(0);
    if (i + m > n) return;
    for (int k = 0; k < m; k++)
        if (text[i + k] != what[k]) return;
    found[i] = 1;
}

// Each item builds the failure table of its pattern and runs over its own piece.
//: kernel search_kmp 16 4
//: buffer u8 512 uniform 0 1
//: buffer u8 96 uniform 0 1
//: buffer i32 16 zero
kernel void search_kmp(global const uchar *text, global const uchar *what, global int *count)
{
    size_t g = get_global_id(0);
    uchar p[6];
    int next[6], k = 0, n = 0;
    for (int i = 0; i < 6; i++)
        p[i] = what[g * 6 + i];
    next[0] = 0;
    for (int i = 1; i < 6; i++) {
        while (k > 0 && p[i] != p[k])
            k = next[k - 1];
        if (p[i] == p[k]) k++;
        next[i] = k;
    }
    k = 0;
    for (int i = 0; i < 32; i++) {
        while (k > 0 && (k == 6 || p[k] != text[g * 32 + i]))
            k = next[k - 1];
        if (p[k] == text[g * 32 + i]) k++;
        if (k == 6) n++;
    }
    count[g] = n;
}

//: kernel edit_distance 16 8
//: buffer u8 128 uniform 97 99
//: buffer u8 128 uniform 97 99
//: buffer i32 16 zero
kernel void edit_distance(global const uchar *a, global const uchar *b, global int *out)
{
    int row[9];
    size_t g = get_global_id(0) * 8;
    for (int j = 0; j <= 8; j++)
        row[j] = j;
    for (int i = 1; i <= 8; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= 8; j++) {
            int up = row[j];
            row[j] = min(min(up, row[j - 1]) + 1, diagonal + (a[g + i - 1] != b[g + j - 1]));
            diagonal = up;
        }
    }
    out[get_global_id(0)] = row[8];
}

constant char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
//: kernel base64 32 16
//: buffer u8 96 bits
//: buffer u8 128 zero
kernel void base64(global const uchar *in, global char *out)
{
    uchar3 v = vload3(get_global_id(0), in);
    uint bits = (uint)v.x << 16 | (uint)v.y << 8 | v.z;
    char4 c;
    c.x = digits[bits >> 18];
    c.y = digits[bits >> 12 & 63];
    c.z = digits[bits >> 6 & 63];
    c.w = digits[bits & 63];
    vstore4(c, get_global_id(0), out);
}

// A small automaton; returns from the middle where the text is wrong.
static int utf8_length(global const uchar *s, int n)
{
    int count = 0;
    for (int i = 0; i < n; count++) {
        uchar c = s[i];
        int more = c < 0x80 ? 0 : (c & 0xe0) == 0xc0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : (c & 0xf8) == 0xf0 ? 3 : -1;
        if (more < 0 || i + more >= n) return -1 - count;
        for (int k = 1; k <= more; k++)
            if ((s[i + k] & 0xc0) != 0x80) return -100 - count;
        i += more + 1;
    }
    return count;
}
//: kernel utf8_lengths 32 8
//: buffer u8 256 uniform 60 200
//: buffer i32 32 zero
kernel void utf8_lengths(global const uchar *text, global int *out)
{
    out[get_global_id(0)] = utf8_length(text + get_global_id(0) * 8, 8);
}

//: kernel run_lengths 16 4
//: buffer u8 256 uniform 0 2
//: buffer u8 512 zero
//: buffer u32 16 zero
kernel void run_lengths(global const uchar *in, global uchar2 *out, global uint *n)
{
    size_t g = get_global_id(0);
    uint at = 0;
    for (int i = 0; i < 16;) {
        uchar c = in[g * 16 + i];
        int k = i;
        do
            k++;
        while (k < 16 && in[g * 16 + k] == c);
        out[g * 16 + at++] = (uchar2)(c, k - i);
        i = k;
    }
    n[g] = at;
}

//: kernel parse_numbers 16 4
//: buffer u8 192 uniform 44 57
//: buffer i32 16 zero
kernel void parse_numbers(global const uchar *in, global int *sums)
{
    size_t g = get_global_id(0);
    int sum = 0, value = 0, sign = 1;
    for (int i = 0; i < 12; i++) {
        uchar c = in[g * 12 + i];
        switch (c) {
        case '-': sign = -sign; break;
        case ',':
            sum += sign * value;
            value = 0;
            sign = 1;
            break;
        case '.':
        case '/': continue;
        default: value = value * 10 + (c - '0');
        }
    }
    sums[g] = sum + sign * value;
}
