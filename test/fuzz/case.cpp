#include "fuzz/case.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>

#include <pipe/pipe.h>

#include "codegen/codegen.h"
#include "driver/compiler.h"
#include "fuzz/algorithm.h"
#include "fuzz/pixels.h"
#include "fuzz/schedule.h"
#include "support/env.h"
#include "support/ptxas.h"

namespace Pipe::fuzz {

volatile std::sig_atomic_t case_runs = 0;

namespace {

std::string describe(const Box &box) {
    std::string text;
    for (const Interval &v : box)
        text += (text.empty() ? "" : " x ") + ("[" + std::to_string(v.low)) + ".." +
                std::to_string(v.high) + "]";
    return text;
}

class Case {
  public:
    Case(Choices &choices, Rules rules, const std::function<void(const std::string &)> &say)
        : c_(choices), rules_(rules), say_(say) {}
    Result run();

  private:
    Mode choose_mode();
    AutoscheduleOptions choose_options();
    std::vector<Box> random_sizes();
    void tell(const std::vector<Box> &sizes);
    std::string try_sizes(Pipeline &pipeline, const std::vector<Box> &sizes);
    void set_images(const std::vector<Box> &sizes);
    GuardedBuffer make_image(size_t number, const Source &source, const Box &box);
    std::string set_queried_images(Pipeline &pipeline, const std::vector<Box> &sizes);
    std::string compare(Pipeline &pipeline, const std::vector<Box> &sizes);
    bool is_rule(const std::string &message) const;
    static bool is_emulator_report(const std::string &message);
    Target target() const;
    std::string check_ptx(const Pipeline &pipeline) const;

