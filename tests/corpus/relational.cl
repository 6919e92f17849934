// Relational, common and geometric functions.

#define DO(value)                                                                                                               \
    *out = value;                                                                                                               \
    out += get_global_size(0);
#define RELATIONS(NAME, T, I)                                                                                                   \
    kernel void NAME(global const T *a, global const T *b, global I *out)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i];                                                                                                   \
        out += i;                                                                                                               \
        DO(isequal(x, y)) DO(isnotequal(x, y)) DO(isgreater(x, y)) DO(isgreaterequal(x, y)) DO(isless(x, y))                    \
        DO(islessequal(x, y)) DO(islessgreater(x, y)) DO(isordered(x, y)) DO(isunordered(x, y)) DO(isfinite(x)) DO(isinf(x))    \
        DO(isnan(x)) DO(isnormal(x)) DO(signbit(x)) DO((I)any(isless(x, y))) DO((I)all(isnan(x)))                               \
    }

//: kernel relations_float 1024 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer i32 16384 zero -> exact:isequal exact:isnotequal exact:isgreater exact:isgreaterequal exact:isless exact:islessequal exact:islessgreater exact:isordered exact:isunordered exact:isfinite exact:isinf exact:isnan exact:isnormal exact:signbit exact:any exact:all
RELATIONS(relations_float, float, int)
//: kernel relations_float4 256 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer i32 16384 zero -> exact:isequal exact:isnotequal exact:isgreater exact:isgreaterequal exact:isless exact:islessequal exact:islessgreater exact:isordered exact:isunordered exact:isfinite exact:isinf exact:isnan exact:isnormal exact:signbit exact:any exact:all
RELATIONS(relations_float4, float4, int4)
//: kernel relations_float16 64 16
//: buffer f32 1024 special 1
//: buffer f32 1024 special 32
//: buffer i32 16384 zero -> exact:isequal exact:isnotequal exact:isgreater exact:isgreaterequal exact:isless exact:islessequal exact:islessgreater exact:isordered exact:isunordered exact:isfinite exact:isinf exact:isnan exact:isnormal exact:signbit exact:any exact:all
RELATIONS(relations_float16, float16, int16)
//: kernel relations_double 1024 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer i32 16384 zero -> exact:isequal exact:isnotequal exact:isgreater exact:isgreaterequal exact:isless exact:islessequal exact:islessgreater exact:isordered exact:isunordered exact:isfinite exact:isinf exact:isnan exact:isnormal exact:signbit exact:any exact:all
RELATIONS(relations_double, double, int)
//: kernel relations_double2 512 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer i64 16384 zero -> exact:isequal exact:isnotequal exact:isgreater exact:isgreaterequal exact:isless exact:islessequal exact:islessgreater exact:isordered exact:isunordered exact:isfinite exact:isinf exact:isnan exact:isnormal exact:signbit exact:any exact:all
RELATIONS(relations_double2, double2, long2)
//: kernel relations_double8 128 16
//: buffer f64 1024 special 1
//: buffer f64 1024 special 32
//: buffer i64 16384 zero -> exact:isequal exact:isnotequal exact:isgreater exact:isgreaterequal exact:isless exact:islessequal exact:islessgreater exact:isordered exact:isunordered exact:isfinite exact:isinf exact:isnan exact:isnormal exact:signbit exact:any exact:all
RELATIONS(relations_double8, double8, long8)

