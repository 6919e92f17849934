// Hashes, checksums, ciphers, random numbers.

//: kernel fnv1a 64 16
//: buffer u8 1024 bits
//: buffer u32 64 zero
kernel void fnv1a(global const uchar *in, global uint *out)
{
    uint h = 2166136261u;
    for (int i = 0; i < 16; i++) {
        h ^= in[get_global_id(0) * 16 + i];
        h *= 16777619u;
    }
    out[get_global_id(0)] = h;
}

//: kernel murmur3 32 8
//: buffer u32 256 bits
//: buffer u32 32 zero
//: value u32 42
kernel void murmur3(global const uint *in, global uint *out, uint seed)
{
    uint h = seed;
    for (int i = 0; i < 8; i++) {
        uint k = in[get_global_id(0) * 8 + i] * 0xcc9e2d51u;
        k = rotate(k, 15u) * 0x1b873593u;
        h = rotate(h ^ k, 13u) * 5u + 0xe6546b64u;
    }
    h ^= 32;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[get_global_id(0)] = h ^ h >> 16;
}

//: kernel crc32_bits 32 8
//: buffer u8 512 bits
//: buffer u32 32 zero
kernel void crc32_bits(global const uchar *in, global uint *out)
{
    uint crc = ~0u;
    for (int i = 0; i < 16; i++) {
        crc ^= in[get_global_id(0) * 16 + i];
        for (int b = 0; b < 8; b++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    out[get_global_id(0)] = ~crc;
}

constant uint round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint turn(uint x, int n)
{
    return x >> n | x << (32 - n);
}

// One block of SHA-256 for each item.
//: kernel sha256_block 8 4
//: buffer u32 128 bits
//: buffer u32 64 zero
kernel void sha256_block(global const uint *in, global uint *out)
{
    uint w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, v[8];
    size_t g = get_global_id(0);
    for (int i = 0; i < 16; i++)
        w[i] = in[g * 16 + i];
    for (int i = 16; i < 64; i++) {
        uint a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    for (int i = 0; i < 8; i++)
        v[i] = h[i];
    for (int i = 0; i < 64; i++) {
        uint s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25), ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint t1 = v[7] + s1 + ch + round_constants[i] + w[i];
        uint s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22), maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        for (int k = 7; k > 0; k--)
            v[k] = v[k - 1];
        v[4] += t1;
        v[0] = t1 + s0 + maj;
    }
    for (int i = 0; i < 8; i++)
        out[g * 8 + i] = h[i] + v[i];
}

#define SIPROUND                                                                                                                \
    v0 += v1; v1 = rotate(v1, 13UL) ^ v0; v0 = rotate(v0, 32UL);                                                               \
    v2 += v3; v3 = rotate(v3, 16UL) ^ v2;                                                                                       \
    v0 += v3; v3 = rotate(v3, 21UL) ^ v0;                                                                                       \
    v2 += v1; v1 = rotate(v1, 17UL) ^ v2; v2 = rotate(v2, 32UL);
//: kernel siphash 32 8
//: buffer u64 96 bits
//: buffer u64 32 zero
//: value u64 0x0706050403020100
//: value u64 0x0f0e0d0c0b0a0908
kernel void siphash(global const ulong *in, global ulong *out, ulong k0, ulong k1)
{
    ulong v0 = k0 ^ 0x736f6d6570736575UL, v1 = k1 ^ 0x646f72616e646f6dUL, v2 = k0 ^ 0x6c7967656e657261UL,
          v3 = k1 ^ 0x7465646279746573UL;
    for (int i = 0; i < 3; i++) {
        ulong m = in[get_global_id(0) * 3 + i];
        v3 ^= m;
        SIPROUND SIPROUND
        v0 ^= m;
    }
    v2 ^= 0xff;
    SIPROUND SIPROUND SIPROUND SIPROUND
    out[get_global_id(0)] = v0 ^ v1 ^ v2 ^ v3;
}

//: kernel xtea 32 8
//: buffer u32 64 bits
//: value u32 1 2 3 0xdeadbeef
kernel void xtea(global uint2 *data, uint4 key4)
{
    uint key[4];
    vstore4(key4, 0, key);
    uint2 v = data[get_global_id(0)];
    uint sum = 0;
    for (int i = 0; i < 32; i++) {
        v.x += (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + key[sum & 3]);
        sum += 0x9e3779b9u;
        v.y += (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + key[sum >> 11 & 3]);
    }
    data[get_global_id(0)] = v;
}

//: kernel xorshift128 32 8
//: buffer u32 128 uniform 1 4000000000
//: buffer u32 256 zero
kernel void xorshift128(global uint4 *state, global uint *out)
{
    uint4 s = state[get_global_id(0)];
    for (int i = 0; i < 8; i++) {
        uint t = s.x ^ s.x << 11;
        s = (uint4)(s.yzw, s.w ^ s.w >> 19 ^ t ^ t >> 8);
        out[i * get_global_size(0) + get_global_id(0)] = s.w;
    }
    state[get_global_id(0)] = s;
}

// Counter based: four rounds of multiplications whose high halves matter.
//: kernel philox 64 16
//: buffer u32 256 zero
//: value u32 7 11
kernel void philox(global uint4 *out, uint2 key)
{
    uint4 c = (uint4)(get_global_id(0), 0, 0, 1);
    for (int r = 0; r < 10; r++) {
        uint hi0 = mul_hi(0xd2511f53u, c.x), hi1 = mul_hi(0xcd9e8d57u, c.z);
        c = (uint4)(hi1 ^ c.y ^ key.x, 0xcd9e8d57u * c.z, hi0 ^ c.w ^ key.y, 0xd2511f53u * c.x);
        key += (uint2)(0x9e3779b9u, 0xbb67ae85u);
    }
    out[get_global_id(0)] = c;
}

static ulong pcg_next(ulong *state)
{
    ulong old = *state;
    *state = old * 6364136223846793005UL + 1442695040888963407UL;
    uint x = (uint)((old >> 18 ^ old) >> 27), r = (uint)(old >> 59);
    return x >> r | x << (-r & 31);
}

// Points in a quarter of a circle, with numbers of 24 bits: exact.
//: kernel monte_carlo_pi 32 8
//: buffer u32 32 zero
kernel void monte_carlo_pi(global uint *hits)
{
    ulong state = get_global_id(0) * 77 + 1;
    uint n = 0;
    for (int i = 0; i < 50; i++) {
        double x = (double)(pcg_next(&state) >> 8) * 0x1p-24, y = (double)(pcg_next(&state) >> 8) * 0x1p-24;
        n += x * x + y * y < 1.0;
    }
    hits[get_global_id(0)] = n;
}
