// Ten rows through Drogon's own client of PostgreSQL, which waits for none of them.
#include "routes.h"

#include <drogon/orm/DbClient.h>

using namespace drogon;

namespace {

HttpResponsePtr json(const orm::Result &rows)
{
    Json::Value users{Json::arrayValue};
    for (const auto &row : rows)
    {
        Json::Value user;
        user["id"] = row["id"].as<int>();
        user["name"] = row["name"].as<std::string>();
        user["email"] = row["email"].as<std::string>();
        users.append(std::move(user));
    }
    return HttpResponse::newHttpJsonResponse(std::move(users));
}

}  // namespace

void addUsers(const std::string &url, std::size_t pool)
{
    auto users = [client = orm::DbClient::newPgClient(url, pool)](const HttpRequestPtr &,
                                                                       Answer &&answer) {
        // Both callbacks want the answer, and one of them is called.
        const auto shared = std::make_shared<Answer>(std::move(answer));
        client->execSqlAsync(
            "SELECT id, name, email FROM users ORDER BY id",
            [shared](const orm::Result &rows) { (*shared)(json(rows)); },
            [shared](const orm::DrogonDbException &error) {
                LOG_ERROR << error.base().what();
                auto response = plain("");
                response->setStatusCode(k500InternalServerError);
                (*shared)(response);
            });
    };
    app().registerHandler("/api/users/", std::move(users), {Get});
}
