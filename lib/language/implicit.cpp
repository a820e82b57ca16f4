#include "language/implicit.h"

#include <algorithm>

#include <fmt/format.h>

#include "language/collect.h"
#include <pipe/var.h>

namespace Pipe::language {
namespace {

bool is_placeholder(const Expr &e) {
    return e.defined() && e->op == ir::Op::Variable && !e->referent && Var::is_placeholder(e->name);
}

}  // namespace

bool has_placeholder(const std::vector<Expr> &args) {
    return std::any_of(args.begin(), args.end(), is_placeholder);
}

int count_implicit(const std::vector<Expr> &values) {
    Names names;
    for (const Expr &value : values)
        names.add(value);
    int count = 0;
    for (const std::string &var : names.vars)
        if (Var::is_implicit(var))
            count = std::max(count, std::stoi(var.substr(1)) + 1);
    return count;
}

std::vector<Expr> expand_placeholder(const std::string &what, const std::vector<Expr> &args,
                                     int count, SourceLocation where) {
    if (std::count_if(args.begin(), args.end(), is_placeholder) > 1)
        throw CompileError(
            fmt::format("{}{} contains '_' twice: it stands for all coordinates that "
                        "are missing, so once is enough.",
                        what, at(where)));
    std::vector<Expr> result;
    for (const Expr &arg : args) {
        if (!is_placeholder(arg)) {
            result.push_back(arg);
            continue;
        }
        for (int i = 0; i < count; i++)
            result.push_back(Var::implicit(i));
    }
    return result;
}

std::vector<Expr> expand_to(const std::string &what, const std::vector<Expr> &args, int dimensions,
                            SourceLocation where) {
    if (!has_placeholder(args))
        return args;
    int missing = dimensions - (static_cast<int>(args.size()) - 1);
    return expand_placeholder(what, args, std::max(missing, 0), where);
}

}  // namespace Pipe::language
