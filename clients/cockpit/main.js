/** The page: what is around the views, and which of them is shown. */
import { findDaemons, userNames } from "./daemons.js";
import { button, h, newID, select, setAttribute } from "./dom.js";
import { Orders } from "./orders.js";
import { Session } from "./session.js";
import { TaskView } from "./task.js";
import { _, format, language } from "./text.js";
import { ApplicationsView, GroupsView, HistoryView, LiveView, QueueView } from "./views.js";
import { errorText } from "./words.js";

const views = [
    { path: "", text: () => _("Running"), make: page => new LiveView(page) },
    { path: "queue", text: () => _("Queue"), make: page => new QueueView(page) },
    { path: "applications", text: () => _("Applications"), make: page => new ApplicationsView(page) },
    { path: "history", text: () => _("History"), make: page => new HistoryView(page) },
    { path: "groups", text: () => _("Groups"), make: page => new GroupsView(page) },
];

const daemonTexts = {
    chosen: daemon => daemon.path, system: () => _("of the system"), user: () => _("your own"),
};

class Page {
    /** The moment that is shown, in milliseconds. */
    now = performance.now();
    session = null;
    orders = null;
    daemon = null;

    #user;
    #users;
    #daemons;
    #permission = cockpit.permission({ admin: true });
    #view = null;
    #viewKey = null;
    #frame = null;
    #isFirst = true;
    #tabs;
    #scope;
    #notice = h("div", { class: "alert warning", role: "status", hidden: true });
    #place = h("div", { class: "content" });
    #messages = document.getElementById("messages");

