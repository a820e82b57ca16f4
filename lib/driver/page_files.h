#pragma once
// The files of folder page, and dagre (a library that lays out graphs), as CMake embeds them
// (cmake/EmbedPage.cmake).

namespace Pipe::driver {

const char *page_template();
/// "" if dagre was not found when Pipe was built: pages then list the stages.
const char *graph_layout_script();

}  // namespace Pipe::driver
