#include "lower/assume.h"

#include "ir/equal.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

using Answers = std::vector<std::pair<Expr, bool>>;

/// The condition, what it consists of where that is known too, and the opposites of comparisons. (Of floats
/// there are none: both may be false.)
void add_answers(const Expr &condition, bool holds, Answers &answers) {
    const ExprNode &e = *condition.get();
    answers.emplace_back(condition, holds);
    if (e.op == Op::Not)
        add_answers(e.value(), !holds, answers);
    if (e.op == (holds ? Op::And : Op::Or))
        for (const Expr &part : e.args)
            add_answers(part, holds, answers);
    if (is_comparison(e.op) && !e.a().type().is_float())
        answers.emplace_back(make_binary(negated(e.op), e.a(), e.b()), !holds);
}

class Answer : public GraphMutator {
  public:
    explicit Answer(const Answers &answers) : answers_(answers) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e.type() == Bool())
            for (const auto &[question, answer] : answers_)
                if (question->op == e->op && equal(question, e))
                    return make_const(Bool(), answer);
        return GraphMutator::rewrite(e);
    }

  private:
    const Answers &answers_;
};

}  // namespace

graph::Graph assume(graph::Graph graph, const Expr &condition, bool holds) {
    Answers answers;
    add_answers(condition, holds, answers);
    Answer answer(answers);
    for (graph::FuncNode &func : graph.funcs)
        for (graph::Stage &stage : func.stages)
            graph::for_each_expr(stage, [&](Expr &e) { e = answer.mutate(e); });
    return graph;
}

}  // namespace Pipe::lower
