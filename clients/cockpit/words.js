/** What the daemon's names are in a person's words. Pure. */
import { VarlinkError } from "./varlink.js";
import { _, format, language, plural, visible } from "./text.js";
import { span, ticking } from "./times.js";

const stateWords = {
    queued: () => _("queued"), dormant: () => _("dormant"), running: () => _("running"),
    expiring: () => _("warned"), ended: () => _("ended"),
};

const outcomeWords = {
    completed: () => _("completed"), failed: () => _("failed"), expired: () => _("expired"),
    overrun: () => _("overrun"), cancelled: () => _("cancelled"), abandoned: () => _("abandoned"),
    interrupted: () => _("interrupted"),
};

const applicationWords = {
    notRunning: () => _("not running"), inactive: () => _("inactive"), active: () => _("active"),
    background: () => _("in the background"), suspended: () => _("suspended"),
};

const terminationWords = {
    exited: () => _("it has exited"), crashed: () => _("it has crashed"),
    terminated: () => _("it was terminated"),
    memoryPressure: () => _("memory was short"),
    backgroundTimeOverrun: () => _("its background time was over"),
    messageOverrun: () => _("it was not done with a message in time"),
    taskOverrun: () => _("it was not done with a task in time"),
    exitsOnSuspend: () => _("it ends when it leaves the front"),
    interrupted: () => _("the daemon or the machine has stopped"),
};

/** A word, or the name itself where the daemon is newer than this page. */
function word(words, name) {
    return Object.hasOwn(words, name) ? words[name]() : visible(name);
}

export const stateText = state => word(stateWords, state);
export const outcomeText = outcome => word(outcomeWords, outcome);
export const applicationText = state => word(applicationWords, state);
export const terminationText = reason => word(terminationWords, reason);

/** The state of a task, or how it ended. */
export function conditionText(task) {
    if (task.state === "ended") return outcomeText(task.outcome);
    if (task.paused && task.state !== "queued") return _("stopped");
    if (task.stuck) return _("stuck");
    return stateText(task.state);
}

/** The colour of a condition: `green`, `blue`, `orange`, `red` or `grey`. */
export function conditionColour(task) {
    if (task.stuck) return "red";
    if (task.state === "ended") {
        return outcomeColours.get(task.outcome) ?? "red";
    }
    if (task.paused) return "grey";
    return stateColours.get(task.state) ?? "grey";
}

const outcomeColours = new Map([["completed", "green"], ["expired", "orange"], ["cancelled", "grey"]]);
const stateColours = new Map([["running", "blue"], ["expiring", "orange"]]);

// The rules that hold a task back: for a table, and as a sentence.
const rules = {
    store: [() => _("disk"), () => _("Nothing can be written to the disk.")],
    shutdown: [() => _("shutdown"), () => _("The daemon is stopping.")],
    shortage: [() => _("no room"), () => _("No command can be started now.")],
    paused: [() => _("group paused"), () => _("Its group is paused.")],
    pausedOwner: [() => _("all paused"), () => _("All tasks of its user are paused.")],
    pausedTask: [() => _("paused"), () => _("It is paused.")],
    after: [() => _("other tasks"), () => _("It starts after other tasks.")],
    earliestBegin: [() => _("time"), () => _("Its start time has not come.")],
    retry: [() => _("next attempt"), () => _("It waits for the delay after the last attempt.")],
    network: [() => _("network"), () => _("There is no network.")],
    externalPower: [() => _("external power"), () => _("The machine is on battery.")],
    idle: [() => _("idle machine"), () => _("The machine is busy.")],
    minimumInterval: [
        () => _("interval"),
        () => _("The interval since the last success of its name is not over."),
    ],
    unique: [() => _("same name"), () => _("The task that it replaces is being stopped.")],
    tasksPerOwnerMax: [
        () => _("user's limit"),
        () => _("Its user has as many live tasks as one user may have."),
    ],
    slotsPerOwnerMax: [
        () => _("user's slots"), () => _("Its user has all slots that one user may have."),
    ],
    groupSlots: [() => _("group's slots"), () => _("The slots of its group are taken.")],
    slots: [() => _("slots"), () => _("The slots are taken.")],
    changing: [() => _("starting"), () => _("A change of it is being written to disk.")],
    starting: [() => _("starting"), () => _("Its start is being written to disk.")],
};

