/* The C++ wrapper: a pipeline, errors, rebinding, queues, futures, and that objects end in any order. */
#include <cstdio>
#include <future>
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
    "  %l = local_id x\n  store i64 %o[%i], %l\n  return\n}\n"
    "kernel @spin(%o: ptr.global i32 write, %n: i32) {\n  loop (%k: i32 = 0) {\n    %m = add i32 %k, 1\n"
    "    store i32 %o[0], %m, volatile\n    %c = sge i32 %m, %n\n    if %c { break }\n    continue %m\n  }\n  return\n}\n";

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
    fusiond::graph steps(s);
    steps.add(m["scale"](1000, out, out, 2.0f));
    steps.finalize(FUSION_NONE).submit_times(5).wait();
    expect(out.copy() == std::vector<float>(1000, 480), "480 after five rounds");
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

void futures(const fusiond::session &s, const fusiond::module &m)
{
    fusiond::buffer<float> in(s, std::vector<float>(16, 2.0f)), out(s, 16);
    std::promise<std::exception_ptr> told, told_too;
    fusiond::graph g(s), wrong(s);
    g.add(m["scale"](16, in, out, 2.0f));
    auto options = fusiond::detail::sized<fusion_finalize_options>();
    fusiond::future f = g.finalize_async(options, [&](std::exception_ptr e) { told.set_value(e); }, 1);
    expect(!told.get_future().get(), "told of a success");
    expect(f.done(), "done");
    fusiond::executable e = f.wait();
    e.run();
    expect(out.map_read()[15] == 4, "4");
    fusiond::buffer<float> small(s, 4);
    wrong.add(m["scale"](16, small, out, 2.0f));
    fusiond::future refused =
        wrong.finalize_async(options, [&](std::exception_ptr x) { told_too.set_value(x); });
    expect_error(FUSION_INVALID, "element 4", [&] { std::rethrow_exception(told_too.get_future().get()); });
    expect_error(FUSION_INVALID, "element 4", [&] { refused.wait(); });
    { const fusiond::future dropped = g.finalize_async(); }
}

void events(const fusiond::session &s, const fusiond::module &m)
{
    fusiond::buffer<int> out(s, 1);
    fusiond::graph g(s), one(s);
    g.add(m["spin"](fusiond::range(1u << 30).local(64), out, 1000)); /* minutes, in many small parts */
    one.add(m["spin"](1, out, 10));
    const fusiond::executable e = g.finalize(FUSION_NONE), short_one = one.finalize(FUSION_NONE);
    std::promise<std::exception_ptr> told;
    s.profile(true);
    const fusiond::event long_one = e.submit(), behind = short_one.submit();
    long_one.on_complete([&](std::exception_ptr x) { told.set_value(x); });
    behind.cancel();
    long_one.cancel();
    expect_error(FUSION_CANCELLED, "cancelled", [&] { std::rethrow_exception(told.get_future().get()); });
    expect_error(FUSION_CANCELLED, "cancelled", [&] { behind.wait(); });
    const fusiond::event last = short_one.submit();
    last.wait();
    const fusion_event_times t = last.times();
    expect(t.queued_ns <= t.submitted_ns && t.submitted_ns <= t.started_ns && t.started_ns <= t.ended_ns, "times");
    s.profile(false);
    expect_error(FUSION_TIMEOUT, "time limit of 50 ms",
                 [&] { e.submit(fusiond::submit_options().priority(3).time_limit_ms(50)).wait(); });
    const fusiond::event urgent = short_one.submit({{0, 1, 7}}, fusiond::submit_options().priority(3));
    urgent.wait();
    expect(out.map_read()[0] == 7, "7");
}

void windows(const fusiond::session &s, const fusiond::module &m)
{
    fusiond::buffer<float> a(s, std::vector<float>(16, 1.0f)), b(s, 16), c(s, 16);
    fusiond::queue q(s);
    q.window(2, 10000000);
    for (int i = 0; i < 3; i++) {
        q.submit(m["scale"](16, a, b, 2.0f));
        q.submit(m["scale"](16, b, c, 3.0f));
        q.wait();
    }
    q.flush();
    fusion_window_counters counters{};
    counters.size = sizeof counters;
    fusion_session_windows(s.get(), &counters);
    expect(counters.commands == 6 && counters.windows == 3, "three windows of two commands");
    expect(c.map_read()[7] == 6, "6");
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
        expect(m.size() == 4, "four kernels");
        pipeline(s, m);
        values(s, m);
        recorded(s, m);
        saved(s, m);
        futures(s, m);
        events(s, m);
        windows(s, m);
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
