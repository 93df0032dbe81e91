// Items of the data file, by the JSON library that Drogon brings.
#include "routes.h"

#include <fstream>

using namespace drogon;

void addItems(const std::string &path)
{
    const auto all = std::make_shared<Json::Value>();
    std::ifstream{path} >> *all;
    auto items = [all](const HttpRequestPtr &request, Answer &&answer, unsigned n) {
        const auto m = request->getOptionalParameter<std::int64_t>("m").value_or(1);
        Json::Value list{Json::arrayValue};
        for (Json::ArrayIndex i = 0; i < n && i < all->size(); ++i)
        {
            auto item = (*all)[i];
            const auto worth = item["price"].asInt64() * item["quantity"].asInt64();
            item["total"] = Json::Int64{worth * m};
            list.append(std::move(item));
        }
        Json::Value body;
        body["count"] = list.size();
        body["items"] = std::move(list);
        answer(HttpResponse::newHttpJsonResponse(std::move(body)));
    };
    app().registerHandler("/json/{n}", std::move(items), {Get});
}
