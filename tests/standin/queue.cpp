/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */


/**
 * @file
 * Streams and events. Work is queued, and runs when something waits for it. The seed chooses one of
 * the orders that streams and events allow, so unordered work does run in the wrong order. Every
 * operation has a clock: the operations ordered before it. With clocks, check.cpp finds unordered
 * accesses whatever the actual order was.
 */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "standin.h"

namespace standin {

void Clock::raise(u32 stream, u64 value)
{
    if (stream >= seq.size())
        seq.resize(stream + 1);
    seq[stream] = std::max(seq[stream], value);
}

void Clock::join(const Clock &other)
{
    if (seq.size() < other.seq.size())
        seq.resize(other.seq.size());
    for (size_t i = 0; i < other.seq.size(); i++)
        seq[i] = std::max(seq[i], other.seq[i]);
}

/* Indexed by stream id. An id is reused when the host knows that all work of the stream is done. */
struct Slot {
    Stream *stream;
    u64 queued, done;
};
static std::vector<Slot> &slots = *new std::vector<Slot>;

static Clock &host = *new Clock;    ///< the operations that the host knows to be done

/** An operation that has run. */
struct Ran {
    u64 start, end;
    u32 stream;
    u64 seq;
    std::string what;
};
static std::vector<Ran> &ran = *new std::vector<Ran>;   ///< sorted by start
static const Op *running;
static u64 nb_ran;              ///< number of operations that have run

/* Streams. */

Stream *stream_new(Context *ctx, unsigned flags, bool is_default)
{
    Stream *s = new Stream();
    u32 id = 0;

    while (id < slots.size() && (slots[id].stream || host.at(id) < slots[id].queued))
        id++;
    if (id == slots.size())
        slots.push_back(Slot());
    slots[id].stream = s;
    s->ctx        = ctx;
    s->id         = id;
    s->flags      = flags;
    s->is_default = is_default;
    s->queued     = s->done = slots[id].queued;
    ctx->streams.push_back(s);
    return s;
}

/** Frees a destroyed stream when its work is done. */
static void stream_reap(Stream *s)
{
    if (!s->destroyed || s->done < s->queued)
        return;
    slots[s->id].stream = NULL;
    auto &list = s->ctx->streams;
    list.erase(std::find(list.begin(), list.end(), s));
    delete s;
}

void stream_destroy(Stream *s)
{
    s->destroyed = true;
    stream_reap(s);
}

static Op *head(const Stream *s)
{
    return s->head < s->ops.size() ? s->ops[s->head] : NULL;
}

static void pop(Stream *s)
{
    Op *op = head(s);

    s->done = slots[s->id].done = op->seq;
    s->head++;
    if (s->head == s->ops.size()) {
        s->ops.clear();
        s->head = 0;
    }
    delete op;
}

void context_drop_ops(Context *ctx)
{
    for (Stream *s : std::vector<Stream *>(ctx->streams)) {
        while (head(s)) {
            if (head(s)->mark)
                head(s)->mark->done = true;
            pop(s);
        }
        stream_reap(s);
    }
}

/* Queueing. */

Op *op_new(Stream *s, Op::Type type, const char *what)
{
    Op *op = new Op();

    op->type   = type;
    op->stream = s;
    op->what   = s->is_default ? format("%s in the default stream", what) :
                                 format("%s in stream %u", what, s->id);
    return op;
}

/**
 * Orders an operation after the operations of another stream; the default stream and other streams
 * wait for each other.
 */
static void order_after(Op *op, const Stream *other)
{
    if (other->queued > slots[other->id].done)
        op->deps.push_back(std::make_pair(other->id, other->queued));
    op->clock.join(other->clock);
}

static bool overlaps(const Alloc *a, const Op *op)
{
    if (op->type == Op::COPY || op->type == Op::SET)
        return op->src.alloc == a || op->dst.alloc == a;
    if (op->type != Op::LAUNCH)
        return false;
    /* a kernel uses the allocations into which its parameters point */
    for (size_t i = 0; i + 8 <= op->params.size(); i += 4) {
        u64 value;
        memcpy(&value, &op->params[i], 8);
        if (value - a->base < a->size)
            return true;
    }
    return false;
}

const Op *queued_user(const Alloc *a)
{
    for (const Slot &slot : slots)
        if (slot.stream)
            for (size_t i = slot.stream->head; i < slot.stream->ops.size(); i++)
                if (overlaps(a, slot.stream->ops[i]))
                    return slot.stream->ops[i];
    return NULL;
}

const Op *queued_user_module(const Module *m)
{
    for (const Slot &slot : slots)
        if (slot.stream)
            for (size_t i = slot.stream->head; i < slot.stream->ops.size(); i++)
                if (slot.stream->ops[i]->type == Op::LAUNCH &&
                    slot.stream->ops[i]->function->module == m)
                    return slot.stream->ops[i];
    return NULL;
}

void op_queue(Op *op)
{
    Stream *s = op->stream;

    op->seq = ++s->queued;
    slots[s->id].queued = s->queued;
    op->clock.join(s->clock);
    op->clock.join(host);
    if (s->is_default) {
        for (const Stream *other : s->ctx->streams)
            if (!other->is_default && !(other->flags & CU_STREAM_NON_BLOCKING))
                order_after(op, other);
    } else if (!(s->flags & CU_STREAM_NON_BLOCKING)) {
        order_after(op, s->ctx->null_stream);
    }
    op->clock.raise(s->id, op->seq);
    s->clock = op->clock;
    if (op->mark) {
        op->mark->stream = s->id;
        op->mark->seq    = op->seq;
        op->mark->clock  = op->clock;
    }

    /* fills the destination, so that a read before the copy finds wrong data */
    if (op->type == Op::COPY && op->dst.alloc && op->dst.alloc->kind == ALLOC_PINNED &&
        op->src.alloc != op->dst.alloc && !queued_user(op->dst.alloc))
        for (size_t y = 0; y < op->dst.height; y++)
            memset((void *)(op->dst.base + y * op->dst.pitch), (int)(rnd() & 0xFF), op->dst.width);

    if (s->head >= 256) {
        /* a stream that is never empty must drop finished operations */
        s->ops.erase(s->ops.begin(), s->ops.begin() + s->head);
        s->head = 0;
    }
    s->ops.push_back(op);
    if (settings.order == EAGER && s->ctx->error == 0)
        run_until(s, op->seq);
}

/* Running. */

static bool ready(const Op *op)
{
    /* another operation must run first */
    if (op->put_off == nb_ran + 1)
        return false;
    for (auto &dep : op->deps)
        if (slots[dep.first].done < dep.second)
            return false;
    return true;
}

/** The last result of unordered_op(): neighbouring cells were mostly accessed by the same operation. */
static struct { u64 running, start, end; const Ran *unordered; } last_looked_up;

const Ran *unordered_op(u64 time)
{
    auto &last = last_looked_up;

    if (last.running != now.op_start || time < last.start || time > last.end) {
        auto i = std::upper_bound(ran.begin(), ran.end(), time,
                                  [](u64 t, const Ran &r) { return t < r.start; });
        if (i == ran.begin() || time > (--i)->end)
            return NULL;
        last = { now.op_start, i->start, i->end, running->clock.at(i->stream) >= i->seq ? NULL : &*i };
    }
    return last.unordered;
}

std::string op_name_at(u64 time)
{
    const Ran *r = unordered_op(time);
    return r ? r->what : "an earlier operation";
}

/* Sets of operations that have read a cell, none ordered after another. */
typedef std::vector<std::pair<u32, u64>> ReadSet;
/** Indexed by number, from 1 on. Shadow memory may contain numbers of removed sets, whose operations are over. */
static auto &readsets = *new std::unordered_map<u64, ReadSet>;
static u64 last_readset;
static std::map<std::tuple<u64, u64, u64>, u64> &readset_memo =
    *new std::map<std::tuple<u64, u64, u64>, u64>;
static u64 memo_start;          ///< the operation for which the memo is valid

bool readset_ordered(u64 set)
{
    auto found = readsets.find(set);

    if (found == readsets.end())
        return true;
    for (auto &member : found->second)
        if (running->clock.at(member.first) < member.second)
            return false;
    return true;
}

static u64 find_or_add(u64 set, u64 time_of_other)
{
    const Ran *other = set ? NULL : unordered_op(time_of_other);
    auto key = std::make_tuple(set, other ? other->start : 0, now.op_start);
    if (memo_start != now.op_start) {
        readset_memo.clear();
        memo_start = now.op_start;
    }
    auto found = readset_memo.find(key);

    if (found != readset_memo.end())
        return found->second;
    auto before = readsets.find(set);
    ReadSet n;
    if (before != readsets.end())
        for (auto &member : before->second)
            if (running->clock.at(member.first) < member.second)
                n.push_back(member);
    if (other)
        n.push_back(std::make_pair(other->stream, other->seq));
    n.push_back(std::make_pair(running->stream->id, running->seq));
    for (auto &known : readsets)
        if (known.second == n)
            return readset_memo[key] = known.first;
    readsets[++last_readset] = n;
    return readset_memo[key] = last_readset;
}

u64 readset_add(u64 set, u64 time_of_other)
{
    /* neighbouring cells were mostly read by the same operations */
    static struct { u64 set, other, op, result; } last;

    if (!last.result || last.set != set || last.other != time_of_other || last.op != now.op_start)
        last = { set, time_of_other, now.op_start, find_or_add(set, time_of_other) };
    return last.result;
}

/** Removes operations that are ordered before all queued and future operations. */
static void forget_known()
{
    if (ran.size() < 32)
        return;
    last_looked_up = {};
    Clock known = host;
    for (const Slot &slot : slots)
        for (size_t i = slot.stream ? slot.stream->head : 0;
             slot.stream && i < slot.stream->ops.size(); i++)
            for (size_t id = 0; id < known.seq.size(); id++)
                known.seq[id] = std::min(known.seq[id], slot.stream->ops[i]->clock.at((u32)id));
    ran.erase(std::remove_if(ran.begin(), ran.end(), [&known](const Ran &r) {
        return known.at(r.stream) >= r.seq;
    }), ran.end());
    for (auto i = readsets.begin(); i != readsets.end();)
        if (std::all_of(i->second.begin(), i->second.end(), [&known](const std::pair<u32, u64> &member) {
                return known.at(member.first) >= member.second;
            }))
            i = readsets.erase(i);
        else
            ++i;
    if (ran.size() > 8192)
        ran.erase(ran.begin(), ran.begin() + 4096);
}

static double seconds()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void run_copy(const Op *op)
{
    const Range2D &src = op->src, &dst = op->dst;
    const unsigned char *from = op->snapshot.empty() ? (const unsigned char *)src.base :
                                                       op->snapshot.data();
    size_t pitch  = op->snapshot.empty() ? src.pitch : src.width;
    size_t width  = src.width, height = src.height;

    if (pitch == width && dst.pitch == width) {
        width *= height;
        height = height > 0;
    }
    for (size_t y = 0; y < height; y++) {
        const uintptr_t s = (uintptr_t)from + y * pitch, d = dst.base + y * dst.pitch;
        if (src.alloc)
            check_range_read(src.alloc, s, width, op->what.c_str());
        if (dst.alloc)
            check_range_write(dst.alloc, d, width, op->what.c_str());
        if (src.alloc && dst.alloc && src.alloc->kind == ALLOC_DEVICE)
            check_copy_state(dst.alloc, d, src.alloc, s, width);
        memcpy((void *)d, (const void *)s, width);
    }
}

static void run_set(const Op *op)
{
    for (size_t y = 0; y < op->dst.height; y++) {
        unsigned char *d = (unsigned char *)op->dst.base + y * op->dst.pitch;
        check_range_write(op->dst.alloc, (uintptr_t)d, op->dst.width, op->what.c_str());
        memset(d, op->value, op->dst.width);
    }
}

static void run_op(Stream *s)
{
    Op *op = head(s);
    Context *ctx = s->ctx;
    int error = 0;

    running = op;
    check_begin_op();
    now.op_ordered = now.op_start;
    for (const Ran &r : ran)
        if (op->clock.at(r.stream) < r.seq) {
            now.op_ordered = std::min(now.op_ordered, r.start);
            break;
        }
    const u64 start = now.op_start;

    switch (op->type) {
    case Op::LAUNCH:
        error = exec_launch(op);
        break;
    case Op::COPY:
        run_copy(op);
        break;
    case Op::SET:
        run_set(op);
        break;
    case Op::RECORD:
        op->mark->done = true;
        op->mark->time = seconds();
        break;
    case Op::WAIT:
        break;
    }
    now.time++;
    running = NULL;
    if (error == LAUNCH_WAITS) {
        op->put_off = nb_ran + 1;
        return;
    }
    nb_ran++;
    last_looked_up = {};
    ran.push_back({ start, now.time - 1, s->id, op->seq, op->what });
    pop(s);
    if (error && !ctx->error) {
        ctx->error = error;
        context_drop_ops(ctx);
    } else {
        stream_reap(s);
    }
}

/**
 * If only kernels that poll are left, reports the first of them, which would wait for ever.
 * @return whether there was one
 */
static bool give_up()
{
    for (const Slot &slot : slots) {
        Op *op = slot.stream ? head(slot.stream) : NULL;

        if (!op || op->put_off != nb_ran + 1)
            continue;
        violation((u64)(uintptr_t)op->function << 4 | 10, "%s waits for what no operation before it does",
                  op->what.c_str());
        slot.stream->ctx->error = ERROR_LAUNCH_TIMEOUT;
        context_drop_ops(slot.stream->ctx);
        return true;
    }
    return false;
}

/** Returns the sequence number that each stream must reach before stream s can reach seq. */
static std::vector<u64> needs(const Stream *s, u64 seq)
{
    std::vector<u64> need(slots.size());
    std::vector<size_t> seen(slots.size());
    bool more = true;

    need[s->id] = seq;
    while (more) {
        more = false;
        for (size_t id = 0; id < slots.size(); id++) {
            const Stream *t = slots[id].stream;
            if (!t)
                continue;
            size_t i = std::max(seen[id], t->head);
            for (; i < t->ops.size() && t->ops[i]->seq <= need[id]; i++)
                for (auto &dep : t->ops[i]->deps)
                    if (need[dep.first] < dep.second) {
                        need[dep.first] = dep.second;
                        more = true;
                    }
            seen[id] = i;
        }
    }
    return need;
}

static Stream *pick(const std::vector<u64> *need)
{
    Stream *chosen = NULL;
    u32 n = 0;

    for (size_t id = 0; id < slots.size(); id++) {
        Stream *s = slots[id].stream;
        Op *op = s ? head(s) : NULL;
        if (op && (!need || op->seq <= (*need)[id]) && ready(op) && !rnd(++n))
            chosen = s;
    }
    return chosen;
}

void run_until(Stream *s, u64 seq)
{
    const u32 id = s->id;
    const std::vector<u64> need = needs(s, seq);

    if (slots[id].done >= seq)
        return;
    forget_known();
    memory_unlock();
    /* sometimes runs other operations first */
    const u32 others = settings.order == LAZY ? rnd(3) : 1;
    while (slots[id].done < seq) {
        Stream *next = others && rnd(4) < others ? pick(NULL) : pick(&need);
        /* nothing orders what a polling kernel waits for */
        if (!next)
            next = pick(NULL);
        if (!next && give_up())
            break;
        if (!next) {
            fprintf(stderr, "standin: the queue is stuck\n");
            abort();
        }
        run_op(next);
    }
    memory_lock();
}

void sync_stream(Stream *s)
{
    const Clock clock = s->clock;

    run_until(s, s->queued);
    host.join(clock);
}

void sync_context(Context *ctx)
{
    std::vector<u32> ids;

    for (const Stream *s : ctx->streams)
        ids.push_back(s->id);
    for (u32 id : ids)          /* a destroyed stream is freed while it runs */
        if (slots[id].stream && slots[id].stream->ctx == ctx)
            sync_stream(slots[id].stream);
    forget_known();
}

bool mark_done(const Mark &mark)
{
    return slots[mark.stream].done >= mark.seq;
}

void sync_mark(const Mark &mark)
{
    if (!mark_done(mark))
        run_until(slots[mark.stream].stream, mark.seq);
    host.join(mark.clock);
}

void progress(const Mark *polled)
{
    Stream *next = NULL;

    if (!polled) {
        if (settings.order != MIXED || rnd(4))
            return;
        next = pick(NULL);
    } else {
        const Stream *target = slots[polled->stream].stream;
        if (!target || rnd(2))
            return;
        const std::vector<u64> need = needs(target, polled->seq);
        next = pick(&need);
    }
    if (!next)
        return;
    forget_known();
    memory_unlock();
    run_op(next);
    memory_lock();
}

void host_knows(const Clock &clock)
{
    host.join(clock);
}

} // namespace standin
