#include "fuzz/case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include <pipe/pipe.h>

#include "fuzz/algorithm.h"
#include "support/guarded_memory.h"
#include "fuzz/schedule.h"
#include "support/env.h"

namespace Pipe::fuzz {
namespace {

using testing::GuardedBuffer;

struct TooLarge {};

std::string describe(const Box &box) {
    std::string text;
    for (const Interval &v : box)
        text += (text.empty() ? "" : " x ") + ("[" + std::to_string(v.low)) + ".." +
                std::to_string(v.high) + "]";
    return text;
}

GuardedBuffer allocate(Type type, const Box &box, Choices &choices) {
    std::vector<std::pair<int, int>> shape;
    double elements = 1;
    for (const Interval &v : box) {
        shape.emplace_back(v.low, v.extent());
        elements *= v.extent();
    }
    if (elements > 1.5e6)
        throw TooLarge();
    int padding = choices.chance(25) ? choices.between(1, 5) : 0;
    return GuardedBuffer(type, shape, padding, choices.chance(30));
}

/// Calls f(address, number) for each element.
template <typename F> void for_each_element(const Buffer<void> &buffer, F &&f) {
    const BufferView &view = buffer.view();
    uint64_t number = 0;
    detail::for_each_coordinate(view.dims, [&](const int64_t *at) {
        int64_t offset = 0;
        for (size_t d = 0; d < view.dims.size(); d++)
            offset += (at[d] - view.dims[d].min) * view.dims[d].stride;
        f(static_cast<unsigned char *>(view.host) + offset * view.type.bytes(), number++, at);
    });
}

/// Pixels that depend on nothing but their place, within what Generator::add_image promises.
void fill(const Buffer<void> &buffer, uint64_t salt) {
    Type type = buffer.type();
    for_each_element(buffer, [&](unsigned char *address, uint64_t number, const int64_t *) {
        uint64_t h = (number + 1) * 0x9e3779b97f4a7c15 + salt * 0xbf58476d1ce4e5b9;
        h = (h ^ (h >> 29)) * 0x94d049bb133111eb;
        h ^= h >> 32;
        if (type.is_float()) {
            auto value = static_cast<float>(static_cast<int>(h % 511) - 255);
            std::memcpy(address, &value, sizeof(value));
            return;
        }
        int64_t span = type.bits() == 8 ? 256 : type.is_int() ? 2001 : 1001;
        auto value = static_cast<int64_t>(h % static_cast<uint64_t>(span));
        if (type.is_int())
            value -= span / 2;
        std::memcpy(address, &value, static_cast<size_t>(type.bytes()));
    });
}

double element(Type type, const unsigned char *address) {
    auto read = [&](auto value) {
        std::memcpy(&value, address, sizeof(value));
        return static_cast<double>(value);
    };
    if (type.is_float())
        return read(float());
    switch (type.bits() * (type.is_int() ? -1 : 1)) {
    case 8:
        return read(uint8_t());
    case 16:
        return read(uint16_t());
    case 32:
        return read(uint32_t());
    case -8:
        return read(int8_t());
    case -16:
        return read(int16_t());
    default:
        return read(int32_t());
    }
}

/// "" or where and how the first difference is.
std::string difference(const std::string &name, const GuardedBuffer &got,
                       const GuardedBuffer &expected, double tolerance) {
    std::string text;
    int differ = 0;
    Type type = got.buffer.type();
    std::vector<double> values;
    for_each_element(expected.buffer, [&](unsigned char *address, uint64_t, const int64_t *) {
        values.push_back(element(type, address));
    });
    for_each_element(got.buffer, [&](unsigned char *address, uint64_t number, const int64_t *at) {
        double a = element(type, address), b = values[number];
        if (a == b || std::fabs(a - b) <= tolerance)
            return;
        if (++differ > 1)
            return;
        text = name + "(";
        for (int d = 0; d < got.buffer.dimensions(); d++)
            text += (d ? ", " : "") + std::to_string(at[d]);
        text += ") is " + std::to_string(a) + ", expected " + std::to_string(b);
    });
    if (differ)
        return text + "; " + std::to_string(differ) + " elements differ";
    if (!got.padding_intact())
        return name + ": memory between the rows was overwritten";
    return "";
}

class Case {
  public:
    Case(Choices &choices, const std::function<void(const std::string &)> &say)
        : c_(choices), say_(say) {}
    Result run();

  private:
    Mode choose_mode();
    std::vector<Box> random_sizes();
    void tell(const std::vector<Box> &sizes);
    std::string realize(Pipeline &pipeline, const std::vector<Box> &sizes);
    bool is_rule(const std::string &message) const;

