import { html } from "hono/html";

const layout = (title, content) => html`<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title} - Catalogue</title>
  <link rel="stylesheet" href="/assets/app.css">
</head>
<body>
  <header>
    <nav>
      <a href="/">Home</a>
      <a href="/about">About</a>
      <a href="/help">Help</a>
    </nav>
  </header>
  <main>
${content}  </main>
  <footer>
    <p>Rendered by the framework's own template engine, with a layout around it, a loop over twelve items, and escaping of what comes from data.</p>
  </footer>
</body>
</html>
`;

const row = (n, item) => html`      <li id="row-${n}-${item.id}" class="item"><a href="/page/${n}/items/${item.id}">${item.name}</a> <span class="price">${item.price} EUR</span></li>
`;

/** The page of a catalogue, by Hono's own `html` templates: what is put in is escaped, unless it is a template itself. */
export const page = ({ n, title, items }) =>
  layout(
    title,
    html`    <h1>Page ${n}</h1>
    <p>These are the twelve items of page ${n}. Each has a name, which is escaped, and a price.</p>
    <ul>
${items.map((item) => row(n, item))}    </ul>
`,
  );

const line = ({ id, text }) => html`      <tr><td>${id}</td><td>${text}</td></tr>
`;

/** The table of messages in the same layout. */
export const messages = ({ title, messages }) =>
  layout(
    title,
    html`    <h1>${title}</h1>
    <table>
      <tr><th>Number</th><th>Message</th></tr>
${messages.map(line)}    </table>
`,
  );
