// Random views of Buffers of random shape (gaps, mins, any order of storage, mirrored dimensions)
// name the elements that a plain table of coordinates says.

#include <pipe/pipe.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "fuzz/choices.h"
#include "fuzz/seeds.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

using Coordinates = std::vector<int64_t>;

/// A Buffer, and where each of its elements must lie.
class Model {
  public:
    explicit Model(Choices &c) : c_(c) {
        int dimensions = c.between(1, 4);
        std::vector<BufferDim> shape(static_cast<size_t>(dimensions));
        std::vector<size_t> order;
        for (size_t d = 0; d < shape.size(); d++)
            order.insert(order.begin() + c.below(int(d) + 1), d);
        int64_t stride = 1, below = 0;
        for (size_t d : order) {
            shape[d] = {c.between(-5, 5), c.between(1, 5), stride * (c.chance(30) ? -1 : 1)};
            if (shape[d].stride < 0)
                below += stride * (shape[d].extent - 1);
            stride *= shape[d].extent + (c.chance(40) ? c.between(1, 3) : 0);
        }
        memory = std::make_shared<std::vector<int>>(static_cast<size_t>(stride));
        buffer = Buffer<int>(memory->data() + below, shape);
        add(shape, {}, memory->data() + below);
    }

    /// Another view of the same memory.
    Model view() const {
        Model other = *this;
        other.buffer = buffer.cropped(std::vector<std::pair<int64_t, int64_t>>());
        return other;
    }

    Buffer<int> buffer;
    std::map<Coordinates, int *> places;
    std::shared_ptr<std::vector<int>> memory;  ///< with the gaps

    void change() {
        size_t dims = static_cast<size_t>(buffer.dimensions());
        if (dims == 0)
            return embed();
        size_t d = static_cast<size_t>(c_.below(static_cast<int>(dims)));
        switch (c_.below(6)) {
        case 0:
            return crop(d);
        case 1:
            return translate(d);
        case 2:
            return transpose(d, static_cast<size_t>(c_.below(static_cast<int>(dims))));
        case 3:
            return slice(d);
        case 4:
            return dims < 5 ? embed() : translate(d);
        default:
            return set_min();
        }
    }

    /// As many as the other one has, by slices and dimensions of one element.
    void change_dimensions(int wanted) {
        while (buffer.dimensions() > wanted)
            slice(0);
        while (buffer.dimensions() < wanted)
            embed();
    }

    void set_min(const std::vector<int64_t> &mins) {
        std::vector<int64_t> moved;
        for (int d = 0; d < buffer.dimensions(); d++)
            moved.push_back(mins[static_cast<size_t>(d)] - buffer.min(d));
        buffer.set_min(mins);
        map_places([&](Coordinates &at) {
            for (size_t d = 0; d < at.size(); d++)
                at[d] += moved[d];
            return true;
        });
    }

    void check() const {
        size_t count = 0;
        detail::for_each_coordinate(buffer.view().dims, [&](const int64_t *at) {
            Coordinates here(at, at + buffer.dimensions());
            auto place = places.find(here);
            REQUIRE(place != places.end());
            REQUIRE(&buffer(at) == place->second);
            REQUIRE(buffer.contains(here));
            count++;
        });
        REQUIRE(count == places.size());
        REQUIRE(buffer.number_of_elements() == static_cast<int64_t>(count));
    }

  private:
    void add(const std::vector<BufferDim> &shape, Coordinates at, int *place) {
        if (at.size() == shape.size()) {
            places[at] = place;
            return;
        }
        const BufferDim &d = shape[at.size()];
        at.push_back(d.min);
        for (int64_t i = 0; i < d.extent; i++, at.back()++, place += d.stride)
            add(shape, at, place);
    }

    /// Replaces the table: f changes the coordinates, or says false for elements that are gone.
    template <typename F> void map_places(F &&f) {
        std::map<Coordinates, int *> changed;
        for (const auto &[before, place] : places) {
            Coordinates at = before;
            if (f(at))
                changed[at] = place;
        }
        places = std::move(changed);
    }

    void crop(size_t d) {
        int64_t low = buffer.min(int(d)) + c_.below(int(buffer.extent(int(d))));
        int64_t extent = 1 + c_.below(int(buffer.max(int(d)) - low + 1));
        buffer.crop(static_cast<int>(d), low, extent);
        map_places([&](Coordinates &at) { return at[d] >= low && at[d] < low + extent; });
    }

