#include "apps/common/picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/common/picture_noise.h"

// The scene is painted back to front, pixel by pixel. Coordinates: y runs from 0 at the top to 1 at
// the bottom, x from 0 to width/height, so that circles are round. Edges are softened over a pixel.

namespace apps {

using namespace picture;

namespace {

/// Paints one pixel; each member function is one thing of the scene, laid over `color`.
class Painter {
  public:
    Painter(Point at, float pixel, float aspect)
        : p(at), pixel(pixel), aspect(aspect), color{0, 0, 0} {}

    Color paint() {
        sky();
        balloon({0.60f * aspect, 0.15f}, 0.080f, {0.86f, 0.16f, 0.14f}, {0.98f, 0.92f, 0.80f});
        balloon({0.475f * aspect, 0.22f}, 0.036f, {0.13f, 0.28f, 0.62f}, {0.97f, 0.76f, 0.18f});
        birds();
        mountains();
        hills();
        meadow();
        plaza();
        building();
        tower();
        tree({0.435f * aspect, 0.70f}, 0.060f, 31);
        tree({0.535f * aspect, 0.67f}, 0.045f, 32);
        tree({0.035f * aspect, 0.72f}, 0.075f, 33);
        tree({0.965f * aspect, 0.66f}, 0.060f, 34);
        test_chart();
        return color;
    }

  private:
    // Part of the pixel that lies inside, for a signed distance from the edge (negative: inside).
    float inside(float distance) const { return unit(0.5f - distance / pixel); }
    void lay(Color c, float part) { color = mix(color, c, part); }