#define CHOICE(NAME, T, I, U)                                                                                                   \
    kernel void NAME(global const T *a, global const T *b, global const I *c, global T *out)                                    \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i];                                                                                                   \
        out += i;                                                                                                               \
        DO(select(x, y, c[i])) DO(select(x, y, as_##U(c[i]))) DO(bitselect(x, y, as_##T(c[i]))) DO(c[i] ? x : y)                \
    }

//: kernel choice_float 256 16
//: buffer f32 256 special 1
//: buffer f32 256 special 3
//: buffer i32 256 special 5
//: buffer f32 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_float, float, int, uint)
//: kernel choice_float4 64 16
//: buffer f32 256 special 1
//: buffer f32 256 special 3
//: buffer i32 256 special 5
//: buffer f32 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_float4, float4, int4, uint4)
//: kernel choice_double 256 16
//: buffer f64 256 special 1
//: buffer f64 256 special 3
//: buffer i64 256 special 5
//: buffer f64 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_double, double, long, ulong)
//: kernel choice_double2 128 16
//: buffer f64 256 special 1
//: buffer f64 256 special 3
//: buffer i64 256 special 5
//: buffer f64 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_double2, double2, long2, ulong2)
//: kernel choice_char 256 16
//: buffer i8 256 special 1
//: buffer i8 256 special 3
//: buffer i8 256 special 5
//: buffer i8 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_char, char, char, uchar)
//: kernel choice_short8 32 16
//: buffer i16 256 special 1
//: buffer i16 256 special 3
//: buffer i16 256 special 5
//: buffer i16 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_short8, short8, short8, ushort8)
//: kernel choice_uint 256 16
//: buffer u32 256 special 1
//: buffer u32 256 special 3
//: buffer i32 256 special 5
//: buffer u32 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_uint, uint, int, uint)
//: kernel choice_long4 64 16
//: buffer i64 256 special 1
//: buffer i64 256 special 3
//: buffer i64 256 special 5
//: buffer i64 1024 zero -> exact:select exact:select_unsigned exact:bitselect exact:conditional
CHOICE(choice_long4, long4, long4, ulong4)

#define COMMON(NAME, T)                                                                                                         \
    kernel void NAME(global const T *a, global const T *b, global T *out)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i];                                                                                                   \
        out += i;                                                                                                               \
        DO(clamp(x, (T)-1, (T)2)) DO(degrees(x)) DO(radians(x)) DO(max(y, x)) DO(min(y, x)) DO(step(y, x)) DO(sign(x))           \
    }
#define UNIT(NAME, T)                                                                                                           \
    kernel void NAME(global const T *a, global const T *b, global T *out)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        T x = a[i], y = b[i];                                                                                                   \
        out += i;                                                                                                               \
        DO(mix(x, (T)1, y)) DO(smoothstep((T)0.25f, (T)0.75f, x))                                                               \
    }

//: kernel common_float 256 16
//: buffer f32 256 mixed -5 5
//: buffer f32 256 uniform -5 5
//: buffer f32 1792 zero -> exact:clamp degrees radians fmax fmin exact:step exact:sign
COMMON(common_float, float)
//: kernel unit_float 256 16
//: buffer f32 256 uniform 0 1
//: buffer f32 256 uniform 0 1
//: buffer f32 512 zero -> mix smoothstep
UNIT(unit_float, float)
//: kernel common_float8 32 16
//: buffer f32 256 mixed -5 5
//: buffer f32 256 uniform -5 5
//: buffer f32 1792 zero -> exact:clamp degrees radians fmax fmin exact:step exact:sign
COMMON(common_float8, float8)
//: kernel unit_float8 32 16
//: buffer f32 256 uniform 0 1
//: buffer f32 256 uniform 0 1
//: buffer f32 512 zero -> mix smoothstep
UNIT(unit_float8, float8)
//: kernel common_double 256 16
//: buffer f64 256 mixed -5 5
//: buffer f64 256 uniform -5 5
//: buffer f64 1792 zero -> exact:clamp degrees radians fmax fmin exact:step exact:sign
COMMON(common_double, double)
//: kernel unit_double 256 16
//: buffer f64 256 uniform 0 1
//: buffer f64 256 uniform 0 1
//: buffer f64 512 zero -> mix smoothstep
UNIT(unit_double, double)
//: kernel common_double4 64 16
//: buffer f64 256 mixed -5 5
//: buffer f64 256 uniform -5 5
//: buffer f64 1792 zero -> exact:clamp degrees radians fmax fmin exact:step exact:sign
COMMON(common_double4, double4)
//: kernel unit_double4 64 16
//: buffer f64 256 uniform 0 1
//: buffer f64 256 uniform 0 1
//: buffer f64 512 zero -> mix smoothstep
UNIT(unit_double4, double4)

