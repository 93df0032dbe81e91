@extends('layout')
@section('title', 'Messages')
@section('content')
    <h1>Messages</h1>
    <table>
      <tr><th>Number</th><th>Message</th></tr>
@foreach ($messages as $message)
      <tr><td>{{ $message->id }}</td><td>{{ $message->text }}</td></tr>
@endforeach
    </table>
@endsection
