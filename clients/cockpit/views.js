/** The lists: what runs, what waits, applications, history and groups. */
import {
    BudgetBar, Menu, Pager, ProgressBar, Table, button, emptyState, field, h, openDialog, select,
    setAttribute, setText, textInput,
} from "./dom.js";
import { historyParameters, matches, outcomes } from "./filter.js";
import { budgetBar, present, progressPart } from "./model.js";
import { nameOf } from "./orders.js";
import { commandLine } from "./submission.js";
import { _, format, plural, visible } from "./text.js";
import { clock, span, ticking } from "./times.js";
import { Timeline } from "./timeline.js";
import {
    applicationText, budgetText, conditionColour, conditionText, errorText, exitText, explanationText,
    outcomeText, progressText, reasonText, ruleText, terminationText, waitingText,
} from "./words.js";

const tasks = "org.bgtaskd.Tasks.";

/** The heading of a view; it can get the focus by a script, so that a reader goes on there. */
function heading(text) {
    return h("h1", { tabindex: -1 }, text);
}

/** A label whose colour follows what it says. */
class Condition {
    element = h("span", { class: "label" });

    update(task) {
        setText(this.element, conditionText(task));
        setAttribute(this.element, "class", `label ${conditionColour(task)}`);
    }
}

/** The name of a task, which leads to its page, with what it does below. */
class NameCell {
    #link = h("a", { class: "name" });
    #doing = h("div", { class: "doing" });
    element = h("div", {}, this.#link, this.#doing);

    update(task) {
        setText(this.#link, visible(task.name) || `#${task.id}`);
        setAttribute(this.#link, "href", `#/task/${task.id}`);
        setText(this.#doing, doing(task));
    }
}

/** What a task does: its command, or who holds it. */
export function doing(task) {
    if (task.command) return visible(commandLine(task.command));
    if (task.wake) return format(_("done by application $0"), visible(task.application ?? ""));
    return task.pid == null ? _("held") : format(_("held by process $0"), task.pid);
}

function plain(className) {
    return h("span", { class: className });
}

/** A list of tasks with a filter over it. */
class TaskList {
    #page;
    #words = textInput("filter", {
        type: "search", class: "input search", placeholder: _("Filter"), "aria-label": _("Filter"),
        oninput: () => {
            this.#pager.reset();
            this.#page.schedule();
        },
    });
    #pager;
    #table;
    #empty;
    #count = h("span", { class: "count" });

    constructor(page, title, columns, row, empty, extra = []) {
        this.#page = page;
        this.heading = heading(title);
        this.#pager = new Pager(() => page.schedule());
        this.#table = new Table(title, columns, entry => entry.task.id, row, this.heading);
        this.#empty = empty;
        this.element = h("main", { class: "card" },
            h("div", { class: "toolbar" }, this.heading, this.#count, h("div", { class: "push" }),
                this.#words, button(_("Run a command"), "primary", () => page.orders.submit())),
            this.#table.element, this.#empty, this.#pager.element, ...extra);
    }

    update(entries) {
        const shown = entries.filter(entry => matches(entry.task, this.#words.value));
        this.#table.update(this.#pager.cut(shown));
        this.#table.element.hidden = shown.length === 0;
        this.#empty.hidden = shown.length > 0;
        setText(this.#count, plural("$0 task", "$0 tasks", shown.length));
    }
}

function ownerColumn(page) {
    return page.session.all ? [{ text: _("User"), class: "narrow" }] : [];
}

function ownerCell(page) {
    if (!page.session.all) return { cells: [], update() {} };
    const element = plain();
    return { cells: [element], update: task => setText(element, page.userName(task.owner)) };
}

/** The menu of a row; it looks at the newest state of its task when it opens. */
function rowMenu(page, entry) {
    let task = entry.task;
    const menu = new Menu("", () => page.orders.menu(task));
    return {
        element: menu.element,
        update(newer) {
            task = newer;
            menu.rename(format(_("Orders for $0"), nameOf(task)));
            menu.element.hidden = page.orders.menu(task).length === 0;
        },
    };
}

/** What has begun: its budget, its progress, and what has just ended. */
export class LiveView {
    #page;
    #list;
    #ended;

    constructor(page) {
        this.#page = page;
        const columns = [
            { text: _("Task"), class: "wide" }, ...ownerColumn(page), { text: _("State") },
            { text: _("Budget"), class: "bar-column" }, { text: _("Progress"), class: "bar-column" },
            { text: _("Application") }, { text: _("Orders"), isHidden: true, class: "menu-column" },
        ];
        this.#ended = new EndedTable(page);
        this.#list = new TaskList(page, _("Running"), columns, entry => this.#row(entry),
            emptyState(_("Nothing runs"),
                h("p", {}, _("Tasks that have begun are shown here, with what is left of their time."))),
            [this.#ended.element]);
        this.element = this.#list.element;
        this.heading = this.#list.heading;
    }

    update() {
        const { session } = this.#page;
        this.#list.update(session.tasks.live());
        this.#ended.update(session.tasks.ended());
    }

    #row(entry) {
        const name = new NameCell();
        const owner = ownerCell(this.#page);
        const condition = new Condition();
        const budget = new BudgetBar();
        const progress = new ProgressBar();
        const application = plain();
        const menu = rowMenu(this.#page, entry);
        return {
            cells: [
                name.element, ...owner.cells, condition.element, budget.element, progress.element,
                application, menu.element,
            ],
            update: entry => {
                const { task } = entry;
                const times = present(entry, this.#page.now);
                name.update(task);
                owner.update(task);
                condition.update(task);
                budget.update(budgetBar(task, times), budgetText(task, times));
                progress.update(progressPart(task.progress), progressText(task));
                setText(application, visible(task.application ?? ""));
                menu.update(task);
            },
        };
    }
}

/** The last tasks that have ended while the page was open. */
class EndedTable {
    #table;

    constructor(page) {
        this.#table = new Table(_("Just ended"), [
            { text: _("Task"), class: "wide" }, { text: _("Outcome") }, { text: _("Used") },
            { text: _("Ended") },
        ], entry => entry.task.id, () => {
            const name = new NameCell();
            const condition = new Condition();
            const used = plain();
            const ended = plain();
            return {
                cells: [name.element, condition.element, used, ended],
                update: entry => {
                    const times = present(entry, page.now);
                    name.update(entry.task);
                    condition.update(entry.task);
                    setText(used, budgetText(entry.task, times));
                    setText(ended, clock(times.endedMs ?? 0));
                },
            };
        });
        this.element = h("section", { class: "below" }, h("h2", {}, _("Just ended")), this.#table.element);
    }

    update(entries) {
        this.element.hidden = entries.length === 0;
        this.#table.update(entries);
    }
}

/** What waits, and for what. */
export class QueueView {
    #page;
    #list;

    constructor(page) {
        this.#page = page;
        const columns = [
            { text: _("Task"), class: "wide" }, ...ownerColumn(page), { text: _("Waits for") },
            { text: _("Group") }, { text: _("Priority"), class: "number" },
            { text: _("Waiting"), class: "number" },
            { text: _("Orders"), isHidden: true, class: "menu-column" },
        ];
        this.#list = new TaskList(page, _("Queue"), columns, entry => this.#row(entry),
            emptyState(_("Nothing waits"),
                h("p", {}, _("Commands that have no slot yet, or whose time has not come, are shown here."))));
        this.element = this.#list.element;
        this.heading = this.#list.heading;
    }

    update() { this.#list.update(this.#page.session.tasks.queue()); }

    #row(entry) {
        const name = new NameCell();
        const owner = ownerCell(this.#page);
        let task = entry.task;
        const waiting = button("", "link inline", () => this.#explain(task));
        const [group, priority, age] = [plain(), plain(), plain()];
        const menu = rowMenu(this.#page, entry);
        return {
            cells: [name.element, ...owner.cells, waiting, group, priority, age, menu.element],
            update: entry => {
                task = entry.task;
                const times = present(entry, this.#page.now);
                name.update(task);
                owner.update(task);
                const text = waitingText(task, times) || _("its turn");
                setText(waiting, text);
                setAttribute(waiting, "aria-label", format(_("$0: why $1 waits"), text, nameOf(task)));
                setText(group, visible(task.group ?? ""));
                setText(priority, String(task.priority));
                setText(age, span(Math.floor(times.ageMs / 1000) * 1000));
                menu.update(task);
            },
        };
    }

    async #explain(task) {
        try {
            const { explanations } = await this.#page.session.call(tasks + "Explain", { id: task.id });
            openDialog({
                title: format(_("Why $0 waits"), nameOf(task)), submit: _("Show the task"),
                describe: errorText, body: [explanationList(explanations, task.state)],
                onSubmit: async () => cockpit.location.go(["task", String(task.id)]),
            });
        } catch (error) {
            this.#page.say(errorText(error), true);
        }
    }
}

/** Rules that hold something back, one a line. */
export function explanationList(explanations, state) {
    if (explanations.length === 0) return h("p", {}, _("Nothing holds it back."));
    return h("ul", { class: "explanations" }, ...explanations.map(explanation => h("li", {},
        h("strong", {}, ruleText(explanation.rule)), ": ", explanationText(explanation, state))));
}

/** Applications and their states. */
export class ApplicationsView {
    #page;
    #table;
    #empty = emptyState(_("No applications"),
        h("p", {}, _("Programs that register with bgtaskctl app are shown here, with their states.")));

    constructor(page) {
        this.#page = page;
        this.heading = heading(_("Applications"));
        this.#table = new Table(_("Applications"), [
            { text: _("Application"), class: "wide" }, ...ownerColumn(page), { text: _("State") },
            { text: _("Background time") }, { text: _("Tasks"), class: "number" },
            { text: _("Badge"), class: "number" }, { text: _("Last end") },
        ], entry => `${entry.application.owner} ${entry.application.id}`, () => this.#row(), this.heading);
        this.element = h("main", { class: "card" },
            h("div", { class: "toolbar" }, this.heading), this.#table.element, this.#empty);
    }

    update() {
        const { applications } = this.#page.session;
        this.#table.update(applications);
        this.#table.element.hidden = applications.length === 0;
        this.#empty.hidden = applications.length > 0;
    }

    #row() {
        const [name, units, time, count, badge, end] = Array.from({ length: 6 }, () => plain());
        units.className = "doing";
        const owner = ownerCell(this.#page);
        const state = h("span", { class: "label" });
        return {
            cells: [h("div", {}, name, h("div", {}, units)), ...owner.cells, state, time, count, badge, end],
            update: ({ application, at }) => {
                const elapsed = this.#page.now - at;
                setText(name, visible(application.id));
                setText(units, application.units?.map(visible).join(", ") ?? "");
                owner.update(application);
                setText(state, applicationText(application.state));
                setAttribute(state, "class", `label ${{
                    active: "green", inactive: "blue", background: "orange",
                }[application.state] ?? "grey"}`);
                setText(time, this.#time(application, elapsed));
                setText(count, String(application.tasks));
                setText(badge, application.badge > 0 ? String(application.badge) : "–");
                const last = application.lastTermination;
                setText(end, last ? terminationText(last.reason) : "–");
            },
        };
    }

    #time(application, elapsed) {
        if (application.remainingMs != null) {
            return format(_("$0 left"), ticking(Math.max(0, application.remainingMs - elapsed)));
        }
        return application.backgroundMs == null
            ? "–" : format(_("$0 so far"), ticking(application.backgroundMs + elapsed));
    }
}

/** What has ended, as far back as the daemon knows. */
export class HistoryView {
    #page;
    #table;
    #pager;
    #found = [];
    #asked = 0;
    #isTruncated = h("p", { class: "note", hidden: true });
    #empty = emptyState(_("Nothing has ended"), h("p", {}, _("No task fits what is asked for.")));
    #problem = h("p", { class: "helper error", role: "alert" });
    #timeline;
    #form;

    constructor(page) {
        this.#page = page;
        this.heading = heading(_("History"));
        this.#pager = new Pager(() => page.schedule());
        this.#table = new Table(_("History"), [
            { text: _("Task"), class: "wide" }, ...ownerColumn(page), { text: _("Outcome") },
            { text: _("Exit") }, { text: _("Used"), class: "number" }, { text: _("Ended") },
            { text: _("Reason") }, { text: _("Orders"), isHidden: true, class: "menu-column" },
        ], entry => entry.task.id, entry => this.#row(entry), this.heading);
        const fields = [
            field(_("Name"), textInput("name")),
            field(_("Outcome"), select("outcome",
                [["", _("any")], ...outcomes.map(outcome => [outcome, outcomeText(outcome)])])),
            field(_("Ended within"), textInput("since", { placeholder: "1d" })),
            field(_("Application"), textInput("application")),
            field(_("Group"), textInput("group")),
        ];
        this.#form = h("form", {
            class: "filters", role: "search",
            onsubmit: event => {
                event.preventDefault();
                this.#pager.reset();
                this.load();
            },
        }, ...fields.map(one => one.element), h("div", { class: "field end" },
            h("button", { type: "submit", class: "button secondary" }, _("Search"))));
        this.#form.elements.since.value = "1d";
        this.#timeline = new Timeline(page);
        this.element = h("main", { class: "card" },
            h("div", { class: "toolbar" }, this.heading), this.#form, this.#problem, this.#timeline.element,
            this.#isTruncated, this.#table.element, this.#empty, this.#pager.element);
        page.session.addEventListener("status", this.#onStatus);
        this.load();
    }

    #onStatus = () => {
        if (this.#page.session.status === "ready") this.load();
    };

    close() {
        this.#page.session.removeEventListener("status", this.#onStatus);
        this.#timeline.close();
    }

    async load() {
        const values = Object.fromEntries(new FormData(this.#form));
        const { parameters, problem } = historyParameters(values, false);
        setText(this.#problem, problem ? _("Ended within: this is no length of time.") : "");
        if (problem || this.#page.session.status !== "ready") return;
        const asked = ++this.#asked;
        try {
            const { tasks: found, truncated } =
                await this.#page.session.call(tasks + "History", parameters);
            // Somebody may have asked for something else meanwhile.
            if (asked !== this.#asked) return;
            const at = performance.now();
            this.#found = (found ?? []).map(task => ({ task, at }));
            this.#isTruncated.hidden = !truncated;
            setText(this.#isTruncated, truncated
                ? format(_("These are the last $0; there are others. Ask for less."), this.#found.length)
                : "");
            this.#page.schedule();
            this.#timeline.show(parameters);
        } catch (error) {
            if (asked === this.#asked) this.#page.say(errorText(error), true);
        }
    }

    update() {
        this.#table.update(this.#pager.cut(this.#found));
        this.#table.element.hidden = this.#found.length === 0;
        this.#empty.hidden = this.#found.length > 0;
    }

    #row(entry) {
        const name = new NameCell();
        const owner = ownerCell(this.#page);
        const condition = new Condition();
        const [exit, used, ended, reason] = Array.from({ length: 4 }, () => plain());
        const menu = rowMenu(this.#page, entry);
        return {
            cells: [
                name.element, ...owner.cells, condition.element, exit, used, ended, reason, menu.element,
            ],
            update: entry => {
                const { task } = entry;
                const times = present(entry, this.#page.now);
                name.update(task);
                owner.update(task);
                condition.update(task);
                setText(exit, exitText(task.exit) || "–");
                setText(used, budgetText(task, times) || "–");
                setText(ended, clock(times.endedMs ?? 0));
                setText(reason, reasonText(task.reason) || "–");
                menu.update(task);
            },
        };
    }
}

/** The groups of the queue, and slots. */
export class GroupsView {
    #page;
    #table;
    #slots = h("span", {});
    #change;
    #empty = emptyState(_("No groups"), h("p", {}, _("The settings of the daemon name no groups.")));

    constructor(page) {
        this.#page = page;
        this.heading = heading(_("Groups"));
        const mayOperate = page.session.mayOperate;
        this.#table = new Table(_("Groups"), [
            { text: _("Group"), class: "wide" }, { text: _("State") },
            { text: _("Slots"), class: "number" }, { text: _("Running"), class: "number" },
            { text: _("Queued"), class: "number" },
            ...mayOperate ? [{ text: _("Orders"), isHidden: true, class: "menu-column" }] : [],
        ], group => group.name, group => this.#row(group, mayOperate), this.heading);
        this.#change = button(_("Change…"), "link inline", () => this.#setSlots(null, page.session.slots));
        this.#change.hidden = !mayOperate;
        this.element = h("main", { class: "card" },
            h("div", { class: "toolbar" }, this.heading, h("div", { class: "push" }),
                h("span", { class: "slots" }, this.#slots, " ", this.#change)),
            mayOperate ? null : h("p", { class: "note" },
                _("Pausing groups and changing slots needs administrative access.")),
            this.#table.element, this.#empty);
        page.session.addEventListener("task", this.#onTask);
        page.session.refreshGroups();
    }

    // Tasks that begin and end change what groups have.
    #onTask = () => this.#page.session.refreshGroups();

    close() { this.#page.session.removeEventListener("task", this.#onTask); }

    update() {
        const { groups, slots } = this.#page.session;
        this.#table.update(groups);
        this.#table.element.hidden = groups.length === 0;
        this.#empty.hidden = groups.length > 0;
        setText(this.#slots, slots === null
            ? "" : plural("$0 command may run at once", "$0 commands may run at once", slots));
    }

    #row(group, mayOperate) {
        let current = group;
        const name = plain();
        const state = h("span", { class: "label" });
        const [slots, running, queued] = Array.from({ length: 3 }, () => plain());
        const menu = new Menu(format(_("Orders for $0"), visible(group.name)), () => [
            current.paused
                ? { text: _("Resume"), action: () => this.#pause(current, false) }
                : { text: _("Pause"), action: () => this.#pause(current, true) },
            { text: _("Change slots…"), action: () => this.#setSlots(current.name, current.slots) },
        ]);
        return {
            cells: [name, state, slots, running, queued, ...mayOperate ? [menu.element] : []],
            update: newer => {
                current = newer;
                setText(name, visible(newer.name));
                setText(state, newer.paused ? _("paused") : _("open"));
                setAttribute(state, "class", `label ${newer.paused ? "orange" : "green"}`);
                setText(slots, String(newer.slots));
                setText(running, String(newer.running));
                setText(queued, String(newer.queued));
            },
        };
    }

    async #pause(group, isPaused) {
        const { session } = this.#page;
        try {
            await session.callAsOperator(
                tasks + (isPaused ? "PauseGroup" : "ResumeGroup"), { group: group.name });
            this.#page.say(format(isPaused ? _("Group $0 is paused.") : _("Group $0 goes on."),
                visible(group.name)), false);
        } catch (error) {
            this.#page.say(errorText(error), true);
        }
        await session.refreshGroups();
    }

    #setSlots(group, slots) {
        const { session } = this.#page;
        const number = field(_("Slots"), h("input", {
            type: "number", name: "slots", min: 1, max: 10000, class: "input", required: true,
            value: slots ?? 1,
        }), _("1 to 10000. If empty, as the settings say."));
        openDialog({
            title: group === null ? _("Slots of the daemon") : format(_("Slots of $0"), visible(group)),
            submit: _("Change"), describe: errorText,
            body: [number.element, h("label", { class: "check" },
                h("input", { type: "checkbox", name: "keep" }), _("Keep it over a restart of the daemon"))],
            onSubmit: async data => {
                await session.callAsOperator(tasks + "SetSlots", {
                    ...group === null ? {} : { group },
                    ...data.get("slots") === "" ? {} : { slots: Number(data.get("slots")) },
                    ...data.has("keep") ? { keep: true } : {},
                });
                await session.refreshGroups();
                this.#page.say(_("The slots are changed."), false);
            },
        });
    }
}
