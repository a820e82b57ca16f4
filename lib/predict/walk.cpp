#include "predict/walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "ir/visit.h"
#include "predict/body.h"
#include "support/error.h"

namespace Pipe::predict {

using ir::Stmt;
using ir::StmtNode;
using ir::StmtOp;

namespace {

constexpr double allocation_clocks = 60;  ///< of a block of scratch memory, without what it touches
constexpr double lock_clocks = 60;

/// Arrays of constant size whose indices are all constants.
class RegisterArrays {
  public:
    explicit RegisterArrays(const Stmt &body) {
        ir::walk(
            body, [&](const Stmt &s) { return statement(*s.get()); },
            [&](const Expr &e) { return expression(*e.get()); });
        for (const std::string &name : others_)
            candidates_.erase(name);
    }
    bool contains(const std::string &name) const { return candidates_.count(name) > 0; }

  private:
    bool statement(const StmtNode &s) {
        constexpr int64_t most_bytes = 16 << 10;
        if (s.op == StmtOp::Allocate) {
            const auto bytes = ir::constant_bytes(s);
            if (bytes && *bytes <= most_bytes && s.memory != MemoryType::Heap)
                candidates_.insert(s.name);
            else
                others_.insert(s.name);
        }
        if (s.op == StmtOp::Store)
            note(s.name, s.index());
        return true;
    }
    bool expression(const ir::ExprNode &e) {
        if (e.op == ir::Op::Load)
            note(e.name, e.element());
        return true;
    }
    void note(const std::string &name, const Expr &index) {
        if (ir::contains(index, [](const ir::ExprNode &n) {
                return n.op == ir::Op::Variable || n.op == ir::Op::Load || n.op == ir::Op::Call;
            }))
            others_.insert(name);
    }

    std::unordered_set<std::string> candidates_, others_;
};

class Walk {
  public:
    Walk(const ir::Program &program, const Values &values, const Target &target)
        : program_(program), values_(values), registers_(program.body),
          body_(nest_, numbers_, target) {}

    Nest run() {
        for (const auto &[name, value] : values_)
            numbers_.bind(name, Form::constant(value));
        for (const ir::Argument &a : program_.args)
            if (a.kind != ir::Argument::Kind::Scalar)
                body_.allocate({a.name, bytes_of(a), streams(a.name)}, false);
        nest_.stages.push_back(program_.name);
        visit(program_.body);
        return std::move(nest_);
    }

  private:
    const ir::Program &program_;
    const Values &values_;
    const RegisterArrays registers_;
    Nest nest_;
    Numbers numbers_;
    Body body_;
    int depth_ = -1;
    std::array<float, 64> active_ =
        all_active();  ///< in which samples the branches around are taken

    static std::array<float, 64> all_active() {
        std::array<float, 64> all;
        all.fill(1);
        return all;
    }

    /// The mean where the branches around are taken, as far as samples tell.
    double mean_here(const Form &f) const {
        constexpr double enough = 3;
        double count = 0, sum = 0;
        for (size_t i = 0; i < active_.size(); i++)
            count += active_[i], sum += active_[i] * f.samples[i];
        const bool all = count >= double(active_.size());
        return all || f.data || count < enough ? f.mean : sum / count;
    }

    void visit_branch(const Stmt &s, double chance, uint64_t condition, const Form &holds) {
        if (!s.defined() || chance <= 0)
            return;
        const std::array<float, 64> outside = active_;
        for (size_t i = 0; i < active_.size() && !holds.data; i++)
            active_[i] *= holds.samples[i];
        body_.enter_branch(chance, condition);
        visit(s);
        body_.leave_branch();
        active_ = outside;
    }

    double bytes_of(const ir::Argument &a) const {
        double elements = 1;
        for (size_t d = 0; d < static_cast<size_t>(a.dimensions); d++) {
            auto extent = values_.find(ir::extent_name(a.name, d));
            elements *= extent == values_.end() ? 0 : extent->second;
        }
        return elements * a.type.bytes();
    }

    bool streams(const std::string &buffer) const {
        return program_.nontemporal_stores.count(buffer) > 0;
    }

    int stage_of(const std::string &func) {
        auto found = std::find(nest_.stages.begin() + 1, nest_.stages.end(), func);
        if (found == nest_.stages.end())
            found = nest_.stages.insert(found, func);
        return static_cast<int>(found - nest_.stages.begin());
    }

