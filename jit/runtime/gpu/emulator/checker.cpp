#include "jit/runtime/gpu/emulator/checker.h"

#include <algorithm>
#include <cstring>

namespace Pipe::runtime::emulator {

namespace {

/// Different faults that are kept for one launch.
constexpr size_t max_reports = 32;

int64_t element_of(const GPUSite &site, int64_t offset) {
    const int64_t bytes = std::max(site.element_bytes, 1);
    return offset >= 0 ? offset / bytes : -((-offset + bytes - 1) / bytes);
}

}  // namespace

Checker::Checker(const Run &run, Memory &memory, Timeline &timeline, Shadow &shared_shadow,
                 Counting *counting)
    : run_(run), memory_(memory), timeline_(timeline), shared_shadow_(shared_shadow),
      counting_(counting), regions_(static_cast<size_t>(run.module.site_count)) {
    for (int32_t i = 0; i < run.module.site_count; i++) {
        regions_[static_cast<size_t>(i)].kind = static_cast<GPUSite::Kind>(site_of(i).kind);
        regions_[static_cast<size_t>(i)].is_shared = site_of(i).memory == GPUSite::Shared;
    }
}

void Checker::begin_block(const void *shared) {
    // Of a store that did not happen, because the block ended there.
    pending_site_ = -1;
    pending_.clear();
    bytes_before_.clear();
    for (Region &region : regions_) {
        region.since = region.is_shared ? timeline_.block() : timeline_.launch();
        if (region.is_shared) {
            region.begin = reinterpret_cast<uint64_t>(shared);
            region.bytes = run_.launch.shared_bytes;
            region.shadow = &shared_shadow_;
        }
    }
}

bool Checker::access(int64_t thread, int32_t site, uint64_t address, int32_t bytes, uint64_t array,
                     int64_t array_bytes) {
    if (bytes <= 0)
        return true;
    if (pending_site_ >= 0 && pending_site_ != site)
        settle();
    const GPUSite &s = site_of(site);
    const Region &region = regions_[static_cast<size_t>(site)];
    Access access{site, address, bytes, region, array, array_bytes};
    if (array && (address < array || address - array > static_cast<uint64_t>(array_bytes - bytes) ||
                  bytes > array_bytes)) {
        report_access(EmulatorReport::OutOfBounds, access, static_cast<int64_t>(address - array));
        return false;
    }
    if (counting_ && s.memory == GPUSite::Private)
        counting_->access(thread, site, address, bytes, 0, nullptr);
    if (s.memory == GPUSite::Private)
        return true;
    if (address < region.begin || region.bytes < bytes ||
        address - region.begin > static_cast<uint64_t>(region.bytes - bytes)) {
        if (!find_region(access))
            return false;
    }
    if (!array) {
        access.array = region.begin;
        access.array_bytes = region.bytes;
    }
    if (counting_)
        counting_->access(thread, site, address, bytes, region.begin, region.sectors);
    const Shadow::Cells cells =
        region.shadow->at(static_cast<int64_t>(address - region.begin), bytes);
    if (s.kind == GPUSite::Load)
        load(access, cells);
    else if (s.kind == GPUSite::Store)
        store(access, cells);
    else
        atomic(access, cells);
    return true;
}

/// At the first access of a site; also where a later one is outside. Otherwise reports.
bool Checker::find_region(const Access &access) {
    Region &region = regions_[static_cast<size_t>(access.site)];
    if (region.bytes < 0) {
        if (Allocation *a = memory_.find(access.address, access.bytes)) {
            region.begin = a->begin;
            region.bytes = a->bytes;
            region.shadow = &a->shadow();
            region.sectors = &a->sectors;
            return true;
        }
    }
    Access reported = access;
    EmulatorReport::Kind kind = EmulatorReport::OutOfBounds;
    if (region.bytes >= 0) {
        reported.array = region.begin;
        reported.array_bytes = region.bytes;
    } else if (const Allocation *freed = memory_.find_freed(access.address)) {
        kind = EmulatorReport::Freed;
        reported.array = freed->begin;
        reported.array_bytes = freed->bytes;
    } else if (const Allocation *nearest = memory_.nearest(access.address)) {
        reported.array = nearest->begin;
        reported.array_bytes = nearest->bytes;
    }
    report_access(kind, reported, static_cast<int64_t>(reported.address - reported.array));
    return false;
}

/// Of a load or a plain store.
bool Checker::conflicts_with_writer(const Access &access, Stamp writer) const {
    return is_unordered(access, writer) ||
           ((writer & Cell::atomic_blocks) && writer >= access.region.since) ||
           ((writer & Cell::atomic_threads) && timeline_.in_epoch(writer));
}

void Checker::load(const Access &access, Shadow::Cells cells) {
    const Stamp now = timeline_.now();
    for (Cell *cell = cells.begin; cell != cells.end; cell++) {
        const Stamp writer = cell->writer;
        if (writer == now)
            continue;  // what races with this load races with that store, too
        const int64_t offset = access.offset_in_array(cell);
        if (is_new(access.region, *cell))
            report_access(EmulatorReport::NeverWritten, access, offset);
        else if (conflicts_with_writer(access, writer))
            report_race(access.site, offset, access.array_bytes, writer,
                        writer & Cell::atomic ? GPUSite::Atomic : GPUSite::Store);
        add_reader(access.region.since, *cell);
    }
}

void Checker::store(const Access &access, Shadow::Cells cells) {
    const Stamp now = timeline_.now();
    for (Cell *cell = cells.begin; cell != cells.end; cell++)
        if (std::max({cell->writer, cell->reader, cell->other_reader}) >= access.region.since)
            return store_to_used(access, cells);
        else
            cell->writer = now;
}

/// Where the launch has accessed some of the cells before.
void Checker::store_to_used(const Access &access, Shadow::Cells cells) {
    const Stamp now = timeline_.now();
    for (Cell *cell = cells.begin; cell != cells.end; cell++) {
        const int64_t offset = access.offset_in_array(cell);
        const Stamp writer = cell->writer;
        const bool stored_by_other = conflicts_with_writer(access, writer);
        for (Stamp reader : {cell->reader, cell->other_reader}) {
            if (!is_unordered(access, reader))
                continue;
            // It has loaded what it stored; so this store is harmless if it changes nothing, as the one after that
            // load was, if there is one.
            const bool stored_since = stored_by_other || writer > reader;
            if (stored_since && (reader & Cell::own))
                add_pending(access, *cell, reader, GPUSite::Load);
            else
                report_race(access.site, offset, access.array_bytes, reader, GPUSite::Load);
        }
        if (stored_by_other && (writer & Cell::atomic))
            report_race(access.site, offset, access.array_bytes, writer, GPUSite::Atomic);
        else if (stored_by_other)
            add_pending(access, *cell, writer, GPUSite::Store);
        cell->writer = now;
    }
}

void Checker::add_pending(const Access &access, const Cell &cell, Stamp other,
                          GPUSite::Kind other_kind) {
    const int64_t offset = access.offset_in_array(&cell);
    const uint64_t address = access.array + static_cast<uint64_t>(offset);
    const int64_t bytes = std::min(
        access.region.shadow->cell_bytes(),
        static_cast<int64_t>(access.address + static_cast<uint64_t>(access.bytes) - address));
    pending_site_ = access.site;
    pending_.push_back(
        {address, bytes, offset, access.array_bytes, other, other_kind, bytes_before_.size()});
    const char *memory = reinterpret_cast<const char *>(address);
    bytes_before_.insert(bytes_before_.end(), memory, memory + bytes);
}

/// The stores have happened: no other thread has run since.
void Checker::settle() {
    const int32_t site = pending_site_;
    int64_t redundant = 0;
    for (const Pending &p : pending_) {
        const char *after = reinterpret_cast<const char *>(p.address);
        if (std::memcmp(after, &bytes_before_[p.before], static_cast<size_t>(p.bytes)) == 0)
            redundant += p.other_kind == GPUSite::Store ? p.bytes : 0;
        else
            report_race(site, p.offset, p.array_bytes, p.other, p.other_kind);
    }
    if (counting_)
        counting_->redundant(site, redundant);
    pending_site_ = -1;
    pending_.clear();
    bytes_before_.clear();
}

void Checker::atomic(const Access &access, Shadow::Cells cells) {
    for (Cell *cell = cells.begin; cell != cells.end; cell++) {
        const Stamp writer = cell->writer;
        const int64_t offset = access.offset_in_array(cell);
        if (is_new(access.region, *cell))
            report_access(EmulatorReport::NeverWritten, access, offset);
        else if (is_unordered(access, writer) && !(writer & Cell::atomic))
            report_race(access.site, offset, access.array_bytes, writer, GPUSite::Store);
        for (Stamp reader : {cell->reader, cell->other_reader})
            if (is_unordered(access, reader))
                report_race(access.site, offset, access.array_bytes, reader, GPUSite::Load);
        Stamp flags = Cell::atomic;
        if (writer & Cell::atomic) {
            if (timeline_.in_other_block(writer, access.region.since) ||
                (writer >= access.region.since && (writer & Cell::atomic_blocks)))
                flags |= Cell::atomic_blocks;
            if (timeline_.in_epoch(writer) &&
                (is_unordered(access, writer) || (writer & Cell::atomic_threads)))
                flags |= Cell::atomic_threads;
        }
        cell->writer = timeline_.now() | flags;
    }
}

EmulatorReport::Thread Checker::thread_at(Timeline::Place place) const {
    return {coordinates(place.thread, run_.launch.threads),
            coordinates(place.block, run_.launch.blocks)};
}

EmulatorReport::Thread Checker::thread_at(Stamp stamp) const {
    return thread_at(timeline_.place(stamp));
}

/// `offset`: of the access in the array.
void Checker::report_access(EmulatorReport::Kind kind, const Access &access, int64_t offset) {
    EmulatorReport r;
    r.kind = kind;
    r.site = access.site;
    r.element = element_of(site_of(access.site), offset);
    // Of a vector, the first element that is outside.
    if (kind == EmulatorReport::OutOfBounds && offset >= 0 && offset < access.array_bytes)
        r.element = element_of(site_of(access.site), access.array_bytes);
    r.elements = element_of(site_of(access.site), access.array_bytes);
    add(std::move(r));
}

void Checker::report_race(int32_t site, int64_t offset, int64_t array_bytes, Stamp other,
                          GPUSite::Kind other_kind) {
    EmulatorReport r;
    r.kind = EmulatorReport::Race;
    r.site = site;
    r.element = element_of(site_of(site), offset);
    r.elements = element_of(site_of(site), array_bytes);
    r.other = thread_at(other);
    r.other_access = other_kind;
    add(std::move(r));
}

void Checker::divergent_barrier(int64_t thread, int32_t site, int64_t other, int32_t other_site) {
    EmulatorReport r;
    r.kind = EmulatorReport::DivergentBarrier;
    r.site = site;
    r.other_site = other_site;
    const int64_t block = timeline_.place(timeline_.now()).block;
    r.other = thread_at({block, other});
    add(std::move(r), thread_at({block, thread}));
}

void Checker::add(EmulatorReport report) {
    const EmulatorReport::Thread thread = thread_at(timeline_.now());
    add(std::move(report), thread);
}

/// What is the same but for the element and the threads counts as one.
void Checker::add(EmulatorReport report, const EmulatorReport::Thread &thread) {
    auto is_same = [&](const EmulatorReport &r) {
        return r.kind == report.kind && r.site == report.site &&
               r.other_access == report.other_access && r.other_site == report.other_site &&
               (r.kind != EmulatorReport::Race ||
                (r.thread.block == r.other.block) == (thread.block == report.other.block));
    };
    auto found = std::find_if(reports_.begin(), reports_.end(), is_same);
    if (found != reports_.end()) {
        found->count++;
        return;
    }
    if (reports_.size() == max_reports)
        return;
    const GPUKernel &kernel = run_.module.kernels[run_.launch.kernel];
    const GPUSite &site = site_of(report.site);
    report.thread = thread;
    report.pipeline = run_.module.name ? run_.module.name : "";
    report.kernel = kernel.name ? kernel.name : "";
    report.launch = run_.number;
    report.buffer = site.buffer ? site.buffer : "";
    report.access = static_cast<GPUSite::Kind>(site.kind);
    report.memory = static_cast<GPUSite::Memory>(site.memory);
    reports_.push_back(std::move(report));
}

void Checker::end_epoch(int32_t site) {
    if (!counting_)
        return;
    if (site >= 0)
        counting_->barrier(site);
    counting_->end_epoch();
}

}  // namespace Pipe::runtime::emulator
