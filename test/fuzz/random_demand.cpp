// The demand at numbers (region/numeric_demand.h) of random schedules: it equals the plan's expressions, and
// is what the loops compute, read and store when they run, statement by statement.

#include <optional>
#include <utility>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "fuzz/schedule.h"
#include "fuzz/seeds.h"
#include "graph/check.h"
#include "graph/extern_stage.h"
#include "ir/intrinsics.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "language/freeze.h"
#include "lower/build.h"
#include "region/numeric_demand.h"
#include "support/interpret.h"

using namespace Pipe;
using namespace Pipe::fuzz;
using ir::Op;
using ir::Stmt;
using ir::StmtOp;
using region::NumericDemand;

namespace {

using Ranges = std::vector<poly::Range>;

constexpr int most_iterations = 10000;

Ranges copied(std::span<const poly::Range> box) {
    return {box.begin(), box.end()};
}

bool contains(const poly::Range &range, int64_t value) {
    return range.min <= value && value <= range.max;
}

bool is_empty(const Ranges &box) {
    return std::any_of(box.begin(), box.end(), [](const poly::Range &r) { return r.is_empty(); });
}

std::string text(const Ranges &box) {
    std::string result;
    for (const poly::Range &r : box)
        result += "[" + std::to_string(r.min) + ", " + std::to_string(r.max) + "]";
    return result;
}

/// Runs the loops of a plan, without values.
class Run {
  public:
    Run(const region::RegionPlan &plan, const std::map<std::string, int64_t> &names)
        : plan_(plan), tree_(plan.tree), graph_(tree_.graph()), demand_(plan) {
        for (const auto &[name, value] : names)
            set(name, value);
        for (const graph::FuncNode &f : graph_.funcs)
            ids_[f.name] = f.id;
        for (size_t i = 0; i < graph_.images.size(); i++)
            images_[graph_.images[i].name] = i;
        for (FuncId id : graph_.outputs)
            for (size_t i = 0; i < graph_[id].types.size(); i++)
                ids_[graph::buffer_name(graph_[id], i)] = id;
    }

    /// Or so many iterations of them that they would take too long.
    void run() { execute(lower::build(plan_, Stmt())); }

    bool has_unknown() const { return demand_.has_unknown(); }

    int productions = 0, stores = 0, reads = 0, exact = 0;

  private:
    /// What stages may store in an iteration that runs at the moment.
    struct Iteration {
        region::Level level;
        std::map<FuncId, Ranges> boxes;
    };
    struct Production {
        FuncId func;
        Ranges stored;
        bool conditional = false;
    };

    void set(const std::string &name, int64_t value) {
        numbers_.set(name, Int(32), value);
        demand_.set(name, value);
    }

    /// Nothing, if it depends on data.
    std::optional<int64_t> number(const Expr &e) {
        const bool data = ir::contains(e, [](const ir::ExprNode &n) {
            return n.op == Op::Call &&
                   (n.call_kind == ir::CallKind::Func || n.call_kind == ir::CallKind::Image ||
                    n.call_kind == ir::CallKind::Extern);
        });
        if (data)
            return std::nullopt;
        return numbers_.evaluate(e).at(0).i;
    }

    /// Nothing, if it depends on data whether the condition holds.
    std::optional<bool> holds(const Expr &condition) {
        if (condition->op == Op::And) {
            const auto a = holds(condition->a()), b = holds(condition->b());
            return a == false || b == false ? false : a && b ? std::optional(true) : std::nullopt;
        }
        if (condition->op == Op::Select ||
            ir::is_intrinsic(*condition, ir::intrinsic::if_then_else)) {
            const auto chosen = holds(condition->args[0]);
            const auto a = holds(condition->args[1]), b = holds(condition->args[2]);
            return chosen ? (*chosen ? a : b) : a == b ? a : std::nullopt;
        }
        const auto value = number(condition);
        return value ? std::optional(*value != 0) : std::nullopt;
    }