#define GEOMETRY(NAME, T, S, N)                                                                                                 \
    kernel void NAME(global const S *a, global const S *b, global S *out, global S *vector)                                     \
    {                                                                                                                           \
        size_t i = get_global_id(0), n = get_global_size(0);                                                                    \
        T x = LOAD##N(i, a), y = LOAD##N(i, b);                                                                                 \
        out += i;                                                                                                               \
        DO(dot(x, y)) DO(length(x)) DO(distance(x, y))                                                                          \
        STORE##N(normalize(x), i, vector);                                                                                      \
    }
#define LOAD1(i, p) p[i]
#define LOAD2 vload2
#define LOAD3 vload3
#define LOAD4 vload4
#define STORE1(v, i, p) p[i] = v
#define STORE2 vstore2
#define STORE3 vstore3
#define STORE4 vstore4

//: kernel geometry_float 64 16
//: buffer f32 64 uniform -1 1
//: buffer f32 64 uniform -1 1
//: buffer f32 192 zero -> dot length distance
//: buffer f32 64 zero -> normalize
GEOMETRY(geometry_float, float, float, 1)
//: kernel geometry_float2 64 16
//: buffer f32 128 uniform -1 1
//: buffer f32 128 uniform -1 1
//: buffer f32 192 zero -> dot length distance
//: buffer f32 128 zero -> normalize
GEOMETRY(geometry_float2, float2, float, 2)
//: kernel geometry_float3 64 16
//: buffer f32 192 uniform -1 1
//: buffer f32 192 uniform -1 1
//: buffer f32 192 zero -> dot length distance
//: buffer f32 192 zero -> normalize
GEOMETRY(geometry_float3, float3, float, 3)
//: kernel geometry_float4 64 16
//: buffer f32 256 uniform -1 1
//: buffer f32 256 uniform -1 1
//: buffer f32 192 zero -> dot length distance
//: buffer f32 256 zero -> normalize
GEOMETRY(geometry_float4, float4, float, 4)
//: kernel geometry_double 64 16
//: buffer f64 64 uniform -1 1
//: buffer f64 64 uniform -1 1
//: buffer f64 192 zero -> dot length distance
//: buffer f64 64 zero -> normalize
GEOMETRY(geometry_double, double, double, 1)
//: kernel geometry_double2 64 16
//: buffer f64 128 uniform -1 1
//: buffer f64 128 uniform -1 1
//: buffer f64 192 zero -> dot length distance
//: buffer f64 128 zero -> normalize
GEOMETRY(geometry_double2, double2, double, 2)
//: kernel geometry_double3 64 16
//: buffer f64 192 uniform -1 1
//: buffer f64 192 uniform -1 1
//: buffer f64 192 zero -> dot length distance
//: buffer f64 192 zero -> normalize
GEOMETRY(geometry_double3, double3, double, 3)
//: kernel geometry_double4 64 16
//: buffer f64 256 uniform -1 1
//: buffer f64 256 uniform -1 1
//: buffer f64 192 zero -> dot length distance
//: buffer f64 256 zero -> normalize
GEOMETRY(geometry_double4, double4, double, 4)

#define CROSS(NAME, T)                                                                                                          \
    kernel void NAME(global const T *a, global const T *b, global T *out)                                                       \
    {                                                                                                                           \
        size_t i = get_global_id(0);                                                                                            \
        out[i].xyz = cross(a[i].xyz, b[i].xyz);                                                                                 \
        out[i] += cross(a[i], b[i]);                                                                                            \
    }
//: kernel cross_float4 64 16
//: buffer f32 256 uniform -1 1
//: buffer f32 256 uniform -1 1
//: buffer f32 256 zero -> near:1e-6
CROSS(cross_float4, float4)
//: kernel cross_double4 64 16
//: buffer f64 256 uniform -1 1
//: buffer f64 256 uniform -1 1
//: buffer f64 256 zero -> near:1e-14
CROSS(cross_double4, double4)

//: kernel fast_geometry 64 16
//: buffer f32 256 uniform -1 1
//: buffer f32 256 uniform -1 1
//: buffer f32 128 zero -> fast_length fast_distance
//: buffer f32 256 zero -> fast_normalize
kernel void fast_geometry(global const float4 *a, global const float4 *b, global float *out, global float4 *vector)
{
    size_t i = get_global_id(0);
    out += i;
    DO(fast_length(a[i])) DO(fast_distance(a[i], b[i]))
    vector[i] = fast_normalize(a[i]);
}
