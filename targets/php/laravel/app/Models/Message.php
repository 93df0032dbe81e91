<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

/** A row of the table `messages`. */
final class Message extends Model
{
}
