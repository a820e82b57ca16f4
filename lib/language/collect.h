#pragma once
// Collects the names in an expression.

#include <memory>
#include <vector>

#include "graph/walk.h"
#include "language/contents.h"

namespace Pipe::language {

/// All names, in order of first use.
struct Names {
    std::vector<std::string> vars;  ///< Variables without referent
    std::vector<std::shared_ptr<const RDomContents>> rdoms;
    std::vector<std::shared_ptr<const FuncContents>> funcs;
    std::vector<const ir::ExprNode *> calls;                   ///< of Funcs, every node
    std::vector<std::shared_ptr<const ImageContents>> images;  ///< of ImageParams
    bool reads_images = false;

    void add(const Expr &e);

  private:
    graph::Walk walk_;
};

/// Whether the value does not depend on coordinates: it contains only constants, Params and sizes
/// of images.
bool is_uniform(const Expr &e);

/// Recomputes what the definitions of a Func read (FuncContents::callees, images).
void find_callees(FuncContents &func);

}  // namespace Pipe::language
