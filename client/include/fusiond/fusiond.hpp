/*
 * fusiond in C++17: the C interface with owners, typed arguments and exceptions. Header-only; fusiond.h says what the
 * functions do and is there to be used beside it: get() of each object is the handle.
 *
 *     fusiond::session s;
 *     fusiond::module kernels = s.load("kernels.cl");
 *     fusiond::buffer<float> in(s, 1000), tmp(s, 1000, FUSION_INTERNAL_MEMORY), out(s, 1000);
 *     fusiond::graph g(s);
 *     g.add(kernels["scale"](1000, in, tmp, 2.0f));
 *     g.add(kernels["scale"]({1000}, tmp, out, 3.0f));
 *     fusiond::executable e = g.finalize(FUSION_REQUIRE);
 *     e.run();
 *     for (float x : out.map()) ...
 *
 *  - graph::finalize_async() gives a future, executable::submit() an event: both are waited for, polled, cancelled, and
 *    tell a function when they are there. Such functions run in threads of the session and must not throw.
 *  - Whatever fails throws fusiond::error, with the status, the object and the reason; nothing has changed then.
 *  - Each object owns its handle, can be moved, not copied, and keeps its session open. Thread safety is that of fusiond.h.
 *  - A buffer as an argument is accessed as the kernel's parameter says; read(), write() and read_write() say otherwise.
 *    Numbers are values of their type, which has to be the parameter's; std::array are vectors, other types bytes.
 */
#ifndef FUSIOND_HPP
#define FUSIOND_HPP

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fusiond/fusiond.h>
#include <fusiond/profile.h>
#include <fusiond/window.h>

namespace fusiond
{

/* ---- errors ---- */

class error : public std::runtime_error
{
public:
    explicit error(const fusion_error &e)
        : std::runtime_error(std::string(fusion_status_name(e.status)) + ": " + e.object + ": " + e.reason),
          code_(e.status), object_(e.object), reason_(e.reason)
    {
    }
    fusion_status code() const noexcept { return code_; }
    const std::string &object() const noexcept { return object_; } /* what it is about */
    const std::string &reason() const noexcept { return reason_; }

private:
    fusion_status code_;
    std::string object_, reason_;
};

namespace detail
{

inline void check(fusion_status status)
{
    if (status != FUSION_SUCCESS) throw error(*fusion_last_error());
}

/* A struct of the interface that begins with its size. */
template <class T>
T sized()
{
    T t{};
    t.size = sizeof t;
    return t;
}

using session_handle = std::shared_ptr<fusion_session>;

/* What fusion_last_error() of this thread says, for who is told of a failure instead of a status. */
inline std::exception_ptr exception_of(fusion_status status)
{
    if (status == FUSION_SUCCESS) return nullptr;
    return std::make_exception_ptr(error(*fusion_last_error()));
}

/* A handle with its end, and the session that it is of. */
template <class T, void (*destroy)(T *)>
class owner
{
public:
    T *get() const noexcept { return handle_.get(); }

protected:
    owner(session_handle session, T *handle) : session_(std::move(session)), handle_(handle) {}
    const session_handle &of() const noexcept { return session_; }

private:
    struct end {
        void operator()(T *handle) const { destroy(handle); }
    };
    session_handle session_; /* goes after the handle */
    std::unique_ptr<T, end> handle_;
};

/* ---- types of elements ---- */

template <class T>
struct always_false : std::false_type {
};

/* FUSION_BYTES where it is no number. */
template <class T>
constexpr fusion_type type_of()
{
    if constexpr (std::is_same_v<T, bool>)
        return FUSION_U8;
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return sizeof(T) == 1 ? FUSION_I8 : sizeof(T) == 2 ? FUSION_I16 : sizeof(T) == 4 ? FUSION_I32 : FUSION_I64;
    else if constexpr (std::is_integral_v<T>)
        return sizeof(T) == 1 ? FUSION_U8 : sizeof(T) == 2 ? FUSION_U16 : sizeof(T) == 4 ? FUSION_U32 : FUSION_U64;
    else if constexpr (std::is_same_v<T, float>)
        return FUSION_F32;
    else if constexpr (std::is_same_v<T, double>)
        return FUSION_F64;
    else
        return FUSION_BYTES;
}

template <class T>
struct lanes_of : std::integral_constant<std::uint32_t, 0> {
};
template <class T, std::size_t N>
struct lanes_of<std::array<T, N>> : std::integral_constant<std::uint32_t, N> {
    using element = T;
};

template <class T>
fusion_arg value(const T &v)
{
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "an argument is a number, an array of numbers, a plain struct or a buffer; USM pointers go through "
                  "fusiond::pointer()");
    if constexpr (type_of<T>() != FUSION_BYTES) {
        fusion_arg arg = fusion_arg_value(&v, sizeof v);
        arg.type = type_of<T>();
        arg.lanes = 1;
        return arg;
    } else if constexpr (lanes_of<T>::value != 0) {
        static_assert(type_of<typename lanes_of<T>::element>() != FUSION_BYTES, "a vector is of numbers");
        return fusion_arg_vector(type_of<typename lanes_of<T>::element>(), lanes_of<T>::value, v.data());
    } else {
        return fusion_arg_value(&v, sizeof v);
    }
}

} // namespace detail

