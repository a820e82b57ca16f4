// Handling of trace events (pipe_trace): the user's handler, or a line of text.

#include <cstring>

#include <fmt/format.h>

#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

namespace {

template <typename T> T read(const TraceEvent &e) {
    T value;
    std::memcpy(&value, e.value, sizeof value);
    return value;
}

std::string value_of(const TraceEvent &e) {
    switch (e.type.code) {
    case Type::Code::Int:
        switch (e.type.bits) {
        case 8:
            return fmt::format("{}", read<int8_t>(e));
        case 16:
            return fmt::format("{}", read<int16_t>(e));
        case 32:
            return fmt::format("{}", read<int32_t>(e));
        default:
            return fmt::format("{}", read<int64_t>(e));
        }
    case Type::Code::UInt:
        switch (e.type.bits) {
        case 1:
        case 8:
            return fmt::format("{}", read<uint8_t>(e));
        case 16:
            return fmt::format("{}", read<uint16_t>(e));
        case 32:
            return fmt::format("{}", read<uint32_t>(e));
        default:
            return fmt::format("{}", read<uint64_t>(e));
        }
    default:
        break;
    }
    if (e.type == Float(32))
        return fmt::format("{}", read<float>(e));
    if (e.type == Float(64))
        return fmt::format("{}", read<double>(e));
    return fmt::format("{:#x}", Type(e.type).bytes() == 2 ? read<uint16_t>(e) : read<uint64_t>(e));
}

const char *verb(TraceEventCode code) {
    switch (code) {
    case TraceEventCode::Load:
        return "Load";
    case TraceEventCode::Store:
        return "Store";
    case TraceEventCode::BeginRealization:
        return "Begin realization";
    case TraceEventCode::EndRealization:
        return "End realization";
    case TraceEventCode::Produce:
        return "Produce";
    case TraceEventCode::EndProduce:
        return "End produce";
    case TraceEventCode::Consume:
        return "Consume";
    case TraceEventCode::EndConsume:
        return "End consume";
    case TraceEventCode::BeginPipeline:
        return "Begin pipeline";
    case TraceEventCode::EndPipeline:
        return "End pipeline";
    case TraceEventCode::Tag:
        return "Tag";
    }
    return "Event";
}

/// "Store blur.0(3, 4) = 7", "Produce blur(0, 64, 0, 48)", "Tag blur() tag = \"...\""
std::string line_of(const TraceEvent &e) {
    bool has_value = e.event == TraceEventCode::Load || e.event == TraceEventCode::Store;
    std::string line = fmt::format("{} {}", verb(e.event), e.func);
    if (has_value)
        line += fmt::format(".{}", e.value_index);
    line += '(';
    for (int i = 0; i < e.dimensions; i++)
        line += fmt::format("{}{}", i > 0 ? ", " : "", e.coordinates[i]);
    line += ')';
    if (has_value)
        line += " = " + value_of(e);
    if (e.event == TraceEventCode::Tag)
        line += fmt::format(" tag = \"{}\"", e.trace_tag);
    return line + '\n';
}

}  // namespace

int32_t pipe_trace(Context *context, const TraceEvent *event) {
    if (context->handlers.custom_trace) {
        int32_t id = 0;
        context->call([&] { id = context->handlers.custom_trace(context->user, event); });
        return id;
    }
    static std::atomic<int32_t> last{0};
    print(context, line_of(*event).c_str());
    return ++last;
}

}  // namespace Pipe::runtime
