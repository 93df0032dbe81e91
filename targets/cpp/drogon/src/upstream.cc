#include "routes.h"

using namespace drogon;

// A client of Drogon is one connection, which sends one request after the other: each call has its own, on the loop of its request.
void addProxy(const std::string &base)
{
    auto proxy = [base](const HttpRequestPtr &, Answer &&answer) {
        auto request = HttpRequest::newHttpRequest();
        request->setPath("/slow");
        auto loop = trantor::EventLoop::getEventLoopOfCurrentThread();
        HttpClient::newHttpClient(base, loop)->sendRequest(
            request, [answer = std::move(answer)](ReqResult result, const HttpResponsePtr &reply) {
                auto response = plain(result == ReqResult::Ok ? std::string(reply->body()) : "");
                response->setStatusCode(result == ReqResult::Ok ? reply->statusCode()
                                                                : k502BadGateway);
                answer(response);
            });
    };
    app().registerHandler("/api/proxy/", std::move(proxy), {Get});
}