    void visit(const Stmt &s) {
        if (!s.defined())
            return;
        const StmtNode &n = *s.get();
        switch (n.op) {
        case StmtOp::Block:
            for (const Stmt &child : n.stmts)
                visit(child);
            return;
        case StmtOp::Let:
            numbers_.bind(n.name, numbers_.of(n.value()));
            body_.bind(n.name, n.value());
            visit(n.body());
            body_.unbind(n.name);
            numbers_.unbind(n.name);
            return;
        case StmtOp::For:
            return loop(n);
        case StmtOp::If:
            return branch(n);
        case StmtOp::Store:
            return body_.store(n);
        case StmtOp::Evaluate:
            return body_.evaluate(n.value());
        case StmtOp::Allocate:
            return allocate(n);
        case StmtOp::Produce:
            body_.begin_production(n.name, stage_of(n.name));
            visit(n.body());
            body_.end_production(n.name);
            return;
        case StmtOp::Assert:
            return check(n);
        default:
            return other(n);
        }
    }

    void other(const StmtNode &n) {
        if (n.op == StmtOp::Launch)
            throw InternalError("predict: a kernel of a GPU");
        if (n.op == StmtOp::Fork)
            nest_.notes.push_back(n.name + " is asynchronous: counted as if it were not");
        if (n.op == StmtOp::Memoize)
            return memoize(n);
        if (n.op == StmtOp::Exclusive)
            body_.spend(lock_clocks);
        for (const Stmt &child : n.stmts)
            visit(child);
    }

    void memoize(const StmtNode &n) {
        for (size_t i = 0; i < n.types.size(); i++)
            body_.allocate({ir::buffer_of_memoize(n, i)}, false);
        for (const Stmt &child : n.stmts)
            visit(child);
        for (size_t i = 0; i < n.types.size(); i++)
            body_.free(ir::buffer_of_memoize(n, i));
    }

    void loop(const StmtNode &n) {
        const Form min = numbers_.of(n.min()), extent = numbers_.of(n.extent());
        const double trips = mean_here(extent.linear ? extent : larger(extent, Form::constant(0)));
        if (trips <= 0)
            return;
        auto node = std::make_unique<Node>();
        node->name = n.name;
        node->depth = ++depth_;
        node->stage = body_.stage();
        node->parallel = n.kind == LoopKind::Parallel;
        node->entries = body_.chance() * std::min(1.0, trips);
        node->trips = std::max(1.0, trips);
        const Form counter = Form::counter(depth_, node->trips);
        body_.evaluate(n.min());
        body_.evaluate(n.extent());
        Node &inside = *node;
        body_.loop().loops.push_back(std::move(node));
        body_.enter(inside);
        numbers_.bind(n.name, sum(min, counter, 1));
        visit(n.body());
        numbers_.unbind(n.name);
        body_.leave();
        depth_--;
    }

    void branch(const StmtNode &n) {
        const Form condition = numbers_.of(n.condition());
        const double chance = std::clamp(mean_here(condition), 0.0, 1.0);
        const uint64_t decided = body_.decide(n.condition(), condition);
        visit_branch(n.then_case(), chance, decided, condition);
        if (n.stmts.size() > 1)
            visit_branch(n.else_case(), 1 - chance, ~decided, negation(condition));
    }

    void allocate(const StmtNode &n) {
        double bytes = n.types[0].bytes();
        for (const Expr &size : n.exprs)
            bytes *= std::max(0.0, numbers_.of(size).mean);
        const bool in_registers = registers_.contains(n.name);
        if (!in_registers && !ir::constant_bytes(n))
            body_.spend(allocation_clocks);
        body_.allocate({n.name, bytes, streams(n.name), true}, in_registers);
        visit(n.body());
        body_.free(n.name);
    }

    void check(const StmtNode &n) {
        const auto failure = static_cast<ir::Failure>(n.code);
        if (failure == ir::Failure::InputTooSmall || failure == ir::Failure::OutputTooSmall) {
            const Form condition = numbers_.of(n.condition());
            nest_.too_small |= condition.is_constant() && condition.mean == 0;
        }
    }
};

}  // namespace

Nest walk(const ir::Program &program, const Values &values, const Target &target) {
    return Walk(program, values, target).run();
}

}  // namespace Pipe::predict
