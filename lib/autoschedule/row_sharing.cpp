#include "autoschedule/row_sharing.h"

#include <algorithm>
#include <set>

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

enum class Along : uint8_t { Same, Moves, Unknown };

/// How an access moves from row to row.
Along along(const Access &access, int dim) {
    int moving = 0;
    for (const Coordinate &c : access.coords) {
        if (c.iterator < 0 && (c.may_use >> dim & 1))
            return Along::Unknown;
        if (c.iterator == dim && !(c.den == 1 && c.distance.is_point()))
            return Along::Unknown;
        moving += c.iterator == dim;
    }
    return moving == 0 ? Along::Same : moving == 1 ? Along::Moves : Along::Unknown;
}

/// Both touch one buffer, at coordinates that differ in the row at most.
bool same_but_rows(const Access &a, const Access &b, int dim) {
    if (!a.same_buffer(b))
        return false;
    for (size_t d = 0; d < a.coords.size(); d++) {
        const Coordinate &x = a.coords[d], &y = b.coords[d];
        const bool rows = x.iterator == dim && y.iterator == dim && x.num == y.num;
        if (!rows && !(x == y && x.exact()))
            return false;
    }
    return true;
}

/// The coordinate that moves. \pre along() says so
const Coordinate &row_of(const Access &access, int dim) {
    for (const Coordinate &c : access.coords)
        if (c.iterator == dim)
            return c;
    return access.coords[0];
}

/// Per access its part; `live`: of the windows, what is kept for the next row.
template <typename List, typename Get>
std::vector<double> parts(const List &list, const Rows &rows, double &live, Get &&access) {
    std::vector<double> result(list.size(), 1);
    std::vector<bool> done(list.size(), false);
    for (size_t i = 0; i < list.size(); i++) {
        if (done[i])
            continue;
        const Access &first = access(list[i]);
        const Along how = along(first, rows.dim);
        if (how == Along::Same)
            result[i] = 1.0 / static_cast<double>(rows.count);
        if (how != Along::Moves)
            continue;
        std::vector<size_t> window;
        std::set<int64_t> elements;
        for (size_t j = i; j < list.size(); j++) {
            const Access &other = access(list[j]);
            if (done[j] || along(other, rows.dim) != how || !same_but_rows(first, other, rows.dim))
                continue;
            done[j] = true;
            window.push_back(j);
            const Coordinate &c = row_of(other, rows.dim);
            for (int64_t k = 0; k < rows.count; k++)
                elements.insert(c.num * k + c.distance.min);
        }
        const double all = static_cast<double>(window.size()) * static_cast<double>(rows.count);
        for (size_t j : window)
            result[j] = static_cast<double>(elements.size()) / all;
        if (static_cast<double>(elements.size()) < all)
            live += static_cast<double>(window.size());
    }
    return result;
}

}  // namespace

bool is_transposed(const Access &load, int dim) {
    int along_0 = 0;
    for (const Coordinate &c : load.coords) {
        along_0 += c.iterator == 0;
        if (!c.distance.is_point() || c.den != 1 || (c.iterator < 0 && c.may_use != 0))
            return false;
    }
    const auto count = std::count_if(load.coords.begin(), load.coords.end(),
                                     [&](const Coordinate &c) { return c.iterator == dim; });
    return count == 1 && along_0 == 1 && load.coords[0].iterator == dim && load.coords[0].num == 1;
}

bool have_most_in_common(const StageCost &stage, int dim) {
    double common = 0;
    for (const Work &own : stage.own_work)
        common += own.variables >> dim & 1 ? 0 : own.arithmetic.count;
    return common > 0.6 * stage.arithmetic.count;
}

bool are_channels(const StageCost &stage, int dim, int64_t extent) {
    constexpr int64_t most_alike = 16;
    return extent > 1 &&
           (extent <= most_channels || (extent <= most_alike && have_most_in_common(stage, dim)));
}

RowSharing share_rows(const StageCost &stage, const Rows &rows) {
    RowSharing result;
    result.loads = parts(stage.loads, rows, result.live,
                         [](const Access &load) -> const Access & { return load; });
    result.evaluated = parts(stage.evaluated, rows, result.live,
                             [](const Evaluated &value) -> const Access & { return value.at; });
    return result;
}

}  // namespace Pipe::autoschedule
