// LLVM's shuffles of three and more vectors are slow without AVX-512. An odd number k of channels
// is processed in blocks of B lanes that a single instruction can permute arbitrarily. Because k
// and B are coprime, lane i of channel c has a distinct position (k*i + c) mod B in a block of the
// interleaved vector: one permutation per channel moves all lanes there, and each block of the
// result is blended from the permuted channels. An even number of channels is interleaved in pairs; a power of two of
// them register by register, so that a transposition of n registers takes n * log2(n) shuffles.

#include "codegen/interleave.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// The number of lanes that one instruction can permute arbitrarily.
int block_lanes(const Target &target, const Value *vector) {
    const int bits = static_cast<int>(vector->getType()->getScalarSizeInBits());
    if (target.has_feature(Target::AVX512))
        return 512 / bits;
    return (bits >= 32 && target.has_feature(Target::AVX2) ? 256 : 128) / bits;
}

/// The number of lanes per block for vectors of this many lanes in k channels; 0 if blocks are not
/// used.
int block_for(const Target &target, const Value *vector, int lanes, int k) {
    const unsigned bits = vector->getType()->getScalarSizeInBits();
    if (k < 3 || bits < 8)
        return 0;
    const int block = std::min(block_lanes(target, vector), lanes);
    return block > 1 && lanes % block == 0 && std::gcd(block, k) == 1 ? block : 0;
}

/// Blends vectors: lane i is lane i of vectors[from[i]].
Value *blend(Builder &b, const std::vector<Value *> &vectors, const std::vector<int> &from) {
    const int lanes = static_cast<int>(from.size());
    Value *result = vectors[0];
    for (size_t v = 1; v < vectors.size(); v++) {
        std::vector<int> order;
        for (int i = 0; i < lanes; i++)
            order.push_back(from[static_cast<size_t>(i)] == static_cast<int>(v) ? lanes + i : i);
        result = b.CreateShuffleVector(result, vectors[v], order);
    }
    return result;
}

/// `lanes` lanes of each channel, from lane `begin` on.
void interleave_block(Builder &b, const std::vector<Value *> &channels, int begin, int lanes,
                      std::vector<Value *> &result) {
    const int k = static_cast<int>(channels.size());
    std::vector<Value *> in_place;
    for (int c = 0; c < k; c++) {
        std::vector<int> order(static_cast<size_t>(lanes));
        for (int i = 0; i < lanes; i++)
            order[static_cast<size_t>((k * i + c) % lanes)] = i;
        Value *part = subvector(b, channels[static_cast<size_t>(c)], begin, lanes);
        in_place.push_back(b.CreateShuffleVector(part, order));
    }
    for (int j = 0; j < k; j++) {
        std::vector<int> from;
        for (int i = 0; i < lanes; i++)
            from.push_back((j * lanes + i) % k);
        result.push_back(blend(b, in_place, from));
    }
}

/// `lanes` lanes of a channel, which lie in [begin, begin + channels * lanes).
Value *channel_of_block(Builder &b, Value *interleaved, int begin, int channel, int channels,
                        int lanes) {
    std::vector<Value *> blocks;
    for (int j = 0; j < channels; j++)
        blocks.push_back(subvector(b, interleaved, begin + j * lanes, lanes));
    std::vector<int> from(static_cast<size_t>(lanes)), order;
    for (int i = 0; i < lanes; i++) {
        const int place = i * channels + channel;
        from[static_cast<size_t>(place % lanes)] = place / lanes;
        order.push_back(place % lanes);
    }
    return b.CreateShuffleVector(blend(b, blocks, from), order);
}

/// Lanes [begin, begin + count) of x and y in turn.
Value *in_turn(Builder &b, Value *x, Value *y, int begin, int count) {
    std::vector<int> order;
    for (int i = begin; i < begin + count; i++) {
        order.push_back(i);
        order.push_back(lanes_of(x) + i);
    }
    return b.CreateShuffleVector(x, y, order);
}

/// A power of two of channels, each in registers (or all in a part of one), as registers.
std::vector<Value *> interleave_registers(Builder &b, int register_lanes,
                                          const std::vector<std::vector<Value *>> &channels) {
    if (channels.size() == 1)
        return channels[0];
    std::vector<std::vector<Value *>> halves[2];
    for (size_t c = 0; c < channels.size(); c++)
        halves[c % 2].push_back(channels[c]);
    const auto even = interleave_registers(b, register_lanes, halves[0]),
               odd = interleave_registers(b, register_lanes, halves[1]);
    std::vector<Value *> result;
    for (size_t i = 0; i < even.size(); i++) {
        const int lanes = lanes_of(even[i]);
        const int each = 2 * lanes <= register_lanes ? lanes : lanes / 2;
        for (int begin = 0; begin < lanes; begin += each)
            result.push_back(in_turn(b, even[i], odd[i], begin, each));
    }
    return result;
}

/// In registers of this many lanes, or all in a part of one.
std::vector<Value *> registers_of(Builder &b, int register_lanes, Value *vector) {
    std::vector<Value *> result;
    const int lanes = lanes_of(vector), each = std::min(lanes, register_lanes);
    for (int begin = 0; begin < lanes; begin += each)
        result.push_back(subvector(b, vector, begin, each));
    return result;
}

Value *shuffled_at_once(Builder &b, const std::vector<Value *> &values) {
    const int k = static_cast<int>(values.size()), lanes = lanes_of(values[0]);
    std::vector<int> order;
    for (int i = 0; i < lanes; i++)
        for (int c = 0; c < k; c++)
            order.push_back(c * lanes + i);
    return k == 2 ? b.CreateShuffleVector(values[0], values[1], order)
                  : b.CreateShuffleVector(concat(b, values), order);
}

}  // namespace

Value *interleave(Builder &b, const Target &target, const std::vector<Value *> &values) {
    const int k = static_cast<int>(values.size()), lanes = lanes_of(values[0]);
    if (k == 1 || lanes == 1)
        return concat(b, values);
    if (std::has_single_bit(unsigned(k)) && std::has_single_bit(unsigned(lanes))) {
        const int register_lanes = block_lanes(target, values[0]);
        std::vector<std::vector<Value *>> channels;
        for (Value *v : values)
            channels.push_back(registers_of(b, register_lanes, v));
        return concat(b, interleave_registers(b, register_lanes, channels));
    }
    if (k > 2 && k % 2 == 0) {
        std::vector<Value *> halves[2];
        for (int c = 0; c < k; c++)
            halves[c % 2].push_back(values[static_cast<size_t>(c)]);
        return shuffled_at_once(
            b, {interleave(b, target, halves[0]), interleave(b, target, halves[1])});
    }
    const int block = block_for(target, values[0], lanes, k);
    if (block == 0)
        return shuffled_at_once(b, values);
    std::vector<Value *> blocks;
    for (int begin = 0; begin < lanes; begin += block)
        interleave_block(b, values, begin, block, blocks);
    return concat(b, blocks);
}

Value *channel_of(Builder &b, const Target &target, Value *interleaved, int channel, int channels,
                  int lanes) {
    const int block = block_for(target, interleaved, lanes, channels);
    if (block == 0 || channel >= channels)
        return strided_slice(b, interleaved, channel, channels, lanes);
    std::vector<Value *> blocks;
    for (int begin = 0; begin < lanes; begin += block)
        blocks.push_back(
            channel_of_block(b, interleaved, begin * channels, channel, channels, block));
    return concat(b, blocks);
}

}  // namespace Pipe::codegen