/* ---- sessions ---- */

/* A connection; throws FUSION_CONNECTION, FUSION_VERSION and others, as fusion_connect() does. It ends with the last of
   its objects. */
class session
{
public:
    session() : session(nullptr, nullptr) {}
    explicit session(const std::string &address) : session(address.c_str(), nullptr) {}
    explicit session(const fusion_connect_options &options) : session(nullptr, &options) {}
    session(const char *address, const fusion_connect_options *options)
    {
        fusion_session *s = nullptr;
        detail::check(fusion_connect(address, options, &s));
        handle_ = detail::session_handle(s, fusion_disconnect);
    }
    fusion_session *get() const noexcept { return handle_.get(); }
    const detail::session_handle &share() const noexcept { return handle_; }

    std::vector<fusion_device_info> devices() const
    {
        std::uint32_t n = 0;
        detail::check(fusion_device_count(get(), &n));
        std::vector<fusion_device_info> all(n, detail::sized<fusion_device_info>());
        for (std::uint32_t i = 0; i < n; i++) detail::check(fusion_device_get(get(), i, &all[i]));
        return all;
    }
    /* The daemon's counters and limits, JSON. */
    std::string status() const
    {
        char *json = nullptr;
        detail::check(fusion_session_status(get(), &json));
        std::unique_ptr<char, decltype(&std::free)> text(json, std::free);
        return text.get();
    }
    /* The daemon's counters, OpenMetrics. */
    std::string metrics() const
    {
        char *text = nullptr;
        detail::check(fusion_session_metrics(get(), &text));
        std::unique_ptr<char, decltype(&std::free)> owned(text, std::free);
        return owned.get();
    }
    /* Whether the times of submissions are kept: event::times(). */
    void profile(bool on) const { detail::check(fusion_session_set_profiling(get(), on)); }
    /* A module of a file, or of what it would have in it under that name. */
    class module load(const std::string &path) const;
    class module load(const std::string &name, std::string_view contents) const;
    /* The file of an executable that was saved. */
    class executable load_executable(const std::string &path) const;

private:
    detail::session_handle handle_;
};

/* ---- memory ---- */

/* The memory of a buffer while this process uses it. */
template <class T>
class mapping
{
public:
    mapping(fusion_buffer *buffer, T *data, std::size_t size) : buffer_(buffer), data_(data), size_(size) {}
    mapping(mapping &&other) noexcept
        : buffer_(std::exchange(other.buffer_, nullptr)), data_(other.data_), size_(other.size_)
    {
    }
    mapping &operator=(mapping &&) = delete;
    ~mapping() { fusion_buffer_unmap(buffer_); }
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    T *begin() const noexcept { return data_; }
    T *end() const noexcept { return data_ + size_; }
    T &operator[](std::size_t i) const noexcept { return data_[i]; }

private:
    fusion_buffer *buffer_;
    T *data_;
    std::size_t size_;
};

