/* Replace this loop by the framework. Only `hello` is served so far. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *converse(void *argument) {
    int stream = (int)(intptr_t)argument, one = 1;
    char line[8192];
    setsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    FILE *requests = fdopen(stream, "r");
    while (requests && fgets(line, sizeof line, requests)) {
        int head = strncmp(line, "HEAD ", 5) == 0;
        char *path = strchr(line, ' ');
        int found = path && strncmp(path, " / ", 3) == 0;
        while (fgets(line, sizeof line, requests) && strcmp(line, "\r\n") != 0) {
        }
        char answer[256];
        int length = snprintf(answer, sizeof answer,
            "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
            found ? "200 OK" : "404 Not Found", found ? 12 : 0, found && !head ? "Hello World!" : "");
        if (write(stream, answer, (size_t)length) != length) break;
    }
    if (requests) fclose(requests);
    return NULL;
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(getenv("PORT")))};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    inet_pton(AF_INET, getenv("HOST"), &address.sin_addr);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int stream = accept(listener, NULL, NULL);
        pthread_t thread;
        if (stream >= 0 && pthread_create(&thread, NULL, converse, (void *)(intptr_t)stream) == 0) pthread_detach(thread);
    }
}
