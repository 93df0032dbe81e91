import os

from catalogue import views
from django.urls import path

urlpatterns = [
    path("", views.hello),
    path("hola/<str:name>", views.hola),
    path("page/<int:n>", views.page),
    path("upload", views.upload),
]

if "DATABASE_URL" in os.environ:
    urlpatterns += [path("api/users/", views.users), path("messages", views.messages)]

if "ITEMS_FILE" in os.environ:
    urlpatterns.append(path("json/<int:n>", views.json_items))

if "UPSTREAM_URL" in os.environ:
    urlpatterns.append(path("api/proxy/", views.proxy))