/* count elements, 0 at first; properties and name as for fusion_buffer_create(). */
template <class T>
class buffer : public detail::owner<fusion_buffer, fusion_buffer_destroy>
{
    static_assert(std::is_trivially_copyable_v<T>, "elements are bytes to kernels");

public:
    buffer(const session &s, std::uint64_t count, unsigned properties = 0, const char *name = nullptr)
        : owner(s.share(), create(s, count, properties, name)), count_(count)
    {
    }
    buffer(const session &s, const std::vector<T> &contents, const char *name = nullptr) : buffer(s, contents.size(), 0, name)
    {
        std::memcpy(map().data(), contents.data(), contents.size() * sizeof(T));
    }
    std::uint64_t size() const noexcept { return count_; }
    /* Waits for submissions that use it. The mapping must not outlive the buffer. */
    mapping<T> map()
    {
        void *memory = nullptr;
        detail::check(fusion_buffer_map(get(), &memory));
        return {get(), static_cast<T *>(memory), count_};
    }
    mapping<const T> map_read() const
    {
        const void *memory = nullptr;
        detail::check(fusion_buffer_map_read(get(), &memory));
        return {get(), static_cast<const T *>(memory), count_};
    }
    std::vector<T> copy() const
    {
        const auto memory = map_read();
        return std::vector<T>(memory.begin(), memory.end());
    }

private:
    static fusion_buffer *create(const session &s, std::uint64_t count, unsigned properties, const char *name)
    {
        constexpr fusion_type type = detail::type_of<T>();
        fusion_buffer *b = nullptr;
        detail::check(fusion_buffer_create(s.get(), name, type, type == FUSION_BYTES ? count * sizeof(T) : count, properties, &b));
        return b;
    }
    std::uint64_t count_;
};

/* ---- arguments ---- */

template <class T>
fusion_arg read(const buffer<T> &b)
{
    return fusion_arg_read(b.get());
}
template <class T>
fusion_arg write(const buffer<T> &b)
{
    return fusion_arg_write(b.get());
}
template <class T>
fusion_arg read_write(const buffer<T> &b)
{
    return fusion_arg_read_write(b.get());
}
/* Into a USM allocation. */
inline fusion_arg pointer(void *p, fusion_access access = FUSION_ACCESS_READ_WRITE, unsigned properties = 0)
{
    return fusion_arg_pointer(p, access, properties);
}
/* Work-group memory for count elements. */
template <class T>
fusion_arg local(std::size_t count)
{
    return fusion_arg_local(count * sizeof(T));
}

/* Over how many work-items a kernel runs, x first; the service chooses the size of work-groups where none is given. */
class range
{
public:
    template <class... N, class = std::enable_if_t<(sizeof...(N) >= 1 && sizeof...(N) <= 3) && (std::is_integral_v<N> && ...)>>
    range(N... sizes) : dims_(sizeof...(N)), global_{static_cast<std::uint64_t>(sizes)...}
    {
    }
    range &local(std::uint64_t x, std::uint64_t y = 1, std::uint64_t z = 1)
    {
        local_ = {x, y, z};
        return *this;
    }
    range &offset(std::uint64_t x, std::uint64_t y = 0, std::uint64_t z = 0)
    {
        offset_ = {x, y, z};
        return *this;
    }
    void fill(fusion_kernel_node &node) const
    {
        node.dims = dims_;
        for (int d = 0; d < 3; d++) {
            node.global[d] = global_[d];
            node.local[d] = local_[d];
            node.offset[d] = offset_[d];
        }
    }

private:
    std::uint32_t dims_;
    std::array<std::uint64_t, 3> global_, local_{}, offset_{};
};

/* ---- kernels ---- */

