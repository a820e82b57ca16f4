#pragma once
// Extern stages: queries the C function for the regions that it reads, and then computes a whole
// box at once.

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/evaluate.h"
#include "reference/formula.h"
#include "reference/grid.h"

namespace Pipe::reference {

class ExternStage {
  public:
    ExternStage(const graph::Graph &graph, const graph::FuncNode &func,
                const std::map<std::string, BufferView> &images,
                const std::map<std::string, Value> &globals, const Options &options,
                Source &source);

    /// The region that the function computes if `box` is needed: that, or more.
    Box ask(const Box &box);
    /// Stores the values of the box in the grid. Returns false if an input is not known yet.
    bool compute(const Box &box, Grid &grid);

  private:
    /// One argument of the function.
    struct Argument {
        Expr expr;  ///< undefined: an output
        Type type;  ///< of the number, or of the elements
        uint64_t bits = 0;
        void *host = nullptr;
        std::vector<BufferDim> dims;
        std::vector<uint8_t> memory{};
        BufferView view() { return {host, type, dims}; }
    };

    bool is_buffer(const Argument &a) const {
        return !a.expr.defined() || a.expr->type.is_handle();
    }
    void call();
    void set_shapes(const Box &box);
    void set_box(Argument &argument, const Box &box);
    void allocate(Argument &argument);
    bool fill(Argument &argument);
    void use_image(Argument &argument);

    const graph::Graph &graph_;
    const graph::FuncNode &func_;
    const std::map<std::string, BufferView> &images_;
    const Options &options_;
    Source &source_;
    std::vector<Argument> args_;  ///< outputs last
};

}  // namespace Pipe::reference
