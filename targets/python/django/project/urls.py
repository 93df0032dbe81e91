import os

from catalogue import products, views
from django.urls import path

urlpatterns = [
    path("", views.hello),
    path("hola/<str:name>", views.hola),
    path("page/<int:n>", views.page),
]

if "DATABASE_URL" in os.environ:
    urlpatterns += [path("api/users/", views.users), path("messages", views.messages)]
    urlpatterns += [path("products", products.Products.as_view()), path("products/<int:id>", products.OneProduct.as_view())]

if "ITEMS_FILE" in os.environ:
    urlpatterns.append(path("json/<int:n>", views.json_items))
