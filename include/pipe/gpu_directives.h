#pragma once
// Directives that map the loops of a definition to a GPU.

#include <vector>

#include <pipe/expr.h>
#include <pipe/loop_directives.h>
#include <pipe/rdom.h>
#include <pipe/schedule.h>
#include <pipe/target.h>

namespace Pipe {

/// Maps loops to the thread blocks, threads and warp lanes of an NVIDIA GPU, or of the emulator
/// (docs/gpu.md). The directives are only recorded here: compiling them for a target without
/// Target::CUDA or Target::CUDAEmulator is a CompileError. A program can choose by the target:
///
///     if (target.has_gpu_feature())
///         f.gpu_tile(x, y, xi, yi, 16, 16);
///     else
///         f.parallel(y).vectorize(x, 8);
///
/// \param Self  Stage or Func, which each directive returns
template <typename Self> class GPUDirectives : public LoopDirectives<Self> {
  public:
    using Loop = VarOrRVar;  ///< of the definition

    /// Maps these loops to thread blocks. At most three, directly nested; the innermost one becomes
    /// blockIdx.x, whatever the order of the arguments. `api`: Default_GPU or CUDA.
    Self &gpu_blocks(const Loop &x, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUBlock, {x}, api);
    }
    Self &gpu_blocks(const Loop &x, const Loop &y, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUBlock, {x, y}, api);
    }
    Self &gpu_blocks(const Loop &x, const Loop &y, const Loop &z,
                     DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUBlock, {x, y, z}, api);
    }
    /// Maps these loops to the threads of a block. At most three, directly nested, with at most 1024
    /// iterations in all; the innermost one becomes threadIdx.x (consecutive threads of a warp),
    /// whatever the order of the arguments.
    Self &gpu_threads(const Loop &x, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUThread, {x}, api);
    }
    Self &gpu_threads(const Loop &x, const Loop &y, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUThread, {x, y}, api);
    }
    Self &gpu_threads(const Loop &x, const Loop &y, const Loop &z,
                      DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPUThread, {x, y, z}, api);
    }
    /// Like gpu_threads(x): the threads of a warp. Shuffles between lanes are not used yet.
    Self &gpu_lanes(const Loop &x, DeviceAPI api = DeviceAPI::Default_GPU) {
        return mark(LoopKind::GPULane, {x}, api);
    }
    /// Runs all loops in one thread of one block.
    Self &gpu_single_thread(DeviceAPI api = DeviceAPI::Default_GPU);

    /// gpu_blocks() on the first half of the loops, gpu_threads() on the rest.
    Self &gpu(const Loop &block, const Loop &thread, DeviceAPI api = DeviceAPI::Default_GPU) {
        gpu_blocks(block, api);
        return gpu_threads(thread, api);
    }
    Self &gpu(const Loop &bx, const Loop &by, const Loop &tx, const Loop &ty,
              DeviceAPI api = DeviceAPI::Default_GPU) {
        gpu_blocks(bx, by, api);
        return gpu_threads(tx, ty, api);
    }
    Self &gpu(const Loop &bx, const Loop &by, const Loop &bz, const Loop &tx, const Loop &ty,
              const Loop &tz, DeviceAPI api = DeviceAPI::Default_GPU) {
        gpu_blocks(bx, by, bz, api);
        return gpu_threads(tx, ty, tz, api);
    }

    /// tile(), then gpu_blocks() on the outer and gpu_threads() on the inner loops: x_size, y_size and
    /// z_size are the numbers of threads of a block. Overloads without bx, by, bz give the block loops
    /// the names x, y, z.
    Self &gpu_tile(const Loop &x, const Loop &bx, const Loop &tx, const Expr &x_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x}, {bx}, {tx}, {x_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &tx, const Expr &x_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x}, {x}, {tx}, {x_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &bx, const Loop &by, const Loop &tx,
                   const Loop &ty, const Expr &x_size, const Expr &y_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y}, {bx, by}, {tx, ty}, {x_size, y_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &tx, const Loop &ty, const Expr &x_size,
                   const Expr &y_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y}, {x, y}, {tx, ty}, {x_size, y_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &z, const Loop &bx, const Loop &by,
                   const Loop &bz, const Loop &tx, const Loop &ty, const Loop &tz,
                   const Expr &x_size, const Expr &y_size, const Expr &z_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y, z}, {bx, by, bz}, {tx, ty, tz}, {x_size, y_size, z_size}, tail, api);
    }
    Self &gpu_tile(const Loop &x, const Loop &y, const Loop &z, const Loop &tx, const Loop &ty,
                   const Loop &tz, const Expr &x_size, const Expr &y_size, const Expr &z_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI api = DeviceAPI::Default_GPU) {
        return tile_for({x, y, z}, {x, y, z}, {tx, ty, tz}, {x_size, y_size, z_size}, tail, api);
    }

  protected:
    using LoopDirectives<Self>::stage;
    using LoopDirectives<Self>::self;

  private:
    Self &mark(LoopKind kind, const std::vector<VarOrRVar> &loops, DeviceAPI api);
    Self &tile_for(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &blocks,
                   const std::vector<VarOrRVar> &threads, const std::vector<Expr> &sizes,
                   TailStrategy tail, DeviceAPI api);
};

}  // namespace Pipe
