#include "apps/resnet50/resnet50.h"

#include "apps/common/blocked_weights.h"
#include "apps/common/conv.h"
#include "apps/common/gpu_conv.h"

namespace apps {
using namespace dsl;

std::vector<Resnet50::Layer> Resnet50::layers(const Options &options) {
    int size = options.size / 2, in = options.width;
    std::vector<Layer> layers = {{3, in, 7, 2, 3, size}};
    size /= 2;  // max-pool
    for (int group = 0; group < 4; ++group) {
        const int width = options.width << group, out = 4 * width;
        for (int block = 0; block < options.blocks[size_t(group)]; ++block) {
            const int stride = block == 0 && group > 0 ? 2 : 1;
            layers.push_back({in, width, 1, 1, 0, size});
            size /= stride;
            layers.push_back({width, width, 3, stride, 1, size});
            layers.push_back({width, out, 1, 1, 0, size});
            if (block == 0)
                layers.push_back({in, out, 1, stride, 0, size});
            in = out;
        }
    }
    return layers;
}

Resnet50::Resnet50(const Options &options_)
    : options(options_), picture(Float(32), 3, "picture"), fc_weights(Float(32), 2, "fc_weights"),
      fc_bias(Float(32), 1, "fc_bias") {
    inputs = {picture};
    finished.push_back(add_layer(picture, options.size, layers(options)[0], true));
    add_pool();
    add_blocks();
    add_classifier();
    inputs.insert(inputs.end(), {fc_weights, fc_bias});
}

Func Resnet50::pad(const Func &f, int size) const {
    return BoundaryConditions::constant_exterior(f, 0.0f, {{Expr(), Expr()}, {0, size}, {0, size}});
}

Func Resnet50::add_layer(const Func &in, int in_size, const Layer &layer, bool relu) {
    const std::string number = "_" + std::to_string(filters.size());
    ImageParam filter(Float(32), 5, "filter" + number), norm(Float(32), 2, "norm" + number);
    filters.push_back(filter);
    norms.push_back(norm);
    inputs.insert(inputs.end(), {filter, norm});

    const RDom r(0, layer.in, 0, layer.kernel, 0, layer.kernel, "r" + number);
    Func source = in;
    if (layer.pad > 0) {
        source = pad(in, in_size);
        stages.push_back(source);
    }
    Func sum("conv" + number), result("layer" + number);
    sum(lane, x, y, part) = 0.0f;
    sum(lane, x, y, part) +=
        filter(lane, r.x, r.y, r.z, part) *
        source(r.x, x * layer.stride + r.y - layer.pad, y * layer.stride + r.z - layer.pad);
    const Expr of_channel = sum(c % channels_of_block, x, y, c / channels_of_block);
    const Expr y_hat = (of_channel - norm(c, 0)) / sqrt(norm(c, 1) + 1e-5f);
    const Expr value = y_hat * norm(c, 2) + norm(c, 3);
    result(c, x, y) = relu ? max(value, 0.0f) : value;

    padded.push_back(layer.pad > 0 ? source : Func());
    sources.push_back(source);
    conv.push_back(sum);
    sums.push_back(r);
    stages.insert(stages.end(), {sum, result});
    return result;
}

void Resnet50::add_pool() {
    const RDom r(0, 3, 0, 3, "pool");
    pool_padded = pad(finished[0], options.size / 2);
    pooled(c, x, y) = 0.0f;  // what was padded, and after a ReLU no value is smaller
    pooled(c, x, y) = max(pooled(c, x, y), pool_padded(c, 2 * x + r.x - 1, 2 * y + r.y - 1));
    stages.insert(stages.end(), {pool_padded, pooled});
}

// Bottlenecks: 1x1, 3x3, 1x1, added to the block's input, which the first block of a group brings
// to the new shape by a convolution of its own.
void Resnet50::add_blocks() {
    const std::vector<Layer> all = layers(options);
    Func in = pooled;
    int size = options.size / 4;
    size_t next = 1;
    for (int group = 0; group < 4; ++group) {
        for (int i = 0; i < options.blocks[size_t(group)]; ++i) {
            const int in_size = size;
            Func path = in;
            const size_t last = next + 2;  // of the three
            for (int step = 0; step < 3; ++step) {
                const Layer &layer = all[next++];
                path = add_layer(path, size, layer, step < 2);
                finished.push_back(path);
                size = layer.size;
            }
            Func shortcut = in;
            if (i == 0) {
                shortcut = add_layer(in, in_size, all[next++], false);
                finished.push_back(shortcut);
            }
            Func sum("block_" + std::to_string(block.size()));
            sum(c, x, y) = max(path(c, x, y) + shortcut(c, x, y), 0.0f);
            block.push_back(sum);
            finished[last] = sum;
            stages.push_back(sum);
            in = sum;
        }
    }
}

void Resnet50::add_classifier() {
    const int size = options.size / 32, channels = options.width * 32;
    const RDom r(0, size, 0, size, "area"), k(0, channels, "k"), j(0, options.classes, "j");
    average(c) = 0.0f;
    average(c) += block.back()(c, r.x, r.y) * (1.0f / float(size * size));
    scores(c) = fc_bias(c);
    scores(c) += fc_weights(c, k) * average(k);
    // the softmax of the network that is compared with does not subtract the maximum
    total() = 0.0f;
    total() += exp(scores(j));
    probability(c) = exp(scores(c)) / total();
    stages.insert(stages.end(), {average, scores, total, probability});
}

// Layer by layer, blocks of channels in parallel. The sums of a convolution stay in registers until they are
// normalized, and, at the end of a bottleneck, added to what went past it.
void Resnet50::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    const std::vector<Layer> all = layers(options);
    const Var co("co"), ci("ci");
    for (size_t l = 0; l < conv.size(); ++l) {
        finished[l].bound(c, 0, all[l].out);  // else no block is known to be whole
        schedule_layer(
            {conv[l], sums[l], finished[l], c, x, all[l].in, channels_of_block, all[l].size},
            target);
        finished[l].compute_root().reorder(y, co).parallel(co);
        if (!padded[l].defined())
            continue;
        const std::vector<Var> args = padded[l].args();
        padded[l].compute_root().vectorize(args[0], l == 0 ? 1 : vec).parallel(args[2]);
    }
    pool_padded.compute_root()
        .vectorize(pool_padded.args()[0], vec)
        .parallel(pool_padded.args()[2]);
    pooled.compute_root().vectorize(c, vec).parallel(y);
    pooled.update().vectorize(c, vec).parallel(y);
    average.compute_root().vectorize(c, vec);
    average.update().vectorize(c, vec);
    scores.compute_root().vectorize(c, vec, TailStrategy::GuardWithIf);
    scores.update()
        .split(c, co, ci, 8 * vec, TailStrategy::GuardWithIf)
        .reorder({ci, scores.rvars()[0], co})
        .vectorize(ci, vec)
        .unroll(ci)
        .parallel(co);
    total.compute_root();
    probability.vectorize(c, vec);
}

