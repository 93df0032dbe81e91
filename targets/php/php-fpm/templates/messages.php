    <h1>Messages</h1>
    <table>
      <tr><th>Number</th><th>Message</th></tr>
<?php foreach ($messages as $message): ?>
      <tr><td><?= $message['id'] ?></td><td><?= e($message['text']) ?></td></tr>
<?php endforeach; ?>
    </table>
