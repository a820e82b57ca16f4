#pragma once
// Body: counts the instructions and memory accesses of loop bodies, as LLVM leaves them: equal values are
// computed once, values that do not change in a loop are computed outside of it, and small arrays whose
// indices are constants are registers.

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/narrow_term.h"
#include "ir/stmt_node.h"
#include "predict/nest.h"
#include "predict/numbers.h"
#include <pipe/target.h>

namespace Pipe::predict {

/// A value in a register.
struct Value {
    uint64_t id = 0;  ///< equal values have equal ids
    int depth = -1;   ///< the innermost loop in which it changes
    double regs = 1;  ///< vector registers; 0: none (constants, integers)
    double chain =
        -1;  ///< clocks since the previous iteration's result was read; negative: it was not
    uint64_t origin = 0;  ///< of a chain: what was read
};

class Body {
  public:
    Body(Nest &nest, Numbers &numbers, const Target &target);

    // The statements, in order. Loops and branches are entered and left.
    void enter(Node &loop);
    void leave();
    /// \param condition  a number for what is decided: LLVM merges branches with the same condition
    void enter_branch(double chance, uint64_t condition);
    void leave_branch();
    void bind(const std::string &name, const Expr &value);
    void unbind(const std::string &name);
    /// `in_registers`: its indices are constants.
    void allocate(const BufferInfo &buffer, bool in_registers);
    void free(const std::string &name);
    void begin_production(const std::string &func, int stage);
    void end_production(const std::string &func);
    void evaluate(const Expr &e);
    /// The condition of a branch. Returns its number.
    uint64_t decide(const Expr &condition, const Form &form);
    void store(const ir::StmtNode &s);
    /// Clocks of something else, in each execution of this place.
    void spend(double clocks);

    int stage() const { return stages_.empty() ? 0 : stages_.back(); }
    double chance() const { return levels_.back().chance; }
    Node &loop() { return *levels_.back().node; }

  private:
    struct Interval {
        int first, last;
        double regs;
    };
    /// An element that is read and written in iterations of a loop.
    struct Read {
        std::string buffer;
        Form index;
    };
    struct Level {
        explicit Level(Node *n) : node(n) {}

        Node *node;
        double chance = 1;  ///< that the present place is executed, in one iteration
        struct Branch {
            double chance;  ///< of the place outside of it
            size_t mark;    ///< what is known outside of it
            uint64_t condition;
        };
        std::vector<Branch> branches;  ///< around the present place
        std::unordered_map<uint64_t, std::vector<Value>>
            known_in;     ///< branches of these conditions
        size_t mark = 0;  ///< the same of the loop
        std::unordered_map<uint64_t, Interval> live;
        std::unordered_map<uint64_t, double> invariants;
        std::unordered_map<std::string, Value>
            elements;  ///< of arrays in registers, as of this iteration
        std::unordered_map<uint64_t, double> kept;  ///< arrays in registers: their registers
        std::set<uint64_t> decided;                 ///< conditions of branches
        int clock = 0;
        std::vector<std::string>
            produced;  ///< arrays whose contents change in iterations of this loop
    };
    struct Array {
        int number = 0;
        bool in_registers = false;
        int depth = -1;         ///< of the loop whose iterations change the contents
        bool produced = false;  ///< the present place is inside of its production
        uint64_t version = 0;
    };
    struct Definition {
        Expr value;
        std::optional<Value> known;
    };

    Value value(const Expr &e);
    Value compute(const Expr &e);
    Value variable(const ir::ExprNode &e);
    Value number(const Expr &e);
    Value let(const ir::ExprNode &e);
    Value broadcast(const Expr &e);
    Value operation(const Expr &e);
    /// Of a sum of lanes, the operands of the instruction that adds them up, if there is one.
    std::optional<ir::NarrowTerm> narrow_sum(const ir::ExprNode &e) const;
    Value sum_of(const ir::NarrowTerm &term, const Expr &e);
    Value conditional(const Expr &e);
    Value load(const ir::ExprNode &e);
    Value element(const ir::ExprNode &e, const Form &index);
    void access(const Array &array, const Form &index, Type type, bool store, int depth);
    double crossing(const Form &index, Type type) const;
    void end_chain(const std::string &buffer, const Form &index, const Value &v);
    void index_work(const Expr &index, const Form &form);
    void first_lane(const Expr &index);
    void charge(int depth, const Work &work);
    void use(const Value &v);
    const Value &add(Value v);
    const Value *find(uint64_t id) const;
    void forget_since(size_t mark);
    void end_of_body(Level &level);
    int inner_depth() const { return levels_.back().node->depth; }
    int hoisted(int depth) const;

    Nest &nest_;
    Numbers &numbers_;
    const Target &target_;
    std::vector<Level> levels_;
    std::vector<int> stages_;
    ir::Scope<Definition> definitions_;
    ir::Scope<Array> arrays_;
    std::unordered_map<uint64_t, Value> known_;
    std::vector<uint64_t> log_;  ///< of known_, in the order in which they were added
    std::unordered_map<const ir::ExprNode *, std::pair<Expr, Value>> shared_;
    std::unordered_map<uint64_t, Read> reads_;
    const ir::StmtNode *storing_ = nullptr;
    Form stored_index_;
    uint64_t versions_ = 0;
};

}  // namespace Pipe::predict
