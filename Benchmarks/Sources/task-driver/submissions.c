#include "submissions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"

/// A client waits for its last submissions, more than run at once: those before them have ended.
enum { AWAITED = 8, CLIENTS_MAX = 64 };

struct submitter {
    pthread_t thread;
    struct connection *connection;
    size_t count;
};

static void wait_for(struct connection *connection, int64_t id) {
    char call[CALL_BYTES_MAX];
    int length = snprintf(call, sizeof call,
                          "{\"method\":\"org.bgtaskd.Tasks.Wait\",\"parameters\":{\"id\":%lld}}",
                          (long long)id);
    send_calls(connection, call, (size_t)length + 1);
    const char *reply = take_reply(connection);
    if (strstr(reply, "\"outcome\":\"completed\"") == NULL) fail("a task did not complete", reply);
}

static void *submit(void *context) {
    static const char call[] = "{\"method\":\"org.bgtaskd.Tasks.Submit\",\"parameters\":{\"work\":"
                               "{\"name\":\"true\",\"command\":[\"true\"]}}}";
    struct submitter *submitter = context;
    int64_t last[AWAITED] = {0};
    for (size_t i = 0; i < submitter->count; i++) {
        send_calls(submitter->connection, call, sizeof call);
        last[i % AWAITED] = number_in(take_reply(submitter->connection), "\"id\":");
    }
    for (size_t i = 0; i < AWAITED; i++) {
        if (last[i] != 0) wait_for(submitter->connection, last[i]);
    }
    return NULL;
}

void time_submissions(const char *path, size_t count, size_t clients) {
    struct submitter submitters[CLIENTS_MAX];
    if (clients == 0 || clients > CLIENTS_MAX) fail("submit", "1 to 64 clients");
    for (size_t i = 0; i < clients; i++) {
        submitters[i].connection = connect_to(path);
        submitters[i].count = count / clients + (i < count % clients ? 1 : 0);
    }
    int64_t start = now();
    for (size_t i = 0; i < clients; i++) {
        int error = pthread_create(&submitters[i].thread, NULL, submit, &submitters[i]);
        if (error != 0) fail("pthread_create", strerror(error));
    }
    for (size_t i = 0; i < clients; i++) pthread_join(submitters[i].thread, NULL);
    printf("{\"seconds\": %.6f}\n", (double)(now() - start) / 1e9);
}
