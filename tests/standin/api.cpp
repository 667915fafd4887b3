/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */


/**
 * @file
 * The driver's entry points: every name that ffnvcodec's loader loads, and the additional names
 * that this project loads. Entry points that no part of the project uses return
 * CUDA_ERROR_NOT_SUPPORTED.
 *
 * A call that a correct program does not make is a violation (report.cpp), and fails as the
 * driver's would.
 */

#include <pthread.h>
#include <string.h>

#include <algorithm>
#include <regex>
#include <unordered_map>

#include "standin.h"

#define API extern "C" __attribute__((visibility("default"))) CUresult
/** An entry point that the loader has a type for, which must be its type. */
#define LOADED(name) extern "C" t##name name; API name

using namespace standin;

namespace standin {

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static bool initialised;

/** Called by the first call, when all static objects have been constructed. */
static void init_once()
{
    static bool done;

    if (done)
        return;
    done = true;
    settings_init();
    memory_init();
}

/* Handles are unique numbers, not addresses. */
template<typename T> class Table {
    std::map<uintptr_t, T *> objects;
    uintptr_t next;

public:
    explicit Table(uintptr_t first) : next(first) { }

    uintptr_t add(T *object)
    {
        objects[next += 16] = object;
        return next;
    }
    T *get(const void *handle) const
    {
        auto i = objects.find((uintptr_t)handle);
        return i == objects.end() ? NULL : i->second;
    }
    uintptr_t handle(const T *object) const
    {
        for (auto &i : objects)
            if (i.second == object)
                return i.first;
        return 0;
    }
    bool issued(const void *handle) const
    {
        return (uintptr_t)handle <= next && !get(handle);
    }
    void remove(const void *handle) { objects.erase((uintptr_t)handle); }
    const std::map<uintptr_t, T *> &all() const { return objects; }
};

/* not mappable addresses, so that dereferencing a handle crashes */
static Table<Context>  &contexts  = *new Table<Context>(0x100000000000000ULL);
static Table<Stream>   &streams   = *new Table<Stream>(0x200000000000000ULL);
static Table<Event>    &events    = *new Table<Event>(0x300000000000000ULL);
static Table<Module>   &modules   = *new Table<Module>(0x400000000000000ULL);
static Table<Function> &functions = *new Table<Function>(0x500000000000000ULL);

struct Primary {
    Context *ctx;
    unsigned references, flags;
};
static Primary primaries[16];
static u32 next_context = 1;

/* The contexts that a thread has pushed. */
struct Stack {
    std::vector<Context *> list;
    ~Stack();
};
static thread_local Stack stack;

static Context *top()
{
    return stack.list.empty() ? NULL : stack.list.back();
}

Stack::~Stack()
{
    pthread_mutex_lock(&lock);
    if (!list.empty() && settings.leaks)
        violation(0, "a thread ends with %zu context%s pushed and not popped", list.size(),
                  list.size() > 1 ? "s" : "");
    std::vector<Context *>().swap(list);    /* the main thread's list may still be accessed */
    pthread_mutex_unlock(&lock);
}

enum { PLAIN = 0, NEEDS_INIT = 1, NEEDS_CONTEXT = 2 | NEEDS_INIT, RELEASES = 4 };

/**
 * A call of an entry point. A call that releases something releases it even if the call fails, as
 * the driver does when it returns the error of an earlier launch.
 */
class Call {
    const char *name;
    std::string text;
    int rc, forced;
    bool ended;

public:
    Context *ctx;

    Call(const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)))
        : name(name), rc(0), forced(0), ended(false), ctx(NULL)
    {
        va_list ap;
        pthread_mutex_lock(&lock);
        init_once();
        va_start(ap, fmt);
        text = vformat(fmt, ap);
        va_end(ap);
    }
    ~Call()
    {
        if (!ended)
            abort();
        pthread_mutex_unlock(&lock);
    }

    /** @return whether to continue; otherwise the entry point returns result() */
    bool enter(int flags)
    {
        const bool fails = count_call(name);

        progress(NULL);
        ctx = top();
        if (fails) {
            injected = name;
            rc = forced = settings.fail_code;
            if (settings.fail_sticky) {
                for (auto &c : contexts.all())
                    if (!ctx || c.second == ctx) {
                        c.second->error = settings.fail_code;
                        context_drop_ops(c.second);
                    }
            }
            if (!(flags & RELEASES))
                return false;
        }
        if (flags & NEEDS_INIT && !initialised) {
            rc = ERROR_NOT_INITIALIZED;
            if (!injected)
                misuse("called before cuInit");
            return false;
        }
        if ((flags & NEEDS_CONTEXT) == NEEDS_CONTEXT) {
            if (!ctx) {
                rc = forced ? forced : ERROR_INVALID_CONTEXT;
                if (!push_failed())
                    misuse("called without a current context");
                return false;
            }
            if (ctx->error) {
                rc = forced = ctx->error;
                if (!(flags & RELEASES))
                    return false;
            }
        }
        return true;
    }

    /** Does the same for a call that needs a device. */
    bool enter_device(int flags, CUdevice dev)
    {
        if (!enter(flags))
            return false;
        if (dev >= 0 && dev < settings.devices)
            return true;
        misuse("no such device");
        rc = forced ? forced : ERROR_INVALID_DEVICE;
        return false;
    }

    /** Reports a fault of the program. */
    void misuse(const char *fmt, ...) __attribute__((format(printf, 2, 3)))
    {
        va_list ap;
        va_start(ap, fmt);
        std::string s = vformat(fmt, ap);
        va_end(ap);
        violation(0, "%s(%s): %s", name, text.c_str(), s.c_str());
    }

    void say(const char *fmt, ...) __attribute__((format(printf, 2, 3)))
    {
        va_list ap;
        va_start(ap, fmt);
        text += " " + vformat(fmt, ap);
        va_end(ap);
    }

    /** Reports a fault of the program and returns the code. */
    int fault(int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)))
    {
        va_list ap;
        va_start(ap, fmt);
        std::string s = vformat(fmt, ap);
        va_end(ap);
        misuse("%s", s.c_str());
        return code;
    }

    CUresult end(int code)
    {
        rc = forced ? forced : code ? code : ctx && ctx->error ? ctx->error : 0;
        return result();
    }
    /** Ends a call that does not return the context's error. */
    CUresult end_plain(int code)
    {
        rc = forced ? forced : code;
        return result();
    }
    CUresult result()
    {
        ended = true;
        trace_call(name, text.c_str(), rc);
        return (CUresult)rc;
    }
    const char *what() const { return name; }
};