// One kernel for each layer, which pads its input where it loads it, and at the end of a bottleneck adds what went past
// it. The sums of the classifier are made in parts.
void Resnet50::schedule_for_gpu(const Target &) {
    const std::vector<Layer> all = layers(options);
    for (size_t l = 0; l < conv.size(); ++l) {
        finished[l].compute_root().bound(c, 0, all[l].out);
        const Func read = padded[l].defined() ? padded[l] : sources[l].in(conv[l]);
        schedule_convolution_for_gpu(
            conv[l], sums[l], filters[l].in(conv[l]), read, finished[l], c, x, y, {},
            {.channels = 1, .pixels = 7, .width = 2, .height = 4, .step = 16});
    }
    const Var bc("bc"), tc("tc"), bx("bx"), tx("tx"), part("part");
    pooled.compute_root();
    for (Stage stage : {Stage(pooled), pooled.update()})
        stage.split(c, bc, tc, 32)
            .split(x, bx, tx, 8)
            .reorder(tc, tx, bc, bx, y)
            .gpu_threads(tc, tx)
            .gpu_blocks(bc, bx, y);

    const RVar outer("outer"), inner("inner");
    Func products = scores.update().split(scores.rvars()[0], outer, inner, 64).rfactor(outer, part);
    Func exponentials =
        total.update().split(total.rvars()[0], outer, inner, 32).rfactor(inner, part);
    for (Func f : {average, products, scores})
        for (Stage stage : {Stage(f.compute_root()), f.update()})
            stage.split(c, bc, tc, 64).gpu_threads(tc).gpu_blocks(bc);
    for (Stage stage : {Stage(exponentials.compute_root()), exponentials.update()})
        stage.gpu_threads(part);
    for (Stage stage : {Stage(total.compute_root()), total.update()})
        stage.gpu_single_thread();
    probability.split(c, bc, tc, 64).gpu_threads(tc).gpu_blocks(bc);
}

}  // namespace apps
