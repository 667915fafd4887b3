/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */


/**
 * @file
 * Settings from the environment, violations, and the end of the process: a process with a violation
 * ends with status 86, whatever its own status is.
 */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <set>

#include "standin.h"

#define EXPORT extern "C" __attribute__((visibility("default"), used))

namespace standin {

Settings &settings = *new Settings();   /* outlives every destructor */
const char *injected;

enum { EXIT_VIOLATION = 86, MAX_PRINTED = 40 };

static u64 rnd_state = 1;
static unsigned nb_violations, nb_printed;
static std::set<u64> &keys = *new std::set<u64>;
static std::string &last = *new std::string;
static std::map<std::string, u64> &calls = *new std::map<std::string, u64>;
static u64 nb_calls, nb_named, first_call;
static FILE *trace;

u64 rnd()
{
    rnd_state ^= rnd_state >> 12;
    rnd_state ^= rnd_state << 25;
    rnd_state ^= rnd_state >> 27;
    return rnd_state * 0x2545F4914F6CDD1DULL;
}

std::string vformat(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    std::string s(vsnprintf(NULL, 0, fmt, again), '\0');
    va_end(again);
    vsnprintf(&s[0], s.size() + 1, fmt, ap);
    return s;
}

std::string format(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    std::string s = vformat(fmt, ap);
    va_end(ap);
    return s;
}

bool violation_known(u64 key)
{
    return key && keys.count(key);
}

void violation(u64 key, const char *fmt, ...)
{
    va_list ap;

    if (key && !keys.insert(key).second)
        return;
    va_start(ap, fmt);
    last = vformat(fmt, ap);
    va_end(ap);
    nb_violations++;
    if (trace)
        fprintf(trace, "! %s\n", last.c_str());
    if (nb_printed < MAX_PRINTED) {
        nb_printed++;
        fprintf(stderr, "standin: %s (seed %llu)\n", last.c_str(), (unsigned long long)settings.seed);
    }
    if (settings.abort_at_once)
        abort();
}

bool push_failed()
{
    return injected && (!strcmp(injected, "cuCtxPushCurrent_v2") ||
                        !strcmp(injected, "cuCtxCreate_v2"));
}

bool copy_failed()
{
    return injected && (!strncmp(injected, "cuMemcpy", 8) || !strncmp(injected, "cuMemset", 8));
}

void note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "standin: %s\n", vformat(fmt, ap).c_str());
    va_end(ap);
}

std::string source_of(const void *pc)
{
    Dl_info info;
    char line[512] = "";

    if (!pc || !dladdr(pc, &info) || !info.dli_fname)
        return "";
    /* the call is before the return address */
    const size_t offset = (const char *)pc - 1 - (const char *)info.dli_fbase;
    if (nb_printed < MAX_PRINTED) {
        std::string command = format("LD_PRELOAD= addr2line -Cfpe '%s' 0x%zx 2>/dev/null",
                                     info.dli_fname, offset);
        FILE *f = popen(command.c_str(), "r");
        if (f) {
            if (!fgets(line, sizeof(line), f))
                line[0] = '\0';
            pclose(f);
        }
    }
    line[strcspn(line, "\n")] = '\0';
    if (!line[0] || strchr(line, '?'))
        return format(" [%s+0x%zx]", info.dli_fname, offset);
    return format(" [%s]", line);
}

bool count_call(const char *name)
{
    nb_calls++;
    calls[name]++;
    if (!settings.fail_at)
        return false;
    if (!settings.fail_name.empty() && settings.fail_name != name)
        return false;
    return ++nb_named == settings.fail_at;
}

/* Sets the number of the failing call, as GPUME_STANDIN_FAIL does, counted from now on. */
static u64 fail_from_now(u64 n)
{
    const u64 made = nb_calls - first_call;

    settings.fail_name.clear();
    settings.fail_at = n;
    nb_named   = 0;
    first_call = nb_calls;
    return made;
}

void trace_call(const char *name, const char *args, int result)
{
    static unsigned nb_threads;
    static thread_local unsigned thread;

    if (!trace)
        return;
    if (!thread)
        thread = ++nb_threads;
    fprintf(trace, "%llu %u %s %s = %d\n", (unsigned long long)nb_calls, thread, name, args, result);
    fflush(trace);
}

static u64 number(const char *name, u64 otherwise, u64 least, u64 most)
{
    const char *s = getenv(name);
    char *end;

    if (!s || !*s)
        return otherwise;
    errno = 0;
    u64 value = strtoull(s, &end, 0);
    if (errno || *end || value < least || value > most || *s == '-') {
        fprintf(stderr, "standin: %s=%s: not a number from %llu to %llu\n", name, s,
                (unsigned long long)least, (unsigned long long)most);
        _exit(EXIT_VIOLATION);
    }
    return value;
}

static FILE *open_for_writing(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "standin: %s: %s\n", path, strerror(errno));
        _exit(EXIT_VIOLATION);
    }
    return f;
}