#define HEX(p) ((unsigned long long)(uintptr_t)(p))

/** Begins an entry point. Returns from it if the call fails already. */
#define ENTER_OR_RETURN(flags, ...)                                                      \
    Call c(__func__, __VA_ARGS__);                                                       \
    if (!c.enter(flags))                                                                 \
        return c.result()
#define ENTER_DEVICE_OR_RETURN(dev, flags, ...)                                          \
    Call c(__func__, __VA_ARGS__);                                                       \
    if (!c.enter_device(flags, dev))                                                     \
        return c.result()
#define NO_ARGUMENTS "%s", ""

template<typename T>
static T *need(Call &c, const Table<T> &table, const void *handle, const char *what)
{
    T *object = table.get(handle);

    if (!object)
        c.misuse(table.issued(handle) && handle ? "the %s has been destroyed" : "not a %s", what);
    return object;
}

/** Declares the object of a handle. Returns from the entry point if there is none. */
#define NEED_OR_RETURN(object, table, handle, what)                                      \
    auto object = need(c, table, handle, what);                                          \
    if (!object)                                                                         \
        return c.end(ERROR_INVALID_HANDLE)

/** CU_STREAM_LEGACY is 1, CU_STREAM_PER_THREAD is 2. */
static Stream *need_stream(Call &c, CUstream handle)
{
    if (!handle || (uintptr_t)handle == 1)
        return c.ctx->null_stream;
    Stream *s = need(c, streams, handle, "stream");
    if (s && s->ctx != c.ctx) {
        c.misuse("the stream is of another context");
        return NULL;
    }
    return s;
}

/* Contexts. */

static Context *context_new(int device, bool primary)
{
    Context *ctx = new Context();

    ctx->device      = device;
    ctx->primary     = primary;
    ctx->id          = next_context++;
    ctx->null_stream = stream_new(ctx, 0, true);
    contexts.add(ctx);
    return ctx;
}

/** Reports what remains in a context; not for a dead context. */
static void report_left(const Context *ctx, const char *when)
{
    unsigned n[5] = { 0 };
    size_t bytes = 0;
    std::string first;

    if (ctx->error || !settings.leaks || push_failed())
        return;
    for (auto &i : memory_all()) {
        const Alloc *a = i.second;
        if (a->ctx != ctx)
            continue;
        n[a->kind == ALLOC_PINNED]++;
        bytes += a->size;
        if (first.empty())
            first = format(", the first: #%u, %zu bytes by %s", a->id, a->size, a->by);
    }
    for (auto &i : streams.all())
        n[2] += i.second->ctx == ctx;
    for (auto &i : events.all())
        n[3] += i.second->ctx == ctx;
    for (auto &i : modules.all())
        n[4] += i.second->ctx == ctx;
    if (n[0] + n[1] + n[2] + n[3] + n[4])
        violation(0, "leak: context %u %s with %u device and %u pinned allocations (%zu bytes), "
                  "%u streams, %u events, %u modules%s", ctx->id, when, n[0], n[1], bytes, n[2],
                  n[3], n[4], first.c_str());
}

template<typename T>
static void remove_of(Table<T> &table, const Context *ctx)
{
    for (auto &i : std::map<uintptr_t, T *>(table.all()))
        if (i.second->ctx == ctx) {
            table.remove((void *)i.first);
            delete i.second;
        }
}

static void module_delete(Module *m)
{
    for (auto &f : m->functions)
        functions.remove((void *)functions.handle(f.second.get()));
    delete m;
}

static void context_delete(Context *ctx)
{
    if (!ctx->error)
        sync_context(ctx);
    report_left(ctx, "is destroyed");
    context_drop_ops(ctx);
    for (auto &i : std::map<uintptr_t, Alloc *>(memory_all()))
        if (i.second->ctx == ctx)
            memory_free(i.second);
    remove_of(events, ctx);
    for (auto &i : std::map<uintptr_t, Module *>(modules.all()))
        if (i.second->ctx == ctx) {
            modules.remove((void *)i.first);
            module_delete(i.second);
        }
    for (auto &i : std::map<uintptr_t, Stream *>(streams.all()))
        if (i.second->ctx == ctx) {
            streams.remove((void *)i.first);
            stream_destroy(i.second);
        }
    stream_destroy(ctx->null_stream);
    contexts.remove((void *)contexts.handle(ctx));
    delete ctx;
}

void report_leaks()
{
    for (auto &i : contexts.all()) {
        const Context *ctx = i.second;
        violation(0, "leak: context %u%s is there at the end of the process", ctx->id,
                  ctx->primary ? " (the device's primary one)" : "");
        report_left(ctx, "is left");
    }
}

/* A device's properties: those that the project and FFmpeg ask for. */

static size_t shared_per_sm(int cc)
{
    switch (cc) {
    case 52: case 61: case 70: case 72: return 96 * 1024;
    case 80: case 87:                   return 164 * 1024;
    case 86: case 89: case 120:         return 100 * 1024;
    case 90: case 100: case 103:        return 228 * 1024;
    default:                            return cc < 50 ? 48 * 1024 : 64 * 1024;
    }
}

/* Copies. */

/** Checks and resolves one side of a copy. base is the address of the first byte. */
static int side(Call &c, Range2D &r, const char *which, CUmemorytype type, uintptr_t base,
                size_t pitch, size_t width, size_t height)
{
    Alloc *a = memory_find(base);

    r.base   = base;
    r.pitch  = pitch;
    r.width  = width;
    r.height = height;
    r.alloc  = NULL;
    if (!width || !height)
        return 0;
    if (!a) {
        if (base - region_base < region_size || type == CU_MEMORYTYPE_DEVICE)
            return c.fault(ERROR_INVALID_VALUE, "the %s, 0x%llx, is %s", which, HEX(base),
                           memory_describe(base).c_str());
        return base ? 0 : c.fault(ERROR_INVALID_VALUE, "the %s is NULL", which);
    }
    if (type == CU_MEMORYTYPE_HOST && a->kind == ALLOC_DEVICE)
        return c.fault(ERROR_INVALID_VALUE, "the %s is said to be of the host, and is %s", which,
                       memory_describe(base).c_str());
    if (base < a->base || r.end() > a->base + a->size)
        return c.fault(ERROR_INVALID_VALUE, "the %s, %zu rows of %zu bytes every %zu from 0x%llx, "
                       "does not fit: it begins at %s", which, height, width, pitch, HEX(base),
                       memory_describe(base).c_str());
    if (a->ctx != c.ctx && !a->portable)
        return c.fault(ERROR_INVALID_VALUE, "the %s is of another context: %s", which,
                       memory_describe(base).c_str());
    r.alloc = a;
    return 0;
}

