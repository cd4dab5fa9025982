// Works under a time limit: begins a task, is told that the time is nearly over, and ends the task in time. With
// sd-varlink(3), which libsystemd has from 257 on.
//
//     cc -o hold Examples/hold.c $(pkg-config --cflags --libs libsystemd)
//     ./hold SOCKET [MILLISECONDS [GRACE_MILLISECONDS]]
//
// Without MILLISECONDS the daemon's default budget is asked for.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-varlink.h>

struct work {
    sd_event *loop;
    sd_varlink *calls;
    int64_t task;
    int pieces;
};

static _Noreturn void leave(const char *what, const char *reason) {
    fprintf(stderr, "hold: %s: %s\n", what, reason);
    exit(1);
}

static void must(int result, const char *what) {
    if (result < 0)
        leave(what, strerror(-result));
}

// The text that a field has, or an empty one.
static const char *text(sd_json_variant *object, const char *key) {
    const char *value = sd_json_variant_string(sd_json_variant_by_key(object, key));
    return value ? value : "";
}

static void end(struct work *work) {
    sd_json_variant *reply;
    const char *error;
    must(sd_varlink_callbo(work->calls, "org.bgtaskd.Tasks.End", &reply, &error,
                           SD_JSON_BUILD_PAIR_INTEGER("id", work->task)), "End");
    if (error)
        leave("End", error);
    printf("ended the task: %s\n", text(reply, "outcome"));
    sd_event_exit(work->loop, 0);
}

// Gets each reply to Begin. The first has the task's id, the others what happens to the task.
static int on_reply(sd_varlink *link, sd_json_variant *reply, const char *error, sd_varlink_reply_flags_t flags,
                    void *userdata) {
    struct work *work = userdata;
    (void)link;
    if (error) // Of the daemon; io.systemd.Disconnected if that is gone.
        leave("Begin", error);
    sd_json_variant *event = sd_json_variant_by_key(reply, "event");
    if (!event) {
        work->task = sd_json_variant_integer(sd_json_variant_by_key(reply, "id"));
    } else if (strcmp(text(event, "kind"), "expiring") == 0) {
        printf("told that the time is nearly over: stopped after %d pieces\n", work->pieces);
        end(work);
    } else if (!(flags & SD_VARLINK_REPLY_CONTINUES)) {
        leave("the task ended", text(sd_json_variant_by_key(event, "task"), "outcome"));
    }
    return 0;
}

// Here the real work would be done, a piece at a time.
static int on_time(sd_event_source *timer, uint64_t usec, void *userdata) {
    struct work *work = userdata;
    (void)usec;
    work->pieces += 1;
    must(sd_event_source_set_time_relative(timer, 100000), "the timer");
    return sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

int main(int count, char **arguments) {
    struct work work = {0};
    sd_varlink *held;
    if (count < 2 || count > 4) {
        fprintf(stderr, "usage: hold SOCKET [MILLISECONDS [GRACE_MILLISECONDS]]\n");
        return 64;
    }
    long long duration = count > 2 ? atoll(arguments[2]) : 0;
    long long grace = count > 3 ? atoll(arguments[3]) : 1000;

    must(sd_event_new(&work.loop), "the event loop");
    // Begin keeps its connection, and what closes that abandons the task. End goes over another.
    must(sd_varlink_connect_address(&held, arguments[1]), arguments[1]);
    must(sd_varlink_connect_address(&work.calls, arguments[1]), arguments[1]);
    must(sd_varlink_attach_event(held, work.loop, SD_EVENT_PRIORITY_NORMAL), "the event loop");
    must(sd_varlink_bind_reply(held, on_reply), "the event loop");
    sd_varlink_set_userdata(held, &work);
    // Otherwise sd-varlink closes a connection that has had no reply for 45 seconds.
    must(sd_varlink_set_relative_timeout(held, UINT64_MAX), "the time-out");
    must(sd_varlink_observebo(
             held, "org.bgtaskd.Tasks.Begin", SD_JSON_BUILD_PAIR_STRING("name", "hold.c"),
             SD_JSON_BUILD_PAIR_CONDITION(
                 duration > 0, "budget",
                 SD_JSON_BUILD_OBJECT(SD_JSON_BUILD_PAIR_INTEGER("durationMs", duration),
                                      SD_JSON_BUILD_PAIR_INTEGER("graceMs", grace)))), "Begin");
    must(sd_event_add_time_relative(work.loop, NULL, CLOCK_MONOTONIC, 100000, 1000, on_time, &work), "the timer");
    must(sd_event_loop(work.loop), "the event loop");
    return 0;
}