    static float box(Point p, float left, float top, float right, float bottom) {
        return std::max(std::max(left - p.x, p.x - right), std::max(top - p.y, p.y - bottom));
    }
    static float disc(Point p, Point center, float radius) {
        return std::hypot(p.x - center.x, p.y - center.y) - radius;
    }
    static float stroke(Point p, Point a, Point b, float width) {
        const float dx = b.x - a.x, dy = b.y - a.y;
        const float t = unit(((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy));
        return disc(p, {a.x + t * dx, a.y + t * dy}, width / 2);
    }
    // Lines of period 1 that turn to even gray where they are finer than the pixels.
    static float stripes(float phase, float pixel_phase) {
        const float contrast = 1 - smooth(0.35f, 0.7f, pixel_phase);
        const float soft = std::max(pixel_phase, 1e-4f);
        const float wave = std::abs(fraction(phase) - 0.5f) - 0.25f;
        return mix(0.5f, unit(0.5f - wave / soft), contrast);
    }

    void sky();
    void balloon(Point center, float radius, Color one, Color other);
    void birds();
    void mountains();
    void hills();
    void meadow();
    void plaza();
    void building();
    void window(float left, float top, float width, float height, int seed);
    void sign(Point at, float size);
    void tower();
    void clock(Point center, float radius);
    void tree(Point foot, float size, int seed);
    void test_chart();
    void star(Point center, float radius);
    void writing(float left, float top, float right, float bottom);

    const Point p;
    const float pixel;
    const float aspect;
    Color color;
};

void Painter::sky() {
    const float t = unit(p.y / 0.58f);
    color = mix(Color{0.13f, 0.33f, 0.66f}, Color{0.56f, 0.76f, 0.93f}, smooth(0, 0.75f, t));
    lay({1.0f, 0.85f, 0.63f}, 0.85f * smooth(0.55f, 1.0f, t));
    const float from_sun = disc(p, {0.80f * aspect, 0.17f}, 0.042f);
    lay({1.0f, 0.90f, 0.66f}, 0.55f * std::exp(-9 * std::max(from_sun, 0.0f)));
    lay({1.0f, 0.97f, 0.86f}, inside(from_sun));
    if (p.y > 0.5f) {
        return;
    }
    const float warp = fractal(p.x * 2, p.y * 4, 3, 1);
    const float cloud = fractal(p.x * 2.2f + warp, p.y * 8 + warp, 7, 2);
    const float light = fractal(p.x * 2.2f + warp + 0.06f, p.y * 8 + warp + 0.25f, 4, 2);
    lay(mix(Color{0.99f, 0.97f, 0.95f}, Color{0.70f, 0.73f, 0.82f}, smooth(0.42f, 0.75f, light)),
        0.92f * smooth(0.50f, 0.70f, cloud) * (1 - smooth(0.30f, 0.50f, p.y)));
}

void Painter::balloon(Point center, float radius, Color one, Color other) {
    const Point q{(p.x - center.x) / radius, (p.y - center.y) / radius};
    if (std::max(std::abs(q.x), std::abs(q.y)) > 2.1f) {
        return;
    }
    // Round above, drawn out to a point below.
    const float half_width =
        q.y < 0.2f ? std::sqrt(std::max(1 - q.y * q.y, 0.0f))
                   : 0.98f * std::sqrt(unit((1.55f - q.y) / 1.35f)) * (1 - 0.28f * (q.y - 0.2f));
    const bool in_rows = q.y > -1 && q.y < 1.42f;
    if (in_rows) {
        const float across = std::clamp(q.x / std::max(half_width, 0.02f), -1.0f, 1.0f);
        const float longitude = std::asin(across) * 8 / 3.14159265f;
        const float edge = pixel / radius * 2 / std::max(std::sqrt(1 - across * across), 0.1f);
        Color c = mix(one, other, stripes(longitude / 2, edge));
        const float band = inside((std::abs(q.y - 0.1f) - 0.13f) * radius);
        c = mix(c, mix(other, one, stripes(longitude / 2, edge)), band);
        const float shade = 0.55f + 0.5f * unit(0.75f + 0.35f * across - 0.30f * q.y);
        lay(c * std::min(shade, 1.08f), inside((std::abs(q.x) - half_width) * radius));
    }
    for (float side : {-1.0f, 1.0f}) {
        lay({0.25f, 0.18f, 0.12f},
            inside(stroke(q, {side * 0.25f, 1.38f}, {side * 0.13f, 1.82f}, 0.025f) * radius));
    }
    const float basket = box(q, -0.16f, 1.78f, 0.16f, 2.02f);
    const float weave = stripes(q.x * 25, 25 * pixel / radius);
    lay(mix(Color{0.42f, 0.27f, 0.13f}, Color{0.62f, 0.43f, 0.24f}, weave),
        inside(basket * radius));
}

void Painter::birds() {
    for (int i = 0; i < 7; i++) {
        const Point at{(0.30f + 0.15f * hash(i, 0, 5)) * aspect, 0.06f + 0.12f * hash(i, 1, 5)};
        const float wing = 0.010f + 0.006f * hash(i, 2, 5);
        for (float side : {-1.0f, 1.0f}) {
            const Point tip{at.x + side * wing, at.y - wing * (0.4f + 0.3f * hash(i, 3, 5))};
            lay({0.14f, 0.15f, 0.20f}, inside(stroke(p, at, tip, 0.0022f)));
        }
    }
}

void Painter::mountains() {
    if (p.y < 0.25f || p.y > 0.66f) {
        return;
    }
    const float top = 0.64f - 0.36f * crests(p.x * 1.25f + 2.35f, 0.5f, 6, 11);
    const float x = p.x * 5 + 2.0f * p.y, y = p.y * 7 - 1.5f * p.x;
    const float rock = crests(x, y, 6, 12);
    const float slope = 0.5f + 5.0f * (rock - crests(x + 0.06f, y - 0.03f, 6, 12));
    Color c = mix({0.24f, 0.27f, 0.37f}, {0.62f, 0.56f, 0.54f}, unit(slope));
    const float snow = smooth(0.16f, 0.05f, p.y - top + 0.30f * (rock - 0.5f));
    c = mix(c, mix({0.58f, 0.67f, 0.83f}, {1.0f, 0.98f, 0.95f}, unit(slope + 0.2f)), snow);
    lay(mix(c, {0.74f, 0.79f, 0.87f}, 0.15f + 0.5f * unit((p.y - top) / 0.30f)), inside(top - p.y));
}

void Painter::hills() {
    for (int layer = 0; layer < 2; layer++) {
        if (p.y < 0.45f || p.y > 0.68f) {
            return;
        }
        const float near = static_cast<float>(layer);
        const float roll = fractal(p.x * (1.3f + near) + 5 * near, 0, 3, 14 + layer);
        const float firs = 0.012f * (1 + near) * fractal(p.x * (55 - 20 * near), 0, 3, 16 + layer);
        const float top = 0.60f + 0.05f * near - 0.13f * roll - firs;
        const float wood = fractal(p.x * 70, p.y * 45, 4, 18 + layer);
        const Color far_tone = mix({0.20f, 0.30f, 0.34f}, {0.42f, 0.52f, 0.48f}, wood);
        const Color near_tone = mix({0.10f, 0.20f, 0.11f}, {0.33f, 0.42f, 0.20f}, wood);
        lay(mix(far_tone, near_tone, near), inside(top - p.y));
    }
}

void Painter::meadow() {
    const float top = 0.635f + 0.012f * noise(p.x * 3, 0, 20);
    if (p.y < top - pixel) {
        return;
    }
    const float depth = 1 / (p.y - 0.55f);  // large far away
    const float patches = fractal(p.x * depth * 0.5f, depth * 2, 4, 21);
    const float blades =
        fractal(p.x * depth * 12 + 3 * noise(p.x * 40, p.y * 30, 23), depth * 9, 4, 22);
    Color c = mix({0.20f, 0.34f, 0.09f}, {0.55f, 0.60f, 0.20f}, unit(1.6f * patches - 0.3f));
    c = c * (0.55f + 0.9f * blades);
    const float spot =
        hash(static_cast<int>(std::floor(p.x * 220)), static_cast<int>(std::floor(p.y * 220)), 24);
    const Point local{fraction(p.x * 220) - 0.5f, fraction(p.y * 220) - 0.5f};
    const float flower = inside((std::hypot(local.x, local.y) - 0.28f) / 220);
    const Color petals = spot > 0.990f ? Color{0.95f, 0.85f, 0.30f} : Color{0.93f, 0.93f, 0.96f};
    lay(spot > 0.982f ? mix(c, petals, flower) : c, inside(top - p.y));
}

void Painter::plaza() {
    const float depth = 1 / std::max(p.y - 0.60f, 0.01f);
    const float across = (p.x - 0.40f * aspect) * depth;
    const float edge = pixel * depth;
    const float part = inside((std::abs(across) - 1.75f) / depth) * inside(0.735f - p.y);
    if (part == 0) {
        return;
    }
    const float a = stripes(across * 1.2f, edge * 1.2f);
    const float b = stripes(depth * 0.6f, edge * depth * 0.6f);
    const float check = a * (1 - b) + b * (1 - a);
    const float stone = 0.85f + 0.3f * fractal(across * 30, depth * 30, 3, 26);
    lay(mix(Color{0.23f, 0.21f, 0.24f}, Color{0.86f, 0.82f, 0.75f}, check) * stone, part);
}

void Painter::building() {
    const float left = 0.105f * aspect, right = 0.315f * aspect, top = 0.34f, bottom = 0.755f;
    const float middle = (left + right) / 2;
    if (p.x < left - 0.1f || p.x > right + 0.1f) {
        return;
    }
    const float roof = std::max(
        0.22f + (top - 0.22f) * std::abs(p.x - middle) / (right - middle + 0.02f) - p.y, p.y - top);
    const float tiles = stripes(p.y * 90, 90 * pixel) *
                        (0.5f + 0.5f * stripes(p.x * 70 + 0.5f * std::floor(p.y * 90), 70 * pixel));
    lay(mix(Color{0.36f, 0.15f, 0.11f}, Color{0.62f, 0.29f, 0.19f}, tiles), inside(roof));

    const float wall = inside(box(p, left, top, right, bottom));
    if (wall > 0) {
        const float row = p.y * 110, shifted = p.x * 48 + 0.5f * std::fmod(std::floor(row), 2.0f);
        const float tone =
            hash(static_cast<int>(std::floor(shifted)), static_cast<int>(std::floor(row)), 40);
        Color brick = mix({0.58f, 0.27f, 0.19f}, {0.76f, 0.43f, 0.31f}, tone);
        brick = brick * (0.85f + 0.3f * fractal(p.x * 300, p.y * 300, 2, 41));
        const float joint = std::min(fraction(row) / 110, fraction(shifted) / 48) - 0.0014f;
        lay(mix(brick, {0.80f, 0.76f, 0.70f}, inside(joint)), wall);
        lay({0.88f, 0.84f, 0.77f}, inside(box(p, left, top, right, top + 0.012f)));
        lay({0.45f, 0.43f, 0.42f}, inside(box(p, left, bottom - 0.025f, right, bottom)));
        for (int row_of = 0; row_of < 4; row_of++) {
            for (int column = 0; column < 4; column++) {
                const float pitch = (right - left) / 4;
                window(left + pitch * (static_cast<float>(column) + 0.24f),
                       0.37f + 0.078f * static_cast<float>(row_of), pitch * 0.52f, 0.050f,
                       4 * row_of + column);
            }
        }
    }
    lay({0.20f, 0.12f, 0.08f}, inside(box(p, middle - 0.022f, 0.695f, middle + 0.022f, bottom)));
    lay({0.85f, 0.68f, 0.25f}, inside(disc(p, {middle + 0.014f, 0.728f}, 0.0025f)));
    sign({middle, 0.681f}, 0.0034f);
}

void Painter::window(float left, float top, float width, float height, int seed) {
    const float frame = inside(box(p, left, top, left + width, top + height));
    if (frame == 0) {
        return;
    }
    lay({0.94f, 0.92f, 0.88f}, frame);
    const bool lit = hash(seed, 0, 50) > 0.65f;
    const float t = (p.y - top) / height + 0.3f * (p.x - left) / width;
    const Color glass = lit ? mix(Color{1.0f, 0.86f, 0.50f}, Color{0.90f, 0.58f, 0.24f}, unit(t))
                            : mix(Color{0.55f, 0.68f, 0.82f}, Color{0.10f, 0.14f, 0.21f}, unit(t));
    const float pane_w = (width - 0.009f) / 2, pane_h = (height - 0.009f) / 2;
    for (int i = 0; i < 4; i++) {
        const float x = left + 0.003f + static_cast<float>(i % 2) * (pane_w + 0.003f);
        const float y = top + 0.003f + static_cast<float>(i / 2) * (pane_h + 0.003f);
        lay(glass, inside(box(p, x, y, x + pane_w, y + pane_h)));
    }
    lay({0.70f, 0.66f, 0.60f},
        inside(box(p, left - 0.003f, top + height, left + width + 0.003f, top + height + 0.004f)));
}

// The project's name in letters of 5 x 7 dots.
void Painter::sign(Point at, float size) {
    static constexpr std::array<std::array<uint8_t, 7>, 4> letters = {{
        {0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000},
        {0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},
        {0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000},
        {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111},
    }};
    const float columns = 4 * 6 - 1, rows = 7;
    const Point q{(p.x - at.x) / size + columns / 2, (p.y - at.y) / size + rows / 2};
    lay({0.10f, 0.16f, 0.34f}, inside(box(q, -1.5f, -1.2f, columns + 1.5f, rows + 1.2f) * size));
    if (q.x < 0 || q.x >= columns || q.y < 0 || q.y >= rows) {
        return;
    }
    const int column = static_cast<int>(q.x);
    const int bit = 4 - column % 6;
    const auto bits = letters[static_cast<size_t>(column / 6)][static_cast<size_t>(q.y)];
    if (bit >= 0 && ((bits >> bit) & 1) != 0) {
        lay({0.98f, 0.96f, 0.88f}, 1);
    }
}

void Painter::tower() {
    const float left = 0.325f * aspect, right = left + 0.085f, top = 0.26f, bottom = 0.755f;
    const float middle = (left + right) / 2;
    if (p.x < left - 0.1f || p.x > right + 0.1f) {
        return;
    }
    const float spire = std::max(
        0.10f + (top - 0.10f) * std::abs(p.x - middle) / (right - middle) - p.y, p.y - top);
    const float slates = stripes(p.y * 120, 120 * pixel);
    lay(mix(Color{0.20f, 0.33f, 0.33f}, Color{0.33f, 0.50f, 0.48f}, slates), inside(spire * 0.5f));
    const float wall = inside(box(p, left, top, right, bottom));
    if (wall > 0) {
        const float round = (p.x - middle) / (right - middle);
        const float block = hash(static_cast<int>(std::floor(p.x * 60)),
                                 static_cast<int>(std::floor(p.y * 75)), 60);
        Color stone = mix({0.62f, 0.58f, 0.50f}, {0.80f, 0.76f, 0.67f}, block);
        stone = stone * (0.9f + 0.2f * fractal(p.x * 250, p.y * 250, 3, 61));
        lay(stone * (0.72f + 0.35f * unit(0.6f + 0.6f * round)), wall);
        const float seam = std::min(fraction(p.y * 75) / 75, fraction(p.x * 60) / 60);
        lay({0.42f, 0.39f, 0.35f}, wall * inside(seam - 0.0011f));
    }
    for (int i = 0; i < 4; i++) {
        const float y = 0.44f + 0.075f * static_cast<float>(i);
        const float arch = std::min(box(p, middle - 0.010f, y, middle + 0.010f, y + 0.035f),
                                    disc(p, {middle, y}, 0.010f));
        lay({0.12f, 0.12f, 0.16f}, inside(arch));
    }
    clock({middle, 0.335f}, 0.034f);
    lay({0.85f, 0.70f, 0.28f}, inside(disc(p, {middle, 0.098f}, 0.006f)));
}

void Painter::clock(Point center, float radius) {
    const float distance = disc(p, center, radius);
    lay({0.22f, 0.20f, 0.20f}, inside(distance - 0.004f));
    lay({0.97f, 0.95f, 0.90f}, inside(distance));
    const auto at = [&](float turn, float r) {
        const float angle = 6.2831853f * turn;
        return Point{center.x + r * radius * std::sin(angle),
                     center.y - r * radius * std::cos(angle)};
    };
    const Color ink{0.08f, 0.08f, 0.10f};
    for (int hour = 0; hour < 12; hour++) {
        const float turn = static_cast<float>(hour) / 12;
        lay(ink,
            inside(stroke(p, at(turn, 0.78f), at(turn, 0.92f), hour % 3 == 0 ? 0.0035f : 0.0018f)));
    }
    lay(ink, inside(stroke(p, at(0, 0), at(0.175f, 0.50f), 0.0040f)));
    lay(ink, inside(stroke(p, at(0, 0), at(0.03f, 0.76f), 0.0026f)));
    lay({0.80f, 0.15f, 0.10f}, inside(stroke(p, at(0.1f, -0.15f), at(0.6f, -0.8f), 0.0011f)));
}

void Painter::tree(Point foot, float size, int seed) {
    if (std::abs(p.x - foot.x) > 2 * size || p.y > foot.y + pixel || p.y < foot.y - 5 * size) {
        return;
    }
    const float bark = 0.6f + 0.8f * fractal(p.x * 260, p.y * 40, 3, seed);
    const float height = (foot.y - p.y) / size;
    lay(Color{0.30f, 0.20f, 0.12f} * bark,
        inside(std::max(std::abs(p.x - foot.x) - size * (0.17f - 0.025f * height),
                        foot.y - 2.2f * size - p.y)));
    float crown = 1;
    for (int i = 0; i < 9; i++) {
        const Point center{foot.x + size * 1.6f * (hash(i, 0, seed) - 0.5f),
                           foot.y - size * (1.9f + 1.7f * hash(i, 1, seed))};
        crown = std::min(crown, disc(p, center, size * (0.45f + 0.30f * hash(i, 2, seed))));
    }
    const float leaves = fractal(p.x * 90, p.y * 90, 5, seed + 100);
    const float shade = unit(0.65f + 0.45f * (p.x - foot.x) / size + 0.3f * (height - 2.7f));
    const Color tone = mix({0.06f, 0.15f, 0.05f}, {0.42f, 0.52f, 0.14f},
                           unit(1.9f * leaves - 0.5f) * (0.35f + 0.65f * shade));
    lay(tone, inside(crown + 0.5f * size * (leaves - 0.5f)));
}

// A board with a star, line pairs, a checkerboard, colors and lines of writing.
void Painter::test_chart() {
    const float left = 0.70f * aspect, top = 0.545f, width = 0.43f, height = 0.32f;
    for (float post : {0.12f, 0.88f}) {
        const float x = left + post * width;
        lay({0.33f, 0.24f, 0.17f},
            inside(box(p, x - 0.008f, top, x + 0.008f, top + height + 0.085f)));
    }
    const float board = box(p, left, top, left + width, top + height);
    lay({0.16f, 0.15f, 0.16f}, inside(board - 0.006f));
    lay({0.95f, 0.94f, 0.91f}, inside(board));
    if (board > pixel) {
        return;
    }
    star({left + 0.115f, top + 0.115f}, 0.098f);
    const Color ink{0.07f, 0.07f, 0.09f};
    for (int i = 0; i < 5; i++) {  // line pairs, each half as wide as the ones before
        const float x = left + 0.235f + 0.037f * static_cast<float>(i),
                    lines = 60.0f * std::exp2(static_cast<float>(i));
        const float upright = inside(box(p, x, top + 0.018f, x + 0.033f, top + 0.068f));
        const float lying = inside(box(p, x, top + 0.075f, x + 0.033f, top + 0.125f));
        lay(ink, upright * stripes(p.x * lines, pixel * lines));
        lay(ink, lying * stripes(p.y * lines, pixel * lines));
    }
    const float squares = 80;
    const float a = stripes((p.x - left) * squares / 2, pixel * squares / 2),
                b = stripes((p.y - top) * squares / 2, pixel * squares / 2);
    lay(ink, inside(box(p, left + 0.235f, top + 0.140f, left + 0.416f, top + 0.212f)) *
                 (a * (1 - b) + b * (1 - a)));
    static constexpr Color colors[] = {
        {0.80f, 0.12f, 0.12f}, {0.93f, 0.55f, 0.10f}, {0.95f, 0.86f, 0.20f}, {0.20f, 0.58f, 0.24f},
        {0.15f, 0.55f, 0.70f}, {0.18f, 0.24f, 0.62f}, {0.50f, 0.20f, 0.55f}, {0.50f, 0.50f, 0.50f}};
    for (int i = 0; i < 8; i++) {
        const float x = left + 0.020f + 0.0245f * static_cast<float>(i);
        lay(colors[i], inside(box(p, x, top + 0.228f, x + 0.0215f, top + 0.254f)));
    }
    writing(left + 0.020f, top + 0.262f, left + 0.410f, top + 0.312f);
    const float ramp = (p.x - left - 0.235f) / 0.181f;
    lay(Color{1, 1, 1} * unit(ramp),
        inside(box(p, left + 0.235f, top + 0.228f, left + 0.416f, top + 0.254f)));
}

void Painter::star(Point center, float radius) {
    const float x = p.x - center.x, y = p.y - center.y;
    const float from_center = std::max(std::hypot(x, y), 1e-5f);
    const float turn = std::atan2(y, x) / 6.2831853f * 36;
    const float pixel_turn = 36 * pixel / (6.2831853f * from_center);
    lay({0.07f, 0.07f, 0.09f}, inside(from_center - radius) * stripes(turn, pixel_turn));
}

// Lines of made-up letters: each is a few strokes between the nine points of a small grid.
void Painter::writing(float left, float top, float right, float bottom) {
    float y = top;
    for (int line = 0; line < 3; line++) {
        const float size = 0.018f - 0.004f * static_cast<float>(line);
        const int cell = static_cast<int>(std::floor((p.x - left) / (0.72f * size)));
        const float end = right - 0.08f * hash(line, 9, 70);
        const bool space = hash(cell, line, 71) < 0.16f;
        if (p.y > y - pixel && p.y < y + size && cell >= 0 && p.x < end && p.y < bottom && !space) {
            const auto grid = [&](int i) {
                const int place = static_cast<int>(9 * hash(cell, i, 72 + line));
                return Point{left + size * (0.72f * static_cast<float>(cell) + 0.1f +
                                            0.2f * static_cast<float>(place % 3)),
                             y + size * (0.1f + 0.35f * static_cast<float>(place / 3))};
            };
            for (int i = 0; i < 4; i++) {
                const Point a = grid(i), b = grid(i + 1);
                if (a.x != b.x || a.y != b.y) {
                    lay({0.10f, 0.10f, 0.16f}, inside(stroke(p, a, b, 0.11f * size)));
                }
            }
        }
        y += 1.15f * size;
    }
}

}  // namespace

Pipe::Buffer<uint8_t> default_picture(int width, int height) {
    Pipe::Buffer<uint8_t> picture(width, height, 3);
    const float pixel = 1.0f / static_cast<float>(height);
    const float aspect = static_cast<float>(width) * pixel;
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const Point at{(static_cast<float>(x) + 0.5f) * pixel,
                           (static_cast<float>(y) + 0.5f) * pixel};
            const Color color = Painter(at, pixel, aspect).paint();
            const float channels[] = {color.r, color.g, color.b};
            for (int c = 0; c < 3; c++) {
                const float grain = 4 * (hash(x, y, 90 + c) + hash(x, y, 95 + c) - 1);
                picture(x, y, c) = static_cast<uint8_t>(
                    std::clamp(255 * channels[c] + grain, 0.0f, 255.0f) + 0.5f);
            }
        }
    }
    return picture;
}

}  // namespace apps