/**
 * Queues a copy whose sides are filled in. A copy from pageable memory reads its source at once; a
 * copy to pageable memory is complete when the call returns.
 */
static int copy(Call &c, Stream *s, const Range2D &src, const Range2D &dst, bool sync)
{
    if (!src.width || !src.height)
        return 0;
    if (src.alloc && src.alloc == dst.alloc && src.base < dst.end() && dst.base < src.end())
        return c.fault(ERROR_INVALID_VALUE, "source and destination overlap");
    Op *op = op_new(s, Op::COPY, c.what());
    op->src = src;
    op->dst = dst;
    if (!src.alloc) {
        op->snapshot.resize(src.width * src.height);
        for (size_t y = 0; y < src.height; y++)
            memcpy(&op->snapshot[y * src.width], (const void *)(src.base + y * src.pitch), src.width);
    }
    op_queue(op);
    /* the call need not wait for copies between device and device or pinned memory, nor for those
     * from pageable memory */
    const bool pinned = (src.alloc && src.alloc->kind == ALLOC_PINNED) ||
                        (dst.alloc && dst.alloc->kind == ALLOC_PINNED);
    if (!dst.alloc || (sync && pinned)) {
        sync_stream(s);
        return c.ctx->error;
    }
    return 0;
}

static int copy_linear(Call &c, CUstream stream, CUmemorytype dst_type, uintptr_t dst,
                       CUmemorytype src_type, uintptr_t src, size_t size, bool sync)
{
    Range2D to, from;
    Stream *s = sync ? c.ctx->null_stream : need_stream(c, stream);
    int ret;

    if (!s)
        return ERROR_INVALID_HANDLE;
    if ((ret = side(c, to, "destination", dst_type, dst, size, size, 1)) ||
        (ret = side(c, from, "source", src_type, src, size, size, 1)))
        return ret;
    return copy(c, s, from, to, sync);
}

enum { MEMORYTYPE_UNIFIED = 4 };

static int copy_2d(Call &c, CUstream stream, const CUDA_MEMCPY2D *p, bool sync)
{
    Range2D to, from;
    Stream *s = sync ? c.ctx->null_stream : need_stream(c, stream);
    int ret;

    if (!s)
        return ERROR_INVALID_HANDLE;
    if (!p)
        return c.fault(ERROR_INVALID_VALUE, "no copy is given");
    const bool src_host = p->srcMemoryType == CU_MEMORYTYPE_HOST;
    const bool dst_host = p->dstMemoryType == CU_MEMORYTYPE_HOST;
    if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return ERROR_NOT_SUPPORTED;
    for (int type : { (int)p->srcMemoryType, (int)p->dstMemoryType })
        if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != MEMORYTYPE_UNIFIED)
            return c.fault(ERROR_INVALID_VALUE, "memory type %d", type);
    /* a pitch of 0 means that of one row */
    const size_t src_pitch = p->srcPitch ? p->srcPitch : p->srcXInBytes + p->WidthInBytes;
    const size_t dst_pitch = p->dstPitch ? p->dstPitch : p->dstXInBytes + p->WidthInBytes;
    if (src_pitch < p->srcXInBytes + p->WidthInBytes ||
        dst_pitch < p->dstXInBytes + p->WidthInBytes || src_pitch > INT32_MAX || dst_pitch > INT32_MAX)
        return c.fault(ERROR_INVALID_VALUE, "pitches %zu, %zu for rows of %zu bytes from %zu, %zu",
                       src_pitch, dst_pitch, p->WidthInBytes, p->srcXInBytes, p->dstXInBytes);
    const uintptr_t src = (src_host ? (uintptr_t)p->srcHost : (uintptr_t)p->srcDevice) +
                          p->srcY * src_pitch + p->srcXInBytes;
    const uintptr_t dst = (dst_host ? (uintptr_t)p->dstHost : (uintptr_t)p->dstDevice) +
                          p->dstY * dst_pitch + p->dstXInBytes;
    if ((ret = side(c, to, "destination", p->dstMemoryType, dst, dst_pitch, p->WidthInBytes, p->Height)) ||
        (ret = side(c, from, "source", p->srcMemoryType, src, src_pitch, p->WidthInBytes, p->Height)))
        return ret;
    return copy(c, s, from, to, sync);
}

/* Memory. */

static int allocate(Call &c, AllocKind kind, size_t size, bool portable, uintptr_t *p)
{
    if (!size)
        return c.fault(ERROR_INVALID_VALUE, "no bytes");
    const u64 used  = kind == ALLOC_DEVICE ? memory_used(c.ctx->device) : memory_used_pinned();
    const u64 limit = kind == ALLOC_DEVICE ? settings.memory : settings.pinned;
    if (used > limit || size > limit - used)
        return ERROR_OUT_OF_MEMORY;
    Alloc *a = memory_alloc(kind, c.ctx, size, c.what());
    if (!a)
        return ERROR_OUT_OF_MEMORY;
    a->portable = portable;
    *p = a->base;
    c.say("= 0x%llx", HEX(a->base));
    return 0;
}

static int release(Call &c, AllocKind kind, uintptr_t p)
{
    Alloc *a = memory_exact(p);

    if (!p && kind == ALLOC_DEVICE)
        return 0;
    if (!a || a->base != p || a->kind != kind)
        return c.fault(ERROR_INVALID_VALUE, "not what an allocation returned: %s",
                       memory_describe(p).c_str());
    if (kind == ALLOC_DEVICE) {
        if (!a->ctx->error)
            sync_context(a->ctx);
    } else if (!a->ctx->error) {
        const Op *user = queued_user(a);
        if (user) {
            c.misuse("freed while %s is queued, which uses it", user->what.c_str());
            sync_context(a->ctx);
        }
    }
    memory_free(a);
    return 0;
}

/* Modules. */

/** What a PTX text declares. */
class Ptx {
public:
    struct Entry {
        std::vector<unsigned> params;       /* bytes of each */
        unsigned max_threads = 1024;
    };
    std::string error;
    int version = 0, target = 0;
    std::map<std::string, Entry> entries;