    /// Stages whose loops compute what the demand says, no more, at the coordinates of the definition.
    bool is_plain(FuncId id) const {
        const std::vector<region::StageNest> &stages = tree_.place(id).stages;
        const region::FuncStorage &storage = plan_.storage.of(id);
        if (stages.size() != 1 || !storage.folds.empty() || storage.relative ||
            storage.copy.defined())
            return false;
        const std::vector<region::Tail> &tails = plan_.tails.of(stages[0]).tails;
        return std::none_of(tails.begin(), tails.end(), [](region::Tail t) {
            return region::goes_beyond(t, region::Use::Stores);
        });
    }

    bool shares_loops(FuncId id) const {
        const region::StageNest &nest = tree_.place(id).stages[0];
        return tree_.shared_loops(nest) > 0 || !tree_.children(nest).empty();
    }

    /// Equal; or larger where something that counts as unknown is part of regions.
    bool is_expected(const Ranges &box, const Ranges &expected) const {
        UNSCOPED_INFO(text(box) << ", expected " << text(expected));
        bool larger = true;
        for (size_t d = 0; d < box.size(); d++)
            larger &= expected[d].is_empty() || intersect(box[d], expected[d]) == expected[d];
        return demand_.has_unknown() ? larger : box == expected;
    }

    void execute(const Stmt &s) {
        if (!s.defined())
            return;
        switch (s->op) {
        case StmtOp::Let:
            if (s->exprs[0].type().is_handle())
                return execute(s->stmts[0]);
            if (const auto value = number(s->exprs[0]))
                numbers_.set(s->name, s->exprs[0].type(), *value);
            return execute(s->stmts[0]);
        case StmtOp::For:
            return loop(s);
        case StmtOp::If:
            return branch(s);
        case StmtOp::Provide:
            return provide(s);
        case StmtOp::Produce:
            return produce(s);
        case StmtOp::Fork:
            return execute(s->stmts[0]);  // the same statement twice
        default:
            for (const Stmt &child : s->stmts)
                execute(child);
        }
    }

    void loop(const Stmt &s) {
        if (!tree_.is_loop(s->name))
            return;  // of a prefetch
        const auto min = number(s->exprs[0]), extent = number(s->exprs[1]);
        if (!min || !extent)
            throw std::runtime_error("the loop " + s->name + " depends on data");
        for (int64_t i = *min; i < *min + *extent; i++) {
            if (++iterations_run_ > most_iterations)
                return;
            set(s->name, i);
            demand_.evaluate(s->name);
            Iteration iteration{s->name, {}};
            const std::vector<region::Level> &path = tree_.path_to(s->name);
            for (const graph::FuncNode &f : graph_.funcs) {
                const std::vector<region::StageNest> &stages = tree_.place(f.id).stages;
                if (stages.size() != 1 || !is_plain(f.id))
                    continue;
                const std::vector<region::Level> &around = stages[0].path;
                if (std::find(around.begin(), around.end(), path.back()) != around.end())
                    iteration.boxes[f.id] = copied(demand_.computed(f.id, 0));
            }
            iterations_.push_back(std::move(iteration));
            execute(s->stmts[0]);
            iterations_.pop_back();
        }
    }

    void branch(const Stmt &s) {
        const auto condition = holds(s->exprs[0]);
        if (!condition)
            for (Production &p : productions_)
                p.conditional = true;
        // Regions know what a condition on data says of coordinates.
        const bool before = std::exchange(may_not_run_, may_not_run_ || !condition);
        if (!condition || *condition)
            execute(s->stmts[0]);
        if (s->stmts.size() > 1 && (!condition || !*condition))
            execute(s->stmts[1]);
        may_not_run_ = before;
    }

    /// A box of the plan, in which all lets have their values by now.
    std::optional<Ranges> box_of(const region::Box &box) {
        Ranges result;
        for (const region::Interval &i : box) {
            const auto min = number(i.min), max = number(i.max);
            if (!min || !max)
                return std::nullopt;
            result.push_back({*min, *max});
        }
        return result;
    }

