<?php

namespace App\Http\Controllers;

use App\Models\User;
use Illuminate\Database\Eloquent\Collection;
use Illuminate\Routing\Controller;

final class UserController extends Controller
{
    public function index(): Collection
    {
        return User::query()->orderBy('id')->get(['id', 'name', 'email']);
    }
}