/* A kernel with its range and arguments: for graph::add() and queue::submit(). Its buffers have to be there then. */
class launch
{
public:
    launch(fusion_module *module, std::string kernel, const range &r, std::vector<fusion_arg> args)
        : module_(module), kernel_(std::move(kernel)), range_(r), args_(std::move(args))
    {
    }
    launch &name(std::string n) /* of the node */
    {
        name_ = std::move(n);
        return *this;
    }
    launch &after(std::initializer_list<fusion_node> nodes)
    {
        depends_on_.insert(depends_on_.end(), nodes);
        return *this;
    }
    /* For the C interface: as long as this is there. */
    fusion_kernel_node node() const
    {
        auto n = detail::sized<fusion_kernel_node>();
        n.name = name_.empty() ? nullptr : name_.c_str();
        n.module = module_;
        n.kernel = kernel_.c_str();
        range_.fill(n);
        n.n_args = static_cast<std::uint32_t>(args_.size());
        n.args = args_.data();
        n.n_depends_on = static_cast<std::uint32_t>(depends_on_.size());
        n.depends_on = depends_on_.data();
        return n;
    }

private:
    fusion_module *module_;
    std::string kernel_, name_;
    range range_;
    std::vector<fusion_arg> args_;
    std::vector<fusion_node> depends_on_;
};

/* A kernel of a module, which has to be there as long. */
class kernel
{
public:
    kernel(fusion_module *module, const fusion_kernel_info *info) : module_(module), info_(info) {}
    const fusion_kernel_info &info() const noexcept { return *info_; }
    /* Arguments are checked against the parameters when the launch is given to a graph or queue. */
    template <class... Args>
    launch operator()(const range &r, const Args &...args) const
    {
        std::vector<fusion_arg> all;
        all.reserve(sizeof...(Args));
        (all.push_back(arg(args, all.size())), ...);
        return {module_, info_->name, r, std::move(all)};
    }

private:
    static fusion_arg arg(const fusion_arg &given, std::size_t) { return given; }
    template <class T>
    fusion_arg arg(const buffer<T> &b, std::size_t i) const
    {
        const std::string_view access = i < info_->n_args ? info_->args[i].access : "";
        return fusion_arg_buffer(b.get(), access == "read"    ? FUSION_ACCESS_READ
                                          : access == "write" ? FUSION_ACCESS_WRITE
                                                              : FUSION_ACCESS_READ_WRITE);
    }
    template <class T>
    static fusion_arg arg(const T &value, std::size_t)
    {
        return detail::value(value);
    }
    fusion_module *module_;
    const fusion_kernel_info *info_;
};

class module : public detail::owner<fusion_module, fusion_module_destroy>
{
public:
    module(const session &s, fusion_module *m) : owner(s.share(), m) {}
    std::size_t size() const { return fusion_module_kernel_count(get()); }
    class kernel kernel(std::size_t i) const { return {get(), fusion_module_kernel(get(), static_cast<std::uint32_t>(i))}; }
    /* std::out_of_range: it has none of this name. */
    class kernel operator[](std::string_view name) const
    {
        for (std::size_t i = 0; i < size(); i++)
            if (name == kernel(i).info().name) return kernel(i);
        throw std::out_of_range("the module has no kernel " + std::string(name));
    }
};

inline module session::load(const std::string &path) const
{
    fusion_module *m = nullptr;
    detail::check(fusion_module_load_file(get(), path.c_str(), &m));
    return {*this, m};
}

inline module session::load(const std::string &name, std::string_view contents) const
{
    fusion_module *m = nullptr;
    detail::check(fusion_module_load(get(), name.c_str(), contents.data(), contents.size(), &m));
    return {*this, m};
}

/* ---- running ---- */

