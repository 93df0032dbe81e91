// Answers each request with `Hello World!`, on the port of its argument; 0 takes a free one.
const server = require('http').createServer((request, response) => {
  response.setHeader('Content-Type', 'text/plain');
  response.end('Hello World!');
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log(`port ${server.address().port}`));
