# Embeds lib/driver/page/report.html, and dagre (MIT License), which lays out its graph, into layer driver.

find_file(PIPE_DAGRE dagre.min.js DOC "JavaScript library that lays out the graph of Pipeline::report()"
  PATHS /usr/lib/python3/dist-packages/xstatic/pkg/dagre/data /usr/share/nodejs/dagre/dist
  NO_DEFAULT_PATH)
set(page ${PROJECT_SOURCE_DIR}/lib/driver/page/report.html)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
file(READ ${page} template)
set(dagre "")
if(PIPE_DAGRE)
  file(READ ${PIPE_DAGRE} dagre)
else()
  message(STATUS "dagre.min.js not found (Debian: python3-xstatic-dagre): Pipeline::report() lists the stages "
    "instead of drawing their graph")
endif()
set(content "#include \"driver/page_files.h\"\n\nnamespace Pipe::driver {\n
const char *page_template() {\n    return R\"pipe_page(${template})pipe_page\";\n}\n
const char *graph_layout_script() {\n    return R\"pipe_page(${dagre})pipe_page\";\n}\n
}  // namespace Pipe::driver\n")
set(PIPE_PAGE_SOURCE ${PROJECT_BINARY_DIR}/page_files.cpp)
file(WRITE ${PIPE_PAGE_SOURCE}.new "${content}")
configure_file(${PIPE_PAGE_SOURCE}.new ${PIPE_PAGE_SOURCE} COPYONLY)  # unchanged files keep their time