/* Something that was submitted. */
class event
{
public:
    event(detail::session_handle s, fusion_event e) : session_(std::move(s)), event_(e) {}
    fusion_event get() const noexcept { return event_; }
    /* How long its steps took, in nanoseconds; throws what it failed with. */
    std::uint64_t wait(int timeout_ms = -1) const
    {
        std::uint64_t ns = 0;
        detail::check(fusion_event_wait(session_.get(), event_, timeout_ms, &ns));
        return ns;
    }
    bool done() const
    {
        const fusion_status status = fusion_event_poll(session_.get(), event_);
        if (status == FUSION_BUSY) return false;
        detail::check(status);
        return true;
    }
    /* It is to end, with FUSION_CANCELLED; waits for nothing. */
    void cancel() const { detail::check(fusion_event_cancel(session_.get(), event_)); }
    /* When it was; session::profile() comes first. */
    fusion_event_times times() const
    {
        auto t = detail::sized<fusion_event_times>();
        detail::check(fusion_event_times_get(session_.get(), event_, &t));
        return t;
    }
    /* function(what it failed with, nullptr where it did not) is called once, at its end. It must not throw. */
    template <class F>
    void on_complete(F &&function) const
    {
        auto *f = new std::function<void(std::exception_ptr)>(std::forward<F>(function));
        const fusion_status status = fusion_event_on_complete(session_.get(), event_, tell, f);
        if (status != FUSION_SUCCESS) delete f;
        detail::check(status);
    }

private:
    static void tell(void *data, fusion_session *, fusion_event, fusion_status status)
    {
        const std::unique_ptr<std::function<void(std::exception_ptr)>> f(
            static_cast<std::function<void(std::exception_ptr)> *>(data));
        (*f)(detail::exception_of(status));
    }
    detail::session_handle session_;
    fusion_event event_;
};

/* What one submission has otherwise than the graph: another buffer, another value of a node's argument. */
class rebinding
{
public:
    template <class T>
    rebinding(const buffer<T> &from, const buffer<T> &to) : rebind_{}
    {
        rebind_.from = from.get();
        rebind_.to = to.get();
    }
    template <class T>
    rebinding(fusion_buffer *from, const buffer<T> &to) : rebind_{}
    {
        rebind_.from = from;
        rebind_.to = to.get();
    }
    template <class T>
    rebinding(fusion_node node, std::uint32_t arg, const T &value) : rebind_{}, value_(sizeof(T))
    {
        const fusion_arg typed = detail::value(value);
        rebind_.node = node;
        rebind_.arg = arg;
        rebind_.type = typed.type;
        value_.resize(typed.bytes); /* a vector of 3 takes the place of 4 */
        std::memcpy(value_.data(), &value, sizeof value);
    }
    fusion_rebind get() const
    {
        fusion_rebind r = rebind_;
        if (!value_.empty()) {
            r.value = value_.data();
            r.value_bytes = value_.size();
        }
        return r;
    }

private:
    fusion_rebind rebind_;
    std::vector<unsigned char> value_;
};

/* Which submission is first, and how long it may take. */
class submit_options
{
public:
    submit_options &priority(std::int32_t p) /* of those that wait the highest begins next */
    {
        options_.priority = p;
        return *this;
    }
    submit_options &time_limit_ms(std::uint64_t ms)
    {
        options_.time_limit_ms = ms;
        return *this;
    }
    const fusion_submit_options *get() const noexcept { return &options_; }

private:
    fusion_submit_options options_ = detail::sized<fusion_submit_options>();
};

