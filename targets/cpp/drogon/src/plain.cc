#include "routes.h"

#include <random>

using namespace drogon;

HttpResponsePtr plain(std::string text)
{
    auto response = HttpResponse::newHttpResponse();
    response->setContentTypeCode(CT_TEXT_PLAIN);
    response->setBody(std::move(text));
    return response;
}

void hello(const HttpRequestPtr &, Answer &&answer)
{
    answer(plain("Hello World!"));
}

void hola(const HttpRequestPtr &, Answer &&answer, const std::string &name)
{
    answer(plain("Hola " + name));
}

// Waits 95 to 105 ms; a timer of the loop holds no thread.
void device(const HttpRequestPtr &, Answer &&answer)
{
    thread_local std::mt19937 random{std::random_device{}()};
    const auto seconds = std::uniform_real_distribution<>(0.095, 0.105)(random);
    trantor::EventLoop::getEventLoopOfCurrentThread()->runAfter(
        seconds, [answer = std::move(answer)] { answer(plain(std::string(1024, 'x'))); });
}
