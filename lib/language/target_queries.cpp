#include "language/target_queries.h"

#include "ir/intrinsics.h"
#include <pipe/target_queries.h>

namespace Pipe {

namespace {

enum class Query : int32_t { Arch, OS, Feature, Bits, VectorSize };

/// Args: the kind of query, and two numbers that specify its subject.
Expr ask(Query query, Type result, int about = 0, int more = 0) {
    return ir::make_call(result, ir::intrinsic::target_query,
                         {Expr(static_cast<int32_t>(query)), Expr(about), Expr(more)},
                         ir::CallKind::Intrinsic);
}

}  // namespace

Expr language::answer(const ir::ExprNode &query, const Target &target) {
    auto about = static_cast<int>(query.args[1]->int_value);
    auto more = static_cast<int>(query.args[2]->int_value);
    switch (static_cast<Query>(query.args[0]->int_value)) {
    case Query::Arch:
        return Expr(target.arch == about);
    case Query::OS:
        return Expr(target.os == about);
    case Query::Feature:
        return Expr(target.has_feature(static_cast<Target::Feature>(about)));
    case Query::Bits:
        return Expr(target.bits);
    case Query::VectorSize:
        return Expr(target.natural_vector_size(Type(static_cast<TypeCode>(about), more)));
    }
    throw InternalError("unknown query of the target");
}

Expr target_arch_is(Target::Arch arch) {
    return ask(Query::Arch, Bool(), arch);
}
Expr target_os_is(Target::OS os) {
    return ask(Query::OS, Bool(), os);
}
Expr target_has_feature(Target::Feature feature) {
    return ask(Query::Feature, Bool(), feature);
}
Expr target_bits() {
    return ask(Query::Bits, Int(32));
}
Expr target_natural_vector_size(const Type &type) {
    return ask(Query::VectorSize, Int(32), static_cast<int>(type.code()), type.bits());
}

}  // namespace Pipe