    void produce(const Stmt &s) {
        const FuncId id = ids_.at(s->name);
        const region::FuncPlace &place = tree_.place(id);
        demand_.evaluate(place.compute);
        INFO("production of " << s->name << " at " << place.compute);
        const Expr &when = plan_.storage.of(id).computing_iterations;
        const bool runs = !when.defined() || number(when) != 0;
        for (const region::StageNest &nest : place.stages) {
            const auto domain = box_of(plan_.demand.of(nest).domain);
            const Ranges computed = copied(demand_.computed(id, nest.stage));
            CHECK((runs || shares_loops(id) || is_empty(computed)));
            if (runs && domain && !is_empty(*domain) && !shares_loops(id)) {
                INFO("stage " << nest.stage << ": " << text(computed));
                CHECK(is_expected(computed, *domain));
            }
        }
        if (const auto region = box_of(plan_.storage.of(id).region))
            CHECK(is_expected(copied(demand_.stored(id)), *region));
        productions_.push_back({id, Ranges(graph_[id].args.size(), poly::Range::empty())});
        const Ranges computed = copied(demand_.computed(id, 0));
        execute(s->stmts[0]);
        const Production done = productions_.back();
        productions_.pop_back();
        productions++;
        if (!is_plain(id) || shares_loops(id) || done.conditional || is_empty(computed))
            return;
        if (iterations_run_ <= most_iterations)
            CHECK(is_expected(computed, done.stored));
        exact++;
    }

    void provide(const Stmt &s) {
        const FuncId id = ids_.at(s->name);
        const size_t dims = graph_[id].args.size();
        for (const Expr &e : s->exprs)
            if (e.defined())
                check_reads(e);
        if (!is_plain(id) || (s->exprs[0].defined() && holds(s->exprs[0]) == false))
            return;
        stores++;
        Ranges at;
        for (size_t d = 0; d < dims; d++)
            at.push_back(poly::Range::point(number(s->exprs[s->exprs.size() - dims + d]).value()));
        for (size_t d = 0; d < dims; d++)
            for (Production &p : productions_)
                if (p.func == id)
                    p.stored[d] = hull(p.stored[d], at[d]);
        for (const Iteration &iteration : iterations_) {
            const auto box = iteration.boxes.find(id);
            for (size_t d = 0; box != iteration.boxes.end() && d < dims; d++)
                if (!contains(box->second[d], at[d].min))
                    FAIL_CHECK(s->name << " is stored at " << text(at) << " in an iteration of "
                                       << iteration.level << ", which computes "
                                       << text(box->second));
        }
    }

    /// What is read is stored. (Not what only one arm of a choice reads, or a statement under a condition on data.)
    void check_reads(const Expr &e) {
        if (may_not_run_)
            return;
        ir::walk(e, [&](const Expr &n) {
            if (n->op == Op::Select || ir::is_intrinsic(*n, ir::intrinsic::if_then_else))
                return false;
            const bool func = n->op == Op::Call && n->call_kind == ir::CallKind::Func,
                       image = n->op == Op::Call && n->call_kind == ir::CallKind::Image;
            if (!func && !image)
                return true;
            const FuncId id = func ? ids_.at(n->name) : FuncId::None;
            if (func && (graph_[id].is_output || !is_plain(id)))
                return true;
            const std::span<const poly::Range> box =
                func ? demand_.stored(id) : demand_.image(images_.at(n->name));
            for (size_t d = 0; d < box.size(); d++) {
                const auto at = number(n->args[d]);
                reads++;
                if (at && !contains(box[d], *at))
                    FAIL_CHECK(n->name << " is read at " << *at << " in dimension " << d
                                       << ", but has " << text(copied(box)));
            }
            return true;
        });
    }

