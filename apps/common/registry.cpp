#include "apps/common/registry.h"

namespace apps {

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
