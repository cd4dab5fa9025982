/** What there is, as the daemon's list and events tell it. Pure: every time is an argument, in milliseconds. */

/** Tasks that have not ended, and the last that have. */
export class TaskModel {
    /** How many of the tasks that have just ended are kept. */
    static endedMax = 5;

    #live = new Map();
    #ended = [];
    /** Events that have come while the list is under way; null once it is complete. */
    #early = [];
    #listed = new Map();

    /** Whether the list is complete. */
    get isComplete() { return this.#early === null; }

    /** The list begins again: what is there stays until the new one is complete. */
    beginList() {
        this.#early = [];
        this.#listed = new Map();
    }

    /** A task of the list. */
    list(task, now) {
        this.#listed.set(task.id, { task, at: now });
    }

    /**
     * The list is complete. What has happened since the watch began is told again on top of it: the last event of
     * a task is its present state, whichever of the two was earlier.
     */
    endList() {
        this.#live = this.#listed;
        this.#listed = new Map();
        const early = this.#early ?? [];
        this.#early = null;
        for (const [event, at] of early) this.event(event, at);
    }

    /** Something has happened to a task. */
    event(event, now) {
        if (this.#early !== null) {
            this.#early.push([event, now]);
            return;
        }
        const task = event.task;
        if (task.state !== "ended") {
            this.#live.set(task.id, { task, at: now });
            return;
        }
        this.#live.delete(task.id);
        this.#ended = [
            { task, at: now }, ...this.#ended.filter(entry => entry.task.id !== task.id),
        ].slice(0, TaskModel.endedMax);
    }

    /** @returns {{task: object, at: number}[]} those that have begun, the newest last. */
    live() {
        return [...this.#live.values()]
            .filter(entry => entry.task.state !== "queued")
            .sort((one, other) => one.task.id - other.task.id);
    }

    /** @returns {{task: object, at: number}[]} what waits: by priority, then first come. */
    queue() {
        return [...this.#live.values()]
            .filter(entry => entry.task.state === "queued")
            .sort((one, other) =>
                other.task.priority - one.task.priority || one.task.id - other.task.id);
    }

    /** @returns {{task: object, at: number}[]} the newest end first. */
    ended() { return this.#ended; }

    /** @returns {{task: object, at: number} | undefined} one that has not ended, or just has. */
    find(id) {
        return this.#live.get(id) ?? this.#ended.find(entry => entry.task.id === id);
    }
}

/** Whether the clock of its budget runs. */
export function isTicking(task) {
    return task.state === "running" || task.state === "expiring";
}

/** The times of a task as they are now, from what was told some time ago. */
export function present({ task, at }, now) {
    const elapsed = Math.max(0, now - at);
    const ticked = isTicking(task) ? elapsed : 0;
    const left = value => value == null ? null : Math.max(0, value - ticked);
    return {
        usedMs: task.usedMs == null ? null : task.usedMs + ticked,
        hardMs: left(task.remaining?.hardMs),
        warningMs: left(task.remaining?.ms),
        ageMs: task.ageMs + (task.state === "ended" ? 0 : elapsed),
        endedMs: task.endedMs == null ? null : task.endedMs + elapsed,
        notBeforeMs: task.notBeforeMs == null ? null : Math.max(0, task.notBeforeMs - elapsed),
    };
}

/**
 * Where a task is in its budget, as parts of one.
 *
 * What an extension gives counts anew, so the bar is of the budget that runs now; a limit that is nearer than the
 * budget's own makes it as short as that.
 *
 * @returns {{used: number, warning: number} | null} null where no limit applies.
 */
export function budgetBar(task, times) {
    const duration = task.budget?.durationMs;
    if (!duration) return null;
    if (task.state === "queued") return { used: 0, warning: warning(task.budget) };
    if (task.state === "ended") {
        return times.usedMs === null
            ? null : { used: within(times.usedMs / duration), warning: warning(task.budget) };
    }
    if (times.hardMs === null) {
        return task.state === "dormant" ? { used: 0, warning: warning(task.budget) } : null;
    }
    return { used: within(1 - times.hardMs / duration), warning: warning(task.budget) };
}

function warning(budget) {
    return within(1 - budget.graceMs / budget.durationMs);
}

/** A part of one, whatever was told. */
function within(part) {
    return Math.min(1, Math.max(0, part));
}

/** How far a task has come by its own account, as a part of one; null where it has not said of how many. */
export function progressPart(progress) {
    if (progress?.total == null || progress.total <= 0) return null;
    return within(progress.completed / progress.total);
}

/** What may be ordered of a task in its state. */
export function orders(task) {
    const hasBegun = task.state !== "queued" && task.state !== "ended";
    const canPause = task.state === "queued" || (task.kind === "run" && hasBegun && !task.wake);
    return {
        extend: isTicking(task) && task.budget != null,
        pause: canPause && !task.paused,
        resume: canPause && task.paused === true,
        cancel: task.state !== "ended",
        restart: task.state === "ended" && task.kind === "run",
    };
}
