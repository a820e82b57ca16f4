#pragma once
// FuncRef: an element of a Func, to define it or to use its value.

#include <initializer_list>
#include <memory>
#include <vector>

#include <pipe/expr.h>
#include <pipe/operators.h>
#include <pipe/tuple.h>

namespace Pipe {

namespace language {
struct FuncContents;
}

class Func;
class FuncRef;
class Stage;

/// `f(x, y)[i]`: one value of a Func with a Tuple. On the left of an update, it changes that value
/// only.
class FuncTupleElementRef {
  public:
    FuncTupleElementRef(const FuncRef &func, int element);

    Stage operator=(const Expr &value) const;
    Stage operator=(const FuncTupleElementRef &value) const;
    Stage operator+=(const Expr &value) const;
    Stage operator-=(const Expr &value) const;
    Stage operator*=(const Expr &value) const;
    Stage operator/=(const Expr &value) const;
    operator Expr() const;
    int index() const { return element_; }

  private:
    std::shared_ptr<const FuncRef> func_;
    int element_;
};

/// `f(x, y)`: a definition on the left of an assignment, a value elsewhere.
///
/// The first definition of a Func is pure: its arguments are distinct Vars. Each further one is an
/// update: its arguments are Exprs, it may use an RDom and the Func itself, and it runs after the
/// earlier definitions. `+=` and `-=` on an undefined Func first define it as 0, `*=` and `/=` as
/// 1.
class FuncRef {
  public:
    FuncRef(std::shared_ptr<language::FuncContents> func, std::vector<Expr> args,
            SourceLocation where);
    FuncRef(const FuncRef &) = default;
    FuncRef(FuncRef &&) = default;

    Stage operator=(const Expr &value) const;
    Stage operator=(const Tuple &values) const;
    Stage operator=(const FuncRef &value) const;
    Stage operator+=(const Expr &value) const;
    Stage operator-=(const Expr &value) const;
    Stage operator*=(const Expr &value) const;
    Stage operator/=(const Expr &value) const;
    // Element-wise.
    Stage operator+=(const Tuple &values) const;
    Stage operator-=(const Tuple &values) const;
    Stage operator*=(const Tuple &values) const;
    Stage operator/=(const Tuple &values) const;
    Stage operator+=(const FuncRef &value) const;
    Stage operator-=(const FuncRef &value) const;
    Stage operator*=(const FuncRef &value) const;
    Stage operator/=(const FuncRef &value) const;

    /// The value. CompileError if the Func is undefined, has a Tuple of values, or has another
    /// number of dimensions.
    operator Expr() const;
    /// All values of a Func that has a Tuple.
    operator Tuple() const;
    /// One value of a Func that has a Tuple.
    FuncTupleElementRef operator[](int element) const;
    /// Number of values.
    int size() const;
    const std::vector<Type> &types() const;
    /// CompileError if the Func has a Tuple of values.
    Type type() const;
    Func function() const;
    /// Whether both are the same Func at the same coordinates, compared as expressions.
    bool equivalent_to(const FuncRef &other) const;

  private:
    friend class FuncTupleElementRef;
    Stage define(const std::vector<Expr> &values) const;
    Stage update_with(char op, const std::vector<Expr> &values) const;
    Expr element(int i) const;
    std::vector<Expr> all() const;

    std::shared_ptr<language::FuncContents> func_;
    std::vector<Expr> args_;
    SourceLocation where_;
};

// Without these, `using namespace std` would select std::min and std::max for elements of Funcs.
inline Expr min(const FuncRef &a, const FuncRef &b) {
    return min(Expr(a), Expr(b));
}
inline Expr max(const FuncRef &a, const FuncRef &b) {
    return max(Expr(a), Expr(b));
}
// These calls are ambiguous between Expr and Tuple: they mean Expr; write Tuple(f(x)) for a Tuple.
inline Expr select(const Expr &condition, const FuncRef &if_true, const FuncRef &if_false) {
    return select(condition, Expr(if_true), Expr(if_false));
}
template <typename... Rest>
requires(sizeof...(Rest) >= 1) Expr select(const Expr &c0, const FuncRef &v0, const Expr &c1,
                                           const FuncRef &v1, const Rest &...rest) {
    return select(c0, Expr(v0), select(c1, v1, rest...));
}
inline Expr mux(const Expr &id, std::initializer_list<FuncRef> values) {
    return mux(id, std::vector<Expr>(values.begin(), values.end()));
}

}  // namespace Pipe
