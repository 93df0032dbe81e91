from django.db import models


class User(models.Model):
    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    email = models.TextField()

    class Meta:
        db_table = "users"
        managed = False


class Message(models.Model):
    id = models.IntegerField(primary_key=True)
    text = models.TextField()

    class Meta:
        db_table = "messages"
        managed = False


class Product(models.Model):
    id = models.AutoField(primary_key=True)
    name = models.TextField(unique=True)
    category = models.TextField()
    price = models.IntegerField()

    class Meta:
        db_table = "products"
        managed = False
