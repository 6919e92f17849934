// The mathematical functions of one operand. Each kernel computes several of them; the results lie one after the other.

#define DO(f)                                                                                                                   \
    *out = f(v);                                                                                                                \
    out += get_global_size(0);
#define UNARY(NAME, T, LIST)                                                                                                    \
    kernel void NAME(global const T *in, global T *out)                                                                         \
    {                                                                                                                           \
        T v = in[get_global_id(0)];                                                                                             \
        out += get_global_id(0);                                                                                                \
        LIST                                                                                                                    \
    }

#define TRIG DO(sin) DO(cos) DO(tan) DO(sinpi) DO(cospi) DO(tanpi)
//: kernel trig_float 256 16
//: pocl-zeros sinpi PoCL gives -0 for positive integers
//: pocl-zeros cospi PoCL gives -0 where the specification has +0
//: pocl-zeros tanpi PoCL gives +0 for odd integers
//: buffer f32 256 mixed -100 100
//: buffer f32 1536 zero -> sin cos tan sinpi cospi tanpi
UNARY(trig_float, float, TRIG)
//: kernel trig_float2 128 16
//: pocl-zeros sinpi PoCL gives -0 for positive integers
//: pocl-zeros cospi PoCL gives -0 where the specification has +0
//: pocl-zeros tanpi PoCL gives +0 for odd integers
//: buffer f32 256 mixed -100 100
//: buffer f32 1536 zero -> sin cos tan sinpi cospi tanpi
UNARY(trig_float2, float2, TRIG)
//: kernel trig_double 256 16
//: pocl-zeros sinpi PoCL gives -0 for positive integers
//: pocl-zeros cospi PoCL gives -0 where the specification has +0
//: pocl-zeros tanpi PoCL gives +0 for odd integers
//: buffer f64 256 mixed -100 100
//: buffer f64 1536 zero -> sin cos tan sinpi cospi tanpi
UNARY(trig_double, double, TRIG)
//: kernel trig_double4 64 16
//: pocl-zeros sinpi PoCL gives -0 for positive integers
//: pocl-zeros cospi PoCL gives -0 where the specification has +0
//: pocl-zeros tanpi PoCL gives +0 for odd integers
//: buffer f64 256 mixed -100 100
//: buffer f64 1536 zero -> sin cos tan sinpi cospi tanpi
UNARY(trig_double4, double4, TRIG)

#define ARC DO(asin) DO(acos) DO(atan) DO(asinpi) DO(acospi) DO(atanpi)
//: kernel arc_float 256 16
//: buffer f32 256 mixed -1 1
//: buffer f32 1536 zero -> asin acos atan asinpi acospi atanpi
UNARY(arc_float, float, ARC)
//: kernel arc_float4 64 16
//: buffer f32 256 mixed -1 1
//: buffer f32 1536 zero -> asin acos atan asinpi acospi atanpi
UNARY(arc_float4, float4, ARC)
//: kernel arc_double 256 16
//: pocl-zeros atanpi PoCL gives +0 for -0
//: buffer f64 256 mixed -1 1
//: buffer f64 1536 zero -> asin acos atan asinpi acospi atanpi
UNARY(arc_double, double, ARC)
//: kernel arc_double2 128 16
//: pocl-zeros atanpi PoCL gives +0 for -0
//: buffer f64 256 mixed -1 1
//: buffer f64 1536 zero -> asin acos atan asinpi acospi atanpi
UNARY(arc_double2, double2, ARC)

#define HYPERBOLIC DO(sinh) DO(cosh) DO(tanh) DO(asinh) DO(acosh) DO(atanh)
//: kernel hyperbolic_float 256 16
//: buffer f32 256 mixed -3 3
//: buffer f32 1536 zero -> sinh cosh tanh asinh acosh atanh
UNARY(hyperbolic_float, float, HYPERBOLIC)
//: kernel hyperbolic_float8 32 16
//: buffer f32 256 mixed -3 3
//: buffer f32 1536 zero -> sinh cosh tanh asinh acosh atanh
UNARY(hyperbolic_float8, float8, HYPERBOLIC)
//: kernel hyperbolic_double 256 16
//: buffer f64 256 mixed -3 3
//: buffer f64 1536 zero -> sinh cosh tanh asinh acosh atanh
UNARY(hyperbolic_double, double, HYPERBOLIC)
//: kernel hyperbolic_double2 128 16
//: buffer f64 256 mixed -3 3
//: buffer f64 1536 zero -> sinh cosh tanh asinh acosh atanh
UNARY(hyperbolic_double2, double2, HYPERBOLIC)