    const region::RegionPlan &plan_;
    const region::LoopTree &tree_;
    const graph::Graph &graph_;
    NumericDemand demand_;
    testing::Interpreter numbers_;
    std::map<std::string, FuncId> ids_;
    std::map<std::string, size_t> images_;
    int iterations_run_ = 0;
    bool may_not_run_ = false;
    std::vector<Iteration> iterations_;
    std::vector<Production> productions_;
};

/// Sizes and Params.
std::map<std::string, int64_t> numbers_of(const Algorithm &algorithm, const graph::Graph &graph,
                                          const std::vector<Box> &sizes,
                                          const std::vector<Box> &boxes) {
    std::map<std::string, int64_t> names;
    auto add = [&](const std::string &buffer, const Box &box) {
        for (size_t d = 0; d < box.size(); d++) {
            names[ir::min_name(buffer, d)] = box[d].empty() ? 0 : box[d].low;
            names[ir::extent_name(buffer, d)] = box[d].empty() ? 1 : box[d].extent();
        }
    };
    for (size_t i = 0; i < graph.outputs.size(); i++)
        for (size_t k = 0; k < graph[graph.outputs[i]].types.size(); k++)
            add(graph::buffer_name(graph[graph.outputs[i]], k), sizes[i]);
    for (size_t i = 0; i < algorithm.sources.size(); i++)
        if (algorithm.sources[i].is_image)
            add(algorithm.sources[i].name, boxes[i]);
    names["p"] = 3, names["version"] = 0;
    return names;
}

struct Totals {
    int cases = 0, productions = 0, stores = 0, reads = 0, with_exact = 0, known = 0;
};

/// Runs the loops of one random pipeline; a CompileError where its schedule is refused.
void run_case(uint64_t seed, Totals &totals) {
    Choices c(seed);
    Algorithm algorithm = generate(c);
    const bool has_extern = std::any_of(algorithm.sources.begin(), algorithm.sources.end(),
                                        [](const Source &s) { return s.is_extern; });
    std::vector<Func> outputs;
    std::vector<Box> sizes;
    for (int output : algorithm.outputs) {
        const Source &source = algorithm.sources[static_cast<size_t>(output)];
        outputs.push_back(source.func);
        Box &box = sizes.emplace_back();
        for (int d = 0; d < source.dimensions; d++)
            box.push_back({d, d + c.between(1, d == 0 ? 17 : 6) - 1});
    }
    const ScheduleInfo info = give_schedule(algorithm, Mode::Manual, Rules::Legal, sizes, c);
    if (has_extern || info.memoizes)
        return;
    fit_sizes(algorithm, info, sizes);
    const std::vector<Box> boxes = required_boxes(algorithm, sizes, info.slack);
    std::string shown;
    for (const std::vector<std::string> &lines : {algorithm.text, info.text})
        for (const std::string &line : lines)
            shown += line + "\n";
    INFO("seed " << seed << "\n" << shown);
    const language::Frozen frozen = language::freeze(outputs);
    const graph::Graph graph = graph::inline_funcs(frozen.graph, frozen.schedule);
    graph::check(graph, frozen.schedule);
    const region::LoopTree tree(graph, frozen.schedule);
    const region::RegionPlan plan = region::plan_regions(tree);
    Run run(plan, numbers_of(algorithm, graph, sizes, boxes));
    run.run();
    totals.productions += run.productions, totals.stores += run.stores;
    totals.reads += run.reads, totals.with_exact += run.exact > 0;
    totals.known += !run.has_unknown();
    totals.cases++;
}

}  // namespace

TEST_CASE("the demand of random schedules at numbers is what their loops do", "[fuzz]") {
    const Seeds all = seeds();
    Totals totals;
    for (uint64_t seed = all.first; seed < all.first + uint64_t(all.count); seed++) {
        try {
            run_case(seed, totals);
        } catch (const CompileError &) {
        }
    }
    if (all.count < usual_pipelines)
        return;
    CHECK(totals.cases * 3 > all.count);
    CHECK(totals.known * 4 > totals.cases * 3);
    CHECK(totals.productions > 5 * totals.cases);
    CHECK(totals.with_exact * 4 > totals.cases);
    CHECK(totals.stores > 100 * totals.cases);
    CHECK(totals.reads > 100 * totals.cases);
}
