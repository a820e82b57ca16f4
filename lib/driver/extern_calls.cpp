#include "driver/extern_calls.h"

#include "ir/print.h"
#include <pipe/target.h>

namespace Pipe::driver {

void ExternCalls::run(const Expr &call, const std::vector<uint64_t> &bits) {
    ir::Program program{"extern_stage", {}, ir::make_evaluate(call)};
    std::string key = ir::to_string(call);
    for (size_t i = 2; i < call->args.size(); i++) {
        const Expr &arg = call->args[i];
        program.args.push_back({ir::Argument::Kind::Scalar, arg->name, arg.type(), 0});
        key += " " + to_string(arg.type());
    }
    jit::Kernel &kernel = kernels_[key];
    if (!kernel.defined())
        kernel = jit::compile(program, get_host_target());
    std::vector<void *> args;
    for (const uint64_t &value : bits)
        args.push_back(const_cast<uint64_t *>(&value));
    std::string error;
    if (kernel.run({}, args.data(), &error) != 0)
        throw RuntimeError(error);
}

}  // namespace Pipe::driver
