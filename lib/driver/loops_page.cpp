// The printed program is indented: a line followed by deeper ones is the head of a block.

#include "driver/loops_page.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "support/text.h"

namespace Pipe::driver {

namespace {

struct TextLine {
    size_t depth;
    std::string_view text;
};

std::vector<TextLine> lines_of(const std::string &text) {
    std::vector<TextLine> lines;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        size_t first = std::min(text.find_first_not_of(' ', at), end);
        if (first < end)
            lines.push_back({first - at, std::string_view(text).substr(first, end - first)});
        at = end + 1;
    }
    return lines;
}

bool starts(std::string_view line, std::string_view with) {
    return line.substr(0, with.size()) == with;
}

/// The CSS class of a line, by its first word.
const char *kind_of(std::string_view line) {
    if (starts(line, "for "))
        return line.find(") parallel") == line.npos ? "serial" : "parallel";
    for (const char *word : {"produce", "consume", "allocate", "assert", "let", "if", "}"})
        if (starts(line, word))
            return *word == '}' ? "if" : word;
    return "store";
}

/// The lines from *at on that are at least as deep as the first of them.
void write_block(const std::vector<TextLine> &lines, size_t *at, std::string *page) {
    size_t depth = lines[*at].depth;
    while (*at < lines.size() && lines[*at].depth >= depth) {
        TextLine line = lines[(*at)++];
        if (line.text == "}")
            continue;
        const char *kind = kind_of(line.text);
        bool opens = *at < lines.size() && lines[*at].depth > line.depth;
        if (opens && line.text.size() > 2 && line.text.substr(line.text.size() - 2) == " {")
            line.text.remove_suffix(2);
        if (!opens) {
            *page += fmt::format("<div class=\"{}\">{}</div>\n", kind, support::html(line.text));
            continue;
        }
        *page += fmt::format("<details open class=\"{}\"><summary>{}</summary>\n", kind,
                             support::html(line.text));
        write_block(lines, at, page);
        *page += "</details>\n";
    }
}

const char *const style = R"(
body { font: 13px monospace; margin: 1em; display: flex; gap: 2em; align-items: flex-start; }
main { flex: 3; min-width: 0; } aside { flex: 2; position: sticky; top: 1em; }
details, main div { margin-left: 1.2em; white-space: pre-wrap; text-indent: -1.2em; padding-left: 1.2em; }
details > div, details > details { text-indent: 0; padding-left: 0; }
summary { cursor: pointer; text-indent: 0; }
.parallel > summary { color: #b03020; font-weight: bold; }
.serial > summary { color: #006030; font-weight: bold; }
.produce > summary, .consume > summary { background: #eef2ff; } .allocate > summary { color: #703090; }
.assert { color: #999; } .let { color: #666; } .if > summary { color: #905000; }
pre { background: #f6f6f6; padding: 1em; overflow-x: auto; }
)";

}  // namespace

std::string folding_blocks(const std::string &text) {
    std::string page;
    std::vector<TextLine> lines = lines_of(text);
    for (size_t at = 0; at < lines.size();)
        write_block(lines, &at, &page);
    return page;
}

std::string loops_page(const std::string &title, const std::string &loops,
                       const std::string &schedule) {
    std::string page = fmt::format("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">"
                                   "<title>{0}</title><style>{1}</style></head><body>\n<main>"
                                   "<h2>{0}</h2>\n",
                                   support::html(title), style);
    page += folding_blocks(loops);
    page += fmt::format("</main>\n<aside><h2>Schedule</h2><pre>{}</pre></aside></body></html>\n",
                        support::html(schedule));
    return page;
}

}  // namespace Pipe::driver
