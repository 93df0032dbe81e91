"""Pippin's workloads on Django, with its own templates and mapper."""

from django.conf import settings
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page

from catalogue.models import Message, User


def hello(request):
    return HttpResponse("Hello World!", content_type="text/plain")


def hola(request, name):
    return HttpResponse(f"Hola {name}", content_type="text/plain; charset=utf-8")


def page(request, n):
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return render(request, "page.html", {"n": n, "items": items})


def users(request):
    rows = User.objects.order_by("id").values("id", "name", "email")
    return JsonResponse(list(rows), safe=False)


def messages(request):
    rows = list(Message.objects.all())
    rows.append(Message(id=0, text=request.GET["add"]))
    rows.sort(key=lambda row: row.text)  # Python compares code points.
    return render(request, "messages.html", {"messages": rows})


# For clients that accept gzip, of this view alone.
@gzip_page
def json_items(request, n):
    try:
        m = int(request.GET["m"])
    except (KeyError, ValueError):
        return HttpResponseBadRequest("m is a whole number")
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in settings.ITEMS[:n]]
    return JsonResponse({"count": len(items), "items": items})