// What bounds a task that runs, and what has ended one.
const otherRules = {
    budget: () => _("budget"), lifetimeMax: () => _("longest life"),
    backgroundTime: () => _("background time"), foreground: () => _("in front"),
    profile: () => _("profile"), end: () => _("its end"), exit: () => _("its exit"),
    cancel: () => _("cancelled"), holder: () => _("its program"), stuck: () => _("stuck"),
};

// What the daemon says of those in words that are always the same.
const sentences = {
    "its application is in the foreground, where no time counts":
        () => _("its application is in the foreground, where no time counts"),
    "it ended before its warning": () => _("it ended before its warning"),
    "it ended after its warning, within its grace": () => _("it ended after its warning, within its grace"),
    "it was still there at its hard limit": () => _("it was still there at its hard limit"),
    "it was cancelled": () => _("it was cancelled"),
    "the program that held it went away": () => _("the program that held it went away"),
    "the daemon stopped": () => _("the daemon stopped"),
    "its budget is spent": () => _("its budget is spent"),
    "its application's background time is spent": () => _("its application's background time is spent"),
    "an expiration was simulated": () => _("an expiration was simulated"),
    "the daemon is stopping": () => _("the daemon is stopping"),
    "the daemon was away for longer than daemon.absenceMax": () =>
        _("the daemon was away for longer than daemon.absenceMax"),
    "bgtask-executor is stopping": () => _("bgtask-executor is stopping"),
    "the connection that held it was closed": () => _("the connection that held it was closed"),
    "the process that held it exited": () => _("the process that held it exited"),
    "the daemon stopped while it was queued": () => _("the daemon stopped while it was queued"),
    "the daemon or the machine went down": () => _("the daemon or the machine went down"),
    "the daemon stopped while its processes, which were killed, were still there": () =>
        _("the daemon stopped while its processes, which were killed, were still there"),
};

/**
 * Why a task, or an attempt, was stopped or told to end; empty where nothing is told.
 *
 * The daemon's own words are translated where they are always the same; what a user or the system said is not.
 */
export function reasonText(reason) {
    if (!reason) return "";
    const cancelled = /^cancelled by user (\d+)(: .*)?$/s.exec(reason);
    if (cancelled === null) return word(sentences, reason);
    return format(_("cancelled by user $0"), cancelled[1]) + visible(cancelled[2] ?? "");
}

/** The rule in a few words. */
export function ruleText(rule) {
    return Object.hasOwn(rules, rule) ? rules[rule][0]() : word(otherRules, rule);
}

/** Why a queued task waits, for a table: `interval, 9min 41s`. */
export function waitingText(task, times) {
    if (task.state !== "queued" || !task.waiting) return "";
    if (task.waiting === "after" && task.after?.length > 0) {
        const [first, ...others] = task.after;
        if (others.length === 0) return format(_("after task $0"), first);
        return plural("after task $1 and $0 other", "after task $1 and $0 others",
            others.length, first);
    }
    const rule = ruleText(task.waiting);
    if (times.notBeforeMs === null) return rule;
    return format(_("$0, $1"), rule, ticking(times.notBeforeMs));
}

/**
 * What Explain has answered, as a sentence.
 *
 * The daemon says it in English, and with what it knows of the machine. In other languages the rule speaks for a task
 * that waits, and what is always said alike is translated; the rest stays as the daemon has said it.
 */
export function explanationText(explanation, state) {
    const sentence = withStop(sentenceOf(explanation, state));
    if (explanation.earliestChangeMs == null) return sentence;
    return format(_("$0 This can change in $1."), sentence, span(explanation.earliestChangeMs));
}

function sentenceOf({ rule, text }, state) {
    const isEnglish = language().startsWith("en");
    if (state === "queued" && !isEnglish && Object.hasOwn(rules, rule)) return rules[rule][1]();
    const warning = /^it is warned (.+) before its limit$/.exec(text);
    if (warning !== null) return format(_("it is warned $0 before its limit"), visible(warning[1]));
    return word(sentences, text);
}

function withStop(sentence) {
    return /[.!?]$/.test(sentence) ? sentence : sentence + ".";
}

/** How a command ended. */
export function exitText(exit) {
    if (exit?.signal) return visible(exit.signal);
    return exit?.status == null ? "" : format(_("status $0"), exit.status);
}

