// Ten rows through Drogon's own client of PostgreSQL, which waits for none of them.
#include "message.h"
#include "routes.h"

#include <drogon/orm/DbClient.h>

#include <algorithm>
#include <vector>

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

// The rows and an added one, in the order of their texts: C++ compares bytes.
HttpResponsePtr messagesPage(const orm::Result &rows, const std::string &added)
{
    std::vector<Message> messages{{0, added}};
    for (const auto &row : rows)
        messages.push_back({row["id"].as<int>(), row["text"].as<std::string>()});
    std::sort(messages.begin(), messages.end(),
              [](const Message &a, const Message &b) { return a.text < b.text; });
    HttpViewData data;
    data.insert("title", std::string{"Messages"});
    data.insert("messages", std::move(messages));
    return HttpResponse::newHttpViewResponse("Messages", data);
}

}  // namespace

void addUsers(const std::string &url, std::size_t pool)
{
    const auto client = orm::DbClient::newPgClient(url, pool);
    auto messages = [client](const HttpRequestPtr &request, Answer &&answer) {
        const auto shared = std::make_shared<Answer>(std::move(answer));
        client->execSqlAsync(
            "SELECT id, text FROM messages",
            [shared, added = request->getParameter("add")](const orm::Result &rows) {
                (*shared)(messagesPage(rows, added));
            },
            [shared](const orm::DrogonDbException &error) {
                LOG_ERROR << error.base().what();
                auto response = plain("");
                response->setStatusCode(k500InternalServerError);
                (*shared)(response);
            });
    };
    app().registerHandler("/messages", std::move(messages), {Get});
    auto users = [client](const HttpRequestPtr &, Answer &&answer) {
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
