#include "apps/common/registry.h"

// Every application has a line here; its entries stand in apps/<name>/app.cpp.
#define PIPE_APPLICATIONS(entry)                                                                   \
    entry(blur) entry(unsharp) entry(harris) entry(bilateral_grid) entry(interpolate)              \
        entry(local_laplacian) entry(pyramid_blend) entry(camera_pipe) entry(max_filter)           \
            entry(nl_means) entry(stencil_chain) entry(lens_blur) entry(quantised_conv)            \
                entry(conv_layer) entry(conv_bn) entry(flux_div) entry(polybench) entry(multigrid) \
                    entry(vdsr) entry(resnet50)

namespace apps {

#define DECLARE(name) std::vector<App> name##_apps();
PIPE_APPLICATIONS(DECLARE)
#undef DECLARE

const std::vector<App> &registry() {
    static const std::vector<App> all = [] {
        std::vector<App> apps;
#define APPEND(name)                                                                               \
    for (App & app : name##_apps())                                                                \
        apps.push_back(std::move(app));
        PIPE_APPLICATIONS(APPEND)
#undef APPEND
        return apps;
    }();
    return all;
}

const App *find_app(const std::string &name) {
    for (const App &app : registry()) {
        if (app.name == name)
            return &app;
    }
    return nullptr;
}

}  // namespace apps
