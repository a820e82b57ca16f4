#pragma once
// A Schedule as the directives that make it, from the initial loops of every definition:
// schedule_source.h prints them as C++, portable.h prepares them for a file.

#include <string>
#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::graph {

/// One argument of a directive.
struct Argument {
    enum class Kind : uint8_t {
        Loop,    ///< the Var or RVar `text` of the stage `func`, `stage`; also Var::outermost()
        Func,    ///< `func`
        Stage,   ///< `func`, `stage`
        Source,  ///< the Func or image of the name `text`
        Number,  ///< `number`, made a `scope` unless that is ""
        Word,    ///< the enumerator `text` of `scope`
        Text,    ///< a string
        Flag,    ///< `flag`
        List,    ///< `list`, made a `scope` unless that is ""
    };
    Kind kind = Kind::Text;
    std::string text = {}, scope = {};
    Expr number = {};
    bool flag = false;
    FuncId func = FuncId::None;
    int stage = 0;
    std::vector<Argument> list = {};
};

struct Directive {
    std::string name;  ///< of the member function: "split"
    std::vector<Argument> args = {};
};

/// Directives on one object, in the order in which they are given.
struct Statement {
    FuncId func = FuncId::None;
    int stage = -1;                     ///< -1: the whole Func
    std::vector<int> specialized = {};  ///< path of indices into nested specializations
    std::vector<Directive> directives;
};

/// In an order in which they can be given: consumers first, so that the loops named by compute_at
/// exist. Without in(), clone_in() and rfactor(), which the graph contains (FuncNode::made_by), and
/// without estimates. Copies made by copy_for_stages are left out.
std::vector<Statement> directives(const Graph &graph, const schedules::Schedule &schedule);

}  // namespace Pipe::graph