    void translate(size_t d) {
        int64_t delta = c_.between(-7, 7);
        buffer.translate(static_cast<int>(d), delta);
        map_places([&](Coordinates &at) { return at[d] += delta, true; });
    }

    void transpose(size_t a, size_t b) {
        buffer.transpose(static_cast<int>(a), static_cast<int>(b));
        map_places([&](Coordinates &at) { return std::swap(at[a], at[b]), true; });
    }

    void slice(size_t d) {
        int64_t position = buffer.min(int(d)) + c_.below(int(buffer.extent(int(d))));
        buffer.slice(static_cast<int>(d), position);
        map_places([&](Coordinates &at) {
            bool kept = at[d] == position;
            at.erase(at.begin() + static_cast<long>(d));
            return kept;
        });
    }

    void embed() {
        auto d = static_cast<size_t>(c_.below(buffer.dimensions() + 1));
        int64_t position = c_.between(-3, 3);
        buffer.embed(static_cast<int>(d), position);
        map_places([&](Coordinates &at) {
            at.insert(at.begin() + static_cast<long>(d), position);
            return true;
        });
    }

    void set_min() {
        std::vector<int64_t> mins;
        for (int d = 0; d < buffer.dimensions(); d++)
            mins.push_back(c_.between(-9, 9));
        set_min(mins);
    }

    Choices &c_;
};

}  // namespace

TEST_CASE("random views of random Buffers name the right elements", "[fuzz]") {
    for (uint64_t seed : each_seed(20)) {
        INFO("seed " << seed);
        Choices choices(seed);
        Model model(choices);
        model.check();
        for (int i = choices.below(6); i > 0; i--) {
            model.change();
            model.check();
        }
    }
}

TEST_CASE("copies between random Buffers", "[fuzz]") {
    for (uint64_t seed : each_seed(20)) {
        INFO("seed " << seed);
        Choices choices(seed);
        Model from(choices), to(choices);
        while (to.buffer.dimensions() < from.buffer.dimensions()) {
            Buffer<int> &b = from.buffer;
            int64_t position = b.min(0);
            b.slice(0, position);
            std::map<Coordinates, int *> kept;
            for (auto [at, place] : from.places)
                if (at[0] == position)
                    kept[Coordinates(at.begin() + 1, at.end())] = place;
            from.places = kept;
        }
        if (to.buffer.dimensions() != from.buffer.dimensions())
            continue;
        int value = 0;
        for (auto [at, place] : from.places)
            *place = ++value;
        for (auto [at, place] : to.places)
            *place = -1;
        to.buffer.copy_from(from.buffer);
        for (auto [at, place] : to.places) {
            auto source = from.places.find(at);
            REQUIRE(*place == (source == from.places.end() ? -1 : *source->second));
        }
        Buffer<int> copy = from.buffer.copy();
        for (auto [at, place] : from.places) {
            REQUIRE(copy(at.data()) == *place);
            REQUIRE(&copy(at.data()) != place);
        }
    }
}

TEST_CASE("copies between views of one memory that overlap", "[fuzz]") {
    for (uint64_t seed : each_seed(20)) {
        INFO("seed " << seed);
        Choices choices(seed);
        Model to(choices);
        for (int i = choices.below(3); i > 0; i--)
            to.change();
        Model from = to.view();
        for (int i = choices.below(4); i > 0; i--)
            (choices.chance(50) ? from : to).change();
        from.change_dimensions(to.buffer.dimensions());
        if (choices.chance(90)) {  // often at coordinates that both have
            std::vector<int64_t> mins;
            for (int d = 0; d < to.buffer.dimensions(); d++)
                mins.push_back(to.buffer.min(d) + choices.between(-1, 1));
            from.set_min(mins);
        }
        std::vector<int> &memory = *to.memory;
        std::iota(memory.begin(), memory.end(), 1);
        std::vector<int> expected = memory;
        for (auto [at, place] : to.places)
            if (auto source = from.places.find(at); source != from.places.end())
                expected[static_cast<size_t>(place - memory.data())] = *source->second;
        to.buffer.copy_from(from.buffer);
        REQUIRE(memory == expected);
    }
}
