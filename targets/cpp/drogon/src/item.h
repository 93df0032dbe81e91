// An item of the page.
#pragma once

#include <string>

struct Item
{
    unsigned long id;
    std::string name;
    unsigned long price;
};
