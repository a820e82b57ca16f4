// Random pipelines over pictures whose channels lie next to each other, or in planes of their own, equal the
// reference evaluator, in memory that ends where the pictures do.

#include <pipe/pipe.h>

#include <catch2/catch_test_macros.hpp>

#include "fuzz/choices.h"
#include "fuzz/pixels.h"
#include "fuzz/seeds.h"
#include "support/targets.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

const std::vector<Type> types = {UInt(8), UInt(16), Float(32), Int(8),
                                 Int(32), UInt(64), Float(64)};

/// A picture of `channels` channels, of which memory holds `stride` per point if it is interleaved.
struct Layout {
    bool interleaved = false;
    int channels = 3, stride = 3;

    GuardedBuffer make(Type type, int min, int w, int h, int padding, bool at_start) const {
        if (!interleaved)
            return {type, {{min, w}, {0, h}, {0, channels}}, padding, at_start};
        GuardedBuffer result(type, {{0, stride}, {min, w}, {0, h}}, 0, at_start);
        const BufferView view = result.buffer.view();
        BufferDim channel = view.dims[0];
        channel.extent = channels;
        // The last channel of the last point is the last element in memory.
        auto *host = static_cast<unsigned char *>(view.host);
        if (!at_start)
            host += (stride - channels) * type.bytes();
        result.buffer = Buffer<void>(type, host, {view.dims[1], view.dims[2], channel});
        return result;
    }
    void promise(OutputImageParam buffer) const {
        if (!interleaved)
            return;
        buffer.dim(0).set_stride(stride);
        buffer.dim(2).set_stride(1).set_bounds(0, channels);
    }
};

class Case {
  public:
    explicit Case(uint64_t seed) : c_(seed) {
        type_ = c_.of(types);
        in_ = layout();
        out_ = layout();
        in_.channels = out_.channels;
        in_.stride = std::max(in_.stride, in_.channels);
        define();
        schedule();
    }

    std::string run() {
        int w = c_.between(1, 70), h = c_.between(1, 3), min = c_.between(-3, 3);
        if (tail_ == TailStrategy::RoundUp)
            w = (w + lanes_ - 1) / lanes_ * lanes_;
        if (tail_ == TailStrategy::ShiftInwards || tail_ == TailStrategy::ShiftInwardsAndBlend)
            w = std::max(w, lanes_);
        const bool at_start = c_.chance(30);
        const int beyond = tail_ == TailStrategy::PredicateStores ? lanes_ : 0;
        GuardedBuffer in = in_.make(type_, min - 1, w + 2 + beyond, h, c_.below(3), at_start);
        GuardedBuffer got = out_.make(type_, min, w, h, c_.below(3), at_start);
        GuardedBuffer expected = out_.make(type_, min, w, h, 0, false);
        fill(in.buffer, 1);
        image_.set(in.buffer);
        fill(got.buffer, 2);
        testing::GuardedContext context;
        f_.realize(&context, got.buffer, c_.of(testing::runnable_targets()));
        if (context.overrun() > 0)
            return "memory of the pipeline was overrun";
        f_.realize_reference(Realization(expected.buffer));
        return difference("f", got, expected, type_.is_float() ? 1e-2 : 0);
    }

    std::string text() const { return text_; }

  private:
    Layout layout() {
        Layout l;
        l.interleaved = c_.chance(75);
        l.channels = c_.between(2, 4);
        l.stride = l.channels + (c_.chance(20) ? 1 : 0);
        return l;
    }

    Expr read(const Expr &channel) {
        return image_(x_ + (c_.chance(30) ? c_.between(-1, 1) : 0), y_, channel);
    }

    Expr value(const Expr &ch) {
        const int last = out_.channels - 1;
        switch (c_.below(6)) {
        case 0:
            return read(ch);
        case 1:
            return read(ch) / cast(type_, 2) + cast(type_, 1);
        case 2:
            return read(ch) + read(last - ch);
        case 3:
            return read(0) + read(1) / cast(type_, 3) + read(last);
        case 4:
            return select(ch == 0, read(1), ch == last, cast(type_, 9), read(ch) * read(0));
        default:
            return cast(type_, select(read(ch) > cast(type_, 5), cast<float>(read(ch)) * 0.5f,
                                      cast<float>(read(ch))));
        }
    }

