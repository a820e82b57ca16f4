#pragma once
// For programs written for Halide's JIT API: the namespace Halide, and the other names that such
// programs use.

#include <pipe/standard.h>

// Halide.h includes these, and programs rely on it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pipe/halide_benchmark.h>
#include <pipe/halide_buffer.h>
#include <pipe/halide_image_io.h>
#include <pipe/pipe.h>

/// The version of Halide whose documentation the API follows.
#define HALIDE_VERSION_MAJOR 21
#define HALIDE_VERSION_MINOR 0
#define HALIDE_VERSION_PATCH 0
#define HALIDE_VERSION                                                                             \
    (HALIDE_VERSION_MAJOR * 10000 + HALIDE_VERSION_MINOR * 100 + HALIDE_VERSION_PATCH)
#define HALIDE_COMPUTE_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

#define HALIDE_ALWAYS_INLINE inline __attribute__((always_inline))
#define HALIDE_NEVER_INLINE __attribute__((noinline))
#define HALIDE_MUST_USE_RESULT __attribute__((warn_unused_result))
#define HALIDE_FUNCTION_ATTRS
#define HALIDE_EXPORT_SYMBOL __attribute__((visibility("default")))
#define HALIDE_EXPORT HALIDE_EXPORT_SYMBOL
#define HALIDE_NO_USER_CODE_INLINE HALIDE_NEVER_INLINE
#define HALIDE_ATTRIBUTE_ALIGN(x) __attribute__((aligned(x)))
#define HALIDE_ATTRIBUTE_DEPRECATED(text) __attribute__((deprecated(text)))

/// Alignment of Buffers in bytes; programs may define it, but it does not change the alignment.
#ifndef HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT
#define HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT 64
#endif
static_assert(
    HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT > 0 &&
        64 % HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT == 0,
    "Buffers are aligned to 64 bytes; for more, allocate the memory yourself and wrap it");
/// Whether buffer(x, y) checks its coordinates; may be defined before this file is included.
#ifndef HALIDE_RUNTIME_BUFFER_CHECK_INDICES
#ifdef NDEBUG
#define HALIDE_RUNTIME_BUFFER_CHECK_INDICES 0
#else
#define HALIDE_RUNTIME_BUFFER_CHECK_INDICES 1
#endif
#endif

/// Declare the name of a type to which C functions receive pointers. All pointers have one type
/// here.
#define HALIDE_DECLARE_EXTERN_TYPE(kind, name)                                                     \
    static_assert(sizeof(name *) == sizeof(void *), "name must be a type")
#define HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(name) HALIDE_DECLARE_EXTERN_TYPE(Simple, name)
#define HALIDE_DECLARE_EXTERN_STRUCT_TYPE(name) HALIDE_DECLARE_EXTERN_TYPE(Struct, name)
#define HALIDE_DECLARE_EXTERN_CLASS_TYPE(name) HALIDE_DECLARE_EXTERN_TYPE(Class, name)
#define HALIDE_DECLARE_EXTERN_UNION_TYPE(name) HALIDE_DECLARE_EXTERN_TYPE(Union, name)

using halide_argument_kind_t = Pipe::Argument::Kind;
inline constexpr halide_argument_kind_t halide_argument_kind_input_scalar =
    Pipe::Argument::InputScalar;
inline constexpr halide_argument_kind_t halide_argument_kind_input_buffer =
    Pipe::Argument::InputBuffer;
inline constexpr halide_argument_kind_t halide_argument_kind_output_buffer =
    Pipe::Argument::OutputBuffer;

using halide_trace_event_t = Pipe::TraceEvent;
using halide_trace_event_code_t = Pipe::TraceEventCode;
inline constexpr halide_trace_event_code_t halide_trace_load = Pipe::TraceEventCode::Load;
inline constexpr halide_trace_event_code_t halide_trace_store = Pipe::TraceEventCode::Store;
inline constexpr halide_trace_event_code_t halide_trace_begin_realization =
    Pipe::TraceEventCode::BeginRealization;
inline constexpr halide_trace_event_code_t halide_trace_end_realization =
    Pipe::TraceEventCode::EndRealization;
inline constexpr halide_trace_event_code_t halide_trace_produce = Pipe::TraceEventCode::Produce;
inline constexpr halide_trace_event_code_t halide_trace_end_produce =
    Pipe::TraceEventCode::EndProduce;
inline constexpr halide_trace_event_code_t halide_trace_consume = Pipe::TraceEventCode::Consume;
inline constexpr halide_trace_event_code_t halide_trace_end_consume =
    Pipe::TraceEventCode::EndConsume;
inline constexpr halide_trace_event_code_t halide_trace_begin_pipeline =
    Pipe::TraceEventCode::BeginPipeline;
inline constexpr halide_trace_event_code_t halide_trace_end_pipeline =
    Pipe::TraceEventCode::EndPipeline;
inline constexpr halide_trace_event_code_t halide_trace_tag = Pipe::TraceEventCode::Tag;
/// Pipe does not trace tasks: these events never occur.
inline constexpr auto halide_trace_begin_parallel_task = static_cast<halide_trace_event_code_t>(11);
inline constexpr auto halide_trace_end_parallel_task = static_cast<halide_trace_event_code_t>(12);

/// Returns the previous number.
inline int halide_set_num_threads(int threads) {
    int before = Pipe::get_num_threads();
    Pipe::set_num_threads(threads);
    return before;
}
inline int halide_get_num_threads() {
    return Pipe::get_num_threads();
}
inline void halide_memoization_cache_set_size(int64_t size) {
    Pipe::memoization_cache_set_size(size);
}
inline void halide_memoization_cache_evict(void * /*user_context*/, uint64_t eviction_key) {
    Pipe::memoization_cache_evict(eviction_key);
}
inline void halide_memoization_cache_cleanup() {
    Pipe::memoization_cache_cleanup();
}

namespace Pipe {

namespace detail {
/// Halide gives no hints.
inline const bool no_hints = (set_hints(false), true);
}  // namespace detail

/// Errors are always thrown.
constexpr bool exceptions_enabled() {
    return true;
}
/// Halide loads autoschedulers as plugins; Pipe's is built in.
inline void load_plugin(const std::string &) {}
/// Pipe compiles on the caller's stack: this value is stored and has no effect.
constexpr size_t default_compiler_stack_size = 32 << 20;
namespace detail {
inline std::atomic<size_t> compiler_stack_size{default_compiler_stack_size};
}
inline void set_compiler_stack_size(size_t bytes) {
    detail::compiler_stack_size = bytes;
}
inline size_t get_compiler_stack_size() {
    return detail::compiler_stack_size;
}
/// Halide distinguishes the targets of ahead-of-time and just-in-time compilation; here both are
/// the host.
inline Target get_target_from_environment() {
    return get_host_target();
}

}  // namespace Pipe

/// A namespace instead of an alias, so that programs may add names to it.
namespace Halide {
using namespace Pipe;
}