void settings_init()
{
    Settings &s = settings;
    const char *text;
    static const char *const orders[] = { "lazy", "mixed", "eager" };

    s.seed            = number("GPUME_STANDIN_SEED", 0, 0, UINT64_MAX);
    s.devices         = (int)number("GPUME_STANDIN_DEVICES", 1, 0, 16);
    s.driver          = (int)number("GPUME_STANDIN_DRIVER", 12040, 1000, 99990);
    s.multiprocessors = (int)number("GPUME_STANDIN_SMS", 40, 1, 1000);
    s.memory          = number("GPUME_STANDIN_MEMORY", (u64)8 << 30, 0, UINT64_MAX);
    s.pinned          = number("GPUME_STANDIN_PINNED", (u64)8 << 30, 0, UINT64_MAX);
    s.protect         = number("GPUME_STANDIN_PROTECT", 1, 0, 1);
    s.leaks           = number("GPUME_STANDIN_LEAKS", 1, 0, 1);
    s.abort_at_once   = number("GPUME_STANDIN_ABORT", 0, 0, 1);
    s.max_accesses    = number("GPUME_STANDIN_MAX_ACCESSES", (u64)1 << 31, 1, UINT64_MAX >> 1);
    s.fail_code       = (int)number("GPUME_STANDIN_FAIL_CODE", 999, 1, 999);
    s.fail_sticky     = number("GPUME_STANDIN_FAIL_STICKY", 0, 0, 1);
    s.order           = (int)(s.seed % NB_ORDERS);
    if ((text = getenv("GPUME_STANDIN_ORDER")) && *text) {
        for (s.order = 0; s.order < NB_ORDERS && strcmp(text, orders[s.order]); s.order++)
            ;
        if (s.order == NB_ORDERS) {
            fprintf(stderr, "standin: GPUME_STANDIN_ORDER=%s: not lazy, mixed or eager\n", text);
            _exit(EXIT_VIOLATION);
        }
    }
    s.cc = 75;
    if ((text = getenv("GPUME_STANDIN_CC")) && *text) {
        int major, minor, n = 0;
        if (sscanf(text, "%d.%d%n", &major, &minor, &n) != 2 || text[n] ||
            major < 3 || major > 99 || minor < 0 || minor > 9) {
            fprintf(stderr, "standin: GPUME_STANDIN_CC=%s: not a compute capability as 7.5\n", text);
            _exit(EXIT_VIOLATION);
        }
        s.cc = 10 * major + minor;
    }
    /* N, or NAME:N */
    if ((text = getenv("GPUME_STANDIN_FAIL")) && *text) {
        const char *colon = strchr(text, ':');
        if (colon)
            s.fail_name.assign(text, colon - text);
        s.fail_at = strtoull(colon ? colon + 1 : text, NULL, 10);
        if (!s.fail_at) {
            fprintf(stderr, "standin: GPUME_STANDIN_FAIL=%s: not N or NAME:N, N from 1\n", text);
            _exit(EXIT_VIOLATION);
        }
    }
    if ((text = getenv("GPUME_STANDIN_COUNT")))
        s.count_file = text;
    if ((text = getenv("GPUME_STANDIN_TRACE")))
        s.trace_file = text;
    if (!s.trace_file.empty())
        trace = open_for_writing(s.trace_file.c_str());
    rnd_state = (s.seed + 1) * 0x9E3779B97F4A7C15ULL;
    for (int i = 0; i < 8; i++)
        rnd();
}

__attribute__((destructor)) static void at_exit()
{
    if (settings.leaks && !push_failed())
        report_leaks();
    if (!settings.count_file.empty()) {
        FILE *f = open_for_writing(settings.count_file.c_str());
        fprintf(f, "total %llu\n", (unsigned long long)nb_calls);
        for (auto &c : calls)
            fprintf(f, "%s %llu\n", c.first.c_str(), (unsigned long long)c.second);
        fprintf(f, "accesses %llu\n", (unsigned long long)now.accesses);
        fprintf(f, "violations %u\n", nb_violations);
        fprintf(f, "injected %s\n", injected ? injected : "none");
        fclose(f);
    }
    if (trace)
        fclose(trace);
    trace = NULL;
    if (nb_violations) {
        fprintf(stderr, "standin: %u violation%s\n", nb_violations, nb_violations > 1 ? "s" : "");
        fflush(NULL);
        _exit(EXIT_VIOLATION);
    }
}

} // namespace standin

/*
 * For tests of the stand-in: return the number of violations and the text of the last one. Both
 * functions reset the violations.
 */
EXPORT unsigned gpume_standin_violations(void)
{
    unsigned n = standin::nb_violations;
    standin::nb_violations = 0;
    standin::keys.clear();
    return n;
}

EXPORT const char *gpume_standin_last(void)
{
    return standin::last.c_str();
}

/*
 * For tests of the filter: makes the n-th call from now on fail; 0: none. Returns the number of
 * calls since the last call of this function. No other thread may call the driver at the same time.
 */
EXPORT unsigned long long gpume_standin_fail(unsigned long long n)
{
    return standin::fail_from_now(n);
}

EXPORT unsigned long long gpume_standin_accesses(void)
{
    return standin::now.accesses;
}
