#include "clinux_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_stack.h"
#include "clone3.h"
#include "privileges.h"

enum {
    CHILD_STACK_BYTES = 64 * 1024,
    /// A whole page on every page size in use.
    GUARD_BYTES = 64 * 1024,
    DESCRIPTORS_MAX = 8,
    SIGNALS_MAX = 64,
};

/// The kernel's own struct sigaction, which is not longer than this; all zero means SIG_DFL.
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    /// x86 takes no action without one; this one's handler does not return.
    void (*restorer)(void);
    uint64_t mask[4];
};

static const struct kernel_action default_action;

enum {
    /// <asm/signal.h>; the library's headers keep it to themselves. Architectures without it ignore it.
    KERNEL_SA_RESTORER = 0x04000000,
};

/// Signals whose default makes a core dump (signal(7)).
static const int dumping_signals[] = {
    SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS,
};

/// Shared between the two processes; the parent is suspended while the child writes.
struct child_context {
    const struct clx_spawn_request *request;
    struct rlimit open_files;
    struct clx_advantages advantages;
    pid_t parent;
    char *candidate;
    int sources[DESCRIPTORS_MAX];
    volatile enum clx_stage stage;
    volatile int error;
    /// Where a child with memory of its own tells what failed, or -1.
    int report;
};

// MARK: - In the child: async-signal-safe calls only, and none that glibc spreads to all threads.

static int refuse_new_privileges(const struct clx_spawn_request *request) {
    if (!request->no_new_privileges) return 0;
    return (int)syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/// After the change of user, which clears the setting.
static int follow_parent_death(const struct child_context *context) {
    if (context->request->parent_death_signal == 0) return 0;
    if (prctl(PR_SET_PDEATHSIG, context->request->parent_death_signal, 0, 0, 0) < 0) return -1;
    if (getppid() == context->parent) return 0;
    errno = ESRCH;
    return -1;
}

/// With the rights of the user that the process runs as.
static int enter_directory(const struct clx_spawn_request *request) {
    if (request->directory == NULL || chdir(request->directory) == 0) return 0;
    const int error = errno;
    if (request->directory_fallback != NULL && chdir(request->directory_fallback) == 0) return 0;
    // What is told names the directory that was wanted.
    errno = error;
    return -1;
}

static int arrange_descriptors(struct child_context *context) {
    const int count = (int)context->request->descriptor_count;
    if (context->report >= 0 && context->report <= count) {
        context->report = fcntl(context->report, F_DUPFD_CLOEXEC, count + 1);
        if (context->report < 0) return -1;
    }
    for (int i = 0; i < count; i++) {
        int source = context->request->descriptors[i];
        if (source < count && source != i) {
            source = fcntl(source, F_DUPFD_CLOEXEC, count);
            if (source < 0) return -1;
        }
        context->sources[i] = source;
    }
    for (int i = 0; i < count; i++) {
        if (context->sources[i] == i) {
            if (fcntl(i, F_SETFD, 0) < 0) return -1;
        } else if (dup2(context->sources[i], i) < 0) {
            return -1;
        }
    }
    if (context->report < 0) return (int)syscall(SYS_close_range, (unsigned)count, ~0U, 0U);
    // The report alone is left of what is not the command's, and goes with the execve(2).
    if (dup3(context->report, count, O_CLOEXEC) < 0) return -1;
    context->report = count;
    return (int)syscall(SYS_close_range, (unsigned)count + 1, ~0U, 0U);
}

static void end_at_once(int number) {
    (void)number;
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) syscall(SYS_exit_group, 127);
}

static void end_without_return(void) {
    end_at_once(0);
}

/// All signals have their defaults once a program is executed, which takes handlers back to them.
///
/// Until then a signal of which there would be a core dump ends the process without one: it would show
/// the caller's memory, and the execve(2) may take as long as the user's own file system likes.
static void reset_signals(bool are_default) {
    for (int number = 1; !are_default && number <= SIGNALS_MAX; number++) {
        syscall(SYS_rt_sigaction, number, &default_action, NULL, SIGNALS_MAX / 8);
    }
    const struct kernel_action ending = {
        .handler = end_at_once,
        .flags = KERNEL_SA_RESTORER,
        .restorer = end_without_return,
    };
    for (size_t i = 0; i < sizeof dumping_signals / sizeof dumping_signals[0]; i++) {
        syscall(SYS_rt_sigaction, dumping_signals[i], &ending, NULL, SIGNALS_MAX / 8);
    }
    const uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, SIGNALS_MAX / 8);
}

static bool search_goes_on_after(int error) {
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ESTALE
           || error == ENODEV || error == ETIMEDOUT;
}

