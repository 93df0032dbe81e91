<?php

namespace App\Http\Controllers;

use App\Models\Message;
use Illuminate\Http\Request;
use Illuminate\Routing\Controller;
use Illuminate\View\View;

final class MessageController extends Controller
{
    /** The rows and an added one, in the order of their texts: PHP compares bytes. */
    public function index(Request $request): View
    {
        $messages = Message::query()->get(['id', 'text']);
        $messages->push((new Message())->forceFill(['id' => 0, 'text' => $request->query('add')]));
        return view('messages', ['messages' => $messages->sortBy('text', SORT_STRING)]);
    }
}
