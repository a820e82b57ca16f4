// What a group reads and writes in the caches: scratch buffers, and inputs once more.

#include <algorithm>

#include "autoschedule/group_model.h"

namespace Pipe::autoschedule {

/// The data that passes through the caches between writing and reading a scratch buffer that is
/// computed tile-wise: the inputs and the output of a whole tile.
double GroupModel::passing(const std::vector<Level> &levels) const {
    const size_t n = members_.size();
    if (std::find(levels.begin() + 1, levels.end(), Level::Tile) == levels.end())
        return 0;
    double bytes = regions_[0].tile * members_[0].bytes;
    for (size_t e = 0; e < externals_.size(); e++)
        bytes += std::min(regions_[n + e].tile * externals_[e].bytes, externals_[e].size);
    return bytes;
}

/// The loop around a member's rows inside of one step, or of one tile; -1: there is none.
int GroupModel::row_loop(size_t member, const Tiling &t) const {
    const bool row_wise = t.row_dim >= 0 && (member == 0 || levels_of(t)[member] == Level::Row);
    const auto &region = alignment_.region[member];
    for (size_t d = 1; d < region.size(); d++) {
        const bool in_step = row_wise && moves(region[d]) && t.is_in_rows(region[d].iterator);
        if (!in_step && regions_[member].widths[d] > 1)
            return static_cast<int>(d);
    }
    return -1;
}

/// Rows of a buffer that a row of its reader accesses: those that rows computed together share counted in part, and not
/// those that the row before, in the loop along dimension `loop`, has left in L1. \param loop -1: none has
double GroupModel::rows_read(const Read &read, size_t reader, int loop) const {
    const Rows &rows = rows_[reader];
    const double together = static_cast<double>(rows.count);
    const double distinct = loop < 0 ? read.rows : read.rows_besides[static_cast<size_t>(loop)];
    if (rows.count == 1 || rows.dim == loop)
        return distinct;
    if (!(read.uses >> rows.dim & 1))
        return distinct / together;
    const double window = read.rows / read.rows_besides[static_cast<size_t>(rows.dim)];
    return distinct / window * (window + together - 1) / together;
}

/// Elements of a member's buffer that are in use at a time.
double GroupModel::held(size_t member, const Tiling &t) const {
    const Region &r = regions_[member];
    return levels_of(t)[member] == Level::Row ? r.fold : r.tile;
}

/// Bytes of inputs of which one row of each reader needs so many rows: the rest streams through.
double GroupModel::input_rows() const {
    const size_t n = members_.size();
    double bytes = 0;
    for (size_t m = 0; m < n; m++) {
        for (const Read &read : members_[m].reads) {
            if (read.buffer < static_cast<int>(n))
                continue;
            const double size = externals_[static_cast<size_t>(read.buffer) - n].size;
            bytes += std::min(read.rows * regions_[m].row * read.bytes, size);
        }
    }
    return bytes;
}

/// Whether another member has read an external buffer before, in a phase of its own: then, what a whole tile needs of it
/// has passed through L1 in between.
bool GroupModel::is_read_again(size_t external, size_t member, const Tiling &t, double l1) const {
    const std::vector<Level> &levels = levels_of(t);
    const size_t first = first_reader(external);
    const bool same_phase =
        levels[first] != Level::Tile && (member == 0 || levels[member] != Level::Tile);
    const double bytes = regions_[members_.size() + external].tile * externals_[external].bytes;
    return member != first && !same_phase && bytes > l1;
}

/// What a member moves between L1 and what is beyond it: its scratch buffer, those of others, and rows of inputs that are
/// read again for the next row, or in another phase.
/// \param scratch_in_l1  the scratch buffers, and the rows that one row needs, stay in L1
double GroupModel::near_bytes(size_t m, const Tiling &t, double l1, bool scratch_in_l1) const {
    const size_t n = members_.size();
    const std::vector<Level> &levels = levels_of(t);
    auto in_registers = [&](size_t b) { return b < n && levels[b] == Level::Block; };
    const bool stored = m > 0 && !in_registers(m) && !scratch_in_l1;
    double bytes = stored ? regions_[m].total * members_[m].bytes : 0;
    for (const Read &read : members_[m].reads) {
        const size_t b = static_cast<size_t>(read.buffer);
        if (in_registers(b))
            continue;
        // Of the rows that one row of the reader needs, those stay in L1 that the next one needs, too.
        const bool window_stays = read.rows * regions_[m].row * read.bytes <= l1;
        const int loop = window_stays ? row_loop(m, t) : -1;
        double rows = rows_read(read, m, loop), again = 0;
        // The first access to a row of an input, or to those of several channels, comes from far memory.
        if (b >= n) {
            const double first =
                std::min(rows, std::max(1.0, regions_[b].total / regions_[m].total));
            rows -= first;
            again = is_read_again(b - n, m, t, l1) ? first : 0;
        }
        bytes += regions_[m].total * read.bytes * (again + (scratch_in_l1 ? 0 : rows));
    }
    return bytes;
}

/// Where the scratch buffers of a tile lie that do not fit L2. Each core has some of its own.
GroupModel::Far GroupModel::beyond_l2(double bytes) const {
    if (bytes <= usable_l3 * static_cast<double>(machine_.l3_bytes) / machine_.cores)
        return {machine_.l3_rate, machine_.stream_start_l3};
    return {machine_.dram_rate, machine_.stream_start};
}

void GroupModel::add_near_memory(const Tiling &t, Cost &cost) const {
    for (size_t m = 1; m < members_.size(); m++)
        if (levels_of(t)[m] != Level::Block)
            cost.scratch_bytes += held(m, t) * members_[m].bytes;
    const double working_set = cost.scratch_bytes + input_rows();
    const double l1 = usable_l1 * static_cast<double>(machine_.l1_bytes);
    const double in_l2 = working_set + passing(levels_of(t));
    const bool fits = in_l2 <= usable_l2 * static_cast<double>(machine_.l2_bytes);
    for (size_t m = 0; m < members_.size(); m++) {
        const double bytes = near_bytes(m, t, l1, working_set <= l1);
        if (fits)
            work_[m].near += bytes / machine_.l2_rate;
        else  // it competes with the streams of inputs and outputs
            work_[m].far += bytes / beyond_l2(in_l2).rate;
    }
}

}  // namespace Pipe::autoschedule
