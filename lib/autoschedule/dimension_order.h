#pragma once
// The dimension along which a Func is stored, and computed in vectors: the first one. A definition may have others:
//
//     product(i, j) = sum(a(k, i) * b(j, k))       lanes along i gather from a; along j, they load vectors from b
//     out(j, i) = product(i, j)                    lanes along j gather from product
//
// Such Funcs get another order of dimensions (reorder_storage()) before anything else is decided. So do those, and outputs, whose
// first dimension has too few elements for vectors, as the two parts of complex numbers have.

#include <cstdint>
#include <string>
#include <vector>

#include "autoschedule/autoschedule.h"
#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// How the element that is read moves along a variable.
enum class Moves : uint8_t { Not, Together, Apart };

/// \param first  the dimension along which elements lie together
Moves moves(const std::vector<Expr> &coords, size_t first, const std::string &var);

/// Whether the stage has a loop over each dimension: it is neither a scan nor a scatter.
bool loops_over_all(const graph::FuncNode &func, const graph::Stage &stage);

/// The loads of images and Funcs in a definition.
std::vector<Expr> element_loads(const graph::Stage &stage);

/// The graph with Funcs whose first dimension is the one along which fewest elements lie apart, of what they read and of what
/// is read of them. Their loops are set in the schedule. Funcs with directives stay as they are, and so do outputs but for
/// those whose first dimension has few elements.
/// \param sizes  become those of the new order; null: all outputs stay as they are
graph::Graph with_ordered_dimensions(const graph::Graph &graph, schedules::Schedule &schedule,
                                     Sizes *sizes);

/// The dimensions of Funcs, and of copies of them, become those in `original`; their order in memory stays as it is.
void restore_dimensions(const graph::Graph &original, graph::Graph &scheduled,
                        schedules::Schedule &schedule);

}  // namespace Pipe::autoschedule
