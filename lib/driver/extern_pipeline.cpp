// JITExtern for a Func or Pipeline: pipelines as functions of extern stages.

#include <list>

#include "driver/callable.h"
#include "ir/expr_node.h"
#include <pipe/pipeline.h>

namespace Pipe {

namespace {

class StageOfPipeline : public detail::ExternPipeline {
  public:
    explicit StageOfPipeline(Pipeline pipeline)
        : callable_(pipeline.compile_to_callable(pipeline.infer_arguments())) {}

    std::vector<Type> parameters() const {
        std::vector<Type> types;
        for (const Argument &a : callable_.arguments())
            types.push_back(a.is_buffer() ? Handle() : a.type);
        return types;
    }

    int call(JITUserContext *context, const void *const *args) const override {
        std::list<detail::RawArgument> buffers;  // their destructors write the answers back
        std::vector<detail::CallValue> values;
        for (const Argument &a : callable_.arguments()) {
            const void *address = *args++;
            if (a.is_buffer())
                values.push_back(detail::Parameter<detail::RawArgument>::value(
                    buffers.emplace_back(*static_cast<RawBuffer *const *>(address))));
            else
                values.push_back({a.type, address});
        }
        return driver::run_callable(*callable_.contents(), context, values.data(), values.size());
    }

  private:
    Callable callable_;
};

detail::ExternFunction function_of(const Pipeline &pipeline) {
    auto stage = std::make_shared<const StageOfPipeline>(pipeline);
    auto *address = static_cast<const detail::ExternPipeline *>(stage.get());
    return {"",      const_cast<detail::ExternPipeline *>(address),
            Int(32), stage->parameters(),
            nullptr, stage};
}

}  // namespace

JITExtern::JITExtern(const Func &f) : JITExtern(Pipeline(f)) {}
JITExtern::JITExtern(const Pipeline &pipeline) : function(function_of(pipeline)) {}

}  // namespace Pipe
