#pragma once
// The expression half of the IR, on one page. (Statements: stmt_node.h.)
//
//   e ::= int | uint | float | "string"                 constants (broadcast where lanes > 1 by Broadcast)
//       | name                                          Variable: Var, RVar, Param, loop variable, let
//       | cast<t>(e) | reinterpret<t>(e)
//       | e + e | e - e | e * e | e / e | e % e | min(e, e) | max(e, e)
//       | e == e | e != e | e < e | e <= e | e > e | e >= e | e && e | e || e | !e
//       | select(e, e, e)
//       | call name(e, ...)                             Call: see CallKind
//       | name[e]  if e                                 Load: flattened, index in elements, lane mask
//       | ramp(e, e)                                    base, stride; lanes from the type
//       | broadcast(e)
//       | let name = e in e
//       | reduce<op>(e)                                 VectorReduce: neighboring lanes combined
//       | interleave(e, ...)                            the lanes of several vectors in turn
//       | slice(e)                                      every n-th lane of a vector, from some lane on
//
// Semantics.
//  * Both operands of a binary node have the node's operand type exactly; the front end inserts casts.
//    Comparisons give bool with the operands' lanes. Select's condition has the result's lanes, or
//    one lane.
//  * Integers of 8 and 16 bits and all unsigned ones wrap. Overflow of int32 and int64 is undefined:
//    the simplifier may assume that it does not happen.
//  * Division of integers rounds so that the remainder `%` lies in [0, |divisor|) (Euclidean: floor
//    for a positive divisor). x / 0 = 0 and x % 0 = 0.
//  * Float operations are IEEE. FMA contraction of a*b+c is allowed; re-association is not.
//    min/max of floats return the second operand if either is NaN.
//  * Casts: float -> int truncates toward zero (undefined if out of range); int -> narrower int wraps;
//    anything -> bool is `!= 0`.
//  * Shifts are Intrinsic calls; a negative amount shifts the other way.
//  * An expression has no side effect, except Calls with CallKind::Extern (impure).

#include <atomic>
#include <cassert>
#include <memory>
#include <string>
#include <vector>

#include <pipe/expr.h>

namespace Pipe::ir {

enum class Op : uint8_t {
    IntImm,
    UIntImm,
    FloatImm,
    StringImm,
    Variable,
    Cast,
    Reinterpret,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    And,
    Or,
    Not,
    Select,
    Call,
    Load,
    Ramp,
    Broadcast,
    Let,
    VectorReduce,
    Interleave,
    Slice,
};

enum class CallKind : uint8_t {
    Func,        ///< element of a Func; args = coordinates; `index` = tuple element
    Image,       ///< element of an input buffer; args = coordinates
    Intrinsic,   ///< one of intrinsics.h, by name
    PureExtern,  ///< C function without side effect (sqrt_f32, exp_f32, ...), by name
    Extern,      ///< C function with side effect
};

/// What a front-end Expr refers to (a Func, image or parameter). Opaque here: the IR does not know
/// the user's objects. Null in frozen graphs and in lowered code, which use names only.
struct Referent {
    virtual ~Referent() = default;
};

/// One node. All kinds share one layout, so that the list of a node's children is in one place: `args`. Where the
/// kind is known, children are read by the names in the table: a(), value(), if_true(), ...
///
/// | op                | args                    | other fields                                        |
/// |-------------------|-------------------------|-----------------------------------------------------|
/// | IntImm            |                         | int_value                                           |
/// | UIntImm           |                         | uint_value                                          |
/// | FloatImm          |                         | float_value                                         |
/// | StringImm         |                         | name                                                |
/// | Variable          |                         | name, is_param, referent (front end: RDom or Param) |
/// | Cast, Reinterpret | value                   |                                                     |
/// | binary            | a, b                    |                                                     |
/// | Not, Broadcast    | value                   |                                                     |
/// | Select            | condition, if_true,     |                                                     |
/// |                   | if_false                |                                                     |
/// | Call              | arguments               | name, call_kind, index, referent                    |
/// | Load              | element, predicate      | name (buffer); element: index in elements;          |
/// |                   |                         | predicate: lane mask, undefined = all lanes         |
/// | Ramp              | base, stride            | lanes in type                                       |
/// | Let               | value, body             | name                                                |
/// | VectorReduce      | value                   | reduce_op (Add, Mul, Min, Max, And, Or)             |
/// | Interleave        | c values of m lanes     | lane i is lane i/c of value i%c                     |
/// | Slice             | value                   | lane i is lane index + i * int_value of it          |
struct ExprNode {
    mutable std::atomic<int> references{0};
    Op op;
    CallKind call_kind = CallKind::Intrinsic;
    Op reduce_op = Op::Add;
    bool is_param = false;  ///< a number given by the caller, which may have any value of its type
    Type type;
    int32_t index = 0;
    int32_t depth = 1;  ///< levels of nodes, this one included
    union {
        int64_t int_value = 0;
        uint64_t uint_value;
        double float_value;
    };
    std::vector<Expr> args;
    std::string name;
    std::shared_ptr<const Referent> referent;

    ExprNode(Op op_, Type type_) : op(op_), type(type_) {}

