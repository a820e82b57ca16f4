#include "predict/predict.h"

#include <fmt/format.h>

#include "predict/cost.h"

namespace Pipe {

std::string Prediction::to_string() const {
    std::string text = fmt::format("{:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "ms",
                                   "arithmetic", "L2", "L3", "memory", "overhead", "Func");
    auto row = [&](const PredictedStage &s) {
        text += fmt::format("{:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g}  {}\n",
                            s.milliseconds, s.arithmetic, s.l2, s.l3, s.dram, s.overhead, s.func);
    };
    for (const PredictedStage &s : stages)
        row(s);
    text += fmt::format("{:>10.4g} {:>54}  all\n", milliseconds, "");
    for (const std::string &note : notes)
        text += "note: " + note + "\n";
    return text;
}

namespace predict {

Result predict(const ir::Program &program, const Values &values, const Target &target,
               const autoschedule::Machine &machine, const Rates &rates) {
    const Nest nest = walk(program, values, target);
    return {cost(nest, machine, rates), nest.too_small};
}

}  // namespace predict
}  // namespace Pipe
