//! What proofs must catch in servers, and what they must accept: one row for each, with the
//! expected verdict.
//!
//! The example `cheat` of this crate serves as each of them. One test of `pippin` walks the table,
//! and another holds the table of docs/proofs.md against it.

/// A way to serve a workload.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// The name of the mode, which the example takes as its first argument.
    pub mode: &'static str,
    /// The workload that it serves in this way.
    pub workload: &'static str,
    /// What it does, in words.
    pub does: &'static str,
    /// What must be said of it.
    pub said: Said,
}

/// The verdict on a server.
#[derive(Debug, Clone, Copy)]
pub enum Said {
    /// It fails this proof, with all of these words.
    Fails(&'static str, &'static [&'static str]),
    /// Its run is INVALID, with this caveat and all of these words.
    Invalid(&'static str, &'static [&'static str]),
    /// It passes, and its run shows at least so much CPU time for a request, in milliseconds, or
    /// says that time may be missing.
    Costs(f64),
    /// Its run is SUSPECT, with this caveat and all of these words, and shows at least so much CPU
    /// time for a request, in milliseconds.
    Doubted(&'static str, &'static [&'static str], f64),
    /// It passes, and its run shows at least so much memory, in MiB.
    Holds(u64),
    /// It passes although it cheats: nothing shows it.
    Unseen,
    /// It passes: it is odd, but allowed.
    Passes,
    /// It passes, with a remark that it has a pool of this size (within 10 %).
    Pool(u32),
}

use Said::{Costs, Doubted, Fails, Holds, Invalid, Passes, Pool, Unseen};

const fn cheat(
    mode: &'static str,
    workload: &'static str,
    does: &'static str,
    proof: &'static str,
    words: &'static [&'static str],
) -> Server {
    Server { mode, workload, does, said: Fails(proof, words) }
}

/// A server with help from outside its own processes and processors.
const fn helped(mode: &'static str, does: &'static str, words: &'static [&'static str]) -> Server {
    Server { mode, workload: "hello", does, said: Invalid("outside_help", words) }
}

const fn unseen(mode: &'static str, workload: &'static str, does: &'static str) -> Server {
    Server { mode, workload, does, said: Unseen }
}

const fn honest(mode: &'static str, workload: &'static str, does: &'static str) -> Server {
    Server { mode, workload, does, said: Passes }
}

/// Every server.
pub const SERVERS: &[Server] = &[
    cheat(
        "fixed-body",
        "hola",
        "gives every name the answer of the first",
        "answer",
        &["GET /hola/Luis", "body \"Hola Ana\" instead of \"Hola Luis\""],
    ),
    cheat(
        "no-decoding",
        "hola",
        "does not decode the path",
        "answer",
        &["GET /hola/Jos%C3%A9", "body \"Hola Jos%C3%A9\" instead of \"Hola José\""],
    ),
    cheat(
        "wrong-type",
        "hola",
        "sends another media type",
        "answer",
        &["Content-Type text/html instead of text/plain"],
    ),
    cheat(
        "unknown-path-200",
        "hello",
        "answers every path",
        "not-found",
        &["GET /no-such-page: status 200 instead of 404"],
    ),
    cheat("head-body", "hello", "sends a body in answer to HEAD", "head", &["HEAD /:", "12 bytes"]),
    cheat(
        "silent-close",
        "hello",
        "closes a connection without a word",
        "keep-alive",
        &["request 2 on one connection"],
    ),
    cheat(
        "wrong-after:300",
        "hello",
        "gives wrong answers from request 300 on",
        "short load",
        &["under a short load of 500 requests", "wrong_body"],
    ),
    cheat(
        "page-unescaped",
        "page",
        "joins strings instead of escaping them",
        "escapes",
        &["& more\" stands in the page unescaped"],
    ),
    cheat(
        "page-row-missing",
        "page",
        "leaves out a row",
        "rows",
        &["of row 6 stands 0 times in the page"],
    ),
    cheat(
        "page-too-long",
        "page",
        "sends a page of another size",
        "answer",
        &["bytes instead of 2650 to 3350"],
    ),
    cheat(
        "page-prepared",
        "page",
        "has the pages 1 to 1000 prepared and makes no others",
        "answer",
        &["status 404 instead of 200"],
    ),
    cheat(
        "page-without-layout",
        "page",
        "sends the rows, and a comment in place of the layout",
        "text",
        &["the page says", "instead of"],
    ),
    cheat(
        "page-wrong-price",
        "page",
        "does not multiply the prices",
        "text",
        &["the page says", "instead of"],
    ),
    cheat(
        "page-wrong-under-load",
        "page",
        "leaves the layout out while 4 or more ask at once",
        "text",
        &["pages of those that were compared in full said something else"],
    ),
    cheat(
        "page-ids-missing-under-load",
        "page",
        "leaves the ids of ten rows out while 4 or more ask at once",
        "text",
        &["pages of those that were compared in full said something else"],
    ),
    cheat(
        "page-but-each-100th",
        "page",
        "leaves the layout out but for each 100th request of a connection",
        "text",
        &["pages of those that were compared in full said something else"],
    ),
    cheat(
        "page-right-at-first",
        "page",
        "leaves the layout out from request 31 of a connection on",
        "text",
        &["pages of those that were compared in full said something else"],
    ),
    cheat(
        "page-text-in-script",
        "page",
        "has a part of its text in a script, which nobody reads",
        "text",
        &["the page says", "instead of"],
    ),
    cheat(
        "page-ids-in-comment",
        "page",
        "has the ids of its rows in comments",
        "rows",
        &["of row 1 stands 0 times in the page"],
    ),
    cheat(
        "names-from-a-table",
        "hola",
        "knows the names of the workload file, and decodes no others",
        "answer",
        &["body \"Hola "],
    ),
    cheat(
        "table-when-closing",
        "hola",
        "has its answers in a table, and decodes no others, where the request says `Connection: close`",
        "short load",
        &["of a connection each", "wrong_body"],
    ),
    cheat(
        "wrong-type-for-a-while",
        "hola",
        "sends another media type in answer to the requests 150 to 450",
        "short load",
        &["under a short load of 500 requests", "wrong_body"],
    ),
    cheat(
        "wrong-type-but-each-100th",
        "hola",
        "sends another media type but for each 100th request of a connection",
        "keep-alive",
        &["request 2 on one connection: Content-Type"],
    ),
    cheat(
        "reads-nothing",
        "hello",
        "from the fourth request of a connection on, answers without reading what is asked",
        "short load",
        &["under a short load of 500 requests", "wrong_status"],
    ),
    cheat(
        "reads-the-method-alone",
        "hello",
        "from the fourth request of a connection on, reads the method and no more",
        "short load",
        &["under a short load of 500 requests", "wrong_status"],
    ),
    cheat(
        "learns-the-period",
        "hello",
        "reads 25 requests of a connection, and takes the others for these again",
        "short load",
        &["under a short load of 500 requests", "wrong_"],
    ),
    cheat(
        "json-prepared",
        "json",
        "has an answer of each size prepared",
        "answer",
        &["/items/0/total is"],
    ),
    cheat(
        "json-without-total",
        "json",
        "leaves the totals out",
        "answer",
        &["/items/0/total is missing"],
    ),
    cheat(
        "json-first-total-alone",
        "json",
        "computes the total of the first item, and keeps the others",
        "answer",
        &["/items/1/total is"],
    ),
    cheat(
        "json-totals-rounded",
        "json",
        "computes with numbers of 32 bits",
        "answer",
        &["/total is"],
    ),
    cheat(
        "json-numbers-as-texts",
        "json",
        "writes prices as texts",
        "answer",
        &["/items/0/price is \"", "instead of"],
    ),
    cheat(
        "json-fields-left-out",
        "json",
        "leaves a field of each item out",
        "answer",
        &["/items/0/rating is missing"],
    ),
    cheat(
        "json-text-cut",
        "json",
        "leaves out letters that are not ASCII",
        "answer",
        &["/name is"],
    ),
    cheat(
        "json-made-up",
        "json",
        "makes the names up",
        "answer",
        &["/items/0/name is \"Item 0\" instead of"],
    ),
    cheat("json-sorted", "json", "sends the items in another order", "answer", &["/items/0/"]),
    cheat(
        "json-as-text",
        "json",
        "sends another media type",
        "answer",
        &["Content-Type text/json instead of application/json"],
    ),
    cheat(
        "json-factor-of-before-under-load",
        "json",
        "takes a factor of its own while 4 or more ask at once",
        "short load",
        &["under a short load of 500 requests", "wrong_body"],
    ),
    cheat(
        "json-fewer-items-under-load",
        "json",
        "sends 50 items at most while 4 or more ask at once",
        "short load",
        &["under a short load of 500 requests", "wrong_body"],
    ),
    cheat(
        "json-totals-alone-under-load",
        "json",
        "sends right totals and no names while 4 or more ask at once",
        "items",
        &[
            "answers of those that were compared in full said something else",
            "/name is \"x\" instead of",
        ],
    ),
    cheat(
        "json-but-ten-of-100",
        "json",
        "sends right totals and no names but for the first ten of each 100 requests of a connection",
        "items",
        &["answers of those that were compared in full said something else"],
    ),
    cheat(
        "json-right-at-first",
        "json",
        "sends right totals and no names from request 31 of a connection on",
        "items",
        &["answers of those that were compared in full said something else"],
    ),
    cheat(
        "users-reads-nothing",
        "users",
        "from the fourth request of a connection on, sends the list without reading what is asked",
        "short load",
        &["under a short load of 500 requests", "wrong_status"],
    ),
    cheat(
        "users-cached",
        "users",
        "keeps the list",
        "fresh",
        &["row 7 was changed to", "the answer is cached"],
    ),
    cheat(
        "users-cached-5ms",
        "users",
        "keeps the list for 5 ms",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-cached-under-load",
        "users",
        "keeps the list while 4 or more ask at once",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-single-flight",
        "users",
        "shares a query among the requests that wait for one",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-notified",
        "users",
        "makes a trigger that tells of a change, and keeps the list until then",
        "fresh",
        &["row 7 was changed to", "the answer is cached"],
    ),
    cheat(
        "users-one-row-queried",
        "users",
        "reads one row for each request, and the list every 5 ms",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-two-of-three",
        "users",
        "reads the list for two of three requests",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-kept-for-a-connection",
        "users",
        "reads the list twice for each connection, and then every 20 ms",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-scans-inflated",
        "users",
        "shares a query among the requests that wait, and scans the table 100 times in one statement",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-other-rows",
        "users",
        "reads ten rows of something else for each request, and the list every 5 ms",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-json-in-database",
        "users",
        "lets the database make the JSON",
        "queries",
        &["PostgreSQL counts", "answers were not read from the table"],
    ),
    cheat(
        "users-view",
        "users",
        "puts a view in place of the table",
        "table",
        &["status 500 instead of 200", "must be owner of table users"],
    ),
    cheat(
        "users-rows-deleted",
        "users",
        "deletes nine of ten rows and makes them up",
        "table",
        &["status 500 instead of 200", "permission denied for table users"],
    ),
    cheat(
        "users-trigger",
        "users",
        "makes a function for a trigger that keeps the JSON ready",
        "table",
        &["status 500 instead of 200", "permission denied"],
    ),
    cheat(
        "users-block-of-code",
        "users",
        "runs a block of code in the database",
        "table",
        &["status 500 instead of 200", "permission denied for language plpgsql"],
    ),
    cheat(
        "users-temporary-table",
        "users",
        "keeps a copy of the table in the database",
        "table",
        &["status 500 instead of 200", "permission denied to create temporary tables"],
    ),
    cheat(
        "users-locked",
        "users",
        "holds the rows, so that nobody changes them",
        "table",
        &["status 500 instead of 200", "permission denied for table users"],
    ),
    cheat(
        "users-invented",
        "users",
        "makes up a row",
        "table",
        &["user 4: email \"nobody@example.org\" instead of \"barbara@example.org\""],
    ),
    cheat(
        "users-reversed",
        "users",
        "sends the rows in another order",
        "table",
        &["user 1: email \"joe@example.org\" instead of \"ada@example.org\""],
    ),
    cheat(
        "upstream-cached",
        "proxy",
        "asks the upstream once",
        "keep-alive",
        &["before the request was sent, or never: it was not asked for this request"],
    ),
    cheat(
        "upstream-shared",
        "proxy",
        "shares a call among the requests that wait for one",
        "counted",
        &["was not asked for"],
    ),
    cheat(
        "upstream-shared-under-load",
        "proxy",
        "shares a call while 6 or more ask at once",
        "numbers",
        &["the upstream was not called for each request"],
    ),
    cheat(
        "upstream-prefetched",
        "proxy",
        "takes numbers from a pool that it fills ahead",
        "keep-alive",
        &["before the request was sent, or never"],
    ),
    cheat(
        "upstream-prefetched-under-load",
        "proxy",
        "takes numbers from a pool while 6 or more ask at once",
        "numbers",
        &["the upstream was not called for each request"],
    ),
    cheat(
        "upstream-early",
        "proxy",
        "answers 5 ms after it has sent its call",
        "answer",
        &["before the request was sent, or never"],
    ),
    cheat(
        "upstream-early-under-load",
        "proxy",
        "does so while 6 or more ask at once",
        "numbers",
        &["the upstream was not called for each request"],
    ),
    cheat(
        "upstream-head",
        "proxy",
        "asks the upstream with HEAD and makes up the number",
        "answer",
        &["before the request was sent, or never"],
    ),
    cheat(
        "upstream-key-stolen",
        "proxy",
        "takes the key of the numbers from the environment of the upstream, and makes them itself",
        "answer",
        &["status 502 instead of 200", "no process that I see has the key"],
    ),
    cheat(
        "upstream-twice",
        "proxy",
        "calls twice for each request",
        "counted",
        &["20 requests made 40 calls at the upstream"],
    ),
    cheat(
        "upstream-reads-nothing",
        "proxy",
        "from the second request of a connection on, calls the upstream without reading what is asked",
        "short load",
        &["under a short load of 32 requests", "wrong_status"],
    ),
    cheat(
        "device-blocks",
        "device",
        "holds one of 16 threads while it waits",
        "simultaneous",
        &["1000 at once", "at a time"],
    ),
    cheat(
        "device-at-once",
        "device",
        "does not wait",
        "delay",
        &["an answer came after", "before the least wait of 95.0 ms"],
    ),
    cheat(
        "device-constant",
        "device",
        "waits 100 ms each time",
        "delay",
        &["they are not drawn anew for each request"],
    ),
    cheat(
        "device-impatient",
        "device",
        "stops waiting when more than 10 ask at once",
        "least-wait",
        &["too_early", "the server did not wait"],
    ),
    cheat(
        "device-hurries-under-load",
        "device",
        "waits 94 ms each time while more than 10 ask at once",
        "waits",
        &["the waits are shorter than those that are asked for"],
    ),
    cheat(
        "device-capped-under-load",
        "device",
        "waits no longer than 98.6 ms while more than 10 ask at once",
        "waits",
        &["the waits are shorter than those that are asked for"],
    ),
    cheat(
        "device-constant-under-load",
        "device",
        "waits 100 ms each time while more than 10 ask at once",
        "waits",
        &["the waits are"],
    ),
    helped(
        "threads-elsewhere",
        "has a thread work on processors that it was not given",
        &["1 thread of process", "(cheat) may run on processor", "the target was given 0"],
    ),
    helped(
        "socket-handed-over",
        "hands its listening socket to a daemon that was there before",
        &["(cheat) listens on the target's port and is no part of it"],
    ),
    helped(
        "helper-outside",
        "has a daemon work for each request",
        &["(cheat), which is no part of the target, kept", "busy in all"],
    ),
    Server {
        mode: "leaves-its-group",
        workload: "hello",
        does: "works 1 ms for each request, and is outside of its control group for nine tenths of the time",
        said: Doubted("unbilled", &["left its control group"], 1.0),
    },
    Server {
        mode: "memory-in-memfd",
        workload: "hello",
        does: "holds 128 MiB in a file in memory that is mapped nowhere",
        said: Holds(128),
    },
    honest("page-entities-hex", "page", "writes entities in hexadecimal digits"),
    honest("page-entities-padded", "page", "writes entities with leading zeroes and in capitals"),
    honest("page-attribute-with-bracket", "page", "has `>` and `<` in attributes"),
    honest("page-ids-unquoted", "page", "writes ids without quotes"),
    honest("page-ids-in-single-quotes", "page", "writes ids in single quotes and in capitals"),
    honest("page-inline-style", "page", "has a style and a script in its head"),
    honest("json-indented", "json", "indents its JSON"),
    honest("json-spaces", "json", "has spaces and line ends around colons and commas"),
    honest(
        "json-escaped",
        "json",
        "escapes slashes, signs of markup, and everything that is not ASCII",
    ),
    honest("json-whole-numbers-short", "json", "writes 4.0 as 4"),
    honest("json-numbers-long", "json", "writes 17 digits of numbers with a point"),
    honest("json-totals-with-point", "json", "writes totals with `.0`"),
    honest("json-totals-with-exponent", "json", "writes totals with an exponent"),
    honest(
        "json-keys-reversed",
        "json",
        "writes the keys of each object in another order, the total first",
    ),
    honest("json-charset", "json", "writes the media type in capitals and with a charset"),
    honest("users-in-transactions", "users", "reads each list in a transaction"),
    honest("device-whole-milliseconds", "device", "waits for whole milliseconds, rounded down"),
    honest("chunked", "hola", "sends bodies in chunks, without a length"),
    honest("keys-in-any-order", "users", "writes the keys of each row in another order"),
    honest("lower-case-headers", "hola", "writes the names of header fields in lower case"),
    honest("extra-headers", "hola", "sends header fields that nobody asked for"),
    honest("big-headers", "hello", "sends 12 KiB of header fields"),
    honest("no-date", "hello", "sends no `Date`"),
    honest("http-1.0", "hello", "answers in HTTP/1.0 with `Connection: keep-alive`"),
    honest("one-request-a-connection", "hello", "closes after each request, and says so"),
    honest("slow-start", "hello", "needs half a second before it listens"),
    honest(
        "pauses",
        "hola",
        "stops for 30 ms after every 100 requests, as a collector of garbage does",
    ),
    honest(
        "gets-faster",
        "hola",
        "takes 2 ms for each of its first 200 requests, as before a compiler has warmed up",
    ),
    honest("binds-itself", "hello", "binds its threads to one of the processors that it was given"),
    honest("pre-forks", "hello", "serves with two processes that share a socket"),
    honest("pre-forks-for-one-request", "hello", "does so, and closes after each request"),
    honest(
        "remembers",
        "hola",
        "keeps each answer and looks it up by its path; no path comes twice under load",
    ),
    Server {
        mode: "workers-unwaited",
        workload: "hello",
        does: "forks a worker of 2 ms for each request and ignores its end",
        said: Costs(2.0),
    },
    Server {
        mode: "device-pool-64",
        workload: "device",
        does: "holds one of 64 threads while it waits",
        said: Pool(64),
    },
    Server {
        mode: "device-pool-200",
        workload: "device",
        does: "holds one of 200 threads while it waits",
        said: Pool(200),
    },
    unseen(
        "hello-by-length",
        "hello",
        "tells requests apart by the length of their first line, from the fourth of a connection on",
    ),
    unseen(
        "hola-begins-remembered",
        "hola",
        "remembers how names begin, and decodes no more than their last eight letters",
    ),
    unseen(
        "page-without-engine",
        "page",
        "replaces the numbers in one page that it has made before",
    ),
    unseen("json-patched", "json", "writes totals into texts of the items that it has made before"),
];

/// Modes of the example that are right, or whose errors are not for proofs to find.
const OTHERS: &[&str] = &[
    "right",
    "wrong-after",
    "logs-requests",
    "slow",
    "exits",
    "hangs",
    "answers-500",
    "ignores-sigterm",
    "leaves-child",
    "leave-and-exit",
    "lingers",
    "daemonises",
    "crashes-after",
    "closes-at-once",
    "fixed-port",
    "workers-stop-later",
    "stops-later",
    "lock",
    "ten-threads",
    "four-slots",
    "stalls",
    "daemon",
    "burns",
    "follows-every-load",
    "burns-on-the-first",
    "works",
    "works-on",
    "late-bodies",
    "wrong-when-asked-again",
    "stops-rivals",
];

/// The names of all modes of the example, without the number after the colon.
pub fn modes() -> impl Iterator<Item = &'static str> {
    let servers = SERVERS.iter().map(|server| server.mode).filter(|mode| !mode.contains(':'));
    servers.chain(OTHERS.iter().copied())
}
