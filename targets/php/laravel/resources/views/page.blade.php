@extends('layout')
@section('title', "Page $n")
@section('content')
    <h1>Page {{ $n }}</h1>
    <p>These are the twelve items of page {{ $n }}. Each has a name, which is escaped, and a price.</p>
    <ul>
@foreach ($items as $item)
      <li id="row-{{ $n }}-{{ $item['id'] }}" class="item"><a href="/page/{{ $n }}/items/{{ $item['id'] }}">{{ $item['name'] }}</a> <span class="price">{{ $item['price'] }} EUR</span></li>
@endforeach
    </ul>
@endsection
