#include "language/collect.h"

#include <algorithm>

namespace Pipe::language {
namespace {

template <typename T> void add_once(std::vector<T> &list, const T &item) {
    if (std::find(list.begin(), list.end(), item) == list.end())
        list.push_back(item);
}

}  // namespace

void Names::add(const Expr &e) {
    walk_(e, [&](const ir::ExprNode &node) {
        if (node.op == ir::Op::Variable) {
            if (!node.referent)
                add_once(vars, node.name);
            else if (auto rdom = std::dynamic_pointer_cast<const RDomContents>(node.referent))
                add_once(rdoms, rdom);
        } else if (node.op == ir::Op::Call && node.call_kind == ir::CallKind::Func) {
            calls.push_back(&node);
            if (auto func = std::dynamic_pointer_cast<const FuncContents>(node.referent))
                add_once(funcs, func);
        } else if (node.op == ir::Op::Call && node.call_kind == ir::CallKind::Image) {
            reads_images = true;
            auto image = std::dynamic_pointer_cast<const ImageContents>(node.referent);
            if (image && !image->bound)
                add_once(images, image);
        }
    });
}

bool is_uniform(const Expr &e) {
    Names names;
    names.add(e);
    return names.vars.empty() && names.rdoms.empty() && names.calls.empty() && !names.reads_images;
}

void find_callees(FuncContents &func) {
    Names names;
    for (const Stage &stage : func.stages)
        graph::for_each_expr(stage, [&](const Expr &e) { names.add(e); });
    func.callees = names.funcs;
    func.images = names.images;
}

}  // namespace Pipe::language