    explicit Ptx(const char *image)
    {
        const std::string text = without_comments(image);
        size_t at = text.find(".target");
        int minor = 0;

        if (sscanf(text.c_str(), " .version %d.%d", &version, &minor) != 2)
            error = "it does not begin with .version";
        else if (at == std::string::npos || sscanf(text.c_str() + at, ".target sm_%d", &target) != 1)
            error = "it has no .target";
        else if (std::count(text.begin(), text.end(), '{') != std::count(text.begin(), text.end(), '}'))
            error = "a body does not end";
        version = version * 10 + minor;
        for (at = 0; error.empty() && (at = text.find(".entry", at)) != std::string::npos; at++)
            entry(text.substr(at, text.find('{', at) - at));
    }

private:
    static std::string without_comments(const char *p)
    {
        std::string text;

        while (*p) {
            if (p[0] == '/' && p[1] == '/') {
                p += strcspn(p, "\n");
            } else if (p[0] == '/' && p[1] == '*') {
                const char *end = strstr(p + 2, "*/");
                p = end ? end + 2 : p + strlen(p);
                text += ' ';
            } else {
                text += *p++;
            }
        }
        return text;
    }
    /** .entry name( .param .align 8 .b8 param[48] , ... ) .maxntid 64, 1, 1 */
    void entry(const std::string &head)
    {
        static const std::regex name_of("\\.entry\\s+([\\w.$%]+)"), param("\\.param\\s+([^,)]+)"), number("\\d+"),
                                type("\\.[busf](8|16|32|64)\\b"), length("\\[\\s*(\\d+)"),
                                threads("\\.(?:max|req)ntid\\s+([\\d\\s,]+)");
        const std::sregex_iterator end;
        std::smatch found;

        std::regex_search(head, found, name_of);
        const std::string name = found[1];
        Entry &e = entries[name];
        for (std::sregex_iterator i(head.begin(), head.end(), param); i != end; ++i) {
            const std::string one = (*i)[1];
            if (!std::regex_search(one, found, type)) {
                error = "the parameters of " + name + " cannot be read";
                return;
            }
            const unsigned size = (unsigned)std::stoul(found[1]) / 8;
            e.params.push_back(std::regex_search(one, found, length) ? size * (unsigned)std::stoul(found[1]) : size);
        }
        if (std::regex_search(head, found, threads)) {
            const std::string sides = found[1];
            e.max_threads = 1;
            for (std::sregex_iterator i(sides.begin(), sides.end(), number); i != end; ++i)
                e.max_threads *= (unsigned)std::stoul(i->str());
        }
    }
};

/** Returns the newest PTX version that a driver of this version supports. */
static int ptx_of_driver(int driver)
{
    const int major = driver / 1000, minor = driver % 1000 / 10;

    if (major >= 11)
        return (major - 4) * 10 + minor;
    switch (driver / 10) {
    case 1002: return 65;
    case 1001: return 64;
    case 1000: return 63;
    case  902: return 62;
    case  901: return 61;
    case  900: return 60;
    default:   return 50;
    }
}

