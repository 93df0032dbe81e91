// The rendered page: `views/Page.csp` inside `views/Layout.csp`.
#include "routes.h"

#include "item.h"

using namespace drogon;

void page(const HttpRequestPtr &, Answer &&answer, unsigned long n)
{
    const auto number = std::to_string(n);
    std::vector<Item> items;
    for (unsigned long id = 1; id <= 12; ++id)
        items.push_back(
            {id, "Item " + std::to_string(id) + " <of> page " + number + " & more", id * n});
    HttpViewData data;
    data.insert("title", "Page " + number);
    data.insert("n", number);
    data.insert("items", std::move(items));
    answer(HttpResponse::newHttpViewResponse("Page", data));
}
