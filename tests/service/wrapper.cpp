/* The C++ wrapper: a pipeline, errors, rebinding, queues, and that objects end in any order. */
#include <cstdio>
#include <unistd.h>

#include <fusiond/fusiond.hpp>

namespace
{

const char source[] =
    "kernel @scale(%a: ptr.global f32 read, %o: ptr.global f32 write, %k: f32) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = fmul f32 %x, %k\n  store f32 %o[%i], %y\n  return\n}\n"
    "kernel @pick(%o: ptr.global i32 write, %v: i32x3, %u: i16, %b: bool) {\n"
    "  %i = global_id x\n  %z = extract i32x3 %v, 2\n  store i32 %o[%i], %z\n  return\n}\n"
    "kernel @where(%o: ptr.global i64 write) {\n"
    "  %x = global_id x\n  %y = global_id y\n  %w = global_size x\n  %r = mul i64 %y, %w\n  %i = add i64 %r, %x\n"
    "  %l = local_id x\n  store i64 %o[%i], %l\n  return\n}\n";

int failures = 0;

void expect(bool ok, const char *what)
{
    if (ok) return;
    std::printf("not: %s\n", what);
    failures++;
}

template <class F>
void expect_error(fusion_status code, const char *reason, F f)
{
    try {
        f();
        expect(false, reason);
    } catch (const fusiond::error &e) {
        if (e.code() == code && e.reason().find(reason) != std::string::npos) return;
        std::printf("%s instead of %s\n", e.what(), reason);
        failures++;
    }
}

void pipeline(const fusiond::session &s, const fusiond::module &m)
{
    fusiond::buffer<float> in(s, std::vector<float>(1000, 2.5f), "in");
    fusiond::buffer<float> tmp(s, 1000, FUSION_INTERNAL_MEMORY | FUSION_NO_INIT), out(s, 1000), other(s, 1000);
    fusiond::graph g(s);
    g.add(m["scale"](1000, in, tmp, 2.0f).name("first"));
    const fusion_node second = g.add(m["scale"]({1000}, fusiond::read(tmp), fusiond::write(out), 3.0f).after({0}));
    fusiond::executable e = g.finalize(FUSION_REQUIRE);
    expect(e.report().launches == 1, "one launch");
    e.run();
    expect(out.copy() == std::vector<float>(1000, 15), "15");
    e.run({{out, other}, {second, 2, 5.0f}});
    expect(other.map_read()[999] == 25, "25");
    expect(out.map_read()[999] == 15, "still 15");
    expect_error(FUSION_INVALID, "it is of type f32, but the value given is of type i32",
                 [&] { e.run({{second, 2, 5}}); });
    const fusiond::event done = e.submit();
    done.wait();
    expect(done.done(), "done");
}

void values(const fusiond::session &s, const fusiond::module &m)
{
    fusiond::buffer<std::uint32_t> o(s, 4);
    fusiond::buffer<std::int64_t> where(s, 24);
    fusiond::queue q(s);
    q.submit(m["pick"](4, o, std::array<int, 3>{1, 2, 3}, short{1}, true));
    q.wait();
    expect(o.copy() == std::vector<std::uint32_t>(4, 3), "the third");
    q.submit(m["where"](fusiond::range(6, 4).local(3), where));
    expect(where.copy()[5] == 2, "local ids");
    expect_error(FUSION_INVALID, "it is of type i16, but the value given is of type i32",
                 [&] { q.submit(m["pick"](4, o, std::array<int, 3>{}, 1, true)); });
    expect_error(FUSION_INVALID, "3 arguments, but kernel pick has 4 parameters; the kernel is pick(o: ptr.global i32 write",
                 [&] { q.submit(m["pick"](4, o, std::array<int, 3>{}, 1)); });
    expect_error(FUSION_INVALID, "but buffer wrong has elements of type f64", [&] {
        fusiond::buffer<double> wrong(s, 4, 0, "wrong");
        q.submit(m["pick"](4, wrong, std::array<int, 3>{}, short{1}, true));
    });
    try {
        m["nothing"];
        expect(false, "no such kernel");
    } catch (const std::out_of_range &e) {
        expect(std::string(e.what()).find("nothing") != std::string::npos, "its name");
    }
}

void recorded(const fusiond::session &s, const fusiond::module &m)
{
    fusiond::buffer<float> a(s, 16), b(s, 16), c(s, 16);
    fusiond::graph g(s);
    fusiond::queue q(s);
    {
        fusiond::recording r(g, q);
        q.submit(m["scale"](16, a, b, 2.0f));
    }
    g.copy(b, c);
    g.fill(a, 4.0f);
    g.outputs(a, c);
    a.map()[3] = 1;
    g.finalize().run();
    expect(c.map_read()[3] == 2, "copied");
    expect(a.map_read()[3] == 4, "filled");
}

void saved(const fusiond::session &s, const fusiond::module &m)
{
    const std::string path = "wrapper." + std::to_string(getpid()) + ".saved";
    fusiond::buffer<float> in(s, 16, 0, "in"), out(s, 16, 0, "out"), other(s, std::vector<float>(16, 5.0f));
    fusiond::graph g(s);
    g.add(m["scale"](16, in, out, 2.0f));
    g.finalize().save(path);
    const fusiond::executable e = s.load_executable(path);
    std::remove(path.c_str());
    for (float &x : e.map<float>("in")) x = 3;
    e.run();
    expect(e.map<const float>("out")[15] == 6, "6");
    e.run({{e.buffer("in"), other}});
    expect(e.map<const float>("out")[15] == 10, "10");
    expect_error(FUSION_IO, "opening", [&] { s.load_executable("/nowhere"); });
}

/* What is left over keeps the session. */
fusiond::buffer<int> left_over()
{
    fusiond::session s;
    return fusiond::buffer<int>(s, 10);
}

} // namespace

int main()
{
    try {
        fusiond::session s;
        const fusiond::module m = s.load("kernels.fk", source);
        expect(m.size() == 3, "three kernels");
        pipeline(s, m);
        values(s, m);
        recorded(s, m);
        saved(s, m);
        expect(!s.devices().empty() && s.devices()[0].name == std::string("cpu"), "cpu");
        expect(s.status().find('{') == 0, "status");
        expect_error(FUSION_INVALID, "", [&] { s.load("broken.fk", "kernel"); });
        fusiond::buffer<int> moved = left_over();
        moved.map()[9] = 7;
        expect(moved.copy()[9] == 7, "7");
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
        return 1;
    }
    return failures;
}
