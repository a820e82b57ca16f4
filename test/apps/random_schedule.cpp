#include "test/apps/random_schedule.h"

#include <algorithm>
#include <map>
#include <random>

namespace app_test {

using Pipe::CompileError;
using Pipe::Func;
using Pipe::Stage;
using Pipe::TailStrategy;
using Pipe::Var;
using Pipe::VarOrRVar;

namespace {

/// How many stages are tried inside of loops of others: each try checks the whole schedule.
constexpr int tries = 12;

class Scheduler {
  public:
    Scheduler(apps::Program &program, Pipe::Pipeline &pipeline, uint64_t seed)
        : funcs_(program.stages), pipeline_(pipeline), random_(seed) {}

    void run() {
        choose_inlined();
        for (size_t i = 0; i < funcs_.size(); i++) {
            for (int stage = 0; stage <= funcs_[i].num_update_definitions() && !inlined_[i];
                 stage++)
                stage_loops(i, stage);
        }
        for (int t = 0; t < tries; t++)
            move_inside(size_t(below(int(funcs_.size()) - 1)));
    }

  private:
    int below(int n) { return n < 1 ? 0 : int(random_() % unsigned(n)); }
    bool chance(int percent) { return below(100) < percent; }

    /// Never two neighbors: chains of stencils grow by their area with each.
    void choose_inlined() {
        inlined_.assign(funcs_.size(), false);
        for (size_t i = 0; i + 1 < funcs_.size(); i++) {
            inlined_[i] =
                !(i > 0 && inlined_[i - 1]) && !funcs_[i].has_update_definition() && chance(20);
            if (!inlined_[i])
                funcs_[i].compute_root();
        }
    }

    Stage stage_of(size_t func, int stage) const {
        return stage == 0 ? Stage(funcs_[func]) : funcs_[func].update(stage - 1);
    }

    /// Directives on the loops over Vars of one stage; one that has no such loop is left out.
    void stage_loops(size_t func, int number) {
        std::vector<Var> &vars = loops_[{func, number}] = funcs_[func].args();
        if (vars.empty())
            return;
        Stage stage = stage_of(func, number);
        if (chance(50))
            attempt([&] { shuffle(stage, vars); });
        if (chance(40))
            attempt([&] { stage.parallel(vars.back()); });
        if (chance(60))
            attempt([&] { split(stage, vars[size_t(below(int(vars.size())))]); });
    }

    void shuffle(Stage &stage, std::vector<Var> &vars) {
        std::shuffle(vars.begin(), vars.end(), random_);
        stage.reorder(std::vector<VarOrRVar>(vars.begin(), vars.end()));
    }

    void split(Stage &stage, Var &var) {
        const TailStrategy tail = chance(50) ? TailStrategy::GuardWithIf : TailStrategy::Predicate;
        const Var outer(var.name() + "o"), inner(var.name() + "i");
        const int factors[] = {2, 3, 4, 8, 16};
        stage.split(var, outer, inner, factors[below(5)], tail);
        var = outer;
        if (chance(40))
            stage.vectorize(inner);
        else if (chance(50))
            stage.unroll(inner);
    }

    /// Computes a stage at a loop of one of the next ones, if all that read it are inside of it.
    void move_inside(size_t func) {
        const size_t consumer = func + 1 + size_t(below(3));
        if (consumer >= funcs_.size() || inlined_[func] || inlined_[consumer])
            return;
        const int stage = below(funcs_[consumer].num_update_definitions() + 1);
        const std::vector<Var> &loops = loops_.at({consumer, stage});
        if (loops.empty())
            return;
        const Var loop = loops[size_t(below(int(loops.size())))];
        const bool slides = chance(30);
        const bool legal = attempt([&] {
            funcs_[func].compute_at(stage_of(consumer, stage), loop);
            if (slides)
                funcs_[func].store_root();
            pipeline_.schedule_source();  // checks it
        });
        if (!legal)
            funcs_[func].compute_root().store_root();
    }

    template <typename F> bool attempt(F &&directive) {
        try {
            directive();
            return true;
        } catch (const CompileError &) {
            return false;
        }
    }

    std::vector<Func> &funcs_;
    Pipe::Pipeline &pipeline_;
    std::mt19937_64 random_;
    std::vector<bool> inlined_;
    std::map<std::pair<size_t, int>, std::vector<Var>> loops_;  // over Vars, of each stage
};

}  // namespace

void schedule_at_random(apps::Program &program, Pipe::Pipeline &pipeline, uint64_t seed) {
    Scheduler(program, pipeline, seed).run();
}

}  // namespace app_test
