// The handlers of Pippin's workloads.
#pragma once

#include <drogon/drogon.h>

#include <functional>
#include <memory>
#include <string>

using Answer = std::function<void(const drogon::HttpResponsePtr &)>;

// An answer of `text/plain`.
drogon::HttpResponsePtr plain(std::string text);

void hello(const drogon::HttpRequestPtr &, Answer &&answer);
void hola(const drogon::HttpRequestPtr &, Answer &&answer, const std::string &name);
void page(const drogon::HttpRequestPtr &, Answer &&answer, unsigned long n);
void device(const drogon::HttpRequestPtr &, Answer &&answer);

// `pool` connections to the database at `url`.
void addUsers(const std::string &url, std::size_t pool);

// The slow upstream below `base`.
void addProxy(const std::string &base);

// The items of the data file at `path`.
void addItems(const std::string &path);
