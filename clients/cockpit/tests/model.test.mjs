import assert from "node:assert/strict";
import test from "node:test";
import { TaskModel, budgetBar, orders, present, progressPart } from "../model.js";

const task = (id, state, more = {}) => ({ id, state, priority: 0, kind: "run", ageMs: 0, ...more });
const ids = entries => entries.map(entry => entry.task.id);

function complete(...tasks) {
    const model = new TaskModel();
    model.beginList();
    for (const one of tasks) model.list(one, 0);
    model.endList();
    return model;
}

test("a task moves from the queue to those that run, and to those that have ended", () => {
    const model = complete(task(1, "queued"));
    assert.deepEqual(ids(model.queue()), [1]);
    model.event({ kind: "began", task: task(1, "running") }, 1);
    assert.deepEqual([ids(model.queue()), ids(model.live())], [[], [1]]);
    model.event({ kind: "ended", task: task(1, "ended", { outcome: "completed" }) }, 2);
    assert.deepEqual([ids(model.live()), ids(model.ended())], [[], [1]]);
});

test("the queue is by priority, then first come", () => {
    const model = complete(
        task(1, "queued"), task(2, "queued", { priority: 5 }), task(3, "queued", { priority: -1 }),
        task(4, "queued", { priority: 5 }));
    assert.deepEqual(ids(model.queue()), [2, 4, 1, 3]);
});

test("what happens while the list comes is not lost, whichever was earlier", () => {
    // Each history of one task, and each moment at which the list may have been made and may be complete.
    const history = ["queued", "running", "expiring", "ended"];
    for (let listed = 0; listed < history.length; listed++) {
        for (let done = 0; done <= history.length; done++) {
            const model = new TaskModel();
            model.beginList();
            const happen = index => model.event({ task: task(1, history[index]) }, index);
            for (let index = 1; index < done; index++) happen(index);
            if (history[listed] !== "ended") model.list(task(1, history[listed]), 0);
            model.endList();
            for (let index = Math.max(1, done); index < history.length; index++) happen(index);
            assert.deepEqual([ids(model.live()), ids(model.queue()), ids(model.ended())], [[], [], [1]]);
        }
    }
});

test("what is shown stays until a new list is complete", () => {
    const model = complete(task(1, "running"));
    model.beginList();
    model.list(task(2, "running"), 0);
    assert.ok(!model.isComplete);
    assert.deepEqual(ids(model.live()), [1]);
    model.endList();
    assert.deepEqual(ids(model.live()), [2]);
});

test("few ended tasks are kept, the newest first", () => {
    const model = complete();
    for (let id = 1; id <= 20; id++) model.event({ task: task(id, "ended") }, id);
    model.event({ task: task(18, "ended") }, 21);
    assert.deepEqual(ids(model.ended()), [18, 20, 19, 17, 16]);
});

const budget = { durationMs: 100000, graceMs: 20000 };
const running = {
    task: task(1, "running", { budget, remaining: { ms: 30000, hardMs: 50000 }, usedMs: 50000, ageMs: 60000 }),
    at: 1000,
};

test("a running clock goes on, and stops at nothing", () => {
    assert.deepEqual(present(running, 11000), {
        usedMs: 60000, hardMs: 40000, warningMs: 20000, ageMs: 70000, endedMs: null, notBeforeMs: null,
    });
    const late = present(running, 1e9);
    assert.deepEqual([late.hardMs, late.warningMs], [0, 0]);
    // The clock of the page never goes back before what was told.
    assert.equal(present(running, 0).usedMs, 50000);
});

test("a clock that stands still stands still", () => {
    const dormant = { ...running, task: { ...running.task, state: "dormant" } };
    const times = present(dormant, 11000);
    assert.deepEqual([times.usedMs, times.hardMs], [50000, 50000]);
    const queued = { task: task(1, "queued", { notBeforeMs: 5000 }), at: 0 };
    assert.deepEqual([present(queued, 2000).notBeforeMs, present(queued, 9000).notBeforeMs], [3000, 0]);
});

test("a bar has what is used and where the warning comes", () => {
    assert.deepEqual(budgetBar(running.task, present(running, 11000)), { used: 0.6, warning: 0.8 });
    assert.equal(budgetBar(task(1, "running"), present(running, 0)), null);
    assert.deepEqual(budgetBar({ ...running.task, state: "queued" }, {}), { used: 0, warning: 0.8 });
    const ended = { ...running.task, state: "ended" };
    assert.deepEqual(budgetBar(ended, { usedMs: 250000 }), { used: 1, warning: 0.8 });
    assert.equal(budgetBar(ended, { usedMs: -1 }).used, 0);
    assert.equal(budgetBar(ended, { usedMs: null }), null);
    // An application's background time may end before a budget that is larger than it.
    assert.equal(budgetBar(running.task, { hardMs: 500000 }).used, 0);
});

test("progress is a part only of a total", () => {
    assert.equal(progressPart({ completed: 3, total: 12 }), 0.25);
    assert.equal(progressPart({ completed: 30, total: 12 }), 1);
    for (const none of [undefined, null, { completed: 3 }, { completed: 0, total: 0 }]) {
        assert.equal(progressPart(none), null);
    }
});

test("what may be ordered follows the state", () => {
    const allowed = (one) => Object.entries(orders(one)).filter(([, may]) => may).map(([name]) => name);
    assert.deepEqual(allowed(running.task), ["extend", "pause", "cancel"]);
    assert.deepEqual(allowed({ ...running.task, paused: true }), ["extend", "resume", "cancel"]);
    assert.deepEqual(allowed(task(1, "running")), ["pause", "cancel"]);
    assert.deepEqual(allowed({ ...running.task, kind: "held" }), ["extend", "cancel"]);
    assert.deepEqual(allowed(task(1, "queued")), ["pause", "cancel"]);
    assert.deepEqual(allowed(task(1, "dormant", { kind: "held" })), ["cancel"]);
    assert.deepEqual(allowed(task(1, "ended")), ["restart"]);
    assert.deepEqual(allowed(task(1, "ended", { kind: "held" })), []);
});