    Choices &c_;
    const std::function<void(const std::string &)> &say_;
    Algorithm algorithm_;
    ScheduleInfo schedule_;
    Mode mode_ = Mode::Manual;
    // Most bugs are those of lowering, and most of the time is LLVM's and that of waking threads.
    bool quick_ = false, threads_ = false;
};

/// A parallel loop's iterations one by one, the last one first: what depends on their order shows.
int last_to_first(JITUserContext *context, JITTask task, int min, int extent, uint8_t *closure) {
    int result = 0;
    for (int i = min + extent; i-- > min && result == 0;)
        result = task(context, i, closure);
    return result;
}

Mode Case::choose_mode() {
    int mode = c_.below(10);
    std::string only = support::env("PIPE_FUZZ_MODE");
    if (only == "manual" || (only.empty() && mode < 6))
        return Mode::Manual;
    if (only == "auto" || (only.empty() && mode < 8))
        return Mode::Auto;
    return Mode::AutoWithDirectives;
}

std::vector<Box> Case::random_sizes() {
    std::vector<Box> sizes;
    for (int output : algorithm_.outputs) {
        Box box;
        int dimensions = algorithm_.sources[static_cast<size_t>(output)].dimensions;
        for (int d = 0; d < dimensions; d++) {
            int most = d == 2 ? 4 : dimensions == 3 ? 14 : dimensions == 2 ? 40 : 70;
            int low = c_.chance(40) ? c_.between(0, 20) - 10 : 0;
            box.push_back({low, low + c_.between(1, most) - 1});
        }
        sizes.push_back(box);
    }
    return sizes;
}

void Case::tell(const std::vector<Box> &sizes) {
    std::string text;
    for (const std::string &line : algorithm_.text)
        text += "  " + line + "\n";
    text += mode_ == Mode::Manual ? "  // schedule\n" : "  // autoscheduled, with\n";
    for (const std::string &line : schedule_.text)
        text += "  " + line + "\n";
    for (size_t i = 0; i < sizes.size(); i++) {
        text += "  // realize " +
                algorithm_.sources[static_cast<size_t>(algorithm_.outputs[i])].name + " over " +
                describe(sizes[i]) + "\n";
    }
    say_(text);
}

Result Case::run() {
    quick_ = c_.chance(80);
    threads_ = c_.chance(5);
    mode_ = choose_mode();
    algorithm_ = generate(c_);
    std::vector<Box> sizes = random_sizes();
    try {
        schedule_ = give_schedule(algorithm_, mode_, sizes, c_);
    } catch (const CompileError &e) {
        tell(sizes);
        return {Result::Refused, e.what()};
    }
    tell(sizes);
    try {
        std::vector<Func> outputs;
        for (int output : algorithm_.outputs)
            outputs.push_back(algorithm_.sources[static_cast<size_t>(output)].func);
        Pipeline pipeline(outputs);
        if (mode_ != Mode::Manual)
            pipeline.autoschedule(get_host_target());
        std::string wrong = realize(pipeline, sizes);
        if (wrong.empty() && !schedule_.bound_sizes) {  // the same code at other sizes
            sizes = random_sizes();
            fit_sizes(algorithm_, schedule_, sizes);
            tell(sizes);
            wrong = realize(pipeline, sizes);
        }
        if (!wrong.empty())
            return {Result::Wrong, wrong};
    } catch (const CompileError &e) {
        return {Result::Refused, e.what()};
    } catch (const RuntimeError &e) {
        return {is_rule(e.what()) ? Result::Refused : Result::Error, e.what()};
    } catch (const TooLarge &) {
        return {Result::Discarded, ""};
    }
    return {Result::Passed, ""};
}

/// Aligned bounds ask for more of the inputs than the algorithm does; that they get no more is an error
/// that names the input.
bool Case::is_rule(const std::string &message) const {
    bool aligns = std::any_of(schedule_.text.begin(), schedule_.text.end(), [](const std::string &line) {
        return line.find(".align_extent(") != std::string::npos ||
               line.find(".align_bounds(") != std::string::npos;
    });
    return aligns && message.find("but it holds only") != std::string::npos;
}

std::string Case::realize(Pipeline &pipeline, const std::vector<Box> &sizes) {
    std::vector<Box> boxes = required_boxes(algorithm_, sizes, schedule_.slack);
    std::deque<GuardedBuffer> memory;
    algorithm_.param.set(c_.between(0, 9));
    for (size_t i = 0; i < boxes.size(); i++) {
        const Source &s = algorithm_.sources[i];
        if (!s.is_image)
            continue;
        Box box = boxes[i];
        for (Interval &v : box) {
            if (v.empty())
                v = {0, 0};  // nobody reads it
        }
        memory.push_back(allocate(s.image.type(), box, c_));
        fill(memory.back().buffer, i);
        ImageParam image = s.image;
        image.set(memory.back().buffer);
    }
    std::vector<GuardedBuffer> expected, got;
    std::vector<std::string> names;
    std::vector<double> tolerances;
    std::vector<Buffer<void>> expected_buffers, got_buffers;
    for (size_t i = 0; i < sizes.size(); i++) {
        const Source &s = algorithm_.sources[static_cast<size_t>(algorithm_.outputs[i])];
        for (size_t e = 0; e < s.elements.size(); e++) {
            Type type = s.func.types().at(e);
            expected.push_back(allocate(type, sizes[i], c_));
            got.push_back(allocate(type, sizes[i], c_));
            expected_buffers.push_back(expected.back().buffer);
            got_buffers.push_back(got.back().buffer);
            names.push_back(s.name);
            tolerances.push_back(s.elements[e].error);
        }
    }
    pipeline.realize_reference(Realization(expected_buffers));
    JITUserContext context;
    if (!threads_)
        context.handlers.custom_do_par_for = last_to_first;
    Target how;
    if (quick_)
        how.set_feature(Target::QuickCompile);
    pipeline.realize(&context, Realization(got_buffers), how);
    std::string wrong;
    for (size_t i = 0; i < got.size() && wrong.empty(); i++)
        wrong = difference(names[i], got[i], expected[i], tolerances[i]);
    return wrong;
}

}  // namespace

Result run_case(Choices &choices, const std::function<void(const std::string &)> &say) {
    try {
        return Case(choices, say).run();
    } catch (const std::exception &e) {
        return {Result::Error, e.what()};
    }
}

}  // namespace Pipe::fuzz
