#include "language/replay.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "graph/loops.h"
#include "ir/substitute.h"
#include "language/collect.h"
#include "language/replay_directives.h"
#include "language/wrap.h"
#include "schedule/numbers.h"

namespace Pipe::language {
namespace {

using DerivedFunc = PortableSchedule::DerivedFunc;
using FuncPointer = std::shared_ptr<FuncContents>;

}  // namespace

/// The state of all objects that a schedule changes.
class TemporarySchedule::Snapshot {
  public:
    explicit Snapshot(const PortableNames &names) {
        for (const auto &f : names.algorithm().contents)
            save(std::const_pointer_cast<FuncContents>(f));
        for (const FuncPointer &f : names.made())
            save(f);
        for (const auto &image : names.algorithm().images) {
            images_.emplace_back(std::const_pointer_cast<ImageContents>(image), image->wrappers);
            save_wrappers(*image);
        }
    }

    void restore() const {
        for (const State &s : funcs_) {
            s.func->stages = s.stages;
            s.func->schedule = s.schedule;
            s.func->schedule_objects = s.schedule_objects;
            s.func->wrappers = s.wrappers;
            s.func->promised = s.promised;
            s.func->callees = s.callees;
            s.func->images = s.images;
            s.func->identity->touch();
        }
        for (const auto &[image, wrappers] : images_)
            image->wrappers = wrappers;
    }

  private:
    struct State {
        FuncPointer func;
        std::vector<Stage> stages;
        schedules::FuncSchedule schedule;
        ScheduleObjects schedule_objects;
        std::vector<Wrapper> wrappers;
        decltype(FuncContents::promised) promised;
        decltype(FuncContents::callees) callees;
        decltype(FuncContents::images) images;
    };
    std::vector<State> funcs_;
    std::set<const FuncContents *> saved_;
    std::vector<std::pair<std::shared_ptr<ImageContents>, std::vector<Wrapper>>> images_;

    void save(const FuncPointer &f) {
        if (!saved_.insert(f.get()).second)
            return;
        funcs_.push_back({f, f->stages, f->schedule, f->schedule_objects, f->wrappers, f->promised,
                          f->callees, f->images});
        save_wrappers(*f);
    }

    /// Also those that no Func reads at present.
    void save_wrappers(const Wrappable &object) {
        for (const Wrapper &w : object.wrappers)
            save(w.func);
    }
};

namespace {

class Replayer {
  public:
    /// \param fixed  what the schedule inlines stays inlined: the autoscheduler has no choice
    Replayer(const std::vector<Func> &outputs, PortableNames &names,
             const PortableSchedule &schedule, bool fixed)
        : outputs_(outputs), names_(names), schedule_(schedule), fixed_(fixed) {
        context_.func = [this](const std::string &name) { return Func(find(name)); };
        context_.source = [this](const std::string &name, Func *func, ImageParam *image) {
            source(name, func, image);
        };
        context_.number = [this](const Expr &e) { return number(e); };
        context_.loop = [](const Func &f, int stage, const std::string &name) {
            return loop(*f.contents(), stage, name);
        };
    }

    void run() {
        find_inputs();
        while (unmake())  // others may become part of the pipeline again
            names_ = PortableNames(outputs_);
        reset();
        for (const DerivedFunc &made : schedule_.made)
            if (!names_.find(made.name))
                make(made);
        reset();
        for (const PortableSchedule::Entry &entry : schedule_.entries)
            give(entry);
        for (const FuncPointer &f : all())
            f->identity->touch();
    }

  private:
    const std::vector<Func> &outputs_;
    PortableNames &names_;
    const PortableSchedule &schedule_;
    const bool fixed_;
    ReplayContext context_;
    /// That the definitions use, or the schedule so far.
    std::vector<std::shared_ptr<const ParamContents>> params_;
    std::vector<std::shared_ptr<const ImageContents>> images_;

    void find_inputs() {
        params_ = names_.algorithm().params;
        images_ = names_.algorithm().images;
        graph::Walk walk;
        auto add = [&](const ir::ExprNode &node) {
            if (auto param = std::dynamic_pointer_cast<const ParamContents>(node.referent))
                params_.push_back(param);
            if (auto image = std::dynamic_pointer_cast<const ImageContents>(node.referent))
                images_.push_back(image);
        };
        for (const FuncPointer &f : all())
            for_each_number(f->schedule, [&](const Expr &e) { walk(e, add); });
    }

    std::vector<FuncPointer> all() const {
        std::vector<FuncPointer> result = names_.made();
        for (const auto &f : names_.algorithm().contents)
            result.push_back(std::const_pointer_cast<FuncContents>(f));
        return result;
    }

