#pragma once
// One directive by its name: the table of all member functions that a schedule may call.

#include <functional>
#include <string>

#include "graph/directives.h"
#include <pipe/func.h>

namespace Pipe::language {

/// What the names in a directive mean in this process.
struct ReplayContext {
    std::function<Func(const std::string &)> func;  ///< CompileError if there is none
    /// A Func or an image.
    std::function<void(const std::string &, Func *, ImageParam *)> source;
    std::function<Expr(const Expr &)> number;
    std::function<std::string(const Func &, int stage, const std::string &)> loop;
};

/// Calls the directive on the stage; those of the whole Func, on its Func. CompileError for an unknown
/// one, or arguments that it does not take.
void replay(const graph::Directive &directive, const Pipe::Stage &stage,
            const ReplayContext &context);

}  // namespace Pipe::language
