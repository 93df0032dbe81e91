// Pippin's workloads on Drogon, with its views (CSP), its database client and its HTTP client.
#include "routes.h"

#include <cstdlib>

namespace {

std::string variable(const char *name, const std::string &otherwise)
{
    const char *value = std::getenv(name);
    return value ? value : otherwise;
}

// The routes that need a service are there only when the service is.
void addRoutes()
{
    // A HEAD is answered by the handler of GET.
    drogon::app()
        .registerHandler("/", &hello, {drogon::Get})
        .registerHandler("/hola/{name}", &hola, {drogon::Get})
        .registerHandler("/page/{n}", &page, {drogon::Get})
        .registerHandler("/device", &device, {drogon::Get});
    if (const auto url = variable("DATABASE_URL", ""); !url.empty())
        addUsers(url, std::stoul(variable("DATABASE_POOL", "10")));
    if (const auto base = variable("UPSTREAM_URL", ""); !base.empty())
        addProxy(base);
    if (const auto path = variable("ITEMS_FILE", ""); !path.empty())
        addItems(path);
}

}  // namespace

int main()
{
    addRoutes();
    // 0 threads are one for each processor. SIGTERM ends it.
    drogon::app()
        .addListener(variable("HOST", "127.0.0.1"), std::stoul(variable("PORT", "8080")))
        .setThreadNum(std::stoul(variable("WORKERS", "0")))
        .setLogLevel(trantor::Logger::kWarn)
        .setUploadPath("build/uploads")
        .run();
}
