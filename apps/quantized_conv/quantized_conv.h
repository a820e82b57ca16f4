// The running example of Zhao 2020 (docs/benchmarks.md, no. 15): quantize, convolve, ReLU.
#pragma once

#include "apps/common/program.h"

namespace apps {

struct QuantizedConv : Program {
    QuantizedConv();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;  ///< float, 2 larger than the output in both dimensions
    dsl::Func quantized{"quantized"}, conv{"conv"}, relu{"relu"};
    dsl::RDom r;
    dsl::Var x{"x"}, y{"y"}, yo{"yo"}, yi{"yi"};
};

}  // namespace apps
