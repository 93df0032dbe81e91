// A server whose work per request is known: so many turns of a loop, the number of which is its argument.
// It adds a byte for each request to the file that a second argument names.
// A process for each connection, so that the counts of several processes add up.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World!";
static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n";
static const char missing[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

// What counts instructions writes when a process ends by itself.
static void end(int number) { (void)number; exit(0); }

static void serve(int connection, long turns, int tally) {
    char request[4096];
    while (read(connection, request, sizeof request) > 0) {
        if (tally >= 0 && write(tally, ".", 1) < 0) break;
        for (volatile long turn = 0; turn < turns; turn++) { }
        const char *text = !strncmp(request, "GET / ", 6)    ? answer
                           : !strncmp(request, "HEAD / ", 7) ? head
                                                             : missing;
        if (write(connection, text, strlen(text)) < 0) break;
    }
    exit(0);
}

int main(int count, char **words) {
    long turns = count > 1 ? atol(words[1]) : 0;
    int tally = count > 2 ? open(words[2], O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
    signal(SIGTERM, end);
    signal(SIGCHLD, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(atoi(getenv("PORT"))),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) return 1;
    for (;;) {
        int connection = accept(listener, 0, 0);
        if (connection < 0) continue;
        if (fork() == 0) serve(connection, turns, tally);
        close(connection);
    }
}
