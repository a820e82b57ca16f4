#include "apps/common/random_schedule.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace apps {

using Pipe::CompileError;
using Pipe::Func;
using Pipe::Stage;
using Pipe::TailStrategy;
using Pipe::Var;
using Pipe::VarOrRVar;

namespace {

class Scheduler {
  public:
    Scheduler(Program &program, Pipe::Pipeline &pipeline, const Pipe::Target &target, Taste taste,
              uint64_t seed)
        : funcs_(program.stages), pipeline_(pipeline), target_(target), taste_(taste), dice_(seed) {
    }

    void run() {
        vectorizes_ = dice_.chance(85), parallel_ = dice_.chance(85), tiles_ = dice_.chance(60);
        choose_inlined();
        for (size_t i = 0; i < funcs_.size(); i++)
            for (int s = 0; s <= funcs_[i].num_update_definitions() && !inlined_[i]; s++)
                stage_loops(i, s);
        // Each try checks the whole schedule.
        const int moves = taste_ == Taste::Any ? 12 : dice_.below(int(2 * funcs_.size()));
        for (int i = 0; i < moves; i++)
            move_inside(size_t(dice_.below(int(funcs_.size()) - 1)));
    }

  private:
    std::vector<Func> &funcs_;
    Pipe::Pipeline &pipeline_;
    const Pipe::Target &target_;
    const Taste taste_;
    Dice dice_;
    std::vector<bool> inlined_;
    bool vectorizes_ = true, parallel_ = true, tiles_ = true;  ///< plausible schedules
    std::map<std::pair<size_t, int>, std::vector<Var>>
        loops_;  ///< over Vars, in which others can be computed

    /// Never two neighbors: chains of stencils grow by their area with each.
    void choose_inlined() {
        inlined_.assign(funcs_.size(), false);
        for (size_t i = 0; i + 1 < funcs_.size(); i++) {
            const bool chained = i > 0 && inlined_[i - 1];
            inlined_[i] = !funcs_[i].has_update_definition() && !chained && dice_.chance(20);
            if (!inlined_[i])
                funcs_[i].compute_root();
        }
    }

    Stage stage_of(size_t func, int stage) const {
        return stage == 0 ? Stage(funcs_[func]) : funcs_[func].update(stage - 1);
    }

    template <typename F> bool attempt(F &&directive) {
        try {
            directive();
            return true;
        } catch (const CompileError &) {
            return false;
        }
    }

    void stage_loops(size_t func, int number) {
        if (funcs_[func].args().empty())
            return;
        if (taste_ == Taste::Plausible)
            plausible_loops(func, number);
        else
            any_loops(func, number);
    }

    void any_loops(size_t func, int number) {
        Stage stage = stage_of(func, number);
        std::vector<Var> &vars = loops_[{func, number}] = funcs_[func].args();
        if (dice_.chance(50))
            attempt([&] { shuffle(stage, vars); });
        if (dice_.chance(40))
            attempt([&] { stage.parallel(vars.back()); });
        if (dice_.chance(60))
            attempt([&] { split(stage, vars[size_t(dice_.below(int(vars.size())))]); });
    }

    void shuffle(Stage &stage, std::vector<Var> &vars) {
        for (size_t i = vars.size(); i-- > 1;)
            std::swap(vars[i], vars[size_t(dice_.below(int(i + 1)))]);
        stage.reorder(std::vector<VarOrRVar>(vars.begin(), vars.end()));
    }

    void split(Stage &stage, Var &var) {
        const TailStrategy tail =
            dice_.chance(50) ? TailStrategy::GuardWithIf : TailStrategy::Predicate;
        const Var outer(var.name() + "o"), inner(var.name() + "i");
        stage.split(var, outer, inner, dice_.of({2, 3, 4, 8, 16}), tail);
        var = outer;
        if (dice_.chance(40))
            stage.vectorize(inner);
        else if (dice_.chance(50))
            stage.unroll(inner);
    }

    /// Tiles or rows, parallel outside and vectors inside.
    void plausible_loops(size_t func, int number) {
        Stage stage = stage_of(func, number);
        const std::vector<Var> vars = funcs_[func].args();
        std::vector<Var> &loops = loops_[{func, number}];
        Var inner = vars[0], outer = vars.back();
        if (dice_.chance(10))
            attempt([&] { stage.reorder(std::vector<VarOrRVar>(vars.rbegin(), vars.rend())); });
        if (vars.size() >= 2 && tiles_ && dice_.chance(60)) {
            const Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
            const int width = dice_.of({16, 32, 64, 128, 256, 512}),
                      height = dice_.of({4, 8, 16, 32, 64});
            if (attempt([&] { stage.tile(vars[0], vars[1], xo, yo, xi, yi, width, height); })) {
                inner = xi, outer = vars.size() == 2 ? yo : outer;
                loops = {yi, xo, yo};
                if (dice_.chance(20))
                    attempt([&] { stage.unroll(yi, dice_.of({2, 4})); });
            }
        } else {
            loops.assign(vars.begin() + 1, vars.end());
        }
        if (parallel_ && dice_.chance(85))
            parallelize(stage, outer);
        if (vectorizes_ && dice_.chance(90))
            vectorize(stage, inner, func);
        if (number > 0 && dice_.chance(30))
            attempt([&] { stage.reorder(inner, funcs_[func].rvars(number - 1).at(0)); });
    }

    void parallelize(Stage &stage, const Var &outer) {
        const int rows = dice_.of({1, 1, 4, 16, 32});
        attempt([&] { rows == 1 ? stage.parallel(outer) : stage.parallel(outer, rows); });
    }

    void vectorize(Stage &stage, const Var &inner, size_t func) {
        const int lanes = target_.natural_vector_size(funcs_[func].types()[0]);
        const int count = dice_.of({1, 1, 1, 2, 4});
        if (attempt([&] {
                stage.vectorize(inner, std::max(2, dice_.chance(15) ? lanes / 2 : lanes));
            }) &&
            count > 1)
            attempt([&] { stage.unroll(inner, count); });
    }

    /// At a loop of one of the next ones, if all that read it are inside of it.
    void move_inside(size_t func) {
        const size_t consumer = func + 1 + size_t(dice_.below(3));
        if (consumer >= funcs_.size() || inlined_[func] || inlined_[consumer])
            return;
        const int stage = dice_.below(funcs_[consumer].num_update_definitions() + 1);
        const std::vector<Var> &loops = loops_[{consumer, stage}];
        if (loops.empty())
            return;
        const size_t at = size_t(dice_.below(int(loops.size())));
        const bool slides = dice_.chance(40) && at + 1 < loops.size();
        const bool legal = attempt([&] {
            funcs_[func].compute_at(stage_of(consumer, stage), loops[at]);
            if (slides && taste_ == Taste::Any)
                funcs_[func].store_root();
            else if (slides)
                funcs_[func].store_at(stage_of(consumer, stage), loops[at + 1]);
            pipeline_.schedule_source();  // checks it
        });
        if (!legal)
            funcs_[func].compute_root().store_root();
    }
};

}  // namespace

void schedule_at_random(Program &program, Pipe::Pipeline &pipeline, const Pipe::Target &target,
                        Taste taste, uint64_t seed) {
    Scheduler(program, pipeline, target, taste, seed).run();
}

}  // namespace apps