class executable : public detail::owner<fusion_exec, fusion_exec_destroy>
{
public:
    executable(detail::session_handle s, fusion_exec *e) : owner(std::move(s), e) {}
    event submit(std::initializer_list<rebinding> otherwise = {}) const { return submit(otherwise, nullptr); }
    event submit(std::initializer_list<rebinding> otherwise, const submit_options &options) const
    {
        return submit(otherwise, options.get());
    }
    event submit(const submit_options &options) const { return submit({}, options.get()); }
    /* So many rounds, as one submission. */
    event submit_times(std::uint32_t count, std::initializer_list<rebinding> otherwise = {}) const
    {
        return submit(otherwise, nullptr, count);
    }
    event submit_times(std::uint32_t count, std::initializer_list<rebinding> otherwise,
                       const submit_options &options) const
    {
        return submit(otherwise, options.get(), count);
    }
    /* Submits and waits. */
    std::uint64_t run(std::initializer_list<rebinding> otherwise = {}) const { return submit(otherwise).wait(); }
    const fusion_report &report() const { return *fusion_exec_report(get()); }
    /* Into a file that session::load_executable() takes. */
    void save(const std::string &path) const { detail::check(fusion_exec_save_file(get(), path.c_str())); }
    /* The buffer of that name, which one that was loaded has for itself. std::out_of_range: there is none. */
    fusion_buffer *buffer(const std::string &name) const
    {
        fusion_buffer *b = fusion_exec_buffer(get(), name.c_str());
        if (!b) throw std::out_of_range("the executable has no buffer " + name);
        return b;
    }
    /* Its contents as elements of a type. */
    template <class T>
    mapping<T> map(const std::string &name) const
    {
        fusion_buffer *b = buffer(name);
        void *memory = nullptr;
        detail::check(fusion_buffer_map(b, &memory));
        return {b, static_cast<T *>(memory), fusion_buffer_bytes(b) / sizeof(T)};
    }

private:
    event submit(std::initializer_list<rebinding> otherwise, const fusion_submit_options *options,
                 std::uint32_t count = 1) const
    {
        std::vector<fusion_rebind> all;
        for (const rebinding &r : otherwise) all.push_back(r.get());
        fusion_event e = 0;
        detail::check(fusion_exec_submit_times(get(), count, all.data(), static_cast<std::uint32_t>(all.size()),
                                               options, &e));
        return {of(), e};
    }
};

inline executable session::load_executable(const std::string &path) const
{
    fusion_exec *e = nullptr;
    detail::check(fusion_exec_load_file(get(), path.c_str(), nullptr, &e));
    return {share(), e};
}

/* A finalize that was begun. One that goes without its outcome cancels it. */
class future : public detail::owner<fusion_future, fusion_future_destroy>
{
public:
    future(detail::session_handle s, fusion_future *f) : owner(std::move(s), f) {}
    /* Waits for the executable and gives it, once; throws what it failed with, FUSION_TIMEOUT, FUSION_CANCELLED. */
    executable wait(int timeout_ms = -1)
    {
        fusion_exec *e = nullptr;
        detail::check(fusion_future_wait(get(), timeout_ms, taken_ ? nullptr : &e));
        if (taken_) throw std::logic_error("the executable of the future was taken before");
        taken_ = true;
        return {of(), e};
    }
    bool done() const
    {
        const fusion_status status = fusion_future_poll(get());
        if (status == FUSION_BUSY) return false;
        detail::check(status);
        return true;
    }
    void cancel() const { detail::check(fusion_future_cancel(get())); }

private:
    bool taken_ = false;
};

