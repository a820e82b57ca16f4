#pragma once
// Colors, interpolation and noise for the painted picture (picture.cpp).

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace apps::picture {

struct Color {
    float r, g, b;
};

struct Point {
    float x, y;
};

inline Color operator*(Color c, float k) {
    return {c.r * k, c.g * k, c.b * k};
}
inline Color operator+(Color a, Color b) {
    return {a.r + b.r, a.g + b.g, a.b + b.b};
}
inline Color mix(Color a, Color b, float t) {
    return a * (1 - t) + b * t;
}
inline float mix(float a, float b, float t) {
    return a + (b - a) * t;
}
inline float unit(float v) {
    return std::clamp(v, 0.0f, 1.0f);
}
inline float smooth(float from, float to, float v) {
    const float t = unit((v - from) / (to - from));
    return t * t * (3 - 2 * t);
}
inline float fraction(float v) {
    return v - std::floor(v);
}

/// A number in [0, 1) that looks random.
inline float hash(int a, int b, int seed) {
    uint32_t h = static_cast<uint32_t>(a) * 0x8da6b343u ^ static_cast<uint32_t>(b) * 0xd8163841u ^
                 static_cast<uint32_t>(seed) * 0xcb1ab31fu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return static_cast<float>((h ^ (h >> 15)) >> 8) / 16777216.0f;
}

/// Smooth noise with one bump per unit.
inline float noise(float x, float y, int seed) {
    const float fx = std::floor(x), fy = std::floor(y);
    const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
    const float u = smooth(0, 1, x - fx), v = smooth(0, 1, y - fy);
    return mix(mix(hash(ix, iy, seed), hash(ix + 1, iy, seed), u),
               mix(hash(ix, iy + 1, seed), hash(ix + 1, iy + 1, seed), u), v);
}

/// Sums of noises, each with twice the frequency and half the amplitude of the one before.
inline float fractal(float x, float y, int octaves, int seed) {
    float sum = 0, weight = 0.5f;
    for (int i = 0; i < octaves; i++, weight *= 0.5f) {
        sum += weight * noise(x, y, seed + i);
        x = 2 * x + 17.3f;
        y = 2 * y + 9.1f;
    }
    return sum;
}

/// 1 on the crest lines of a noise, falling off to both sides.
inline float crests(float x, float y, int octaves, int seed) {
    float sum = 0, weight = 0.5f;
    for (int i = 0; i < octaves; i++, weight *= 0.5f) {
        sum += weight * (1 - std::abs(2 * noise(x, y, seed + i) - 1));
        x = 2.1f * x + 7.7f;
        y = 2.1f * y + 3.3f;
    }
    return sum;
}

}  // namespace apps::picture