static int load(Call &c, CUmodule *module, const void *image)
{
    if (!module || !image)
        return c.fault(ERROR_INVALID_VALUE, "a null pointer");
    if (!memcmp(image, "\177ELF", 4) || !memcmp(image, "\x50\xed\x55\xba", 4)) {
        note("%s: not PTX; machine code cannot be run here", c.what());
        return ERROR_NO_BINARY_FOR_GPU;
    }
    /* a process loads the same modules many times */
    static auto &scanned = *new std::unordered_map<std::string, Ptx>;
    const Ptx &ptx = scanned.try_emplace((const char *)image, (const char *)image).first->second;
    if (!ptx.error.empty()) {
        note("%s: not PTX: %s", c.what(), ptx.error.c_str());
        return ERROR_INVALID_PTX;
    }
    if (ptx.version > ptx_of_driver(settings.driver))
        return ERROR_UNSUPPORTED_PTX_VERSION;
    if (ptx.target > settings.cc)
        return ERROR_INVALID_PTX;
    Module *m = new Module();
    m->ctx = c.ctx;
    for (auto &e : ptx.entries) {
        Function *f = new Function();
        f->name               = e.first;
        f->module             = m;
        f->max_threads        = e.second.max_threads;
        for (Registered *k = registered; k; k = k->next)
            if (e.first == k->name)
                f->kernel = k;
        if (f->kernel) {
            const std::vector<unsigned> host(f->kernel->sizes, f->kernel->sizes + f->kernel->nb_params);
            if (host != e.second.params) {
                std::string s;
                for (unsigned n : e.second.params)
                    s += format(" %u", n);
                s += "; compiled for the host:";
                for (unsigned n : host)
                    s += format(" %u", n);
                c.misuse("kernel %s: bytes of its parameters in the module:%s: the two are of different "
                         "sources", f->name.c_str(), s.c_str());
                f->kernel = NULL;
            }
        }
        functions.add(f);
        m->functions[e.first].reset(f);
    }
    *module = (CUmodule)modules.add(m);
    c.say("= 0x%llx", HEX(*module));
    return 0;
}

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {   0, "CUDA_SUCCESS",                       "no error" },
    {   1, "CUDA_ERROR_INVALID_VALUE",           "invalid argument" },
    {   2, "CUDA_ERROR_OUT_OF_MEMORY",           "out of memory" },
    {   3, "CUDA_ERROR_NOT_INITIALIZED",         "initialization error" },
    {   4, "CUDA_ERROR_DEINITIALIZED",           "driver shutting down" },
    { 100, "CUDA_ERROR_NO_DEVICE",               "no CUDA-capable device is detected" },
    { 101, "CUDA_ERROR_INVALID_DEVICE",          "invalid device ordinal" },
    { 200, "CUDA_ERROR_INVALID_IMAGE",           "device kernel image is invalid" },
    { 201, "CUDA_ERROR_INVALID_CONTEXT",         "invalid device context" },
    { 209, "CUDA_ERROR_NO_BINARY_FOR_GPU",       "no kernel image is available for execution on the device" },
    { 218, "CUDA_ERROR_INVALID_PTX",             "a PTX JIT compilation failed" },
    { 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain." },
    { 400, "CUDA_ERROR_INVALID_HANDLE",          "invalid resource handle" },
    { 500, "CUDA_ERROR_NOT_FOUND",               "named symbol not found" },
    { 600, "CUDA_ERROR_NOT_READY",               "device not ready" },
    { 700, "CUDA_ERROR_ILLEGAL_ADDRESS",         "an illegal memory access was encountered" },
    { 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch" },
    { 702, "CUDA_ERROR_LAUNCH_TIMEOUT",          "the launch timed out and was terminated" },
    { 708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",  "cannot set while device is active in this process" },
    { 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED",    "context is destroyed" },
    { 710, "CUDA_ERROR_ASSERT",                  "device-side assert triggered" },
    { 716, "CUDA_ERROR_MISALIGNED_ADDRESS",      "misaligned address" },
    { 719, "CUDA_ERROR_LAUNCH_FAILED",           "unspecified launch failure" },
    { 800, "CUDA_ERROR_NOT_PERMITTED",           "operation not permitted" },
    { 801, "CUDA_ERROR_NOT_SUPPORTED",           "operation not supported" },
    { 999, "CUDA_ERROR_UNKNOWN",                 "unknown error" },
};

} // namespace standin

/* Errors: not counted, and never made to fail. */

LOADED(cuGetErrorName)(CUresult error, const char **p)
{
    *p = NULL;
    for (auto &e : errors)
        if (e.code == (int)error)
            *p = e.name;
    return (CUresult)(*p ? 0 : ERROR_INVALID_VALUE);
}

LOADED(cuGetErrorString)(CUresult error, const char **p)
{
    *p = NULL;
    for (auto &e : errors)
        if (e.code == (int)error)
            *p = e.text;
    return (CUresult)(*p ? 0 : ERROR_INVALID_VALUE);
}

/* Initialisation and devices. */

LOADED(cuInit)(unsigned int flags)
{
    ENTER_OR_RETURN(PLAIN, "%u", flags);
    if (!settings.devices)
        return c.end_plain(ERROR_NO_DEVICE);
    initialised = true;
    return c.end_plain(flags ? ERROR_INVALID_VALUE : 0);
}

LOADED(cuDriverGetVersion)(int *version)
{
    ENTER_OR_RETURN(PLAIN, NO_ARGUMENTS);
    *version = settings.driver;
    return c.end_plain(0);
}

LOADED(cuDeviceGetCount)(int *count)
{
    ENTER_OR_RETURN(NEEDS_INIT, NO_ARGUMENTS);
    *count = settings.devices;
    return c.end_plain(0);
}

LOADED(cuDeviceGet)(CUdevice *device, int ordinal)
{
    ENTER_OR_RETURN(NEEDS_INIT, "%d", ordinal);
    if (ordinal < 0 || ordinal >= settings.devices)
        return c.end_plain(ERROR_INVALID_DEVICE);
    *device = ordinal;
    return c.end_plain(0);
}

LOADED(cuDeviceGetAttribute)(int *value, CUdevice_attribute which, CUdevice dev)
{
    ENTER_DEVICE_OR_RETURN(dev, NEEDS_INIT, "%d, %d", (int)which, dev);
    switch ((int)which) {
    case 14: *value = 512;                              break;  /* texture alignment */
    case 16: *value = settings.multiprocessors;         break;
    case 75: *value = settings.cc / 10;                 break;
    case 76: *value = settings.cc % 10;                 break;
    case 81: *value = (int)shared_per_sm(settings.cc);  break;
    default: return c.end_plain(c.fault(ERROR_NOT_SUPPORTED, "the stand-in does not know this attribute"));
    }
    return c.end_plain(0);
}

LOADED(cuDeviceGetName)(char *name, int len, CUdevice dev)
{
    ENTER_DEVICE_OR_RETURN(dev, NEEDS_INIT, "%d", dev);
    snprintf(name, len, "Stand-in %d", dev);
    return c.end_plain(0);
}

static CUresult get_uuid(const char *name, CUuuid *uuid, CUdevice dev)
{
    Call c(name, "%d", dev);
    if (!c.enter_device(NEEDS_INIT, dev))
        return c.result();
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i == 15 ? dev : 0x50 + i);
    return c.end_plain(0);
}

LOADED(cuDeviceGetUuid)(CUuuid *uuid, CUdevice dev)    { return get_uuid("cuDeviceGetUuid", uuid, dev); }
LOADED(cuDeviceGetUuid_v2)(CUuuid *uuid, CUdevice dev) { return get_uuid("cuDeviceGetUuid_v2", uuid, dev); }

LOADED(cuDeviceComputeCapability)(int *major, int *minor, CUdevice dev)
{
    ENTER_DEVICE_OR_RETURN(dev, NEEDS_INIT, "%d", dev);
    *major = settings.cc / 10;
    *minor = settings.cc % 10;
    return c.end_plain(0);
}

/* Contexts. */

LOADED(cuCtxCreate_v2)(CUcontext *p, unsigned int flags, CUdevice dev)
{
    ENTER_DEVICE_OR_RETURN(dev, NEEDS_INIT, "0x%x, %d", flags, dev);
    Context *ctx = context_new(dev, false);
    stack.list.push_back(ctx);
    *p = (CUcontext)contexts.handle(ctx);
    c.say("= 0x%llx", HEX(*p));
    return c.end_plain(0);
}

LOADED(cuCtxDestroy_v2)(CUcontext handle)
{
    ENTER_OR_RETURN(NEEDS_INIT | RELEASES, "0x%llx", HEX(handle));
    Context *ctx = need(c, contexts, handle, "context");
    if (!ctx)
        return c.end_plain(ERROR_INVALID_CONTEXT);
    if (ctx->primary)
        return c.end_plain(c.fault(ERROR_INVALID_CONTEXT, "the primary context is released, not destroyed"));
    const int error = ctx->error;
    auto &list = stack.list;
    if (top() == ctx)
        list.pop_back();
    if (std::find(list.begin(), list.end(), ctx) != list.end()) {
        c.misuse("the thread has the context pushed still");
        list.erase(std::remove(list.begin(), list.end(), ctx), list.end());
    }
    context_delete(ctx);
    c.ctx = NULL;
    return c.end_plain(error);
}

LOADED(cuCtxPushCurrent_v2)(CUcontext handle)
{
    ENTER_OR_RETURN(NEEDS_INIT, "0x%llx", HEX(handle));
    Context *ctx = need(c, contexts, handle, "context");
    if (!ctx)
        return c.end_plain(ERROR_INVALID_CONTEXT);
    stack.list.push_back(ctx);
    return c.end_plain(0);
}

LOADED(cuCtxPopCurrent_v2)(CUcontext *p)
{
    ENTER_OR_RETURN(NEEDS_INIT | RELEASES, NO_ARGUMENTS);
    if (stack.list.empty()) {
        if (!push_failed())
            c.misuse("nothing is pushed");
        return c.end_plain(ERROR_INVALID_CONTEXT);
    }
    if (p)
        *p = (CUcontext)contexts.handle(top());
    stack.list.pop_back();
    return c.end_plain(0);
}

LOADED(cuCtxGetCurrent)(CUcontext *p)
{
    ENTER_OR_RETURN(NEEDS_INIT, NO_ARGUMENTS);
    *p = (CUcontext)(top() ? contexts.handle(top()) : 0);
    return c.end_plain(0);
}

LOADED(cuCtxGetDevice)(CUdevice *dev)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, NO_ARGUMENTS);
    *dev = c.ctx->device;
    return c.end(0);
}

