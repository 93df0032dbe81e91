import { Html } from "@elysiajs/html";

function Layout({ title, children }) {
  return (
    <>
      {"<!DOCTYPE html>"}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title safe>{title} - Catalogue</title>
          <link rel="stylesheet" href="/assets/app.css" />
        </head>
        <body>
          <header>
            <nav>
              <a href="/">Home</a>
              <a href="/about">About</a>
              <a href="/help">Help</a>
            </nav>
          </header>
          <main>{children}</main>
          <footer>
            <p>
              Rendered by the framework's own template engine, with a layout around it, a loop over twelve items, and
              escaping of what comes from data.
            </p>
          </footer>
        </body>
      </html>
    </>
  );
}

/** The page of a catalogue; `safe` escapes what comes from data. JSX drops line breaks; each row starts on its own. */
export function Page({ n, title, items }) {
  return (
    <Layout title={title}>
      <h1>Page {n}</h1>
      <p>These are the twelve items of page {n}. Each has a name, which is escaped, and a price.</p>
      <ul>
        {items.map((item) => (
          <>
            {"\n      "}
            <li id={`row-${n}-${item.id}`} class="item">
              <a href={`/page/${n}/items/${item.id}`} safe>
                {item.name}
              </a>{" "}
              <span class="price">{item.price} EUR</span>
            </li>
          </>
        ))}
      </ul>
    </Layout>
  );
}

/** The table of messages in the same layout. */
export function Messages({ messages }) {
  return (
    <Layout title="Messages">
      <h1>Messages</h1>
      <table>
        <tr>
          <th>Number</th>
          <th>Message</th>
        </tr>
        {messages.map((message) => (
          <tr>
            <td>{message.id}</td>
            <td safe>{message.text}</td>
          </tr>
        ))}
      </table>
    </Layout>
  );
}