    // The children by their names in the table. Only of the given nodes: others have something else there.
    const Expr &a() const;          ///< binary: the first operand
    const Expr &b() const;          ///< binary: the second operand
    const Expr &value() const;      ///< Cast, Reinterpret, Not, Broadcast, Let, VectorReduce, Slice
    const Expr &condition() const;  ///< Select
    const Expr &if_true() const;    ///< Select
    const Expr &if_false() const;   ///< Select
    const Expr &element() const;    ///< Load: index in elements
    const Expr &predicate() const;  ///< Load: lane mask; undefined = all lanes
    const Expr &base() const;       ///< Ramp
    const Expr &stride() const;     ///< Ramp
    const Expr &body() const;       ///< Let
};

inline const Expr &ExprNode::a() const {
    assert(op >= Op::Add && op <= Op::Or);
    return args[0];
}
inline const Expr &ExprNode::b() const {
    assert(op >= Op::Add && op <= Op::Or);
    return args[1];
}
inline const Expr &ExprNode::value() const {
    assert(op == Op::Cast || op == Op::Reinterpret || op == Op::Not || op == Op::Broadcast ||
           op == Op::Let || op == Op::VectorReduce || op == Op::Slice);
    return args[0];
}
inline const Expr &ExprNode::condition() const {
    assert(op == Op::Select);
    return args[0];
}
inline const Expr &ExprNode::if_true() const {
    assert(op == Op::Select);
    return args[1];
}
inline const Expr &ExprNode::if_false() const {
    assert(op == Op::Select);
    return args[2];
}
inline const Expr &ExprNode::element() const {
    assert(op == Op::Load);
    return args[0];
}
inline const Expr &ExprNode::predicate() const {
    assert(op == Op::Load);
    return args[1];
}
inline const Expr &ExprNode::base() const {
    assert(op == Op::Ramp);
    return args[0];
}
inline const Expr &ExprNode::stride() const {
    assert(op == Op::Ramp);
    return args[1];
}
inline const Expr &ExprNode::body() const {
    assert(op == Op::Let);
    return args[1];
}

// Constructors. They check operand types (InternalError) but do not simplify.
Expr make_int(Type type, int64_t value);   ///< constant of any integer type (wraps) or lanes
Expr make_float(Type type, double value);  ///< rounded to the type
/// The number of a float type that is nearest to `value`.
double round_to(Type type, double value);
Expr make_const(Type type, int64_t value);  ///< of any numeric type; vectors as Broadcast
Expr make_string(const std::string &value);
Expr make_variable(Type type, const std::string &name,
                   std::shared_ptr<const Referent> referent = nullptr);
/// A variable that is_param.
Expr make_param(Type type, const std::string &name,
                std::shared_ptr<const Referent> referent = nullptr);
Expr make_cast(Type type, Expr value);  ///< no-op if the value already has the type
Expr make_reinterpret(Type type, Expr value);
Expr make_binary(Op op, Expr a, Expr b);  ///< arithmetic, comparison, And, Or; equal types
Expr make_not(Expr a);
Expr make_select(Expr condition, Expr t, Expr f);
Expr make_call(Type type, const std::string &name, std::vector<Expr> args, CallKind kind,
               int index = 0, std::shared_ptr<const Referent> referent = nullptr);
Expr make_load(Type type, const std::string &buffer, Expr index, Expr predicate = Expr());
Expr make_ramp(Expr base, Expr stride, int lanes);
Expr make_broadcast(Expr value, int lanes);  ///< returns value if lanes == 1
Expr make_let(const std::string &name, Expr value, Expr body);
Expr make_vector_reduce(Op op, Expr value, int lanes);
/// Interleaves vectors: the first lanes of all values, then their second lanes, and so on. All have
/// one type; at least one value.
Expr make_interleave(std::vector<Expr> values);
/// Lanes begin, begin + step, ... of a vector, `lanes` of them, all in range.
Expr make_slice(Expr value, int begin, int step, int lanes);
/// The same node with other children (and another number of lanes, if that follows from the
/// children).
Expr with_args(const Expr &e, std::vector<Expr> args);

// Index arithmetic is int32 by default; these build and fold constants (a + 0, const + const, ...).
// For compiler-made bounds and loop code.
Expr add(Expr a, Expr b);
Expr sub(Expr a, Expr b);
Expr mul(Expr a, Expr b);
Expr div(Expr a, Expr b);
Expr mod(Expr a, Expr b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);

inline bool is_const_int(const Expr &e) {
    return e.defined() && e->op == Op::IntImm;
}
/// The value of an IntImm/UIntImm, also below a Broadcast or Cast.
bool as_const_int(const Expr &e, int64_t *value);
bool is_const(const Expr &e, int64_t value);
/// A call of the intrinsic of this name (intrinsics.h).
bool is_intrinsic(const ExprNode &e, const char *name);
bool is_binary(Op op);
bool is_comparison(Op op);
/// The comparison that is true if and only if this one is false (with NaN, both are false).
Op negated(Op comparison);
bool is_commutative(Op op);
/// The identity element of Add, Mul, Min, Max, And or Or.
Expr identity(Op op, Type type);

}  // namespace Pipe::ir