API cuCtxSynchronize(void)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, NO_ARGUMENTS);
    sync_context(c.ctx);
    return c.end(0);
}

LOADED(cuDevicePrimaryCtxRetain)(CUcontext *p, CUdevice dev)
{
    ENTER_DEVICE_OR_RETURN(dev, NEEDS_INIT, "%d", dev);
    Primary &primary = primaries[dev];
    if (!primary.references++)
        primary.ctx = context_new(dev, true);
    *p = (CUcontext)contexts.handle(primary.ctx);
    c.say("= 0x%llx", HEX(*p));
    return c.end_plain(0);
}

static CUresult primary_release(const char *name, CUdevice dev)
{
    Call c(name, "%d", dev);
    if (!c.enter_device(NEEDS_INIT | RELEASES, dev))
        return c.result();
    Primary &primary = primaries[dev];
    if (!primary.references)
        return c.end_plain(c.fault(ERROR_INVALID_CONTEXT, "it is not retained"));
    if (!--primary.references) {
        Context *ctx = primary.ctx;
        primary.ctx = NULL;
        stack.list.erase(std::remove(stack.list.begin(), stack.list.end(), ctx), stack.list.end());
        context_delete(ctx);
        c.ctx = NULL;
    }
    return c.end_plain(0);
}

LOADED(cuDevicePrimaryCtxRelease)(CUdevice dev) { return primary_release("cuDevicePrimaryCtxRelease", dev); }
API cuDevicePrimaryCtxRelease_v2(CUdevice dev)  { return primary_release("cuDevicePrimaryCtxRelease_v2", dev); }

LOADED(cuDevicePrimaryCtxSetFlags)(CUdevice dev, unsigned int flags)
{
    ENTER_DEVICE_OR_RETURN(dev, NEEDS_INIT, "%d, 0x%x", dev, flags);
    primaries[dev].flags = flags;
    return c.end_plain(0);
}

LOADED(cuDevicePrimaryCtxGetState)(CUdevice dev, unsigned int *flags, int *active)
{
    ENTER_DEVICE_OR_RETURN(dev, NEEDS_INIT, "%d", dev);
    *flags  = primaries[dev].flags;
    *active = primaries[dev].references > 0;
    return c.end_plain(0);
}

/* Memory. */

LOADED(cuMemAlloc_v2)(CUdeviceptr *p, size_t size)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%zu", size);
    uintptr_t at = 0;
    int ret = allocate(c, ALLOC_DEVICE, size, false, &at);
    if (!ret)
        *p = at;
    return c.end(ret);
}

LOADED(cuMemAllocPitch_v2)(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned int element)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%zu, %zu, %u", width, height, element);
    uintptr_t at = 0;
    if (element != 4 && element != 8 && element != 16)
        return c.end(c.fault(ERROR_INVALID_VALUE, "elements of %u bytes", element));
    const size_t row = (width + 511) & ~(size_t)511;
    int ret = allocate(c, ALLOC_DEVICE, row * height, false, &at);
    if (!ret) {
        *p     = at;
        *pitch = row;
    }
    return c.end(ret);
}

static CUresult free_memory(const char *name, AllocKind kind, uintptr_t p)
{
    Call c(name, "0x%llx", HEX(p));
    if (c.enter(NEEDS_CONTEXT | RELEASES))
        return c.end(release(c, kind, p));
    /* if the context could not be pushed, the program has tried to free the memory */
    Alloc *a = push_failed() ? memory_exact(p) : NULL;
    if (a && a->base == p && a->kind == kind)
        release(c, kind, p);
    return c.result();
}

LOADED(cuMemFree_v2)(CUdeviceptr p) { return free_memory("cuMemFree_v2", ALLOC_DEVICE, p); }
API cuMemFreeHost(void *p) { return free_memory("cuMemFreeHost", ALLOC_PINNED, (uintptr_t)p); }

API cuMemGetInfo_v2(size_t *free, size_t *total)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, NO_ARGUMENTS);
    const u64 used = memory_used(c.ctx->device);
    *total = settings.memory;
    *free  = used < settings.memory ? settings.memory - used : 0;
    return c.end(0);
}

enum { HOSTALLOC_PORTABLE = 1, HOSTALLOC_DEVICEMAP = 2, HOSTALLOC_WRITECOMBINED = 4 };

API cuMemHostAlloc(void **p, size_t size, unsigned int flags)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%zu, 0x%x", size, flags);
    uintptr_t at = 0;
    if (flags & ~(HOSTALLOC_PORTABLE | HOSTALLOC_DEVICEMAP | HOSTALLOC_WRITECOMBINED))
        return c.end(c.fault(ERROR_INVALID_VALUE, "flags"));
    int ret = allocate(c, ALLOC_PINNED, size, flags & HOSTALLOC_PORTABLE, &at);
    if (!ret)
        *p = (void *)at;
    return c.end(ret);
}

/* Copies and sets. */

#define DEVICE CU_MEMORYTYPE_DEVICE
#define HOST   CU_MEMORYTYPE_HOST
#define ANY    ((CUmemorytype)MEMORYTYPE_UNIFIED)

/* a function that waits, and one that does not */
#define COPY(name, async, dst_type, to, src_type, from)                                  \
    LOADED(name)(dst_type dst, src_type src, size_t size)                                \
    {                                                                                    \
        ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx, 0x%llx, %zu", HEX(dst), HEX(src), size); \
        return c.end(copy_linear(c, NULL, to, (uintptr_t)dst, from, (uintptr_t)src, size, true));  \
    }                                                                                    \
    LOADED(async)(dst_type dst, src_type src, size_t size, CUstream stream)              \
    {                                                                                    \
        ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx, 0x%llx, %zu, 0x%llx", HEX(dst), HEX(src), size, HEX(stream));  \
        return c.end_plain(copy_linear(c, stream, to, (uintptr_t)dst, from, (uintptr_t)src, size, false)); \
    }
