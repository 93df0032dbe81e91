% rebase("layout.tpl", title="Messages")
    <h1>Messages</h1>
    <table>
      <tr><th>Number</th><th>Message</th></tr>
% for message in messages:
      <tr><td>{{message["id"]}}</td><td>{{message["text"]}}</td></tr>
% end
    </table>