    FuncPointer find(const std::string &name) const {
        FuncPointer func = names_.find(name);
        if (!func)
            throw CompileError(
                fmt::format("The schedule names the Func '{}', which the pipeline does not have.",
                            func_field(name)));
        return func;
    }

    std::shared_ptr<const ImageContents> find_image(const std::string &name) const {
        for (const auto &image : images_)
            if (image->identity->given == name && !image->bound)
                return image;
        return nullptr;
    }

    void source(const std::string &name, Func *func, ImageParam *image) const {
        if (FuncPointer found = names_.find(name)) {
            *func = Func(found);
        } else if (auto contents = find_image(name)) {
            static_cast<OutputImageParam &>(*image) =
                OutputImageParam(std::const_pointer_cast<ImageContents>(contents));
        } else {
            find(name);
        }
    }

    /// With the Params and images of this process.
    Expr number(const Expr &e) const {
        std::map<std::string, Expr> values;
        for (const std::string &name : ir::free_vars(e))
            values[name] = value_of(name);
        return ir::substitute(values, e);
    }

    /// "blur.output.0.min.1". Undefined: another name.
    Expr output_size(const std::string &name) const {
        const std::string mark = ".output.";
        const size_t at = name.rfind(mark);
        size_t value = 0;
        char what[7] = "";
        int dim = 0;
        if (at == std::string::npos ||
            std::sscanf(name.c_str() + at + mark.size(), "%zu.%6[a-z].%d", &value, what, &dim) != 3)
            return Expr();
        const std::vector<OutputImageParam> buffers =
            Func(find(name.substr(0, at))).output_buffers();
        if (value >= buffers.size())
            return Expr();
        const ImageDimension size = buffers[value].dim(dim);
        return what == std::string("min") ? size.min() : size.extent();
    }

    Expr value_of(const std::string &name) const {
        for (const auto &param : params_)
            if (param->identity->given == name)
                return ir::make_param(param->type, param->identity->name, param);
        if (Expr size = output_size(name); size.defined())
            return size;
        const size_t dot = name.find('.');
        if (auto image = find_image(name.substr(0, dot)); image && dot != std::string::npos)
            return ir::make_variable(Int(32), image->identity->name + name.substr(dot), image);
        throw CompileError(fmt::format("The schedule refers to '{}', which is neither a Param nor "
                                       "the size of an image that the definitions use, or the "
                                       "schedule so far.",
                                       name));
    }

    /// Stage -1: the first one with such an RVar.
    static std::string loop(const FuncContents &f, int stage, const std::string &name) {
        if (stage >= 0)
            return PortableNames::find_loop(f, static_cast<size_t>(stage), name);
        for (size_t s = 0; s < f.stages.size(); s++)
            if (std::string found = PortableNames::find_loop(f, s, name); found != name)
                return found;
        return name;
    }

    /// Whether the schedule adds the same Func.
    bool is_wanted(const FuncContents &f) const {
        const DerivedFunc here = names_.how(f);
        auto text = [](const DerivedFunc &made) {
            std::string result;
            for (const Directive &d : made.before)
                result += to_string(d) + ".";
            return result;
        };
        return std::any_of(schedule_.made.begin(), schedule_.made.end(), [&](const DerivedFunc &m) {
            return m.name == here.name && text(m) == text(here);
        });
    }

    /// Whether it was made of that one, or by factoring the same update.
    static bool depends(const FuncContents &f, const FuncContents &other) {
        const auto of = f.origin.of.lock();
        const bool same_update = f.origin.factored && other.origin.factored &&
                                 of == other.origin.of.lock() &&
                                 f.origin.factored->stage == other.origin.factored->stage;
        return same_update || of.get() == static_cast<const Wrappable *>(&other);
    }

    /// Removes the Funcs that were added and that the schedule does not have, last ones first.
    bool unmake() {
        std::vector<FuncPointer> removed;
        for (const FuncPointer &f : names_.made())
            if (!is_wanted(*f))
                removed.push_back(f);
        for (bool more = true; more;) {
            more = false;
            for (const FuncPointer &f : names_.made()) {
                const bool known = std::count(removed.begin(), removed.end(), f) > 0;
                more |= !known && std::any_of(removed.begin(), removed.end(), [&](const auto &r) {
                    return depends(*f, *r) && (removed.push_back(f), true);
                });
            }
        }
        const std::vector<FuncPointer> made = names_.made();
        for (auto f = made.rbegin(); f != made.rend(); ++f)
            if (std::count(removed.begin(), removed.end(), *f) > 0)
                unmake(**f);
        return !removed.empty();
    }

