#pragma once
// Extern stages: the C function is asked what it reads for a box, and then computes all of it at
// once.

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

    /// What the function computes where `box` is needed: that, or more.
    Box ask(const Box &box);
    /// Puts the values of the box into the grid. False where something that the function reads is
    /// not known yet.
    bool compute(const Box &box, Grid &grid);

  private:
    /// What the function is given in one place.
    struct Argument {
        Expr expr;  ///< undefined: one of its outputs
        Type type;  ///< of the number, or of the elements
        uint64_t bits = 0;
        void *host = nullptr;
        std::vector<BufferDim> dims;
        std::vector<uint8_t> memory;
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
    Box box_of(const Argument &argument) const;

    const graph::Graph &graph_;
    const graph::FuncNode &func_;
    const std::map<std::string, BufferView> &images_;
    const Options &options_;
    Source &source_;
    std::vector<Argument> args_;  ///< the outputs last
};

}  // namespace Pipe::reference
