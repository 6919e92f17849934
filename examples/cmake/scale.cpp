/* Two kernels that become one, in C++. */
#include <cstdio>

#include <fusiond/fusiond.hpp>

static const char source[] =
    "kernel @scale(%a: ptr.global f32 read, %o: ptr.global f32 write, %k: f32) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = fmul f32 %x, %k\n  store f32 %o[%i], %y\n  return\n}\n";

int main()
try {
    fusiond::session s;
    fusiond::module m = s.load("scale.fk", source);
    fusiond::buffer<float> in(s, std::vector<float>(1000, 1)), tmp(s, 1000, FUSION_INTERNAL_MEMORY), out(s, 1000);
    fusiond::graph g(s);
    g.add(m["scale"](1000, in, tmp, 2.0f));
    g.add(m["scale"](1000, tmp, out, 3.0f));
    fusiond::executable e = g.finalize(FUSION_REQUIRE);
    e.run();
    std::printf("%g, %u launch\n", out.map_read()[999], e.report().launches); /* 6, 1 launch */
} catch (const fusiond::error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