class graph : public detail::owner<fusion_graph, fusion_graph_destroy>
{
public:
    explicit graph(const session &s) : owner(s.share(), create(s)) {}
    fusion_node add(const launch &l)
    {
        const fusion_kernel_node n = l.node();
        fusion_node number = 0;
        detail::check(fusion_graph_add_kernel(get(), &n, &number));
        return number;
    }
    template <class T>
    fusion_node copy(const buffer<T> &from, const buffer<T> &to, std::initializer_list<fusion_node> after = {})
    {
        fusion_memory source{}, target{};
        fusion_node number = 0;
        source.buffer = from.get();
        target.buffer = to.get();
        detail::check(fusion_graph_add_copy(get(), nullptr, source, target, from.size() * sizeof(T), after.begin(),
                                            static_cast<std::uint32_t>(after.size()), &number));
        return number;
    }
    template <class T>
    fusion_node fill(const buffer<T> &to, const T &value, std::initializer_list<fusion_node> after = {})
    {
        fusion_memory target{};
        fusion_node number = 0;
        target.buffer = to.get();
        detail::check(fusion_graph_add_fill(get(), nullptr, target, to.size() * sizeof(T), &value, sizeof value, after.begin(),
                                            static_cast<std::uint32_t>(after.size()), &number));
        return number;
    }
    /* What is read after a submission; all else that the graph writes is its own then. */
    template <class... T>
    void outputs(const buffer<T> &...buffers)
    {
        const std::vector<fusion_arg> all{fusion_arg_read(buffers.get())...};
        detail::check(fusion_graph_set_outputs(get(), all.data(), static_cast<std::uint32_t>(all.size())));
    }
    executable finalize(fusion_mode mode = FUSION_ENABLE, const char *device = nullptr) const
    {
        auto options = detail::sized<fusion_finalize_options>();
        options.mode = mode;
        options.device = device;
        return finalize(options);
    }
    executable finalize(const fusion_finalize_options &options) const
    {
        fusion_exec *e = nullptr;
        detail::check(fusion_graph_finalize(get(), &options, &e));
        return {of(), e};
    }
    /* The same in a thread of the session; the graph may change, or go, at once. Of those that wait for a thread the one
       with the highest priority begins first. */
    future finalize_async(fusion_mode mode = FUSION_ENABLE, std::int32_t priority = 0) const
    {
        auto options = detail::sized<fusion_finalize_options>();
        options.mode = mode;
        return finalize_async(options, nullptr, priority);
    }
    /* done(what it failed with, nullptr where it did not) is called once, when waiting gives the outcome at once. */
    future finalize_async(const fusion_finalize_options &options, std::function<void(std::exception_ptr)> done,
                          std::int32_t priority = 0) const
    {
        auto async = detail::sized<fusion_async_options>();
        async.priority = priority;
        std::unique_ptr<std::function<void(std::exception_ptr)>> f;
        if (done) {
            f = std::make_unique<std::function<void(std::exception_ptr)>>(std::move(done));
            async.done = tell;
            async.data = f.get();
        }
        fusion_future *made = nullptr;
        detail::check(fusion_graph_finalize_async(get(), &options, &async, &made));
        static_cast<void>(f.release()); /* tell() frees it */
        return {of(), made};
    }

private:
    static void tell(void *data, fusion_future *made)
    {
        const std::unique_ptr<std::function<void(std::exception_ptr)>> f(
            static_cast<std::function<void(std::exception_ptr)> *>(data));
        (*f)(detail::exception_of(fusion_future_poll(made)));
    }
    static fusion_graph *create(const session &s)
    {
        fusion_graph *g = nullptr;
        detail::check(fusion_graph_create(s.get(), &g));
        return g;
    }
};

class queue : public detail::owner<fusion_queue, fusion_queue_destroy>
{
public:
    explicit queue(const session &s) : owner(s.share(), create(s)) {}
    /* Runs it, or records it. */
    event submit(const launch &l)
    {
        const fusion_kernel_node n = l.node();
        fusion_event e = 0;
        detail::check(fusion_queue_submit(get(), &n, &e));
        return {of(), e};
    }
    void wait() { detail::check(fusion_queue_wait(get())); }
    /* What is submitted and not recorded is gathered, so many commands for so long at most, and fused. */
    void window(std::uint32_t commands, std::uint32_t microseconds = 0)
    {
        auto options = detail::sized<fusion_window_options>();
        options.commands = commands;
        options.microseconds = microseconds;
        detail::check(fusion_queue_set_window(get(), &options));
    }
    void options(const submit_options &o) { detail::check(fusion_queue_set_options(get(), o.get())); } /* from now on */
    void flush() { detail::check(fusion_queue_flush(get())); } /* submits what is gathered */

private:
    static fusion_queue *create(const session &s)
    {
        fusion_queue *q = nullptr;
        detail::check(fusion_queue_create(s.get(), &q));
        return q;
    }
};

/* While it is there the queue's commands become nodes of the graph, and whatever is thrown ends it. */
class recording
{
public:
    recording(graph &g, queue &q) : graph_(g.get()) { detail::check(fusion_graph_begin_recording(graph_, q.get())); }
    recording(const recording &) = delete;
    recording &operator=(const recording &) = delete;
    ~recording() { fusion_graph_end_recording(graph_); }

private:
    fusion_graph *graph_;
};

} // namespace fusiond

#endif
