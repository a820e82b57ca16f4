#pragma once
// Stream output of Exprs and schedule types, in the same format as in error messages.

#include <iosfwd>

#include <pipe/expr.h>
#include <pipe/loop_level.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>
#include <pipe/target.h>
#include <pipe/type.h>
#include <pipe/var.h>

namespace Pipe::ir {
std::ostream &operator<<(std::ostream &out, const Expr &e);
}

namespace Pipe {

/// Exprs in full: "x + f(x, y)".
using ir::operator<<;
std::ostream &operator<<(std::ostream &out, const Var &v);
std::ostream &operator<<(std::ostream &out, const RVar &v);
/// Its ranges: "RDom r: r$x in [0, +10), ...", or "undefined RDom".
std::ostream &operator<<(std::ostream &out, const RDom &r);
std::ostream &operator<<(std::ostream &out, const Type &type);
std::ostream &operator<<(std::ostream &out, const Target &target);
std::ostream &operator<<(std::ostream &out, const LoopLevel &level);
std::ostream &operator<<(std::ostream &out, TailStrategy tail);
std::ostream &operator<<(std::ostream &out, MemoryType memory);
std::ostream &operator<<(std::ostream &out, Partition partition);
std::ostream &operator<<(std::ostream &out, LoopAlignStrategy align);
std::ostream &operator<<(std::ostream &out, PrefetchBoundStrategy strategy);
std::ostream &operator<<(std::ostream &out, DeviceAPI api);

}  // namespace Pipe
