// ResNet-50 (docs/benchmarks.md, no. 14): what is in a picture, by 53 convolutions.
#pragma once

#include "apps/common/registry.h"

#include <array>

namespace apps {

/// Inference for one image. Maps are (channel, x, y).
struct Resnet50 : Program {
    struct Options {
        int width = 64;  ///< channels of the first layer
        int classes = 1000;
        int size = 224;                            ///< pixels of the picture along an edge
        std::array<int, 4> blocks = {3, 4, 6, 3};  ///< bottlenecks of each group
    };
    /// A convolution with batch normalization: which weights it takes, and how it is made.
    struct Layer {
        int in, out, kernel, stride, pad;
        int size;  ///< pixels of its output along an edge
    };
    explicit Resnet50(const Options &options);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    /// All layers in the order in which they are used; a block's shortcut comes after its main
    /// path.
    static std::vector<Layer> layers(const Options &options);

    Options options;
    dsl::ImageParam picture;  ///< float, (c, x, y)
    /// Per layer: float, see blocked_weights.h; and (channel out, 4): mean, variance, scale, offset.
    std::vector<dsl::ImageParam> filters, norms;
    dsl::ImageParam fc_weights;           ///< float, (class, channel)
    dsl::ImageParam fc_bias;              ///< float, (class)
    std::vector<dsl::Func> padded, conv;  ///< per layer
    std::vector<dsl::Func> sources;       ///< per layer: what it reads, padded or not
    /// Per layer: normalized, or the bottleneck block that it is the last of.
    std::vector<dsl::Func> finished;
    std::vector<dsl::RDom> sums;  ///< of the convolutions: channel in, x, y
    dsl::Func pool_padded, pooled{"pooled"}, average{"average"}, scores{"scores"}, total{"total"},
        probability{"probability"};
    std::vector<dsl::Func> block;  ///< results of the bottleneck blocks
    dsl::Var c{"c"}, x{"x"}, y{"y"};
    dsl::Var lane{"lane"}, part{"part"};  ///< of the channels: c = part * 32 + lane

  private:
    /// Adds the next layer on top of `in`.
    dsl::Func add_layer(const dsl::Func &in, int in_size, const Layer &layer, bool relu);
    void add_pool();
    void add_blocks();
    void add_classifier();
    dsl::Func pad(const dsl::Func &f, int size) const;
};

/// The entry of the table for pictures of that size. Smaller ones than the paper's are for tests:
/// the network then has two channels in its first layer, and tells ten classes apart.
App resnet50_app(Size size);

}  // namespace apps