/** How a budget stands, beside its bar. */
export function budgetText(task, times) {
    const duration = task.budget?.durationMs;
    if (task.state === "ended") {
        if (times.usedMs === null) return "";
        return duration
            ? format(_("$0 of $1"), span(times.usedMs), span(duration)) : span(times.usedMs);
    }
    if (task.state === "queued") return duration ? span(duration) : _("no limit");
    if (task.state === "dormant") return _("the clock stands still");
    if (times.hardMs === null) return _("no limit");
    if (times.warningMs > 0) {
        return format(_("$0 left, warning in $1"), ticking(times.hardMs), ticking(times.warningMs));
    }
    return format(_("warned, $0 left"), ticking(times.hardMs));
}

/** A budget in full. */
export function budgetDescription(budget) {
    if (!budget) return _("no limit");
    return format(_("$0, with the warning at $1 and a grace of $2"), span(budget.durationMs),
        span(budget.durationMs - budget.graceMs), span(budget.graceMs));
}

/** What a task reports of itself. */
export function progressText(task) {
    const { progress } = task;
    const parts = [];
    if (progress != null) {
        parts.push(progress.total != null
            ? format(_("$0 of $1"), progress.completed, progress.total) : String(progress.completed));
    }
    if (task.status) parts.push(visible(task.status));
    return parts.join(" · ");
}

/** Sizes of memory. */
export function bytesText(bytes) {
    const names = ["B", "KiB", "MiB", "GiB", "TiB"];
    let index = 0;
    while (bytes >= 1024 && index < names.length - 1) {
        bytes /= 1024;
        index++;
    }
    const number = new Intl.NumberFormat(language(), { maximumFractionDigits: index && bytes < 10 ? 1 : 0 });
    return `${number.format(bytes)} ${names[index]}`;
}

// Those whose value is a time in milliseconds.
const timeLimits = new Set(["lifetimeMax", "backgroundTime", "minimumInterval", "earliestBegin"]);

const errors = {
    "org.bgtaskd.Tasks.NoSuchTask": p => format(_("There is no task $0."), visible(p.id)),
    "org.bgtaskd.Tasks.NoSuchGroup": p => format(_("There is no group $0."), visible(p.group)),
    "org.bgtaskd.Tasks.NoSuchProfile": p => format(_("There is no profile $0."), visible(p.profile)),
    "org.bgtaskd.Tasks.LimitReached": p => format(_("The limit $0 is reached, which is $1."),
        visible(p.limit), timeLimits.has(p.limit) ? span(p.value) : visible(p.value)),
    "org.bgtaskd.Tasks.TooLittleTime": p =>
        format(_("Its application has only $0 of background time left."), span(p.remainingMs)),
    "org.bgtaskd.Tasks.AlreadyEnded": p =>
        format(_("Task $0 has ended already: $1."), visible(p.id), outcomeText(p.outcome)),
    "org.bgtaskd.Tasks.NotAccepting": p =>
        format(_("The daemon does not take this: $0."), visible(p.reason)),
    "org.bgtaskd.Tasks.Confined": p =>
        format(_("This session is confined, and commands would not be: $0."), visible(p.reason)),
    "org.bgtaskd.Tasks.OutputGone": p => p.lostWithDaemon
        ? _("The output was lost with the daemon that the task ran under.")
        : _("The output is not kept any more."),
    "org.bgtaskd.Applications.NoSuchApplication": p =>
        format(_("There is no application $0."), visible(p.id)),
    "org.bgtaskd.Applications.NotRegistered": p =>
        format(_("Application $0 has no command."), visible(p.id)),
    "org.varlink.service.PermissionDenied": () => _("You may not do this."),
    "org.varlink.service.InvalidParameter": p => format(_("The daemon does not take this value: $0."),
        [p.parameter, p.reason].filter(part => part).map(visible).join(", ")),
    "org.varlink.service.MethodNotFound": () => _("The daemon is too old for this."),
};

/** What went wrong, as a sentence. */
export function errorText(error) {
    if (error instanceof VarlinkError) {
        return Object.hasOwn(errors, error.error)
            ? errors[error.error](error.parameters) : visible(error.error);
    }
    if (error?.problem === "access-denied") return _("Cockpit has no administrative access.");
    if (error?.problem === "not-found") return _("bgtaskd is not running.");
    if (error !== null && typeof error === "object" && "problem" in error) {
        return _("The connection to bgtaskd is lost.");
    }
    return visible(error?.message ?? error);
}
