"""Pippin's workloads on Django, with its own templates and mapper."""

import hashlib
import os

import httpx
from django.conf import settings
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST

from catalogue.models import Message, User

# httpx would allow 100 connections at once and let the others wait; the 20 that it keeps idle stay as they are.
upstream = httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


async def hello(request):
    return HttpResponse("Hello World!", content_type="text/plain")


async def hola(request, name):
    return HttpResponse(f"Hola {name}", content_type="text/plain; charset=utf-8")


async def page(request, n):
    items = [{"id": i, "name": f"Item {i} <of> page {n} & more", "price": i * n} for i in range(1, 13)]
    return render(request, "page.html", {"n": n, "items": items})


async def users(request):
    rows = User.objects.order_by("id").values("id", "name", "email")
    return JsonResponse([row async for row in rows], safe=False)


async def messages(request):
    rows = [row async for row in Message.objects.all()]
    rows.append(Message(id=0, text=request.GET["add"]))
    rows.sort(key=lambda row: row.text)  # Python compares code points.
    return render(request, "messages.html", {"messages": rows})


async def proxy(request):
    answer = await upstream.get(os.environ["UPSTREAM_URL"] + "/slow")
    return HttpResponse(answer.text, status=answer.status_code, content_type="text/plain")


# For clients that accept gzip, of this view alone.
@gzip_page
async def json_items(request, n):
    try:
        m = int(request.GET["m"])
    except (KeyError, ValueError):
        return HttpResponseBadRequest("m is a whole number")
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in settings.ITEMS[:n]]
    return JsonResponse({"count": len(items), "items": items})


# Django has read the whole body before the view; what is larger than 2.5 MB is in a file.
@csrf_exempt
@require_POST
async def upload(request):
    digest, length = hashlib.sha256(), 0
    while piece := request.read(64 * 1024):
        digest.update(piece)
        length += len(piece)
    return HttpResponse(f"{length} {digest.hexdigest()}", content_type="text/plain")
