#include "jit/runtime/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <omp.h>

#include <fmt/format.h>

#include <pipe/extern.h>

#include "jit/runtime/scratch.h"
#include "support/error_text.h"
#include "support/processors.h"

namespace Pipe::runtime {

using support::Field;
using support::marked;

namespace {

std::string format_message(const char *text, const int64_t *values) {
    std::string message;
    for (; *text; text++) {
        switch (*text) {
        case SignedField:
            message += fmt::format("{}", *values++);
            break;
        case UnsignedField:
            message += fmt::format("{}", static_cast<uint64_t>(*values++));
            break;
        case FloatField: {
            double number = 0;
            std::memcpy(&number, values++, sizeof number);
            message += fmt::format("{:g}", number);
            break;
        }
        case TextField: {
            const char *inserted = nullptr;
            std::memcpy(&inserted, values++, sizeof inserted);
            message += inserted ? inserted : "(null)";
            break;
        }
        default:
            message += *text;
        }
    }
    return message;
}

}  // namespace

void print(Context *context, const char *text) {
    if (!context->handlers.custom_print) {
        std::fputs(text, stdout);
        return;
    }
    context->call([&] { context->handlers.custom_print(context->user, text); });
}

void *pipe_scratch_push(Context *context, int64_t bytes) {
    if (context->failed())
        return nullptr;
    if (context->handlers.custom_malloc)
        return context->custom_allocate(bytes);
    return this_threads_arena().push(bytes, context->scratch_limit);
}

void pipe_scratch_pop(Context *context, void *block) {
    if (context->handlers.custom_malloc)
        return context->custom_release(block);
    this_threads_arena().pop(block);
}

void *pipe_user_context(Context *context) {
    return context->user;
}

void *pipe_profile_slot(Context *) {
    return &this_threads_slot();
}

void *pipe_profile_table(Context *context) {
    return context->profile;
}

void pipe_profile_allocated(void *entry, int64_t bytes) {
    static_cast<ProfileEntry *>(entry)->allocated(bytes);
}

void pipe_profile_freed(void *entry, int64_t bytes) {
    static_cast<ProfileEntry *>(entry)->freed(bytes);
}

int32_t pipe_out_of_memory(Context *context, const char *name, int64_t bytes) {
    std::string size = bytes == INT64_MAX ? "more than 2^63" : std::to_string(bytes);
    context->fail(out_of_memory,
                  fmt::format("out of memory: Func {}, {} bytes. Realize a smaller output, or "
                              "compute the Func within the loops of its consumer (compute_at).",
                              marked(Field::Func, name), marked(Field::Needed, size)));
    return out_of_memory;
}

/// One call per line, so that the lines of different threads do not mix.
void pipe_print(Context *context, const char *text, const int64_t *values) {
    print(context, (format_message(text, values) + "\n").c_str());
}

int32_t pipe_call_pipeline(Context *context, const detail::ExternPipeline *pipeline,
                           const void *const *args) {
    int32_t code = handler_failed;
    context->call([&] { code = pipeline->call(context->user, args); });
    return code;
}

int32_t pipe_fail(Context *context, int32_t code, const char *text, const int64_t *values) {
    context->fail(code, format_message(text, values));
    return code;
}

int32_t run_on_threads(KernelFunction *kernel, Context &context, void *const *args,
                       int64_t *peak_bytes) {
    *peak_bytes = 0;
    ProfileScope profile(context.profile);
    return with_scratch(peak_bytes, [&] { return kernel(&context, args); });
}

int default_threads() {
    if (const int threads = support::thread_limit(); threads > 0)
        return std::min(threads, most_threads);
    // By default, OpenMP uses all processors, ignoring the control group's quota.
    static const int all = omp_get_num_procs(), allowed = support::default_threads();
    const int threads = omp_get_max_threads();
    return threads == all ? allowed : std::min(threads, most_threads);
}

}  // namespace Pipe::runtime
