#include "driver/tune.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "driver/compare_outputs.h"
#include "driver/schedule_file.h"
#include "driver/trials.h"
#include "language/replay.h"
#include "support/clock.h"
#include "support/deep_stack.h"
#include "support/error.h"

namespace Pipe::driver {
namespace {

using support::Clock;
using support::ms_since;

constexpr double much_slower = 3;  ///< than the best, in the first runs: not measured further
constexpr int samples_to_drop = 3;
constexpr double shortest_sample = 1;  ///< milliseconds: shorter runs are repeated

/// After this many rounds, candidates remain whose minimum is within this factor of the best one.
struct Cut {
    int round;
    double factor;
};
constexpr Cut cuts[] = {{5, 1.5}, {9, 1.2}, {13, 1.08}, {17, 1.04}};

/// Schedules of one pipeline on these Buffers. One run() per object. It has more members than other classes, because the
/// steps of a run (file, candidates, rounds) work on the same list of trials and the same clock.
class Tuner {
  public:
    Tuner(const std::vector<Func> &outputs, Compiler &compiler, const Realization &buffers,
          const TuneOptions &options)
        : outputs_(outputs), compiler_(compiler), buffers_(buffers), options_(options) {
        for (size_t i = 0; i < buffers.size(); i++)
            pointers_.push_back(&buffers[i]);
        settings_ = compiler.settings();
        handlers_ = compiler.handlers;
        handlers_.custom_error = nullptr;  // a candidate that fails is no error of the user
        target_ = options.target.arch != Target::ArchUnknown     ? options.target
                  : settings_.target.arch != Target::ArchUnknown ? settings_.target
                                                                 : get_host_target();
    }

    TuneResult run() {
        if (target_.has_gpu_feature())
            throw CompileError(fmt::format("Pipeline::tune: the target {} has a GPU, for which "
                                           "schedules cannot be tuned yet. Tune for the host, or "
                                           "use autoschedule().",
                                           target_.to_string()));
        read_file();
        collect();
        try_all();
        measure();
        return finish();
    }

  private:
    const std::vector<Func> &outputs_;
    Compiler &compiler_;
    const Realization &buffers_;
    const TuneOptions &options_;
    std::vector<const BufferBase *> pointers_;
    Settings settings_;
    JITHandlers handlers_;
    Target target_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point written_ = Clock::now();
    ScheduleFile file_;
    std::map<uint64_t, ScheduleFile::Candidate> known_;  ///< from the file, by key
    std::vector<Trial> trials_;
    std::vector<Buffer<void>> expected_;  ///< the results of the first candidate
    int tried_ = 0, round_ = 0;
    bool stopped_ = false;

    double seconds() const { return ms_since(start_) / 1000; }

    bool time_is_up() {
        stopped_ = stopped_ || seconds() >= options_.seconds || (options_.stop && options_.stop());
        return stopped_;
    }

    std::vector<std::vector<int64_t>> sizes() const {
        std::vector<std::vector<int64_t>> result;
        for (const BufferBase *buffer : pointers_) {
            result.emplace_back();
            if (buffer->defined())
                for (const BufferDim &d : buffer->view().dims)
                    result.back().push_back(d.extent);
        }
        return result;
    }

    /// Measurements are taken over only if they were made under the same conditions.
    void read_file() {
        ScheduleFile here;
        here.algorithm = language::algorithm_of(outputs_);
        here.target = target_;
        here.sizes = sizes();
        here.machine =
            autoschedule::to_string(autoschedule::host_machine(target_, options_.autoschedule));
        if (!options_.file.empty() && std::filesystem::exists(options_.file)) {
            const ScheduleFile before = read_schedule_file(options_.file);
            check_algorithm(options_.file, before, here.algorithm);
            if (before.target == here.target && before.sizes == here.sizes &&
                before.machine == here.machine) {
                for (const ScheduleFile::Candidate &c : before.candidates)
                    known_[c.key] = c;
                here.schedule = before.schedule;
            }
        }
        file_ = std::move(here);
    }

    void add(const std::string &name, const language::Frozen &frozen) {
        Trial trial;
        trial.portable = language::portable(outputs_, frozen);
        trial.info.key = schedule_key(trial.portable);
        if (std::any_of(trials_.begin(), trials_.end(),
                        [&](const Trial &t) { return t.info.key == trial.info.key; }))
            return;
        if (auto known = known_.find(trial.info.key); known != known_.end())
            trial.info = known->second;
        trial.info.name = name;
        trials_.push_back(std::move(trial));
    }

    language::Frozen freeze() const {
        return language::freeze(outputs_, target_, settings_.requirements, settings_.extern_names);
    }

    /// As `realize` would. Runs that overwrite their inputs cannot be repeated.
    void check_buffers(const language::Frozen &frozen) const {
        const Slots slots(frozen);
        CallArguments call;
        slots.gather(Outputs(pointers_), call.given);
        slots.fill(call, false);
        if (!call.in_place().empty())
            throw RuntimeError(
                "Pipeline::tune: an output shares memory with an input, so every run "
                "would change the input. Pass an output Buffer with separate memory.");
    }

