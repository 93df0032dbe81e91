// Replace node:http by the framework. Only `hello` is served so far.
import { createServer } from 'node:http';

const server = createServer((request, answer) => {
  if (request.url !== '/') {
    answer.writeHead(404).end();
    return;
  }
  answer.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 12 });
  answer.end('Hello World!');
});

server.listen(Number(process.env.PORT), process.env.HOST);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