COPY(cuMemcpy, cuMemcpyAsync, CUdeviceptr, ANY, CUdeviceptr, ANY)
COPY(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, CUdeviceptr, DEVICE, const void *, HOST)
COPY(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, void *, HOST, CUdeviceptr, DEVICE)
COPY(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, CUdeviceptr, DEVICE, CUdeviceptr, DEVICE)

static std::string describe_2d(const CUDA_MEMCPY2D *p)
{
    static const char *const types[] = { "?", "host", "device", "array", "unified" };
    if (!p)
        return "NULL";
    return format("%s 0x%llx pitch %zu to %s 0x%llx pitch %zu, %zu x %zu",
                  types[(unsigned)p->srcMemoryType < 5 ? (unsigned)p->srcMemoryType : 0],
                  p->srcMemoryType == HOST ? HEX(p->srcHost) : (unsigned long long)p->srcDevice, p->srcPitch,
                  types[(unsigned)p->dstMemoryType < 5 ? (unsigned)p->dstMemoryType : 0],
                  p->dstMemoryType == HOST ? HEX(p->dstHost) : (unsigned long long)p->dstDevice, p->dstPitch,
                  p->WidthInBytes, p->Height);
}

LOADED(cuMemcpy2D_v2)(const CUDA_MEMCPY2D *p)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%s", describe_2d(p).c_str());
    return c.end(copy_2d(c, NULL, p, true));
}

LOADED(cuMemcpy2DAsync_v2)(const CUDA_MEMCPY2D *p, CUstream stream)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%s, 0x%llx", describe_2d(p).c_str(), HEX(stream));
    return c.end_plain(copy_2d(c, stream, p, false));
}

LOADED(cuMemsetD8Async)(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx, %u, %zu, 0x%llx", HEX(dst), value, n, HEX(stream));
    Stream *s = need_stream(c, stream);
    Range2D to;
    if (!s)
        return c.end_plain(ERROR_INVALID_HANDLE);
    int ret = side(c, to, "destination", CU_MEMORYTYPE_DEVICE, dst, n, n, 1);
    if (ret || !n)
        return c.end_plain(ret);
    Op *op = op_new(s, Op::SET, c.what());
    op->dst   = to;
    op->value = value;
    op_queue(op);
    return c.end_plain(0);
}

/* Streams. */

LOADED(cuStreamCreate)(CUstream *p, unsigned int flags)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%u", flags);
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return c.end(c.fault(ERROR_INVALID_VALUE, "flags"));
    *p = (CUstream)streams.add(stream_new(c.ctx, flags, false));
    c.say("= 0x%llx", HEX(*p));
    return c.end(0);
}

LOADED(cuStreamDestroy_v2)(CUstream handle)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT | RELEASES, "0x%llx", HEX(handle));
    NEED_OR_RETURN(s, streams, handle, "stream");
    streams.remove(handle);
    stream_destroy(s);
    return c.end(0);
}

LOADED(cuStreamSynchronize)(CUstream handle)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx", HEX(handle));
    Stream *s = need_stream(c, handle);
    if (!s)
        return c.end(ERROR_INVALID_HANDLE);
    sync_stream(s);
    return c.end(0);
}

LOADED(cuStreamWaitEvent)(CUstream handle, CUevent event, unsigned int flags)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx, 0x%llx, %u", HEX(handle), HEX(event), flags);
    Stream *s = need_stream(c, handle);
    Event *e = need(c, events, event, "event");
    if (!s || !e)
        return c.end_plain(ERROR_INVALID_HANDLE);
    if (!e->mark)               /* never recorded, so there is nothing to wait for */
        return c.end_plain(0);
    Op *op = op_new(s, Op::WAIT, c.what());
    if (!mark_done(*e->mark))
        op->deps.push_back(std::make_pair(e->mark->stream, e->mark->seq));
    op->clock.join(e->mark->clock);
    op_queue(op);
    return c.end_plain(0);
}

/* Events. */

LOADED(cuEventCreate)(CUevent *p, unsigned int flags)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%u", flags);
    if (flags & ~7U)
        return c.end(c.fault(ERROR_INVALID_VALUE, "flags"));
    Event *e = new Event();
    e->ctx   = c.ctx;
    e->flags = flags;
    *p = (CUevent)events.add(e);
    c.say("= 0x%llx", HEX(*p));
    return c.end(0);
}

LOADED(cuEventDestroy_v2)(CUevent handle)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT | RELEASES, "0x%llx", HEX(handle));
    NEED_OR_RETURN(e, events, handle, "event");
    events.remove(handle);
    delete e;
    return c.end(0);
}

LOADED(cuEventRecord)(CUevent handle, CUstream stream)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx, 0x%llx", HEX(handle), HEX(stream));
    Event *e = need(c, events, handle, "event");
    Stream *s = need_stream(c, stream);
    if (!s || !e)
        return c.end_plain(ERROR_INVALID_HANDLE);
    if (e->ctx != s->ctx)
        return c.end_plain(c.fault(ERROR_INVALID_HANDLE, "event and stream are of different contexts"));
    e->mark = std::make_shared<Mark>();
    Op *op = op_new(s, Op::RECORD, c.what());
    op->mark = e->mark;
    op_queue(op);
    return c.end_plain(0);
}

LOADED(cuEventSynchronize)(CUevent handle)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx", HEX(handle));
    NEED_OR_RETURN(e, events, handle, "event");
    if (e->mark)
        sync_mark(*e->mark);
    return c.end(e->ctx->error);
}

LOADED(cuEventQuery)(CUevent handle)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx", HEX(handle));
    NEED_OR_RETURN(e, events, handle, "event");
    if (e->mark) {
        const std::shared_ptr<Mark> mark = e->mark;
        progress(mark.get());
        if (!mark_done(*mark))
            return c.end(CUDA_ERROR_NOT_READY);
        host_knows(mark->clock);
    }
    return c.end(e->ctx->error);
}

API cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx, 0x%llx", HEX(from), HEX(to));
    Event *a = need(c, events, from, "event"), *b = need(c, events, to, "event");
    if (!a || !b)
        return c.end(ERROR_INVALID_HANDLE);
    if ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING)
        return c.end(c.fault(ERROR_INVALID_HANDLE, "an event was made without timing"));
    if (!a->mark || !b->mark)
        return c.end(c.fault(ERROR_INVALID_HANDLE, "an event was never recorded"));
    if (!a->mark->done || !b->mark->done)
        return c.end(CUDA_ERROR_NOT_READY);
    *ms = (float)((b->mark->time - a->mark->time) * 1e3);
    return c.end(0);
}

/* Modules and launches. */

LOADED(cuModuleLoadData)(CUmodule *module, const void *image)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, NO_ARGUMENTS);
    return c.end(load(c, module, image));
}

LOADED(cuModuleUnload)(CUmodule handle)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT | RELEASES, "0x%llx", HEX(handle));
    NEED_OR_RETURN(m, modules, handle, "module");
    const Op *user = queued_user_module(m);
    if (user) {
        c.misuse("unloaded while %s is queued, which is of it", user->what.c_str());
        sync_context(m->ctx);
    }
    modules.remove(handle);
    module_delete(m);
    return c.end(0);
}

LOADED(cuModuleGetFunction)(CUfunction *p, CUmodule handle, const char *name)
{
    ENTER_OR_RETURN(NEEDS_CONTEXT, "0x%llx, %s", HEX(handle), name ? name : "NULL");
    NEED_OR_RETURN(m, modules, handle, "module");
    auto f = m->functions.find(name);
    if (f == m->functions.end())
        return c.end(ERROR_NOT_FOUND);
    if (!f->second->kernel) {
        note("kernel %s is in the module, but has not been compiled for the host", name);
        return c.end(ERROR_NOT_FOUND);
    }
    *p = (CUfunction)functions.handle(f->second.get());
    c.say("= 0x%llx", HEX(*p));
    return c.end(0);
}

LOADED(cuLaunchKernel)(CUfunction handle, unsigned int gx, unsigned int gy, unsigned int gz,
                   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                   CUstream stream, void **params, void **extra)
{
    Function *known = functions.get(handle);
    ENTER_OR_RETURN(NEEDS_CONTEXT, "%s, %u %u %u, %u %u %u, %u, 0x%llx",
           known ? known->name.c_str() : "?", gx, gy, gz, bx, by, bz, shared, HEX(stream));
    Function *f = need(c, functions, handle, "function");
    Stream *s = need_stream(c, stream);
    if (!f || !s)
        return c.end_plain(ERROR_INVALID_HANDLE);
    if (f->module->ctx != c.ctx)
        return c.end_plain(c.fault(ERROR_INVALID_HANDLE, "the function is of another context"));
    if (!gx || !gy || !gz || gx > 2147483647U || gy > 65535 || gz > 65535)
        return c.end_plain(c.fault(ERROR_INVALID_VALUE, "a grid of these sizes"));
    if (!bx || !by || !bz || bx > 1024 || by > 1024 || bz > 64 || (u64)bx * by * bz > 1024)
        return c.end_plain(c.fault(ERROR_INVALID_VALUE, "a block of these sizes"));
    if (bx * by * bz > f->max_threads)
        return c.end_plain(c.fault(ERROR_LAUNCH_OUT_OF_RESOURCES, "the kernel is bound to %u threads", f->max_threads));
    if ((u64)gx * gy * gz > 1 << 26)
        return c.end_plain(c.fault(ERROR_INVALID_VALUE, "more blocks than can be run here"));
    if (shared > 48 * 1024)     /* more needs cuFuncSetAttribute() */
        return c.end_plain(c.fault(ERROR_INVALID_VALUE, "more than 48 KiB of shared memory"));
    if (extra || (!params && f->kernel->nb_params))
        return c.end_plain(c.fault(ERROR_INVALID_VALUE, "parameters have to be in kernelParams"));
    Op *op = op_new(s, Op::LAUNCH, ("kernel " + f->name).c_str());
    op->function = f;
    op->grid[0]  = gx;
    op->grid[1]  = gy;
    op->grid[2]  = gz;
    op->block[0] = bx;
    op->block[1] = by;
    op->block[2] = bz;
    op->shared   = shared;
    for (int i = 0; i < f->kernel->nb_params; i++) {
        const size_t size = f->kernel->sizes[i];
        const size_t at = (op->params.size() + 15) & ~(size_t)15;
        op->params.resize(at + size);
        memcpy(&op->params[at], params[i], size);
        op->param_offsets.push_back((u32)at);
    }
    if (op->params.size() > 4096) {
        delete op;
        return c.end_plain(c.fault(ERROR_INVALID_VALUE, "more than 4096 bytes of parameters"));
    }
    op_queue(op);
    return c.end_plain(0);
}

/* Not supported: neither the project nor the FFmpeg code that it uses calls these, so parameters are left out. */

#define UNSUPPORTED(name)                                                                \
    API name(void)                                                                       \
    {                                                                                    \
        ENTER_OR_RETURN(PLAIN, NO_ARGUMENTS);                                            \
        return c.end_plain(ERROR_NOT_SUPPORTED);                                         \
    }
UNSUPPORTED(cuMemAllocManaged)
UNSUPPORTED(cuCtxSetLimit)
UNSUPPORTED(cuDeviceGetPCIBusId)
UNSUPPORTED(cuDeviceGetByPCIBusId)
UNSUPPORTED(cuDevicePrimaryCtxReset)
UNSUPPORTED(cuStreamQuery)
UNSUPPORTED(cuStreamAddCallback)
UNSUPPORTED(cuModuleGetGlobal)
UNSUPPORTED(cuLinkCreate)
UNSUPPORTED(cuLinkAddData)
UNSUPPORTED(cuLinkComplete)
UNSUPPORTED(cuLinkDestroy)
UNSUPPORTED(cuTexObjectCreate)
UNSUPPORTED(cuTexObjectDestroy)
UNSUPPORTED(cuGLGetDevices_v2)
UNSUPPORTED(cuGraphicsGLRegisterImage)
UNSUPPORTED(cuGraphicsUnregisterResource)
UNSUPPORTED(cuGraphicsMapResources)
UNSUPPORTED(cuGraphicsUnmapResources)
UNSUPPORTED(cuGraphicsSubResourceGetMappedArray)
UNSUPPORTED(cuGraphicsResourceGetMappedPointer_v2)
UNSUPPORTED(cuArrayCreate_v2)
UNSUPPORTED(cuArray3DCreate_v2)
UNSUPPORTED(cuArrayDestroy)