#define EXPONENTIAL DO(exp) DO(exp2) DO(exp10) DO(expm1)
//: kernel exponential_float 256 16
//: buffer f32 256 mixed -40 40
//: buffer f32 1024 zero -> exp exp2 exp10 expm1
UNARY(exponential_float, float, EXPONENTIAL)
//: kernel exponential_float16 16 16
//: buffer f32 256 mixed -40 40
//: buffer f32 1024 zero -> exp exp2 exp10 expm1
UNARY(exponential_float16, float16, EXPONENTIAL)
//: kernel exponential_double 256 16
//: buffer f64 256 mixed -40 40
//: buffer f64 1024 zero -> exp exp2 exp10 expm1
UNARY(exponential_double, double, EXPONENTIAL)
//: kernel exponential_double4 64 16
//: buffer f64 256 mixed -40 40
//: buffer f64 1024 zero -> exp exp2 exp10 expm1
UNARY(exponential_double4, double4, EXPONENTIAL)

#define LOGARITHM DO(log) DO(log2) DO(log10) DO(log1p) DO(logb) DO(cbrt) DO(sqrt) DO(rsqrt)
//: kernel logarithm_float 256 16
//: buffer f32 256 mixed 0 1000
//: buffer f32 2048 zero -> log log2 log10 log1p exact:logb cbrt sqrt rsqrt
UNARY(logarithm_float, float, LOGARITHM)
//: kernel logarithm_float4 64 16
//: buffer f32 256 mixed 0 1000
//: buffer f32 2048 zero -> log log2 log10 log1p exact:logb cbrt sqrt rsqrt
UNARY(logarithm_float4, float4, LOGARITHM)
//: kernel logarithm_double 256 16
//: buffer f64 256 mixed 0 1000
//: buffer f64 2048 zero -> log log2 log10 log1p exact:logb cbrt sqrt rsqrt
UNARY(logarithm_double, double, LOGARITHM)
//: kernel logarithm_double8 32 16
//: buffer f64 256 mixed 0 1000
//: buffer f64 2048 zero -> log log2 log10 log1p exact:logb cbrt sqrt rsqrt
UNARY(logarithm_double8, double8, LOGARITHM)

#define SPECIAL DO(erf) DO(erfc) DO(tgamma) DO(lgamma)
//: kernel special_float 256 16
//: buffer f32 256 mixed -5 5
//: buffer f32 1024 zero -> erf erfc tgamma lgamma
UNARY(special_float, float, SPECIAL)
//: kernel special_float2 128 16
//: buffer f32 256 mixed -5 5
//: buffer f32 1024 zero -> erf erfc tgamma lgamma
UNARY(special_float2, float2, SPECIAL)
//: kernel special_double 256 16
//: buffer f64 256 mixed -5 5
//: buffer f64 1024 zero -> erf erfc tgamma lgamma
UNARY(special_double, double, SPECIAL)
//: kernel special_double4 64 16
//: buffer f64 256 mixed -5 5
//: buffer f64 1024 zero -> erf erfc tgamma lgamma
UNARY(special_double4, double4, SPECIAL)

#define ROUNDING DO(floor) DO(ceil) DO(trunc) DO(rint) DO(round) DO(fabs)
//: kernel rounding_float 256 16
//: buffer f32 256 mixed -50 50
//: buffer f32 1536 zero -> exact:floor exact:ceil exact:trunc exact:rint exact:round exact:fabs
UNARY(rounding_float, float, ROUNDING)
//: kernel rounding_float8 32 16
//: buffer f32 256 mixed -50 50
//: buffer f32 1536 zero -> exact:floor exact:ceil exact:trunc exact:rint exact:round exact:fabs
UNARY(rounding_float8, float8, ROUNDING)
//: kernel rounding_double 256 16
//: buffer f64 256 mixed -50 50
//: buffer f64 1536 zero -> exact:floor exact:ceil exact:trunc exact:rint exact:round exact:fabs
UNARY(rounding_double, double, ROUNDING)
//: kernel rounding_double16 16 16
//: pocl@6.0 PoCL 6.0 gives NaN for everything in this width
//: buffer f64 256 mixed -50 50
//: buffer f64 1536 zero -> exact:floor exact:ceil exact:trunc exact:rint exact:round exact:fabs
UNARY(rounding_double16, double16, ROUNDING)