    Choices &c_;
    const Rules rules_;
    const std::function<void(const std::string &)> &say_;
    Algorithm algorithm_;
    Algorithm twin_;  ///< the same, of other Funcs, which get no directives
    ScheduleInfo schedule_;
    std::deque<GuardedBuffer> images_, queried_;
    int version_ = 0;
    Mode mode_ = Mode::Manual;
    AutoscheduleOptions options_;
    // Most bugs are those of lowering, and most of the time is LLVM's and that of waking threads.
    bool quick_ = false, threads_ = false;
    bool guarded_ = false;  ///< the memory of the pipeline's own
};

/// A parallel loop's iterations one by one, the last one first: what depends on their order shows.
int last_to_first(JITUserContext *context, JITTask task, int min, int extent, uint8_t *closure) {
    int result = 0;
    for (int i = min + extent; i-- > min && result == 0;)
        result = task(context, i, closure);
    return result;
}

std::vector<Func> outputs_of(const Algorithm &algorithm) {
    std::vector<Func> result;
    for (int output : algorithm.outputs)
        result.push_back(algorithm.sources[static_cast<size_t>(output)].func);
    return result;
}

std::optional<AutoscheduleOptions::Strategy> strategy_of(const std::string &name) {
    for (AutoscheduleOptions::Strategy strategy : AutoscheduleOptions::strategies)
        if (to_string(strategy) == name)
            return strategy;
    return std::nullopt;
}

Mode Case::choose_mode() {
    int mode = c_.below(12);
    std::string only = support::env("PIPE_FUZZ_MODE");
    if (only == "manual" || (only.empty() && mode < 6))
        return Mode::Manual;
    if (only == "auto" || strategy_of(only) || (only.empty() && mode < 8))
        return Mode::Auto;
    if (only == "gpu" || (only.empty() && mode >= 10))
        return c_.chance(25) ? Mode::AutoGPU : Mode::GPU;
    return Mode::AutoWithDirectives;
}

/// Any strategy, often for caches so small that these pipelines need several tiles.
AutoscheduleOptions Case::choose_options() {
    AutoscheduleOptions options;
    options.strategy = AutoscheduleOptions::strategies[static_cast<size_t>(
        c_.below(static_cast<int>(std::size(AutoscheduleOptions::strategies))))];
    if (const auto only = strategy_of(support::env("PIPE_FUZZ_MODE")))
        options.strategy = *only;
    if (c_.chance(60)) {
        options.l1_bytes = int64_t(64) << c_.below(7);
        options.l2_bytes = options.l1_bytes << c_.below(5);
        options.cores = c_.between(1, 4);
    }
    return options;
}

/// Operations of the reference evaluator, which most of the time of large cases is.
double work(const Algorithm &algorithm, const std::vector<Box> &boxes) {
    double sum = 0;
    for (size_t i = 0; i < boxes.size(); i++) {
        sum += points(boxes[i]);
        for (const StageInfo &stage : algorithm.sources[i].stages)
            sum += points(boxes[i]) * points(stage.rvars);
    }
    return sum;
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
    std::vector<std::vector<Slack>> none;
    for (const Source &s : algorithm_.sources)
        none.emplace_back(static_cast<size_t>(s.dimensions));
    for (int halvings = 0; halvings < 6; halvings++) {
        if (work(algorithm_, required_boxes(algorithm_, sizes, none)) < 3e5)
            break;
        for (Box &box : sizes) {
            for (Interval &v : box)
                v.high = v.low + (v.extent() + 1) / 2 - 1;
        }
    }
    return sizes;
}

/// Whether the autoscheduler's schedule had to be replaced, which it must not without the user's
/// directives. (A bound on the storage of a Func that has no compute level may suit no level.)
std::string fall_back_of(const std::string &report) {
    const size_t at = report.find("no usable schedule");
    const bool fell =
        at != std::string::npos && report.find(".bound_storage(", at) == std::string::npos;
    return fell ? "the autoscheduler fell back: " + report : "";
}

std::string autoscheduled_by(const AutoscheduleOptions &options) {
    std::string text = "  // autoscheduled: " + to_string(options.strategy);
    if (options.cores > 0)
        text += ", " + std::to_string(options.cores) + " cores, L1 " +
                std::to_string(options.l1_bytes) + ", L2 " + std::to_string(options.l2_bytes) +
                " bytes";
    return text + ", with\n";
}

void Case::tell(const std::vector<Box> &sizes) {
    std::string text;
    for (const std::string &line : algorithm_.text)
        text += "  " + line + "\n";
    text += mode_ == Mode::Manual    ? "  // schedule\n"
            : mode_ == Mode::GPU     ? "  // schedule for a GPU\n"
            : mode_ == Mode::AutoGPU ? "  // autoscheduled for a GPU\n"
                                     : autoscheduled_by(options_);
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
    quick_ = c_.chance(92);
    threads_ = c_.chance(5);
    guarded_ = c_.chance(30);
    mode_ = choose_mode();
    if (mode_ == Mode::Auto || mode_ == Mode::AutoWithDirectives)
        options_ = choose_options();
    size_t begin = c_.made().size();
    algorithm_ = generate(c_);
    Choices same({c_.made().begin() + static_cast<long>(begin), c_.made().end()});
    twin_ = generate(same);
    memoization_cache_cleanup();
    std::vector<Box> sizes = random_sizes();
    try {
        schedule_ = give_schedule(algorithm_, mode_, rules_, sizes, c_);
    } catch (const CompileError &e) {
        tell(sizes);
        return {Result::Refused, e.what()};
    }
    tell(sizes);
    try {
        Pipeline pipeline(outputs_of(algorithm_));
        if (mode_ == Mode::Auto || mode_ == Mode::AutoWithDirectives)
            pipeline.autoschedule(get_host_target(), options_);
        if (mode_ == Mode::AutoGPU)
            pipeline.autoschedule(target());
        std::string wrong = try_sizes(pipeline, sizes);
        if (wrong.empty() && !schedule_.bound_sizes) {  // the same code at other sizes
            sizes = random_sizes();
            fit_sizes(algorithm_, schedule_, sizes);
            tell(sizes);
            wrong = try_sizes(pipeline, sizes);
        }
        if (wrong.empty() && mode_ == Mode::Auto)
            wrong = fall_back_of(pipeline.schedule_report());
        if (wrong.empty() && is_for_gpu(mode_) && c_.chance(10))
            wrong = check_ptx(pipeline);
        if (!wrong.empty())
            return {Result::Wrong, wrong};
    } catch (const CompileError &e) {
        return {Result::Refused, e.what()};
    } catch (const RuntimeError &e) {
        // (Any directives may promise what does not hold.)
        bool right = (rules_ == Rules::None && !is_emulator_report(e.what())) || is_rule(e.what());
        return {right ? Result::Refused : Result::Error, e.what()};
    } catch (const TooLarge &) {
        return {Result::Discarded, ""};
    }
    return {Result::Passed, ""};
}

/// A kernel's fault, not the user's.
bool Case::is_emulator_report(const std::string &message) {
    return message.find("thread (") != message.npos && message.find(") of block (") != message.npos;
}

/// What only the run shows: a storage of constant size may be too small, and a kernel too large for a GPU.
bool Case::is_rule(const std::string &message) const {
    if (is_for_gpu(mode_) && !is_emulator_report(message) &&
        message.find("are possible") != message.npos)
        return true;
    return message.find("elements are needed") != std::string::npos &&
           std::any_of(schedule_.text.begin(), schedule_.text.end(),
                       [&](const auto &line) { return line.find(".bound_storage(") != line.npos; });
}

/// Of an algorithm, those that are given from outside.
std::vector<ImageParam> images_of(const Algorithm &algorithm) {
    std::vector<ImageParam> result;
    for (const Source &s : algorithm.sources) {
        if (s.is_image)
            result.push_back(s.image);
    }
    return result;
}

GuardedBuffer Case::make_image(size_t number, const Source &source, const Box &box) {
    Box some = box;
    for (Interval &v : some) {
        if (v.empty())
            v = {0, 0};  // nobody reads it
    }
    GuardedBuffer made = allocate(source.image.type(), some, c_, source.any_layout);
    fill(made.buffer, number);
    return made;
}

void Case::set_images(const std::vector<Box> &sizes) {
    std::vector<Box> boxes = required_boxes(algorithm_, sizes, schedule_.slack);
    if (work(algorithm_, boxes) > 1e6)
        throw TooLarge();
    std::vector<ImageParam> images = images_of(algorithm_), same = images_of(twin_);
    images_.clear();
    for (size_t i = 0; i < boxes.size(); i++) {
        if (!algorithm_.sources[i].is_image)
            continue;
        size_t number = images_.size();
        images_.push_back(make_image(number, algorithm_.sources[i], boxes[i]));
        images[number].set(images_.back().buffer);
        same[number].set(images_.back().buffer);
    }
    algorithm_.version.set(++version_);
}

/// Images of the size that a bounds query answers, which may be no larger than those of set_images(), because
/// they are enough. (An image behind a boundary condition has the size that it has. The twin keeps its images:
/// the reference evaluates coordinates, too, that make no difference.)
std::string Case::set_queried_images(Pipeline &pipeline, const std::vector<Box> &sizes) {
    std::vector<ImageParam> images = images_of(algorithm_);
    std::vector<const Source *> sources;
    for (const Source &s : algorithm_.sources) {
        if (s.is_image)
            sources.push_back(&s);
    }
    for (size_t i = 0; i < images.size(); i++) {
        if (sources[i]->fixed_box.empty())
            images[i].reset();
    }
    std::vector<GuardedBuffer> outputs;
    std::vector<Buffer<void>> buffers;
    for (size_t i = 0; i < sizes.size(); i++)
        for (Type type :
             algorithm_.sources[static_cast<size_t>(algorithm_.outputs[i])].func.types()) {
            outputs.push_back(allocate(type, sizes[i], c_));
            buffers.push_back(outputs.back().buffer);
        }
    pipeline.infer_input_bounds(Realization(buffers));
    for (size_t i = 0; i < images.size(); i++) {
        if (!sources[i]->fixed_box.empty())
            continue;
        if (!images[i].get().defined()) {  // nobody reads it
            images[i].set(images_[i].buffer);
            continue;
        }
        Buffer<void> asked = images[i].get();
        Box box, enough;
        bool empty = false, larger = false;
        for (int d = 0; d < asked.dimensions(); d++) {
            auto low = static_cast<int>(asked.dim(d).min());
            box.push_back({low, low + static_cast<int>(asked.dim(d).extent()) - 1});
            auto least = static_cast<int>(images_[i].buffer.dim(d).min());
            enough.push_back(
                {least, least + static_cast<int>(images_[i].buffer.dim(d).extent()) - 1});
            empty |= box.back().empty();
            larger |= low < least || box.back().high > enough.back().high;
        }
        if (larger && !empty)
            return "a query asks for " + describe(box) + " of " + sources[i]->name + ", but " +
                   describe(enough) + " is enough";
        queried_.push_back(make_image(i, *sources[i], box));
        queried_.back().buffer.copy_from(images_[i].buffer);
        images[i].set(queried_.back().buffer);
    }
    algorithm_.version.set(++version_);
    return "";
}

/// Runs it once; where something is memoized, again with the same and with other values.
std::string Case::try_sizes(Pipeline &pipeline, const std::vector<Box> &sizes) {
    int p = c_.between(0, 9);
    std::vector<int> values{p};
    if (schedule_.memoizes)
        values = {p, p, c_.between(0, 9), p};
    set_images(sizes);
    for (int value : values) {
        if (schedule_.memoizes && c_.chance(30))
            memoization_cache_evict(static_cast<uint64_t>(c_.between(0, 9)));
        algorithm_.param.set(value);
        twin_.param.set(value);
        if (std::string wrong = compare(pipeline, sizes); !wrong.empty())
            return wrong;
    }
    if (!c_.chance(20))
        return "";
    std::string wrong = set_queried_images(pipeline, sizes);
    if (wrong.empty())
        wrong = compare(pipeline, sizes);
    return wrong.empty() ? "" : "with images as queried: " + wrong;
}

Target Case::target() const {
    Target result;
    if (is_for_gpu(mode_))
        result = support::env("PIPE_FUZZ_TARGET").empty()
                     ? get_host_target().with_feature(Target::CUDAEmulator)
                     : Target(support::env("PIPE_FUZZ_TARGET"));
    if (quick_)
        result.set_feature(Target::QuickCompile);
    return result;
}

/// Of the same kernels as PTX: what is wrong with it.
std::string Case::check_ptx(const Pipeline &pipeline) const {
    Target how = get_host_target().with_feature(Target::CUDA);
    if (quick_)
        how.set_feature(Target::QuickCompile);
    auto compiled = driver::checked(pipeline.compiler()).compile_for(pipeline.outputs(), how);
    const std::string ptx = codegen::ptx(compiled->program(), how);
    const std::string fault = testing::parameter_fault(ptx);
    return fault.empty() ? testing::ptxas_error(ptx) : "beyond a parameter: " + fault;
}

std::string Case::compare(Pipeline &pipeline, const std::vector<Box> &sizes) {
    std::vector<GuardedBuffer> expected, got;
    std::vector<std::string> names;
    std::vector<double> tolerances;
    std::vector<Buffer<void>> expected_buffers, got_buffers;
    for (size_t i = 0; i < sizes.size(); i++) {
        const Source &s = algorithm_.sources[static_cast<size_t>(algorithm_.outputs[i])];
        for (size_t e = 0; e < s.elements.size(); e++) {
            Type type = s.func.types().at(e);
            expected.push_back(allocate(type, sizes[i], c_));
            got.push_back(allocate(type, sizes[i], c_, s.any_layout));
            expected_buffers.push_back(expected.back().buffer);
            got_buffers.push_back(got.back().buffer);
            names.push_back(s.name);
            tolerances.push_back(s.elements[e].error);
        }
    }
    Pipeline(outputs_of(twin_)).realize_reference(Realization(expected_buffers));
    testing::GuardedContext guarded;
    JITUserContext plain, &context = guarded_ ? guarded : plain;
    if (!threads_)
        context.handlers.custom_do_par_for = last_to_first;
    const Target how = target();
    pipeline.compile_jit(how);
    case_runs = 1;
    pipeline.realize(&context, Realization(got_buffers), how);
    for (const Buffer<void> &buffer : got_buffers)
        buffer.copy_to_host();
    case_runs = 0;
    std::string wrong;
    if (guarded.overrun() + guarded.left() > 0)
        wrong = "of " + std::to_string(guarded.blocks()) + " blocks of memory " +
                std::to_string(guarded.overrun()) + " were written behind, and " +
                std::to_string(guarded.left()) + " not freed";
    for (size_t i = 0; i < got.size() && wrong.empty(); i++)
        wrong = difference(names[i], got[i], expected[i], tolerances[i]);
    return wrong;
}

}  // namespace

Result run_case(Choices &choices, Rules rules,
                const std::function<void(const std::string &)> &say) {
    case_runs = 0;
    try {
        return Case(choices, rules, say).run();
    } catch (const std::exception &e) {
        return {Result::Error, e.what()};
    }
}

}  // namespace Pipe::fuzz
