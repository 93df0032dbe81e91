// The steps of shop.toml for k6: the same requests, checks and captures.
import http from "k6/http";
import exec from "k6/execution";
import { check, fail } from "k6";

const base = __ENV.BASE;
const users = [["ana", "a, b & c"], ["bo", "päss wörd"], ["cy", "100%"], ["dee", 'say "hi"']];

export const options = {
  scenarios: {
    shop: { executor: "shared-iterations", vus: Number(__ENV.USERS), iterations: Number(__ENV.WALKS), maxDuration: "10m" },
  },
};

function must(answer, checks) {
  if (!check(answer, checks)) fail(`${answer.status} ${answer.body}`);
}

export default function () {
  const [name, password] = users[exec.scenario.iterationInTest % users.length];
  const form = http.get(`${base}/login/`);
  must(form, { "login form": (r) => r.status === 200 && r.body.includes("<title>Log in</title>") });
  const token = form.body.match(/name="csrfmiddlewaretoken" value="([^"]+)"/)[1];
  const login = http.post(`${base}/login/`, { csrfmiddlewaretoken: token, username: name, password }, { redirects: 0 });
  must(login, { login: (r) => r.status === 302 });
  const list = http.get(`${base}${login.headers.Location}`);
  must(list, {
    list: (r) => r.status === 200 && r.headers["Content-Type"].includes("application/json") && r.json("items.0.name") === "Item 1",
  });
  const items = list.json("items");
  const item = http.get(`${base}/items/${items[items.length - 1].id}/`);
  must(item, { item: (r) => r.status === 200 && r.body.includes(`<p>Hello ${name}</p>`) && r.body.length <= 1024 });
}
