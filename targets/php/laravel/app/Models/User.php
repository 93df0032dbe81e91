<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

/** A row of the table `users`. */
final class User extends Model
{
}
