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