/// execvpe(3) without its fallback to a shell.
static void execute(struct child_context *context) {
    const struct clx_spawn_request *request = context->request;
    const char *name = request->arguments[0];
    if (strchr(name, '/') != NULL) {
        execve(name, request->arguments, request->environment);
        return;
    }
    bool denied = false;
    errno = ENOENT;
    const char *folder = name[0] == '\0' ? "" : request->search_path;
    while (*folder != '\0') {
        const char *end = strchrnul(folder, ':');
        size_t length = (size_t)(end - folder);
        memcpy(context->candidate, folder, length);
        if (length > 0) context->candidate[length++] = '/';
        strcpy(context->candidate + length, name);
        execve(context->candidate, request->arguments, request->environment);
        if (!search_goes_on_after(errno)) return;
        denied = denied || errno == EACCES;
        folder = *end == ':' ? end + 1 : end;
    }
    if (denied) errno = EACCES;
}

/// Only returns where something failed, with the errno set.
static enum clx_stage set_up_and_execute(struct child_context *context) {
    const struct clx_spawn_request *request = context->request;
    if (setsid() < 0) return CLX_STAGE_SESSION;
    umask(request->file_mode_mask);
    if (request->open_files_soft > 0 && setrlimit(RLIMIT_NOFILE, &context->open_files) < 0) {
        return CLX_STAGE_LIMITS;
    }
    if (clx_advantages_give_up(&context->advantages) < 0) return CLX_STAGE_SESSION;
    clx_set_login_user(request);
    // Nothing of the caller's but the command's own descriptors is open when this process is
    // another user's.
    if (arrange_descriptors(context) < 0) return CLX_STAGE_DESCRIPTORS;
    if (clx_change_user(request) < 0) return CLX_STAGE_USER;
    if (follow_parent_death(context) < 0) return CLX_STAGE_SESSION;
    if (refuse_new_privileges(request) < 0) return CLX_STAGE_SESSION;
    if (enter_directory(request) < 0) return CLX_STAGE_DIRECTORY;
    reset_signals(request->signals_are_default);
    execute(context);
    return CLX_STAGE_EXEC;
}

static int child_main(void *argument) {
    struct child_context *context = argument;
    enum clx_stage stage = set_up_and_execute(context);
    context->error = errno;
    context->stage = stage;
    return 127;
}

/// What a child with memory of its own tells of its failure.
struct report {
    int stage;
    int error;
};

static _Noreturn void run_and_report(struct child_context *context) {
    struct report report = {.stage = (int)set_up_and_execute(context), .error = errno};
    while (write(context->report, &report, sizeof report) < 0 && errno == EINTR) {}
    for (;;) syscall(SYS_exit_group, 127);
}

// MARK: - In the parent.

/// Room for the longest candidate of the search, above the stack.
static size_t candidate_bytes(const struct clx_spawn_request *request) {
    return strlen(request->search_path) + strlen(request->arguments[0]) + 2;
}

void clx_child_stack_free(struct clx_child_stack *stack) {
    if (stack->memory != NULL) munmap(stack->memory, stack->bytes);
    *stack = (struct clx_child_stack){0};
}

/// Makes the stack, or one with more room where it has too little. Returns 0 or an errno.
static int make_room(struct clx_child_stack *stack, const struct clx_spawn_request *request) {
    const size_t bytes = GUARD_BYTES + CHILD_STACK_BYTES + candidate_bytes(request);
    if (bytes <= stack->bytes) return 0;
    clx_child_stack_free(stack);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return errno;
    mprotect(memory, GUARD_BYTES, PROT_NONE);
    *stack = (struct clx_child_stack){.memory = memory, .bytes = bytes};
    return 0;
}

static int prepare(const struct clx_spawn_request *request, struct child_context *context) {
    if (request->arguments[0] == NULL || request->descriptor_count > DESCRIPTORS_MAX) return EINVAL;
    int error = clx_advantages_find(&context->advantages);
    if (error != 0 || request->open_files_soft == 0) return error;
    if (getrlimit(RLIMIT_NOFILE, &context->open_files) < 0) return errno;
    if (request->open_files_soft < context->open_files.rlim_max) {
        context->open_files.rlim_cur = request->open_files_soft;
    } else {
        context->open_files.rlim_cur = context->open_files.rlim_max;
    }
    return 0;
}