    constructor(user, users, daemons) {
        this.#user = user;
        this.#users = users;
        this.#daemons = daemons;
        this.#tabs = h("nav", { class: "tabs", "aria-label": _("Views") }, ...views.map(view =>
            h("a", { href: `#/${view.path}`, "data-path": view.path }, view.text())));
        this.#scope = h("div", { class: "scope" });
        document.getElementById("page").replaceChildren(
            h("header", { class: "bar-top" }, this.#tabs, this.#scope), this.#notice, this.#place);
        cockpit.addEventListener("locationchanged", () => this.#navigate());
        this.#permission.addEventListener("changed", () => this.#onPermission());
        setInterval(() => this.schedule(), 1000);
        this.#open(daemons[0], false);
    }

    userName(id) { return this.#users.get(id) ?? String(id); }

    /** Shows what is so now, once a frame at most, and not while nobody looks. */
    schedule() {
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            this.now = performance.now();
            this.#view?.update?.();
        });
    }

    /** Shows a message, and has it read out. */
    say(text, isProblem) {
        const message = h("div", { class: `alert toast ${isProblem ? "danger" : "success"}` }, h("span", {}, text),
            button("×", "plain", () => message.remove(), { "aria-label": _("Close") }));
        this.#messages.append(message);
        while (this.#messages.childElementCount > 4) this.#messages.firstElementChild.remove();
        if (!isProblem) setTimeout(() => message.remove(), 8000);
    }

    #open(daemon, all) {
        this.session?.close();
        this.daemon = daemon;
        this.session = new Session(daemon.path, all, () => this.#permission.allowed === true);
        const { session } = this;
        this.orders = new Orders(session, (text, isProblem) => this.say(text, isProblem), this.#user.id);
        session.addEventListener("change", () => this.schedule());
        session.addEventListener("status", () => this.#onStatus());
        session.addEventListener("problem", event => this.say(errorText(event.detail), true));
        this.#forgetView();
        this.#onStatus();
    }

    #onPermission() {
        // The administrator's view ends with the access.
        const { session } = this;
        if (session.all && !session.isOperator && !this.#permission.allowed) this.#open(this.daemon, false);
        else {
            this.#forgetView();
            this.#onStatus();
        }
    }

    #onStatus() {
        const { status } = this.session;
        document.documentElement.dataset.status = status;
        this.#showScope();
        this.#notice.hidden = status !== "lost";
        if (status === "lost") {
            this.#notice.replaceChildren(
                h("span", {}, _("bgtaskd has gone away. What is shown is what was known last; this page comes back when bgtaskd does.")),
                button(_("Try again"), "link inline", () => this.session.retry()));
        }
        this.#navigate();
    }

    /** The menus of the daemon and of whose tasks are shown, where there is something to choose. */
    #showScope() {
        const { session, daemon } = this;
        const choice = (text, name, options, value, onchange) => {
            const id = newID();
            const menu = select(name, options, { id, onchange: event => onchange(event.target.value) });
            menu.value = value;
            return h("div", { class: "choice" }, h("label", { for: id }, text), menu);
        };
        const had = this.#scope.contains(document.activeElement) ? document.activeElement.name : null;
        const menus = [];
        if (this.#daemons.length > 1) {
            menus.push(choice(_("Daemon"), "daemon",
                this.#daemons.map(one => [one.name, daemonTexts[one.name](one)]), daemon.name,
                name => this.#open(this.#daemons.find(one => one.name === name), false)));
        }
        if (daemon.name !== "user" && (session.mayOperate || session.all)) {
            menus.push(choice(_("Tasks"), "all", [["", _("my own")], ["all", _("of all users")]],
                session.all ? "all" : "", value => this.#open(this.daemon, value === "all")));
        }
        this.#scope.replaceChildren(...menus);
        if (had !== null) this.#scope.querySelector(`[name="${had}"]`)?.focus();
    }

    #forgetView() {
        this.#view?.close?.();
        this.#view = null;
        this.#viewKey = null;
    }

    #navigate() {
        const [first = "", second = ""] = cockpit.location.path;
        for (const tab of this.#tabs.children) {
            setAttribute(tab, "aria-current", tab.dataset.path === first ? "page" : null);
        }
        const key = this.#key(first, second);
        if (key !== this.#viewKey) {
            this.#forgetView();
            this.#viewKey = key;
            this.#view = this.#make(key, first, second);
            this.#place.replaceChildren(this.#view.element);
            // Who has followed a link goes on reading at the view that it led to.
            if (!this.#isFirst && document.activeElement === document.body) this.#view.heading?.focus();
            if (!this.#isFirst && first === "task") this.#view.heading?.focus();
            this.#isFirst = false;
        }
        this.schedule();
    }

    /** What is to be seen: a view stays while the connection is lost, since what it shows is still of use. */
    #key(first, second) {
        const { status } = this.session;
        const isView = this.#viewKey !== null && !this.#viewKey.startsWith("status ");
        if (status === "ready" || (status === "lost" && isView)) return `${first} ${second}`;
        return `status ${status}`;
    }

    #make(key, first, second) {
        if (key.startsWith("status ")) return { element: this.#statusView() };
        if (first === "task" && /^\d{1,15}$/.test(second)) return new TaskView(this, Number(second));
        return (views.find(view => view.path === first) ?? views[0]).make(this);
    }

    #statusView() {
        const { status } = this.session;
        const isUser = this.daemon.name === "user";
        const again = button(_("Try again"), "secondary", () => this.session.retry());
        const empty = (title, ...content) =>
            h("main", { class: "card" }, h("div", { class: "empty" },
                h("h1", { tabindex: -1 }, title), ...content));
        if (status === "connecting") {
            return h("main", { class: "card", "aria-busy": "true" },
                h("div", { class: "empty" }, h("p", {}, _("Connecting to bgtaskd…"))));
        }
        if (status === "refused") {
            return empty(_("bgtaskd does not serve this user"),
                h("p", {}, _("The setting access.users names a group that may use it, and the socket may be for others.")),
                again);
        }
        if (status === "lost") {
            return empty(_("bgtaskd does not answer"),
                h("p", {}, _("It was reached, and has closed the connection. Its journal says why.")), again);
        }
        const command = isUser
            ? "systemctl --user enable --now bgtaskd.socket" : "systemctl enable --now bgtaskd.socket";
        return empty(_("bgtaskd is not running"),
            h("p", {}, format(_("There is no socket at $0. The unit bgtaskd.socket makes it:"), this.daemon.path)),
            h("p", {}, h("code", {}, command)),
            h("div", { class: "buttons" }, again, isUser ? null : button(_("Show the unit"), "link",
                () => cockpit.jump("/system/services#/bgtaskd.socket"))));
    }
}

const [user, users, daemons] = await Promise.all([cockpit.user(), userNames(), findDaemons()]);
// In a language without a translation the page is English.
document.documentElement.lang = _("Background tasks") === "Background tasks" ? "en" : language();
cockpit.translate();
document.title = _("Background tasks");
new Page(user, users, daemons);
