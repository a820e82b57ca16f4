#pragma once
// Var: a dimension of a Func, and a loop in its schedule.

#include <string>

#include <pipe/expr.h>
#include <pipe/operators.h>

namespace Pipe {

/// A coordinate of a Func (an int32), and the name of a loop in schedules. Vars with the same name
/// are the same Var.
class Var {
  public:
    /// Creates a unique name: "v$0", "v$1", ...
    Var();
    Var(const std::string &name) : name_(name) {}
    Var(const char *name) : name_(name) {}

    const std::string &name() const { return name_; }
    bool same_as(const Var &other) const { return name_ == other.name_; }
    operator Expr() const;

    /// The position outside all loops of a Func: compute_at(f, Var::outermost()) means the place at
    /// which f itself is computed.
    static Var outermost();

    /// The n-th implicit Var: see `_` below.
    static Var implicit(int n) { return Var("_" + std::to_string(n)); }
    /// "_0", "_1", ...
    static bool is_implicit(const std::string &name);
    /// The index of an implicit Var; -1 for others.
    static int implicit_index(const std::string &name);
    int implicit_index() const { return implicit_index(name_); }
    static bool is_placeholder(const std::string &name) { return name == "_"; }
    bool is_implicit() const { return is_implicit(name_); }
    bool is_placeholder() const { return is_placeholder(name_); }

  private:
    std::string name_;
};

/// Placeholder for all missing coordinates. In a call of a Func or an image, it expands to the
/// implicit Vars _0, _1, ...; on the left of a definition, to all implicit Vars of the right side.
/// `f(x, _) = g(_) + 1` gives f one more dimension than g.
inline const Var _("_");
inline const Var _0("_0"), _1("_1"), _2("_2"), _3("_3"), _4("_4"), _5("_5"), _6("_6"), _7("_7"),
    _8("_8"), _9("_9");

/// The N-th implicit Var, or `_`: for programs that name this type.
template <int N = -1> struct ImplicitVar {
    Var to_var() const { return N < 0 ? _ : Var::implicit(N); }
    operator Var() const { return to_var(); }
    operator Expr() const { return to_var(); }
};

}  // namespace Pipe
