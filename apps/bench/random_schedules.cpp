#include "apps/bench/random_schedules.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <unistd.h>

namespace bench {

using Pipe::CompileError;
using Pipe::Func;
using Pipe::Stage;
using Pipe::Var;
using Pipe::VarOrRVar;

namespace {

class Dice {
  public:
    explicit Dice(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 1) {}
    int below(int n) { return n < 1 ? 0 : int(random_() % unsigned(n)); }
    bool chance(int percent) { return below(100) < percent; }
    int of(std::initializer_list<int> values) { return values.begin()[below(int(values.size()))]; }

  private:
    std::mt19937_64 random_;
};

class Scheduler {
  public:
    Scheduler(apps::Program &program, Pipe::Pipeline &pipeline, const Pipe::Target &target,
              uint64_t seed)
        : funcs_(program.stages), pipeline_(pipeline), target_(target), dice_(seed) {}

    void run() {
        inlined_.assign(funcs_.size(), false);
        vectorizes_ = dice_.chance(85), parallel_ = dice_.chance(85), tiles_ = dice_.chance(60);
        for (size_t i = 0; i + 1 < funcs_.size(); i++) {
            const bool chained = i > 0 && inlined_[i - 1];
            inlined_[i] = !funcs_[i].has_update_definition() && !chained && dice_.chance(20);
            if (!inlined_[i])
                funcs_[i].compute_root();
        }
        for (size_t i = 0; i < funcs_.size(); i++)
            for (int s = 0; s <= funcs_[i].num_update_definitions() && !inlined_[i]; s++)
                stage_loops(i, s);
        const int moves = dice_.below(int(2 * funcs_.size()));
        for (int i = 0; i < moves; i++)
            move_inside(size_t(dice_.below(int(funcs_.size()) - 1)));
    }

  private:
    std::vector<Func> &funcs_;
    Pipe::Pipeline &pipeline_;
    const Pipe::Target &target_;
    Dice dice_;
    std::vector<bool> inlined_;
    bool vectorizes_ = true, parallel_ = true, tiles_ = true;
    std::map<std::pair<size_t, int>, std::vector<Var>>
        loops_;  ///< inside of which others can be computed

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
        std::vector<Var> vars = funcs_[func].args();
        if (vars.empty())
            return;
        Stage stage = stage_of(func, number);
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
            if (slides)
                funcs_[func].store_at(stage_of(consumer, stage), loops[at + 1]);
            pipeline_.schedule_source();  // checks it
        });
        if (!legal)
            funcs_[func].compute_root().store_root();
    }
};

using Json = nlohmann::json;

/// A directive that other directives do not refer to.
bool can_be_dropped(const std::string &name) {
    for (const char *kind :
         {"vectorize", "parallel", "unroll", "store_nontemporal", "reorder", "store_at",
          "store_root", "prefetch", "align_storage", "reorder_storage"})
        if (name == kind)
            return true;
    return false;
}

/// Changes one directive; false if it has nothing to change.
bool change(Json &directives, size_t at, Dice &dice) {
    Json &directive = directives[at];
    const std::string name = directive[0].get<std::string>();
    if (name == "split") {
        for (Json &argument : directive)
            if (argument.is_number_integer() && argument.get<int>() > 1) {
                const int factor = argument.get<int>();
                argument = dice.chance(50) ? factor * 2 : std::max(1, factor / 2);
                return true;
            }
        return false;
    }
    if (name == "compute_at") {
        directive = Json::array({"compute_root"});
        for (size_t i = directives.size(); i-- > 0;)
            if (directives[i][0] == "store_at")
                directives.erase(i);
        return true;
    }
    if (!can_be_dropped(name))
        return false;
    directives.erase(at);
    return true;
}

}  // namespace

void schedule_plausibly(apps::Program &program, Pipe::Pipeline &pipeline,
                        const Pipe::Target &target, uint64_t seed) {
    Scheduler(program, pipeline, target, seed).run();
}

void mutate_schedule(Pipe::Pipeline &pipeline, uint64_t seed) {
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("pipe_ranking_{}.json", getpid());
    pipeline.save_schedule(file.string());
    std::ifstream in(file);
    Json json = Json::parse(in);
    Json &entries = json.at("schedule").at("directives");
    Dice dice(seed);
    int wanted = 1 + dice.below(3);
    for (int i = 0; i < 100 && wanted > 0 && !entries.empty(); i++) {
        Json &directives = entries[size_t(dice.below(int(entries.size())))].at("directives");
        if (!directives.empty())
            wanted -= change(directives, size_t(dice.below(int(directives.size()))), dice);
    }
    std::ofstream(file) << json.dump();
    try {
        pipeline.apply_schedule(file.string());
    } catch (...) {
        std::filesystem::remove(file);
        throw;
    }
    std::filesystem::remove(file);
}

}  // namespace bench
