/** What can be ordered of a task, and the dialogs for it. */
import { checkbox, field, h, openDialog, select, textInput } from "./dom.js";
import { orders } from "./model.js";
import { submission } from "./submission.js";
import { _, format, visible } from "./text.js";
import { errorText } from "./words.js";

const tasks = "org.bgtaskd.Tasks.";

/** Gives orders, and says what has become of them. */
export class Orders {
    #session;
    #say;
    #userID;

    /**
     * @param {Session} session
     * @param {function(string, boolean)} say - shows a message; true: of something that went wrong.
     * @param {number} userID - of who is logged in.
     */
    constructor(session, say, userID) {
        this.#session = session;
        this.#say = say;
        this.#userID = userID;
    }

    /** What the menu of a task has. */
    menu(task) {
        const may = orders(task);
        const name = nameOf(task);
        const items = [];
        const add = (isAllowed, text, action, kind) => {
            if (isAllowed) items.push({ text, action, kind });
        };
        add(may.extend, _("Extend"), () => this.#order("Extend", { id: task.id },
            format(_("$0 has its whole budget again."), name)));
        add(may.pause, _("Pause"), () => this.#order("Change", { id: task.id, paused: true },
            format(_("$0 is paused."), name)));
        add(may.resume, _("Resume"), () => this.#order("Change", { id: task.id, paused: false },
            format(_("$0 goes on."), name)));
        add(may.restart && task.owner === this.#userID, _("Run again"), () => this.#restart(task));
        add(may.cancel, _("Cancel…"), () => this.cancel(task), "danger");
        return items;
    }

    async #order(method, parameters, said) {
        try {
            await this.#session.call(tasks + method, parameters);
            this.#say(said, false);
        } catch (error) {
            this.#say(errorText(error), true);
        }
    }

    async #restart(task) {
        try {
            const { id } = await this.#session.callAsUser(tasks + "Restart", { id: task.id });
            this.#say(format(_("$0 runs again as task $1."), nameOf(task), id), false);
        } catch (error) {
            this.#say(errorText(error), true);
        }
    }

    cancel(task) {
        const name = nameOf(task);
        const reason = field(_("Reason"), textInput("reason", { maxlength: 256 }),
            _("Is kept with the task."));
        const isCommand = task.kind === "run" && task.state !== "queued";
        openDialog({
            title: format(_("Cancel $0?"), name), submit: _("Cancel task"), kind: "danger",
            describe: errorText,
            body: [
                h("p", {}, isCommand
                    ? _("It gets SIGTERM and its grace. What is left of it then is killed.")
                    : _("It ends at once.")),
                reason.element,
                isCommand ? checkbox("kill", _("Kill it at once, without its grace")) : null,
            ].filter(part => part !== null),
            onSubmit: async fields => {
                await this.#session.call(tasks + "Cancel", {
                    id: task.id,
                    ...fields.get("reason").trim() ? { reason: fields.get("reason").trim() } : {},
                    ...fields.has("kill") ? { signal: "SIGKILL" } : {},
                });
                this.#say(format(_("$0 is cancelled."), name), false);
            },
        });
    }

    /** The form for a command; it is always submitted as the user who is logged in. */
    async submit() {
        // Groups may have come since the settings were read last.
        await this.#session.refreshGroups();
        const { profiles, groups, applications } = this.#session;
        const none = ["", "–"];
        const own = applications.map(entry => entry.application)
            .filter(application => application.owner === this.#userID);
        const fields = {
            command: field(_("Command"), textInput("command", { required: true, spellcheck: "false" }),
                _("A program with its arguments. For pipes and variables: sh -c '…'")),
            name: field(_("Name"), textInput("name"), _("If empty, that of the program.")),
            budget: field(_("Budget"), textInput("budget"),
                _("Such as 90s, 3min or 1h 30min. If empty, that of the profile.")),
            grace: field(_("Grace"), textInput("grace"), _("How long before the limit it is warned.")),
            profile: field(_("Profile"),
                select("profile", [none, ...profiles.map(one => [one.name, visible(one.name)])])),
            group: field(_("Group"),
                select("group", [none, ...groups.map(one => [one.name, visible(one.name)])])),
            priority: field(_("Priority"), textInput("priority", { inputmode: "numeric" }),
                _("-1000 to 1000; the higher runs first.")),
            application: field(_("Application"),
                select("application", [none, ...own.map(one => [one.id, visible(one.id)])])),
            earliestBegin: field(_("Not before"), textInput("earliestBegin"),
                _("Counted from now, such as 2h.")),
            attempts: field(_("Attempts"), textInput("attempts", { inputmode: "numeric" }),
                _("How often it is tried, if it fails.")),
            directory: field(_("Folder"), textInput("directory"), _("If empty, your home.")),
        };
        const row = (...names) => h("div", { class: "fields" }, ...names.map(name => fields[name].element));
        openDialog({
            title: _("Run a command"), submit: _("Run"), describe: errorText,
            body: [
                fields.command.element, row("name", "profile"), row("budget", "grace"),
                h("details", { class: "more" }, h("summary", {}, _("More options")),
                    row("group", "priority"), row("application", "directory"),
                    row("earliestBegin", "attempts"),
                    h("fieldset", {}, h("legend", {}, _("Only while")),
                        checkbox("network", _("there is a network")),
                        checkbox("externalPower", _("the machine is not on battery")),
                        checkbox("idle", _("the machine has little else to do")),
                    ),
                    checkbox("paused", _("Paused: it waits until it is resumed"))),
            ],
            onSubmit: async data => {
                const value = {};
                for (const name of Object.keys(fields)) value[name] = data.get(name) ?? "";
                for (const name of ["network", "externalPower", "idle", "paused"]) {
                    value[name] = data.has(name);
                }
                const { work, problems } = submission(value, profiles);
                for (const [name, one] of Object.entries(fields)) {
                    one.complain(problems?.[name] ? problemText(problems[name]) : "");
                }
                if (problems) {
                    const { input } = fields[Object.keys(problems)[0]];
                    const details = input.closest("details");
                    if (details !== null) details.open = true;
                    input.focus();
                    throw new Error(_("Something is not filled in as it must be."));
                }
                const { id, receipt } = await this.#session.callAsUser(tasks + "Submit", { work });
                this.#say(receipt === "deferred"
                    ? format(_("$0 waits as task $1."), visible(work.name), id)
                    : format(_("$0 is task $1."), visible(work.name), id), false);
            },
        });
    }
}

/** A task in a message. */
export function nameOf(task) {
    return task.name ? visible(task.name) : format(_("Task $0"), task.id);
}

function problemText(problem) {
    return {
        missing: _("This is needed."),
        quote: _("A quote is left open."),
        span: _("This is no length of time."),
        grace: _("The grace has to be shorter than the budget."),
        number: _("This is no whole number in the range."),
    }[problem];
}