static long clone_child(
    struct child_context *context, char *stack, int *pidfd, pid_t *process) {
    const int cgroup = context->request->cgroup;
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | (cgroup >= 0 ? CLONE_INTO_CGROUP : 0)
                 | (process != NULL ? CLONE_PARENT_SETTID : 0),
        .pidfd = (uintptr_t)pidfd,
        .parent_tid = (uintptr_t)process,
        .exit_signal = SIGCHLD,
        .stack = (uintptr_t)stack,
        .stack_size = CHILD_STACK_BYTES,
        .cgroup = cgroup >= 0 ? (uint64_t)cgroup : 0,
    };
    // All 64: the library's own sigprocmask leaves out the two it uses between threads.
    const uint64_t all = ~(uint64_t)0;
    uint64_t before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, SIGNALS_MAX / 8);
    long pid = clx_clone3(&args, sizeof args, child_main, context);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, SIGNALS_MAX / 8);
    return pid;
}

static int failed(struct clx_spawn_result *result, enum clx_stage stage, int error) {
    *result = (struct clx_spawn_result){.pid = -1, .pidfd = -1, .stage = stage, .error = error};
    return error;
}

int clx_spawn_on(struct clx_child_stack *stack, const struct clx_spawn_request *request,
                 struct clx_spawn_result *result, pid_t *process) {
    struct child_context context = {.request = request, .parent = getpid(), .report = -1};
    int error = prepare(request, &context);
    if (error != 0) return failed(result, CLX_STAGE_CLONE, error);
    if (request->changes_user) error = clx_user_change_check();
    if (error != 0) return failed(result, CLX_STAGE_USER, error);
    error = make_room(stack, request);
    if (error != 0) return failed(result, CLX_STAGE_CLONE, error);
    char *low_end = stack->memory + GUARD_BYTES;
    context.candidate = low_end + CHILD_STACK_BYTES;

    int pidfd = -1;
    long pid = clone_child(&context, low_end, &pidfd, process);
    if (pid < 0) return failed(result, CLX_STAGE_CLONE, (int)-pid);
    if (context.stage != CLX_STAGE_NONE) {
        siginfo_t info;
        while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR) {}
        close(pidfd);
        return failed(result, context.stage, context.error);
    }
    *result = (struct clx_spawn_result){.pid = (pid_t)pid, .pidfd = pidfd};
    return 0;
}

int clx_spawn(const struct clx_spawn_request *request, struct clx_spawn_result *result) {
    struct clx_child_stack stack = {0};
    int error = clx_spawn_on(&stack, request, result, NULL);
    clx_child_stack_free(&stack);
    return error;
}

// MARK: - With memory of its own.

static long fork_child(const struct clx_spawn_request *request, int *pidfd) {
    struct clone_args args = {
        .flags = CLONE_PIDFD | (request->cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
        .pidfd = (uintptr_t)pidfd,
        .exit_signal = SIGCHLD,
        .cgroup = request->cgroup >= 0 ? (uint64_t)request->cgroup : 0,
    };
    return syscall(SYS_clone3, &args, sizeof args);
}

static int fork_with(
    const struct clx_spawn_request *request, struct child_context *context, int ends[2],
    struct clx_fork *fork) {
    const uint64_t all = ~(uint64_t)0;
    uint64_t before = 0;
    int pidfd = -1;
    context->report = ends[1];
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, SIGNALS_MAX / 8);
    const long pid = fork_child(request, &pidfd);
    if (pid == 0) run_and_report(context);
    const int error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, SIGNALS_MAX / 8);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return error;
    }
    *fork = (struct clx_fork){.pid = (pid_t)pid, .pidfd = pidfd, .report = ends[0]};
    return 0;
}

int clx_fork_begin(const struct clx_spawn_request *request, struct clx_fork *fork, enum clx_stage *stage) {
    struct child_context context = {.request = request, .parent = getpid(), .report = -1};
    *stage = CLX_STAGE_CLONE;
    int error = prepare(request, &context);
    if (error != 0) return error;
    if (request->changes_user) error = clx_user_change_check();
    if (error != 0) {
        *stage = CLX_STAGE_USER;
        return error;
    }
    context.candidate = malloc(candidate_bytes(request));
    if (context.candidate == NULL) return ENOMEM;
    int ends[2];
    error = pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 ? errno : fork_with(request, &context, ends, fork);
    free(context.candidate);
    return error;
}

bool clx_fork_result(const struct clx_fork *fork, enum clx_stage *stage, int *error) {
    struct report report = {0};
    const ssize_t length = read(fork->report, &report, sizeof report);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    // At the end of the file the program runs. A child that was killed before that tells nothing either.
    *stage = length == sizeof report ? (enum clx_stage)report.stage : CLX_STAGE_NONE;
    *error = report.error;
    return true;
}
