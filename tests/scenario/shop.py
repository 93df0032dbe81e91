"""A shop as Django makes one: a login with a token, sessions in a database, a list and a page for each item.

`python shop.py USERS` makes the database at $SHOP_DATABASE and the users of a CSV file; `gunicorn shop:application` serves.
"""

import csv
import os
import sys

import django
from django.conf import settings

LOGIN = """<!doctype html><title>Log in</title><form method="post">{% csrf_token %}{{ form }}<button>Log in</button></form>"""
ITEMS = range(1, 21)

settings.configure(
    SECRET_KEY="a test has no secrets",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    # As startproject lists it, without messages.
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": os.environ["SHOP_DATABASE"],
            # Log-ins write; they wait for each other.
            "OPTIONS": {"timeout": 30, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL"},
        }
    },
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {"loaders": [("django.template.loaders.locmem.Loader", {"login.html": LOGIN})]},
        }
    ],
    # The usual hasher takes a tenth of a second by design, which would be all that is measured.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    LOGIN_URL="/login/",
    LOGIN_REDIRECT_URL="/items.json",
)
django.setup()

from django.contrib.auth.decorators import login_required  # noqa: E402
from django.contrib.auth.views import LoginView  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import Http404, HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils.html import escape  # noqa: E402


@login_required
def items(request):
    return JsonResponse({"items": [{"id": n, "name": f"Item {n}"} for n in ITEMS]})


@login_required
def item(request, number):
    if number not in ITEMS:
        raise Http404
    return HttpResponse(f"<!doctype html><title>Item {number}</title><p>Hello {escape(request.user.username)}</p>")


urlpatterns = [
    path("login/", LoginView.as_view(template_name="login.html")),
    path("items.json", items),
    path("items/<int:number>/", item),
]

application = get_wsgi_application()


def prepare(users):
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    with open(users, newline="") as rows:
        for row in csv.DictReader(rows):
            User.objects.create_user(row["name"], password=row["password"])


if __name__ == "__main__":
    prepare(sys.argv[1])