    void define() {
        image_ = ImageParam(type_, 3, "in");
        in_.promise(image_);
        Expr first = value(ch_);
        if (c_.chance(30)) {
            Func g("g");
            g(x_, y_, ch_) = first;
            g.compute_root();
            g.bound(ch_, 0, out_.channels);
            if (c_.chance(70))
                g.reorder_storage(ch_, x_, y_);
            loops(g, g, {ch_, true});
            f_(x_, y_, ch_) = g(x_, y_, ch_) + value(ch_);
        } else {
            f_(x_, y_, ch_) = first;
        }
        for (int i = c_.chance(40) ? c_.between(1, 2) : 0; i > 0; i--) {
            RDom r(0, out_.channels);
            if (c_.chance(50)) {
                f_(x_, y_, ch_) += value(ch_);
                updated_.push_back({ch_, true});
            } else {
                f_(x_, y_, r) = value(r) - f_(x_, y_, out_.channels - 1 - r);
                updated_.push_back({r.x, false});
            }
        }
    }

    /// The loop over the channels of a stage.
    struct Channels {
        VarOrRVar loop;
        bool may_be_lanes;  ///< they do not depend on each other
    };

    template <typename S> void loops(const Func &of, S stage, const Channels &channels) {
        const VarOrRVar &ch = channels.loop;
        const std::vector<TailStrategy> tails = {TailStrategy::Auto, TailStrategy::GuardWithIf,
                                                 TailStrategy::Predicate};
        TailStrategy tail = c_.of(tails);
        const int lanes = c_.of<int>({16, 8, 4, 32, 2, 5});
        Var xo("xo"), xi("xi"), t("t");
        switch (c_.below(channels.may_be_lanes ? 4 : 3)) {
        case 0:
            stage.reorder(ch, x_, y_).unroll(ch).vectorize(x_, lanes, tail);
            break;
        case 1:
            stage.split(x_, xo, xi, lanes, tail).reorder(xi, ch, xo, y_).vectorize(xi).unroll(ch);
            break;
        case 3:
            stage.reorder(ch, x_, y_).fuse(ch, x_, t).vectorize(t, lanes * out_.channels, tail);
            break;
        default:
            stage.split(x_, xo, xi, 2 * lanes, tail).reorder(ch, xi, xo, y_).unroll(ch);
            stage.vectorize(xi, lanes).parallel(y_);
        }
        text_ += of.name() + ": " + std::to_string(lanes) + " lanes; ";
    }

    void schedule() {
        out_.promise(f_.output_buffer());
        f_.bound(ch_, 0, out_.channels);
        const bool by_tail = updated_.empty() && c_.chance(40);
        if (by_tail) {
            const std::vector<TailStrategy> all = {
                TailStrategy::RoundUp, TailStrategy::ShiftInwards, TailStrategy::PredicateStores,
                TailStrategy::ShiftInwardsAndBlend};
            tail_ = c_.of(all);
            lanes_ = c_.of<int>({16, 8, 4, 32});
            f_.reorder(ch_, x_, y_).unroll(ch_).vectorize(x_, lanes_, tail_);
        } else {
            loops(f_, f_, {ch_, true});
        }
        for (size_t i = 0; i < updated_.size(); i++)
            loops(f_, f_.update(static_cast<int>(i)), updated_[i]);
        text_ += std::to_string(out_.channels) + " channels of " + to_string(type_) +
                 (in_.interleaved ? ", in interleaved by " + std::to_string(in_.stride) : "") +
                 (out_.interleaved ? ", out by " + std::to_string(out_.stride) : "");
    }

    Choices c_;
    Type type_;
    Layout in_, out_;
    ImageParam image_;
    Func f_{"f"};
    Var x_{"x"}, y_{"y"}, ch_{"ch"};
    std::vector<Channels> updated_;  ///< per update
    int lanes_ = 1;
    TailStrategy tail_ = TailStrategy::Auto;
    std::string text_;
};

}  // namespace

TEST_CASE("random pipelines over interleaved pictures", "[fuzz]") {
    for (uint64_t seed : each_seed(1)) {
        INFO("seed " << seed);
        Case test(seed);
        INFO(test.text());
        CHECK(test.run() == "");
    }
}
