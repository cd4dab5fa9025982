/** One task: all that is known of it, why it waits or was stopped, its attempts, and what it prints. */
import { BudgetBar, ProgressBar, button, h, label, reconcile, setAttribute, setText } from "./dom.js";
import { budgetBar, present, progressPart } from "./model.js";
import { nameOf } from "./orders.js";
import { _, format, visible, visibleLines } from "./text.js";
import { clock, span, ticking } from "./times.js";
import { VarlinkError } from "./varlink.js";
import { doing, explanationList } from "./views.js";
import {
    budgetDescription, budgetText, bytesText, conditionColour, conditionText, errorText, exitText,
    outcomeText, progressText, reasonText,
} from "./words.js";

const tasks = "org.bgtaskd.Tasks.";

/** The newest of what a task has printed, as pieces of text. */
class OutputPane {
    /** Characters that are kept at most, shown or not; what is older goes. */
    static lengthMax = 256 * 1024;
    /** Characters of one element; pieces are put together up to this. */
    static #pieceMax = 4096;

    #text = h("pre", { class: "output", tabindex: 0, role: "log", "aria-label": _("Output") });
    #note = h("p", { class: "note" });
    #follows = h("input", { type: "checkbox", checked: true });
    #length = 0;
    #waiting = [];
    #waitingLength = 0;
    #frame = null;
    #reader = null;
    element = h("section", { class: "card" },
        h("div", { class: "toolbar" }, h("h2", {}, _("Output")), h("div", { class: "push" }),
            h("label", { class: "check" }, this.#follows, _("Follow"))),
        this.#note, this.#text);

    open(session, id) {
        this.close();
        this.#text.replaceChildren();
        this.#length = 0;
        setText(this.#note, "");
        this.#reader = session.follow(id, piece => this.#add(piece));
        const reader = this.#reader;
        reader.done.then(() => this.#ended(reader, ""), error => {
            this.#ended(reader, error instanceof VarlinkError ? errorText(error) : "");
        });
    }

    close() {
        this.#reader?.close();
        this.#reader = null;
        cancelAnimationFrame(this.#frame);
        this.#frame = null;
        this.#waiting = [];
        this.#waitingLength = 0;
    }

    #ended(reader, problem) {
        if (reader !== this.#reader) return;
        const isEmpty = this.#length === 0 && this.#waiting.length === 0;
        setText(this.#note, problem || (isEmpty ? _("It has printed nothing.") : ""));
    }

    #add(piece) {
        this.#waiting.push(piece);
        this.#waitingLength += piece.text.length;
        // Nothing is painted while nobody looks, and the task may print on.
        while (this.#waitingLength > OutputPane.lengthMax && this.#waiting.length > 1) {
            this.#waitingLength -= this.#waiting.shift().text.length;
        }
        this.#frame ??= requestAnimationFrame(() => this.#show());
    }

    #show() {
        this.#frame = null;
        for (const { stream, text, dropped } of this.#waiting) {
            if (dropped > 0) {
                this.#append(format(_("[$0 bytes are missing here]"), dropped) + "\n", "missing");
            }
            if (text !== "") this.#append(visibleLines(text), stream === "stderr" ? "stderr" : "");
        }
        this.#waiting = [];
        this.#waitingLength = 0;
        while (this.#length > OutputPane.lengthMax && this.#text.childElementCount > 1) {
            this.#length -= this.#text.firstElementChild.textContent.length;
            this.#text.firstElementChild.remove();
        }
        if (this.#follows.checked) this.#text.scrollTop = this.#text.scrollHeight;
    }

    #append(text, className) {
        const shown = text.slice(-OutputPane.lengthMax);
        const last = this.#text.lastElementChild;
        if (last?.className === className && last.textContent.length + shown.length <= OutputPane.#pieceMax) {
            last.firstChild.appendData(shown);
        } else {
            this.#text.append(h("span", { class: className }, shown));
        }
        this.#length += shown.length;
    }
}

/** A table of two columns, of which only what is known is there. */
class Facts {
    element = h("dl", { class: "facts" });

    update(facts) {
        reconcile(this.element, facts.filter(([, value]) => value !== ""), ([name]) => name, ([name]) => {
            const value = h("dd", {});
            const group = h("div", {}, h("dt", {}, name), value);
            group.update = ([, text]) => setText(value, text);
            return group;
        });
    }
}

export class TaskView {
    #page;
    #id;
    #entry = null;
    #isLoading = false;
    #isStale = false;
    #actions = h("div", { class: "actions" });
    #condition = h("span", { class: "label" });
    #budget = new BudgetBar();
    #progress = new ProgressBar();
    #facts = new Facts();
    #explanations = h("section", { class: "card", hidden: true });
    #attempts = h("section", { class: "card", hidden: true });
    #output = new OutputPane();
    #crumb = h("span", { "aria-current": "page" });
    #content;
    #missing;
    #attempt = null;

    constructor(page, id) {
        this.#page = page;
        this.#id = id;
        this.heading = h("h1", { tabindex: -1 }, format(_("Task $0"), id));
        setText(this.#crumb, format(_("Task $0"), id));
        this.#missing = h("div", { class: "empty", hidden: true }, h("h1", {}, _("There is no such task")),
            h("p", {}, _("It may have been forgotten, or belong to somebody else.")));
        this.#content = h("div", { class: "stack", hidden: true },
            h("section", { class: "card" },
                h("div", { class: "toolbar" }, this.heading, this.#condition, h("div", { class: "push" }),
                    this.#actions),
                h("div", { class: "bars" }, this.#budget.element, this.#progress.element),
                this.#facts.element),
            this.#explanations, this.#attempts, this.#output.element);
        this.element = h("main", { class: "stack" },
            h("nav", { class: "crumbs", "aria-label": _("Path") },
                h("a", { href: "#/" }, _("Background tasks")), h("span", { "aria-hidden": "true" }, "›"),
                this.#crumb),
            this.#content, this.#missing);
        page.session.addEventListener("task", this.#onTask);
        page.session.addEventListener("status", this.#onStatus);
        this.#load();
    }

    #onTask = event => {
        if (event.detail === this.#id) this.#load();
    };

    #onStatus = () => {
        if (this.#page.session.status !== "ready") return;
        this.#attempt = null;
        this.#load();
    };

    close() {
        this.#page.session.removeEventListener("task", this.#onTask);
        this.#page.session.removeEventListener("status", this.#onStatus);
        this.#output.close();
    }

    /** Asks once more where something has happened meanwhile. */
    async #load() {
        this.#isStale = true;
        if (this.#isLoading) return;
        this.#isLoading = true;
        const { session } = this.#page;
        try {
            while (this.#isStale && session.status === "ready") {
                this.#isStale = false;
                const { task } = await session.call(tasks + "Show", { id: this.#id });
                const { explanations } = await session.call(tasks + "Explain", { id: this.#id });
                this.#entry = { task, at: performance.now() };
                this.#showExplanations(task, explanations);
                this.#showAttempts(task);
                this.#showOutput(task);
                this.#content.hidden = false;
                this.#missing.hidden = true;
                this.#page.schedule();
            }
        } catch (error) {
            if (error instanceof VarlinkError) {
                this.#content.hidden = true;
                this.#missing.hidden = error.error !== "org.bgtaskd.Tasks.NoSuchTask";
                if (this.#missing.hidden) this.#page.say(errorText(error), true);
            }
        } finally {
            this.#isLoading = false;
        }
    }

    #showOutput(task) {
        const isCommand = task.kind === "run" && !task.wake;
        this.#output.element.hidden = !isCommand || task.state === "queued" && task.attempt === 1;
        if (this.#output.element.hidden || this.#attempt !== null) return;
        this.#attempt = task.attempt;
        this.#output.open(this.#page.session, this.#id);
    }

    #showExplanations(task, explanations) {
        this.#explanations.hidden = explanations.length === 0;
        this.#explanations.replaceChildren(
            h("h2", {}, task.state === "queued" ? _("Why it waits") : _("Why")),
            explanationList(explanations, task.state));
    }

    #showAttempts(task) {
        const attempts = task.attempts ?? [];
        this.#attempts.hidden = attempts.length === 0;
        const head = [_("Attempt"), _("Outcome"), _("Exit"), _("Used"), _("Ended"), _("Reason")];
        this.#attempts.replaceChildren(h("h2", {}, _("Attempts that are over")),
            h("table", { class: "table", role: "table", "aria-label": _("Attempts that are over") },
                h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
                    ...head.map(text => h("th", { role: "columnheader", scope: "col" }, text)))),
                h("tbody", { role: "rowgroup" }, ...attempts.map(attempt => {
                    const cells = [
                        String(attempt.attempt),
                        label(outcomeText(attempt.outcome),
                            conditionColour({ state: "ended", outcome: attempt.outcome })),
                        exitText(attempt.exit) || "–",
                        attempt.usedMs == null ? "–" : span(attempt.usedMs), clock(attempt.endedMs),
                        reasonText(attempt.reason) || "–",
                    ];
                    return h("tr", { role: "row" }, ...cells.map((cell, index) =>
                        h("td", { role: "cell", "data-label": head[index] }, cell)));
                }))));
    }

    update() {
        if (this.#entry === null) return;
        const { task } = this.#entry;
        const times = present(this.#entry, this.#page.now);
        const name = nameOf(task);
        setText(this.heading, name);
        setText(this.#crumb, name);
        setText(this.#condition, conditionText(task));
        setAttribute(this.#condition, "class", `label ${conditionColour(task)}`);
        this.#budget.update(budgetBar(task, times), budgetText(task, times));
        this.#progress.element.hidden = !task.status && task.progress == null;
        this.#progress.update(progressPart(task.progress), progressText(task));
        this.#facts.update(this.#factsOf(task, times));
        const items = this.#page.orders.menu(task);
        reconcile(this.#actions, items, item => item.text, item => {
            const element = button(item.text, item.kind ?? "secondary", () => element.action());
            element.update = newer => { element.action = newer.action; };
            return element;
        }, this.heading);
    }

    #factsOf(task, times) {
        const text = value => value == null ? "" : visible(value);
        const number = value => value == null ? "" : String(value);
        return [
            [_("Number"), String(task.id)],
            [_("What it does"), doing(task)],
            [_("User"), this.#page.userName(task.owner)],
            [_("Budget"), budgetDescription(task.budget)],
            [_("Profile"), text(task.profile)],
            [_("Used"), times.usedMs === null ? "" : span(task.state === "ended"
                ? times.usedMs : Math.floor(times.usedMs / 1000) * 1000)],
            [_("Group"), text(task.group)],
            [_("Application"), text(task.application)],
            [_("Priority"), task.kind === "run" ? String(task.priority) : ""],
            [_("Slots"), number(task.slots)],
            [_("Process"), number(task.pid)],
            [_("Attempt"), task.attemptsMax > 1
                ? format(_("$0 of $1"), task.attempt, task.attemptsMax) : ""],
            [_("Not before"), times.notBeforeMs == null ? "" : format(_("in $0"), ticking(times.notBeforeMs))],
            [_("After tasks"), task.after?.join(", ") ?? ""],
            [_("Exit"), exitText(task.exit)],
            [_("Reason"), reasonText(task.reason)],
            [_("Ended"), times.endedMs === null ? "" : clock(times.endedMs)],
            [_("Processor time"), task.cpuMs == null ? "" : span(task.cpuMs)],
            [_("Memory at most"), task.memoryPeakBytes == null ? "" : bytesText(task.memoryPeakBytes)],
            [_("Repeats task"), number(task.restartOf)],
        ];
    }
}
