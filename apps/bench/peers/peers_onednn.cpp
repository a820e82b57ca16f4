// The convolutions, as oneDNN's users write them: pictures and weights lie as the application has
// them, oneDNN chooses its own layout of the weights, into which they are brought once. What is
// compiled and allocated stays for later runs. Of oneDNN's interface, version 2.
#include "apps/bench/peers/peer_rows.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

const dnnl::engine &engine() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

dnnl::stream &stream() {
    static dnnl::stream stream(engine());
    return stream;
}

/// Dimension order[i] of the array is dimension i of oneDNN's.
memory::desc describe(const PeerArray &a, const std::vector<int> &order) {
    memory::dims sizes, strides;
    for (int d : order) {
        sizes.push_back(a.dim[d].extent);
        strides.push_back(a.dim[d].stride);
    }
    return {sizes, memory::data_type::f32, strides};
}

/// (channel, x, y, picture) as N, C, H, W.
memory picture(const PeerArray &a) {
    return {describe(a, {3, 0, 2, 1}), engine(), a.data};
}

/// The weights, by channel (c, x, y, channel in) or in blocks (see apps/common/blocked_weights.h).
memory weights_of(const PeerArray &a, const PeerArray &result) {
    if (a.rank == 4)
        return {describe(a, {0, 3, 2, 1}), engine(), a.data};
    const memory::dims sizes = {result.dim[0].extent, a.dim[1].extent, a.dim[3].extent,
                                a.dim[2].extent};
    return {{sizes, memory::data_type::f32, memory::format_tag::Ohwi32o}, engine(), a.data};
}

/// What is run, step after step.
struct Network {
    std::vector<std::pair<dnnl::primitive, Arguments>> steps;

    void add_convolution(const PeerArray *in, const PeerArray &out, const memory &bias, int stride,
                         int pad, bool relu);
    void add_normalization(const PeerArray &affine, const PeerArray &out);
    void run() const;
};

void Network::run() const {
    for (const auto &[step, arguments] : steps)
        step.execute(stream(), arguments);
    stream().wait();
}

void Network::add_convolution(const PeerArray *in, const PeerArray &out, const memory &bias,
                              int stride, int pad, bool relu) {
    const memory from = picture(in[0]), to = picture(out);
    const memory weights = weights_of(in[1], out);
    const memory::dims size = weights.get_desc().dims();  // out, in, y, x
    const memory::desc any(size, memory::data_type::f32, memory::format_tag::any);
    auto after = [&](int d) {
        const memory::dim kernel = size[size_t(4 - d)];
        const memory::dim needed = (out.dim[d].extent - 1) * stride + kernel;
        return std::max(memory::dim(0), needed - in[0].dim[d].extent - pad);
    };
    dnnl::primitive_attr attributes;
    if (relu) {
        dnnl::post_ops ops;
        ops.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
        attributes.set_post_ops(ops);
    }
    const dnnl::convolution_forward::desc what(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, from.get_desc(), any,
        bias ? bias.get_desc() : memory::desc(), to.get_desc(), {stride, stride}, {pad, pad},
        {after(2), after(1)});
    const dnnl::convolution_forward::primitive_desc how(what, attributes, engine());

    memory own(how.weights_desc(), engine());
    memory given = weights;
    dnnl::reorder(given, own).execute(stream(), given, own);
    Arguments arguments = {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, own}, {DNNL_ARG_DST, to}};
    if (bias)
        arguments.insert({DNNL_ARG_BIAS, bias});
    steps.emplace_back(dnnl::convolution_forward(how), arguments);
}

/// With the statistics of `out` itself, in place, and ReLU.
void Network::add_normalization(const PeerArray &affine, const PeerArray &out) {
    using Flags = dnnl::normalization_flags;
    const memory data = picture(out);
    const memory scale_shift(describe(affine, {1, 0}), engine(), affine.data);
    const dnnl::batch_normalization_forward::desc what(
        dnnl::prop_kind::forward_training, data.get_desc(), 1e-5f,
        Flags::use_scale_shift | Flags::fuse_norm_relu);
    const dnnl::batch_normalization_forward::primitive_desc how(what, engine());
    steps.emplace_back(dnnl::batch_normalization_forward(how),
                       Arguments{{DNNL_ARG_SRC, data},
                                 {DNNL_ARG_DST, data},
                                 {DNNL_ARG_SCALE_SHIFT, scale_shift},
                                 {DNNL_ARG_MEAN, memory(how.mean_desc(), engine())},
                                 {DNNL_ARG_VARIANCE, memory(how.variance_desc(), engine())},
                                 {DNNL_ARG_WORKSPACE, memory(how.workspace_desc(), engine())}});
}

/// The network of these arrays, made by `make` when it is first asked for.
template <typename Make> Network &network(const PeerArray *in, const PeerArray &out, Make &&make) {
    static std::map<std::vector<const void *>, Network> made;
    auto [at, is_new] = made.try_emplace({in[0].data, in[1].data, in[2].data, out.data});
    if (is_new)
        make(at->second);
    return at->second;
}

void conv_layer(const PeerArray *in, const PeerArray &out) {
    network(in, out, [&](Network &n) {
        n.add_convolution(in, out, {describe(in[2], {0}), engine(), in[2].data}, 1, 0, true);
    }).run();
}

void conv_bn(const PeerArray *in, const PeerArray &out) {
    network(in, out, [&](Network &n) {
        const int kernel = in[1].dim[2].extent, stride = in[0].dim[1].extent / out.dim[1].extent;
        n.add_convolution(in, out, {}, stride,
                          stride == 1   ? kernel / 2
                          : kernel == 7 ? 3
                                        : 0,
                          false);
        n.add_normalization(in[2], out);
    }).run();
}

}  // namespace

namespace peers {

std::vector<Row> rows() {
    return {{"conv_layer", "onednn", conv_layer}, {"conv_bn_*", "onednn", conv_bn}};
}

const char *name() {
    static const std::string version = [] {
        const dnnl_version_t *v = dnnl_version();
        return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
               std::to_string(v->patch);
    }();
    return version.c_str();
}

void set_threads(int threads) {
    omp_set_num_threads(threads);
}

}  // namespace peers