    void unmake(FuncContents &f) const {
        auto of = std::const_pointer_cast<Wrappable>(f.origin.of.lock());
        if (f.origin.factored) {
            auto &func = static_cast<FuncContents &>(*of);
            func.stages[static_cast<size_t>(f.origin.factored->stage)] = f.origin.factored->before;
            find_callees(func);
            return;
        }
        std::erase_if(of->wrappers, [&](const Wrapper &w) { return w.func.get() == &f; });
        for (const FuncPointer &reader : all())
            std::erase_if(reader->promised,
                          [&](const auto &promised) { return promised.lock().get() == &f; });
    }

    void reset() const {
        for (const FuncPointer &f : all()) {
            f->schedule = graph::without_directives(f->schedule, f->args, f->stages);
            f->schedule.touched = fixed_;
            f->schedule_objects = {};
        }
    }

    void make(const DerivedFunc &made) {
        std::vector<Func> consumers;
        for (const std::string &name : made.consumers)
            consumers.emplace_back(find(name));
        if (made.method == "rfactor") {
            names_.add(factored(made).contents());
        } else if (auto image = find_image(made.of); image && made.method == "in") {
            auto &contents = const_cast<ImageContents &>(*image);
            names_.add(wrap_image(contents, consumers, image->where).contents());
        } else if (made.method == "in") {
            const FuncPointer of = find(made.of);
            names_.add(
                (consumers.empty() ? Func(of).in(of->where) : Func(of).in(consumers, of->where))
                    .contents());
        } else if (made.method == "clone_in") {
            const FuncPointer of = find(made.of);
            names_.add(Func(of).clone_in(consumers, of->where).contents());
        } else {
            throw CompileError(fmt::format("The schedule makes '{}' by '{}', which is not known.",
                                           made.name, made.method));
        }
        if (!names_.find(made.name))
            throw CompileError(fmt::format("The schedule calls '{}' what is '{}'.", made.name,
                                           names_.name_of(*names_.made().back())));
    }

    Func factored(const DerivedFunc &made) {
        const FuncPointer of = find(made.of);
        const Pipe::Stage stage = stage_of(of, made.of, made.stage);
        for (const Directive &d : made.before)
            replay(d, stage, context_);
        std::vector<std::pair<RVar, Var>> preserved;
        for (const auto &[loop, var] : made.preserved)
            preserved.emplace_back(
                RVar(PortableNames::find_loop(*of, static_cast<size_t>(made.stage), loop)),
                Var(var));
        return Pipe::Stage(stage).rfactor(preserved, of->where);
    }

    static Pipe::Stage stage_of(const FuncPointer &func, const std::string &name, int stage) {
        if (stage < 0 || static_cast<size_t>(stage) >= func->stages.size())
            throw CompileError(fmt::format("The schedule names update({}) of the Func '{}', which "
                                           "has {} updates.",
                                           stage - 1, func_field(name), func->stages.size() - 1));
        return Pipe::Stage(func, stage);
    }

    void give(const PortableSchedule::Entry &entry) {
        const FuncPointer func = find(entry.func);
        const Pipe::Stage whole = stage_of(func, entry.func, std::max(entry.stage, 0));
        std::vector<size_t> path;
        const schedules::StageSchedule *at = &whole.schedule();
        for (int i : entry.specialized) {
            if (i < 0 || static_cast<size_t>(i) >= at->specializations.size())
                throw CompileError(fmt::format("The schedule names specialization {} of '{}', "
                                               "which does not exist.",
                                               i, func_field(entry.func)));
            path.push_back(static_cast<size_t>(i));
            at = &at->specializations[static_cast<size_t>(i)].schedule;
        }
        const Pipe::Stage stage(func, whole.index(), path);
        for (const Directive &d : entry.directives)
            replay(d, stage, context_);
    }
};

}  // namespace

void TemporarySchedule::give(const std::vector<Func> &outputs, const PortableSchedule &schedule,
                             bool fixed) {
    PortableNames names(outputs);
    before_ = std::make_unique<const Snapshot>(names);
    try {
        Replayer(outputs, names, schedule, fixed).run();
    } catch (...) {
        before_->restore();
        throw;
    }
}

TemporarySchedule::TemporarySchedule(const std::vector<Func> &outputs,
                                     const PortableSchedule &schedule) {
    give(outputs, schedule, true);
}

TemporarySchedule::TemporarySchedule(const std::vector<Func> &outputs) {
    give(outputs, {}, false);
}

TemporarySchedule::~TemporarySchedule() {
    if (before_)
        before_->restore();
}

void TemporarySchedule::keep() {
    before_ = nullptr;
}

void replay(const std::vector<Func> &outputs, const PortableSchedule &schedule) {
    TemporarySchedule(outputs, schedule).keep();
}

}  // namespace Pipe::language
