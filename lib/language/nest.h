#pragma once
// Nest: used by each loop directive to find, check and replace the loops of one definition, and to report
// errors with the directive's name.

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include "support/error_text.h"
#include <pipe/func.h>

namespace Pipe::language {

/// The loop nest of one stage being transformed, and error reporting for the directive.
class Nest {
  public:
    Nest(const Pipe::Stage &stage, std::string directive)
        : stage_(stage), func_(*stage.contents()), schedule_(stage.schedule()),
          directive_(std::move(directive)) {}

    const Pipe::Stage &stage() const { return stage_; }
    schedules::StageSchedule &schedule() { return schedule_; }

    [[noreturn]] void fail(const std::string &why) const {
        throw CompileError(fmt::format("{}.{}{}: {}", func_field(stage_.name()), directive_,
                                       support::in_parentheses(func_.where), why));
    }

    size_t find(const VarOrRVar &loop) const {
        const auto &dims = schedule_.dims;
        auto found = std::find_if(dims.begin(), dims.end(),
                                  [&](const schedules::Dim &d) { return d.name == loop.name; });
        if (found == dims.end())
            fail_missing(loop.name);
        return static_cast<size_t>(found - dims.begin());
    }

    /// Whether a loop has, or once had, this name.
    bool is_taken(const std::string &name) const {
        bool taken = std::count(func_.args.begin(), func_.args.end(), name) > 0;
        for (const schedules::Dim &d : schedule_.dims)
            taken |= d.name == name;
        for (const schedules::Transform &t : schedule_.transforms)
            taken |= t.old_name == name || t.outer == name || t.inner == name;
        return taken;
    }

    /// CompileError if the name of a new loop is in use, or was used and would be ambiguous.
    void check_new(const std::string &name, const std::string &replaced) const {
        if (name.empty())
            fail("a loop needs a name. Use a Var with a name.");
        if (name == replaced)
            return;
        if (is_taken(name))
            fail(fmt::format("the name '{}' is taken by another loop. Name another Var. Loops: {}.",
                             name, loops()));
    }

    Expr check_factor(const Expr &factor) const {
        std::string why;
        Expr number = directive_number(factor, &why);
        if (!number.defined())
            fail("the factor is " + why);
        if (!is_uniform(factor))
            fail(fmt::format("the factor {} depends on coordinates. Use a "
                             "number, a Param or the size of an image.",
                             describe(factor)));
        int64_t value = 0;
        if (ir::as_const_int(number, &value) && value <= 0)
            fail(fmt::format("the factor is {}, but must be at least 1.", value));
        return number;
    }

    /// CompileError if the tail strategy would change the result of the definition.
    void check_tail(const schedules::Dim &loop, TailStrategy tail) const;
    /// CompileError if the loop results from a split whose masks refer to it.
    void check_splittable(const std::string &loop) const;

    /// CompileError for an extern stage.
    void check_has_loops() const {
        if (const ir::ExprNode *by = graph::extern_definition(func_.stages[0]))
            fail(fmt::format("it is an extern stage, computed by the C function '{}', so it has no "
                             "loops. Split, vectorize "
                             "or parallelize the Funcs that read it, and compute it in their loops "
                             "(compute_at).",
                             by->args[0]->name));
    }

    std::string loops() const {
        std::vector<std::string> names;
        for (const schedules::Dim &d : schedule_.dims)
            names.push_back(d.name);
        return names.empty() ? "none" : join(names) + " (innermost first)";
    }

    void done(schedules::Transform transform) {
        schedule_.transforms.push_back(std::move(transform));
        done();
    }
    void done() {
        schedule_.touched = true;
        func_.identity->touch();
    }

  private:
    const Pipe::Stage stage_;
    const FuncContents &func_;
    schedules::StageSchedule &schedule_;
    std::string directive_;

    [[noreturn]] void fail_missing(const std::string &name) const {
        check_has_loops();
        for (const schedules::Transform &t : schedule_.transforms)
            if (t.old_name == name && t.kind == schedules::Transform::Kind::Split)
                fail(fmt::format("the loop '{}' no longer exists: it was split into '{}' and '{}'. "
                                 "Name one of these. Loops: {}.",
                                 name, t.outer, t.inner, loops()));
        fail(fmt::format("there is no loop '{}'. Name one of the loops: {}.", name, loops()));
    }
};

/// "split(x, xo, xi)"
inline std::string call_text(const char *directive, const std::vector<std::string> &names) {
    return fmt::format("{}({})", directive, join(names));
}

}  // namespace Pipe::language
