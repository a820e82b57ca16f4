// Lens blur (docs/benchmarks.md, no. 19): the depth of every pixel from a pair of pictures, and from
// it what a lens of wide aperture would show.
#pragma once

#include "apps/common/program.h"

namespace apps {

struct LensBlur : Program {
    struct Options {
        int slices = 32;     ///< depths that are told apart
        int focus = 13;      ///< the depth that stays sharp
        float scale = 0.5f;  ///< radius of the blur in pixels per step of depth
        int samples = 32;    ///< of the aperture
        int levels = 8;
    };
    explicit LensBlur(const Options &options);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    Options options;
    dsl::ImageParam left, right;  ///< uint8, planes (x, y, c)
    dsl::Func diff{"diff"}, cost{"cost"}, cost_sums{"cost_sums"}, confidence{"confidence"};
    /// Cost times confidence, and confidence: halved along y, along both; doubled likewise, mixed.
    std::vector<dsl::Func> pushy, push, pully, pullx, pull;
    dsl::Func filtered_cost{"filtered_cost"}, depth{"depth"}, bokeh{"bokeh"}, worst_y{"worst_y"},
        worst{"worst"}, sample_u{"sample_u"}, sample_v{"sample_v"}, weight{"weight"},
        input{"input"}, sums{"sums"}, blurred{"blurred"};
    dsl::RDom s;  ///< the samples
    dsl::Var x{"x"}, y{"y"}, z{"z"}, c{"c"}, n{"n"}, yo{"yo"}, yi{"yi"};

  private:
    void find_costs(const dsl::Func &l, const dsl::Func &r);
    void smooth_costs();
    void find_depth();
    void render(const dsl::Func &l);
    void list_stages();
    int largest_radius() const;
};

}  // namespace apps
