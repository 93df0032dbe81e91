// Replace node:http by the framework. What Node itself has the means for is served so far.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { readItems, withTotals } from './items.js';

const { HOST, PORT, ITEMS_FILE } = process.env;
// The variable is there where `json` is measured.
const items = ITEMS_FILE && readItems(ITEMS_FILE);

function send(answer, type, body) {
  answer.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  answer.end(body);
}

// Digests the body as it comes.
async function upload(request, answer) {
  const digest = createHash('sha256');
  let length = 0;
  for await (const piece of request) {
    digest.update(piece);
    length += piece.length;
  }
  send(answer, 'text/plain', `${length} ${digest.digest('hex')}`);
}

async function route(request, answer) {
  const [path, query] = request.url.split('?', 2);
  const isPost = request.method === 'POST';
  const listed = items && /^\/json\/(\d+)$/.exec(path);
  if (isPost && path === '/upload') return upload(request, answer);
  if (!isPost && path === '/') return send(answer, 'text/plain', 'Hello World!');
  if (!isPost && listed) {
    const m = Number(new URLSearchParams(query).get('m'));
    return send(answer, 'application/json', JSON.stringify(withTotals(items, Number(listed[1]), m)));
  }
  answer.writeHead(404).end();
}

// Who leaves in the middle of a body gets no answer.
const server = createServer((request, answer) => route(request, answer).catch(() => answer.destroy()));

server.listen(Number(PORT), HOST);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