    void collect() {
        const language::Frozen given = freeze();
        check_buffers(given);
        if (has_directives(given.schedule))
            add("hand", given);
        const size_t wanted =
            trials_.size() + static_cast<size_t>(std::max(options_.candidates, 0));
        if (options_.keep_directives) {
            add_alternatives(wanted);
        } else {
            const language::TemporarySchedule none(outputs_);
            add_alternatives(wanted);
        }
        add_from_file();
        if (trials_.empty())
            throw RuntimeError("Pipeline::tune: there is no schedule to try. Give the Funcs "
                               "directives, or allow more candidates.");
    }

    void add_alternatives(size_t wanted) {
        language::Frozen frozen = freeze();
        Settings settings = settings_;
        settings.target = target_;
        settings.autoschedule = options_.autoschedule;
        // Some are equal.
        for (autoschedule::Alternative &a :
             alternatives(frozen, settings, Outputs(pointers_), 3 * wanted)) {
            if (trials_.size() >= wanted)
                return;
            frozen.graph = std::move(a.graph);
            frozen.schedule = std::move(a.schedule);
            add(a.name, frozen);
        }
    }

    /// The fastest so far is a candidate, also if it is not found again.
    void add_from_file() {
        const auto known = known_.find(schedule_key(file_.schedule));
        if (known == known_.end() ||
            std::any_of(trials_.begin(), trials_.end(),
                        [&](const Trial &t) { return t.info.key == known->first; }))
            return;
        Trial trial;
        trial.info = known->second;
        trial.portable = file_.schedule;
        trials_.push_back(std::move(trial));
    }

    bool is_done(const Trial &t) const {
        return !t.info.dropped.empty() ||
               static_cast<int>(t.info.times_ms.size()) >= options_.samples;
    }

    void report(const Trial &latest) {
        constexpr double write_every_ms = 2000;
        if (ms_since(written_) > write_every_ms)
            write();
        if (!options_.progress)
            return;
        TuneProgress p;
        p.seconds = seconds();
        p.tried = tried_, p.of = static_cast<int>(trials_.size());
        p.round = round_;
        p.left = static_cast<int>(std::count_if(trials_.begin(), trials_.end(),
                                                [](const Trial &t) { return t.is_left(); }));
        p.latest = latest.candidate();
        if (const Trial *best = best_of(trials_))
            p.best = best->candidate();
        options_.progress(p);
    }

    /// Compiles and runs every candidate that is not known yet. Wrong results and slow ones are
    /// dropped.
    void try_all() {
        if (std::all_of(trials_.begin(), trials_.end(), [&](const Trial &t) { return is_done(t); }))
            return;
        for (Trial &t : trials_) {
            // The first one that works is what the others are compared with.
            if (!is_done(t) || (expected_.empty() && t.info.dropped.empty()))
                try_one(t);
            tried_++;
            report(t);
            if (best_of(trials_) && time_is_up())
                return;
        }
    }

    void try_one(Trial &t) {
        try {
            support::SuppressErrorReporting suppressed;
            Settings settings = settings_;
            settings.autoschedule = std::nullopt;
            const language::TemporarySchedule schedule(outputs_, t.portable);
            auto compiled = std::make_shared<Compiled>(outputs_, settings, target_, nullptr);
            compiled->compile();
            t.info.predicted_ms = predicted_ms(*compiled);
            t.compiled = std::move(compiled);
            poison(buffers_);
            run_once(t);
        } catch (const Error &error) {
            t.info.dropped = fmt::format("it cannot be used: {}", error.what());
            t.compiled = nullptr;
            return;
        }
        if (expected_.empty())
            expected_ = copy_of(buffers_);
        else if (const std::string text =
                     output_difference(buffers_, expected_, options_.tolerance);
                 !text.empty())
            return drop(t, "its result differs: " + text, true);
        const auto start = Clock::now();
        run_once(t);
        const double ms = std::max(1e-6, ms_since(start));
        t.repeats = static_cast<int>(std::clamp(std::ceil(shortest_sample / ms), 1.0, 1000.0));
        const Trial *best = best_of(trials_);
        t.info.times_ms.push_back(t.repeats == 1 ? ms : sample(t));
        if (!best || best == &t)
            return;
        // What else the machine does may have disturbed the first samples.
        const double limit = much_slower * best->min_ms();
        for (int i = 1; i < samples_to_drop && t.min_ms() > limit && !time_is_up(); i++)
            t.info.times_ms.push_back(sample(t));
        if (t.min_ms() > limit)
            drop(t, "slower", false);
    }

    double predicted_ms(Compiled &compiled) const {
        try {
            return compiled.predict(Outputs(pointers_), options_.autoschedule).milliseconds;
        } catch (const Error &) {  // a candidate is timed all the same
            return 0;
        }
    }

