"""Products: listed, read, added, changed and removed."""

import json

from django import forms
from django.db import IntegrityError
from django.http import HttpResponse, JsonResponse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from catalogue.models import Product


class Text(forms.CharField):
    """By itself a form takes everything for a text."""

    def to_python(self, value):
        return value if isinstance(value, str) else ""


class Number(forms.IntegerField):
    """By itself a form takes "7" for a number."""

    def to_python(self, value):
        return value if type(value) is int else None


class ProductForm(forms.Form):
    name = Text(max_length=100, strip=False)
    category = Text(max_length=100, strip=False)
    price = Number(min_value=0, max_value=1_000_000)


class ListForm(forms.Form):
    category = forms.CharField(required=False, strip=False)
    page = forms.IntegerField(min_value=1, max_value=2**31, required=False)


def sent_product(request) -> ProductForm:
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    return ProductForm(body if isinstance(body, dict) else {})


@method_decorator(csrf_exempt, name="dispatch")
class Products(View):
    def get(self, request):
        form = ListForm(request.GET)
        if not form.is_valid():
            return JsonResponse(form.errors, status=422)
        skipped = ((form.cleaned_data["page"] or 1) - 1) * 20
        rows = Product.objects.order_by("id").values("id", "name", "category", "price")
        if category := form.cleaned_data["category"]:
            rows = rows.filter(category=category)
        return JsonResponse(list(rows[skipped : skipped + 20]), safe=False)

    def post(self, request):
        form = sent_product(request)
        if not form.is_valid():
            return JsonResponse(form.errors, status=422)
        try:
            id = Product.objects.create(**form.cleaned_data).id
        except IntegrityError:
            return JsonResponse({"name": ["is taken"]}, status=409)
        return JsonResponse({"id": id, **form.cleaned_data}, status=201, headers={"Location": f"/products/{id}"})


@method_decorator(csrf_exempt, name="dispatch")
class OneProduct(View):
    def get(self, request, id):
        row = Product.objects.filter(id=id).values("id", "name", "category", "price").first()
        return JsonResponse(row) if row else HttpResponse(status=404)

    def put(self, request, id):
        form = sent_product(request)
        if not form.is_valid():
            return JsonResponse(form.errors, status=422)
        try:
            changed = Product.objects.filter(id=id).update(**form.cleaned_data)
        except IntegrityError:
            return JsonResponse({"name": ["is taken"]}, status=409)
        return JsonResponse({"id": id, **form.cleaned_data}) if changed else HttpResponse(status=404)

    def delete(self, request, id):
        removed, _ = Product.objects.filter(id=id).delete()
        return HttpResponse(status=204 if removed else 404)
