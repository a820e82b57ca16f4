#include "language/cpp_names.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/names.h"
#include "ir/print.h"
#include "language/match.h"
#include "schedule/print.h"

namespace Pipe::language {
namespace {

using schedules::Transform;
using Funcs = std::vector<std::shared_ptr<const FuncContents>>;

/// User's names take precedence, so that no generated name is mistaken for one.
void name_variables(Graph &graph, const Funcs &funcs) {
    std::map<std::string, int> given;
    for (const auto &f : funcs)
        given[f->identity->given]++;
    std::set<std::string> taken;
    for (bool declared : {true, false})
        for (size_t i = 0; i < funcs.size(); i++) {
            const std::string &name = funcs[i]->identity->given;
            FuncNode &node = graph.funcs[i];
            if (declared != (!name.empty() && given.at(name) == 1))
                continue;
            node.is_declared = declared;
            node.variable = graph::identifier(declared ? name : node.name);
            while (!taken.insert(node.variable).second)
                node.variable += "_";
        }
}

/// The directives up to and including the rfactor, where the Func is called `func`.
std::string statement(const RFactor &factored, const std::string &func) {
    const int update = factored.stage - 1;
    auto rvar = [&](const std::string &name) {
        const std::vector<ReductionVar> &rvars = factored.before.rvars;
        for (size_t i = 0; i < rvars.size(); i++)
            if (rvars[i].name == name)
                return fmt::format("{}.rvars({})[{}]", func, update, i);
        return fmt::format("RVar(\"{}\")", graph::identifier(name));
    };
    std::string text = fmt::format("{}.update({})", func, update);
    for (const Transform &t : factored.loops.transforms) {
        if (t.kind == Transform::Kind::Split)
            text += fmt::format(".split({}, {}, {}, {}, TailStrategy::{})", rvar(t.old_name),
                                rvar(t.outer), rvar(t.inner), ir::shortened(t.factor),
                                schedules::to_string(t.tail));
        else if (t.kind == Transform::Kind::Fuse)
            text +=
                fmt::format(".fuse({}, {}, {})", rvar(t.inner), rvar(t.outer), rvar(t.old_name));
        else
            text += fmt::format(".rename({}, {})", rvar(t.old_name), rvar(t.outer));
    }
    std::vector<std::string> pairs;
    for (const auto &[r, v] : factored.preserved)
        pairs.push_back(fmt::format("{{{}, Var(\"{}\")}}", rvar(r), graph::identifier(v)));
    return text + fmt::format(".rfactor({{{}}})", join(pairs));
}

/// How a Func that was not declared was created, and from what.
void name_origin(Graph &graph, const Funcs &funcs, size_t i) {
    const auto &origin = funcs[i]->origin;
    auto of = origin.of.lock();
    if (!of)
        return;
    auto variable = [&](const Identity &identity) {
        for (size_t k = 0; k < funcs.size(); k++)
            if (funcs[k]->identity.get() == &identity)
                return graph.funcs[k].variable;
        return graph::identifier(identity.name);
    };
    FuncNode &node = graph.funcs[i];
    const std::string made_of = variable(*of->identity);
    if (origin.factored) {
        node.made_by = statement(*origin.factored, made_of);
        return;
    }
    std::vector<std::string> consumers;
    for (const auto &c : origin.consumers)
        consumers.push_back(variable(*c));
    std::string list = join(consumers);
    node.made_by = fmt::format("{}.{}({})", made_of, origin.method,
                               consumers.size() > 1 ? "{" + list + "}" : list);
}

}  // namespace

void name_in_cpp(Graph &graph, const Funcs &funcs) {
    name_variables(graph, funcs);
    for (size_t i = 0; i < funcs.size(); i++)
        name_origin(graph, funcs, i);
}

}  // namespace Pipe::language