    static void drop(Trial &t, const std::string &why, bool wrong) {
        t.info.dropped = why;
        t.wrong = wrong;
        t.compiled = nullptr;
    }

    void run_once(Trial &t) {
        t.compiled->run(Outputs(pointers_), {nullptr, handlers_, *compiler_.profile});
    }

    double sample(Trial &t) {
        const auto start = Clock::now();
        for (int i = 0; i < t.repeats; i++)
            run_once(t);
        return ms_since(start) / t.repeats;
    }

    /// One sample of each candidate that is left per round, in turn.
    void measure() {
        while (!time_is_up() && round_ < options_.samples) {
            std::vector<Trial *> left;
            for (Trial &t : trials_)
                if (t.is_left() && static_cast<int>(t.info.times_ms.size()) < options_.samples)
                    left.push_back(&t);
            if (left.empty())
                return;
            const auto first = left.begin() + round_ % static_cast<long>(left.size());
            std::rotate(left.begin(), first, left.end());
            round_++;
            for (Trial *t : left) {
                t->info.times_ms.push_back(sample(*t));
                if (time_is_up())
                    break;
            }
            cut();
            report(*best_of(trials_));
        }
    }

    /// The user wants to know how much faster the others are.
    static bool is_compared(const Trial &t) {
        return t.info.name == "hand" || t.info.name == "auto";
    }

    void cut() {
        const double best = best_of(trials_)->min_ms();
        for (const Cut &c : cuts)
            for (Trial &t : trials_)
                if (round_ == c.round && t.is_left() && !is_compared(t) &&
                    t.min_ms() > c.factor * best)
                    drop(t, "slower", false);
    }

    void write() {
        written_ = Clock::now();
        const Trial *best = best_of(trials_);
        if (options_.file.empty() || !best)
            return;
        file_.schedule = best->portable;
        std::map<uint64_t, ScheduleFile::Candidate> all = known_;
        file_.candidates.clear();
        for (const Trial &t : trials_) {
            file_.candidates.push_back(t.info);
            all.erase(t.info.key);
        }
        for (const auto &[key, candidate] : all)
            file_.candidates.push_back(candidate);
        write_schedule_file(options_.file, file_);
    }

    TuneResult finish() {
        const Trial *best = best_of(trials_);
        if (!best)
            throw RuntimeError(fmt::format("Pipeline::tune: no schedule could be run. {}: {}.",
                                           trials_[0].info.name, trials_[0].info.dropped));
        write();
        language::replay(outputs_, best->portable);
        compiler_.use_directives(target_);
        TuneResult result;
        for (const Trial &t : trials_)
            result.candidates.push_back(t.candidate());
        auto place = [](const TuneCandidate &c) {
            const bool last = !c.dropped.empty() || c.samples == 0;
            return std::pair(last, c.samples == 0 ? INFINITY : c.min_ms);
        };
        std::stable_sort(result.candidates.begin(), result.candidates.end(),
                         [&](const auto &a, const auto &b) { return place(a) < place(b); });
        const Outputs buffers(pointers_);
        compiler_.get(outputs_, target_, &buffers)
            ->run(buffers, {nullptr, compiler_.handlers, *compiler_.profile});
        result.complete = !stopped_;
        result.seconds = seconds();
        return result;
    }
};

}  // namespace

TuneResult tune(const std::vector<Func> &outputs, Compiler &compiler, const Realization &buffers,
                const TuneOptions &options) {
    std::optional<TuneResult> result;
    support::on_deep_stack([&] { result = Tuner(outputs, compiler, buffers, options).run(); });
    return std::move(*result);
}

namespace {

/// What the autoscheduler chooses has to be lowered to know that it can be used.
Scheduled schedule_to_save(const std::vector<Func> &outputs, Compiler &compiler) {
    if (!compiler.settings().autoschedule)
        return compiler.schedule(outputs);
    auto compiled = compiler.compile_for(outputs, Target());
    compiled->program();
    return compiled->scheduled();
}

}  // namespace

void save_schedule(const std::vector<Func> &outputs, Compiler &compiler, const std::string &path) {
    support::on_deep_stack([&] {
        const Scheduled s = schedule_to_save(outputs, compiler);
        ScheduleFile file;
        const Target target = compiler.settings().target;
        file.target = target.arch == Target::ArchUnknown ? get_host_target() : target;
        file.algorithm = language::algorithm_of(outputs);
        file.schedule = language::portable(outputs, s.frozen);
        write_schedule_file(path, file);
    });
}

void apply_schedule(const std::vector<Func> &outputs, Compiler &compiler, const std::string &path) {
    support::on_deep_stack([&] {
        const ScheduleFile file = read_schedule_file(path);
        check_algorithm(path, file, language::algorithm_of(outputs));
        check_target(path, file);
        language::replay(outputs, file.schedule);
        compiler.use_directives(file.target);
    });
}

}  // namespace Pipe::driver
