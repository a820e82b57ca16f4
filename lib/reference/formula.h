#pragma once
// The expressions of one stage, compiled for evaluation at many points.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "reference/value.h"

namespace Pipe::reference {

/// The data that a Formula reads during evaluation.
struct Source {
    virtual ~Source() = default;
    /// Element of a Func; Unknown if it has not been computed yet (the Source then records the
    /// request).
    virtual Value func(FuncId id, int element, const std::vector<int64_t> &at) = 0;
    virtual Value image(const std::string &name, const std::vector<int64_t> &at) = 0;
    /// Called when the result of an operation is undefined in the language. May throw.
    virtual void undefined(const char *what) = 0;
    /// Called when a requirement or a promise of the algorithm is violated. Throws RuntimeError.
    [[noreturn]] virtual void fail(const std::string &message) = 0;
};

/// Several expressions over the same variables. Each node of the (shared) expression graph is
/// evaluated at most once per point. Only the chosen arm of a select is evaluated, so that the
/// other one requests nothing.
class Formula {
  public:
    /// `locals` are the variables that change from point to point; `globals` are constant.
    Formula(const std::vector<Expr> &roots, const std::vector<std::string> &locals,
            const std::map<std::string, Value> &globals);

    /// Moves to another point: values of `locals` in the order given to the constructor.
    void at(const std::vector<int64_t> &locals, Source &source);
    /// Value of a root at that point. An undefined root has none (InternalError).
    Value value(size_t root);

  private:
    /// How a node gets its value. Decided once, because comparing names takes longer than most operations.
    enum class Kind : uint8_t { Constant, Local, Choice, Effect, Binary, Other };
    static constexpr uint64_t always = ~uint64_t{0};
    struct Node {
        const ir::ExprNode *expr;
        std::vector<int> args;
        std::vector<Type> types;  ///< of args
        Kind kind = Kind::Other;
        int local = -1;  ///< Local: index in locals
        /// The point at which `value` holds: `always` for a Constant.
        uint64_t computed_at = 0;
        Value value;
        // Reused for all points to avoid allocations.
        std::vector<Value> values;         ///< of args
        std::vector<int64_t> coordinates;  ///< of the called Func or image
    };
    using Scope = std::unordered_map<const ir::ExprNode *, int>;

    int add(const Expr &e, Scope &scope, const std::map<std::string, int> &lets);
    void resolve(Node &node);
    Value value_of(int index);
    Value compute(Node &node);
    Value binary(const Node &node);
    Value other(Node &node);
    Value call(Node &node);
    Value checked(Value value);
    Value effect(const Node &node);
    Value call_users_function(const ir::ExprNode &e, const std::vector<Value> &args);

    std::vector<Expr> keep_alive_;
    const std::vector<std::string> local_names_;
    const std::map<std::string, Value> &globals_;
    std::vector<Node> nodes_;
    std::vector<int> roots_;
    uint64_t point_ = 0;
    std::vector<int64_t> locals_;
    Source *source_ = nullptr;
    Arithmetic arithmetic_;
};

}  // namespace Pipe::reference
