#include <fmt/format.h>

#include "jit/runtime/gpu/emulator.h"
#include "support/error_text.h"

namespace Pipe::runtime {

namespace {

std::string triple(const std::array<int32_t, 3> &v) {
    return fmt::format("({}, {}, {})", v[0], v[1], v[2]);
}

const char *verb(GPUSite::Kind kind) {
    switch (kind) {
    case GPUSite::Load:
        return "loads";
    case GPUSite::Store:
        return "stores";
    case GPUSite::Atomic:
        return "atomically updates";
    case GPUSite::Barrier:
        break;
    }
    return "waits for";
}

const char *memory_name(GPUSite::Memory memory) {
    return memory == GPUSite::Global   ? "global memory"
           : memory == GPUSite::Shared ? "shared memory"
                                       : "the thread's own memory";
}

std::string race_text(const EmulatorReport &r) {
    const bool same_block = r.thread.block == r.other.block;
    std::string other =
        same_block ? "thread " + triple(r.other.thread)
                   : "thread " + triple(r.other.thread) + " of block " + triple(r.other.block);
    return fmt::format(", which {} {} too, and {}", other, verb(r.other_access),
                       same_block ? "no barrier orders the two"
                                  : "blocks of one launch are not ordered");
}

std::string divergence_text(const EmulatorReport &r) {
    std::string other =
        r.other_site < 0 ? "has ended" : fmt::format("waits at another one, site {}", r.other_site);
    return fmt::format(
        " waits at a barrier, site {}, while thread {} {}: all threads of a block must "
        "come to the same barriers",
        r.site, triple(r.other.thread), other);
}

std::string access_text(const EmulatorReport &r, const std::string &buffer) {
    const std::string text = fmt::format(" {} element {} of {} in {}", verb(r.access), r.element,
                                         buffer, memory_name(r.memory));
    const std::string elements = r.elements == 1 ? "element" : "elements";
    switch (r.kind) {
    case EmulatorReport::Race:
        return text + race_text(r);
    case EmulatorReport::NeverWritten:
        return text + ", which nothing was stored to";
    case EmulatorReport::OutOfBounds:
        return text + fmt::format(", which has {} {}", r.elements, elements);
    case EmulatorReport::Freed:
        return text + ", which was freed";
    case EmulatorReport::DivergentBarrier:
        break;
    }
    return text;
}

std::string report_text(const EmulatorReport &r, const std::string &buffer) {
    const std::string what =
        r.kind == EmulatorReport::DivergentBarrier ? divergence_text(r) : access_text(r, buffer);
    const std::string times = r.count == 1 ? "" : fmt::format(" ({} times)", r.count);
    return fmt::format("Kernel {}: thread {} of block {}{}{}.", r.kernel, triple(r.thread.thread),
                       triple(r.thread.block), what, times);
}

}  // namespace

std::string EmulatorReport::text() const {
    return report_text(*this, buffer);
}

std::string EmulatorReport::marked_text() const {
    return report_text(*this, support::marked(support::Field::Func, buffer));
}

}  // namespace Pipe::runtime
