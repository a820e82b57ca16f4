// Directives on a definition that do not change its loops: specializations, hints, promises.

#include <algorithm>

#include <fmt/format.h>

#include "graph/inlined_values.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include "language/nest.h"
#include "schedule/print.h"
#include <pipe/func.h>

namespace Pipe {

using language::call_text;
using language::FuncContents;
using language::Nest;
using schedules::Specialization;
using schedules::StageSchedule;

namespace {

/// specialize_fail() must be the last specialization.
void check_open(const Nest &nest, const StageSchedule &s) {
    if (!s.specializations.empty() && !s.specializations.back().condition.defined())
        nest.fail("specialize_fail() must come last, because it covers all remaining cases. "
                  "Specialize before it.");
    if (!s.fuse_level.inlined())
        nest.fail("a definition that shares loops (compute_with) cannot be specialized. Leave one "
                  "of the two out.");
}

}  // namespace

template <typename Self> Stage StageDirectives<Self>::specialize(const Expr &condition) {
    Nest nest(stage(), "specialize");
    StageSchedule &s = nest.schedule();
    nest.check_has_loops();
    if (!condition.defined() || !condition.type().is_bool() || !language::is_uniform(condition))
        nest.fail(
            fmt::format("the condition must be a bool of Params and sizes, not {}.",
                        condition.defined() ? language::describe(condition) : "an undefined Expr"));
    auto same =
        std::find_if(s.specializations.begin(), s.specializations.end(), [&](const auto &other) {
            return other.condition.defined() && ir::equal(other.condition, condition);
        });
    std::vector<size_t> place = nest.stage().specialization();
    place.push_back(static_cast<size_t>(same - s.specializations.begin()));
    if (same == s.specializations.end()) {
        check_open(nest, s);
        StageSchedule copy = s;
        copy.specializations.clear();
        s.specializations.push_back({condition, std::move(copy), ""});
        nest.done();
    }
    return Stage(nest.stage().contents(), nest.stage().index(), std::move(place));
}

template <typename Self> void StageDirectives<Self>::specialize_fail(const std::string &message) {
    Nest nest(stage(), "specialize_fail");
    StageSchedule &s = nest.schedule();
    nest.check_has_loops();
    if (message.empty())
        nest.fail("the message is empty. Describe what the caller did wrong.");
    check_open(nest, s);
    s.specializations.push_back({Expr(), StageSchedule(), message});
    nest.done();
}

template <typename Self>
Self &StageDirectives<Self>::partition(const VarOrRVar &loop, Partition policy) {
    Nest nest(stage(), call_text("partition", {loop.name}));
    nest.schedule().dims[nest.find(loop)].partition = policy;
    nest.done();
    return self();
}

template <typename Self>
Self &StageDirectives<Self>::never_partition(const std::vector<VarOrRVar> &loops) {
    for (const VarOrRVar &loop : loops)
        partition(loop, Partition::Never);
    return self();
}

template <typename Self>
Self &StageDirectives<Self>::always_partition(const std::vector<VarOrRVar> &loops) {
    for (const VarOrRVar &loop : loops)
        partition(loop, Partition::Always);
    return self();
}

template <typename Self> Self &StageDirectives<Self>::never_partition_all() {
    return never_partition(stage().loops());
}

template <typename Self> Self &StageDirectives<Self>::always_partition_all() {
    for (const schedules::Dim &d : stage().schedule().dims)
        if (is_host_loop(d.kind))
            partition(d.name, Partition::Always);
    return self();
}

template <typename Self>
Self &StageDirectives<Self>::prefetch(const Func &source, const VarOrRVar &at,
                                      const VarOrRVar &from, const Expr &offset,
                                      PrefetchBoundStrategy strategy) {
    return add_prefetch({source.name(), at.name, from.name, offset, strategy,
                         source.contents()->identity->number},
                        at, from);
}

template <typename Self>
Self &StageDirectives<Self>::prefetch(const ImageParam &source, const VarOrRVar &at,
                                      const VarOrRVar &from, const Expr &offset,
                                      PrefetchBoundStrategy strategy) {
    return prefetch_image(source.contents(), at, from, offset, strategy);
}

template <typename Self>
Self &StageDirectives<Self>::prefetch_buffer(const Buffer<void, AnyDims> &source,
                                             const VarOrRVar &at, const VarOrRVar &from,
                                             const Expr &offset, PrefetchBoundStrategy strategy) {
    return prefetch_image(language::image_of(source), at, from, offset, strategy);
}

template <typename Self>
Self &StageDirectives<Self>::prefetch_image(
    const std::shared_ptr<const language::ImageContents> &image, const VarOrRVar &at,
    const VarOrRVar &from, const Expr &offset, PrefetchBoundStrategy strategy) {
    stage().contents()->schedule_objects.prefetched.push_back(image);
    return add_prefetch({image->identity->name, at.name, from.name, offset, strategy,
                         image->identity->number},
                        at, from);
}

template <typename Self>
Self &StageDirectives<Self>::add_prefetch(schedules::Prefetch p, const VarOrRVar &at,
                                          const VarOrRVar &from) {
    Nest nest(stage(), call_text("prefetch", {p.source, at.name, from.name}));
    StageSchedule &s = nest.schedule();
    if (nest.find(from) < nest.find(at))
        nest.fail(fmt::format(
            "the loop '{}' is inside '{}'. The data of a later iteration of a loop is prefetched "
            "inside that loop: pass '{}' or a loop "
            "around it as the last argument.",
            from.name, at.name, at.name));
    std::string why;
    Expr offset = language::directive_number(p.offset, &why);
    if (!offset.defined())
        nest.fail("the offset is " + why);
    if (!language::is_uniform(p.offset))
        nest.fail(fmt::format("the offset {} depends on coordinates. Use a number, a "
                              "Param or the size of an image.",
                              language::describe(p.offset)));
    p.offset = offset;
    s.prefetches.push_back(std::move(p));
    nest.done();
    return self();
}

template <typename Self> Self &StageDirectives<Self>::atomic(bool override_associativity_test) {
    Nest nest(stage(), "atomic");
    nest.check_has_loops();
    nest.schedule().atomic = true;
    nest.schedule().override_associativity_test = override_associativity_test;
    nest.done();
    return self();
}

template <typename Self> Self &StageDirectives<Self>::allow_race_conditions() {
    Nest nest(stage(), "allow_race_conditions");
    nest.check_has_loops();
    nest.schedule().allow_race_conditions = true;
    nest.done();
    return self();
}

template <typename Self>
Self &StageDirectives<Self>::no_device(const char *directive, const VarOrRVar &loop) {
    Nest nest(stage(), call_text(directive, {loop.name}));
    nest.fail("this directive is not supported. Leave it out: buffers are copied to and from a GPU "
              "automatically, and DSPs (Hexagon) are not supported.");
}

namespace {

/// Replaces calls of a pure Func by its values.
class InlineCalls : public ir::GraphMutator {
  public:
    explicit InlineCalls(const FuncContents &callee)
        : callee_(callee), values_(callee.args, callee.stages[0].values) {}
    int inlined = 0;

