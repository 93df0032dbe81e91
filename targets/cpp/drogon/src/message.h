// A message: a row of the table, or the one that a request adds, which has the number 0.
#pragma once

#include <string>

struct Message
{
    int id;
    std::string text;
};