  protected:
    Expr rewrite(const Expr &e) override {
        Expr now = ir::GraphMutator::rewrite(e);
        if (now->op != ir::Op::Call || now->referent.get() != &callee_)
            return now;
        inlined++;
        return values_.at(*now.get(), [](const Expr &value) { return value; });
    }

  private:
    const FuncContents &callee_;
    graph::InlinedValues values_;
};

}  // namespace

template <typename Self> Self &StageDirectives<Self>::eager_inline(const std::vector<Func> &funcs) {
    Nest nest(stage(), "eager_inline");
    FuncContents &func = *nest.stage().contents();
    for (const Func &f : funcs) {
        if (!f.defined() || f.has_update_definition() || f.is_extern())
            nest.fail(fmt::format("'{}' {}. Only a Func with one pure definition can be inlined.",
                                  f.name(),
                                  !f.defined()    ? "is not defined"
                                  : f.is_extern() ? "is an extern stage"
                                                  : "has updates"));
        if (f.contents().get() == &func)
            nest.fail("a Func cannot be inlined into itself. Name a Func that it calls.");
    }
    graph::Stage &stage = func.stages[static_cast<size_t>(nest.stage().index())];
    if (graph::extern_definition(stage))
        nest.fail("the inputs of an extern stage must be stored in memory.");
    // The Funcs may call each other, in any order: repeat until no call is left.
    std::vector<bool> called(funcs.size());
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < funcs.size(); i++) {
            InlineCalls calls(*funcs[i].contents());
            graph::for_each_expr(stage, [&](Expr &e) { e = calls.mutate(e); });
            if (calls.inlined > 0)
                called[i] = again = true;
        }
    }
    if (auto idle = std::find(called.begin(), called.end(), false); idle != called.end())
        nest.fail(fmt::format("this definition does not call '{}'. Name Funcs that it calls.",
                              funcs[static_cast<size_t>(idle - called.begin())].name()));
    language::find_callees(func);
    func.identity->touch();
    return self();
}

template class StageDirectives<Stage>;
template class StageDirectives<Func>;

}  // namespace Pipe
