/** What the page knows of one daemon: it watches it, and comes back when the daemon does. */
import { Connection, ConnectionClosed } from "./connection.js";
import { TaskModel } from "./model.js";
import { VarlinkError } from "./varlink.js";

const tasks = "org.bgtaskd.Tasks.";
const applications = "org.bgtaskd.Applications.";

/** Milliseconds before another try. */
const delays = { first: 200, most: 5000 };

/**
 * How it stands with the connection.
 *
 * `connecting` → `ready` → `lost` → `ready`; `missing` where nobody has listened at the socket so far, `refused` where
 * the socket, or the administrator's view, is not for this user. All but `ready` try again by themselves.
 */
export class Session extends EventTarget {
    status = "connecting";
    tasks = new TaskModel();
    applications = [];
    groups = [];
    /** Slots of the daemon; null where it has not said. */
    slots = null;
    profiles = [];
    version = "";
    /** Whether the user may reach the tasks of all users without Cockpit's administrative access. */
    isOperator = false;
    /** Whether tasks of all users are shown. */
    all;

    #path;
    #hasAdministrator;
    #connections = new Map();
    #timer = null;
    #delay = delays.first;
    /** Whether it has been `ready`: then there is something to show while nobody listens. */
    #wasReady = false;
    #refreshing = new Map();
    /** Counts the times that it has been opened: what fails of an earlier one is of no account. */
    #opened = 0;
    #isClosed = false;

    /**
     * @param {string} path - the daemon's socket.
     * @param {boolean} all - show the tasks of all users.
     * @param {() => boolean} hasAdministrator - whether Cockpit has administrative access now.
     */
    constructor(path, all, hasAdministrator) {
        super();
        this.#path = path;
        this.all = all;
        this.#hasAdministrator = hasAdministrator;
        this.#open();
    }

    /** Whether the orders of an operator can be given. */
    get mayOperate() { return this.isOperator || this.#hasAdministrator(); }

    /** An order or a question about a task that is shown. */
    call(method, parameters = {}) {
        return this.#view("orders").call(method, { ...parameters, ...this.all ? { all: true } : {} });
    }

    /** What is done as the user in any view, such as submitting. */
    callAsUser(method, parameters = {}) {
        return this.#connection("user", false).call(method, parameters);
    }

    /** What is for operators. */
    callAsOperator(method, parameters = {}) {
        return this.#connection("operator", !this.isOperator).call(method, parameters);
    }

    /**
     * Reads what a task prints, until it ends.
     *
     * @returns {{done: Promise<void>, close: function}}
     */
    follow(id, onPiece) {
        const connection = new Connection(this.#path, this.#asAdministrator);
        const done = connection.stream(
            tasks + "Output", { id, follow: true, ...this.all ? { all: true } : {} }, onPiece);
        return { done: done.finally(() => connection.close()), close: () => connection.close() };
    }

    /** Tries at once. */
    retry() {
        clearTimeout(this.#timer);
        this.#delay = delays.first;
        this.#drop();
        this.#open();
    }

    /** Reads groups and slots again. */
    refreshGroups() {
        return this.#refresh("groups", async () => {
            const { groups, slots } = await this.#view("orders").call(tasks + "Groups");
            this.groups = groups;
            this.slots = slots ?? null;
        });
    }

    close() {
        this.#isClosed = true;
        clearTimeout(this.#timer);
        this.#drop();
    }

    get #asAdministrator() { return this.all && !this.isOperator; }

    #view(name) { return this.#connection(name, this.#asAdministrator); }

    #connection(name, asAdministrator) {
        const key = `${name} ${asAdministrator}`;
        let connection = this.#connections.get(key);
        if (connection === undefined) {
            connection = new Connection(this.#path, asAdministrator, closed => {
                if (this.#connections.get(key) === connection) this.#connections.delete(key);
                // Those that are opened for an order may be refused by themselves.
                if (["watch", "orders"].includes(name)) this.#lost(closed);
            });
            this.#connections.set(key, connection);
        }
        return connection;
    }

    async #open() {
        const opened = ++this.#opened;
        const lost = error => {
            if (opened === this.#opened) this.#lost(error);
        };
        try {
            await this.#askWhetherOperator();
            await this.#watch(lost);
            if (opened !== this.#opened) return;
            this.#delay = delays.first;
            this.#wasReady = true;
            this.#become("ready");
        } catch (error) {
            lost(error);
        }
    }

    /** Operators are let through to what there is not; others are told that they may not ask. */
    async #askWhetherOperator() {
        try {
            await this.callAsUser(tasks + "Show", { id: 0, all: true });
        } catch (error) {
            if (!(error instanceof VarlinkError)) throw error;
            this.isOperator = error.error !== "org.varlink.service.PermissionDenied";
        }
    }

    /** @param {function(Error)} lost - called when the watch ends. */
    async #watch(lost) {
        const all = this.all ? { all: true } : {};
        const now = () => performance.now();
        this.tasks.beginList();
        const watch = this.#view("watch");
        // Both calls go out in one piece: with the first reply the watch has begun, and the list misses nothing.
        const described = watch.call("org.bgtaskd.Manager.Describe");
        watch.stream(tasks + "Watch", all, ({ event }) => {
            this.tasks.event(event, now());
            this.#changed();
            this.#told(event.task.id);
        }).catch(lost);
        const { profiles, version } = await described;
        this.profiles = profiles;
        this.version = version;
        await this.#view("orders").stream(
            tasks + "List", all, ({ task }) => task && this.tasks.list(task, now()));
        this.tasks.endList();
        this.#connection("applications", this.#asAdministrator)
            .stream(applications + "Watch", all, () => this.#refreshApplications())
            .catch(error => this.#failed(error));
        await Promise.all([this.refreshGroups(), this.#refreshApplications()]);
    }

    #refreshApplications() {
        return this.#refresh("applications", async () => {
            const all = this.all ? { all: true } : {};
            const reply = await this.#view("orders").call(applications + "List", all);
            const at = performance.now();
            this.applications = reply.applications.map(application => ({ application, at }));
        });
    }

    /** Does it now, and once more where it was asked for meanwhile. */
    #refresh(name, work) {
        const running = this.#refreshing.get(name);
        if (running !== undefined) {
            running.again = true;
            return running.done;
        }
        const entry = { again: false };
        this.#refreshing.set(name, entry);
        entry.done = (async () => {
            try {
                do {
                    entry.again = false;
                    await work();
                } while (entry.again);
                this.#changed();
            } catch (error) {
                this.#failed(error);
            } finally {
                this.#refreshing.delete(name);
            }
        })();
        return entry.done;
    }

    /** What does not end the session; a connection that is gone is told of elsewhere. */
    #failed(error) {
        if (error instanceof ConnectionClosed) return;
        this.dispatchEvent(new CustomEvent("problem", { detail: error }));
    }

    #lost(error) {
        if (this.#isClosed || this.#timer !== null) return;
        this.#drop();
        const problem = error?.problem;
        if (problem === "not-found" && !this.#wasReady) this.#become("missing");
        else if (problem === "access-denied" ||
            error?.error === "org.varlink.service.PermissionDenied") this.#become("refused");
        else {
            if (!(error instanceof ConnectionClosed)) console.error("bgtaskd:", error);
            this.#become("lost");
        }
        this.#timer = setTimeout(() => {
            this.#timer = null;
            this.#open();
        }, this.#delay);
        this.#delay = Math.min(this.#delay * 2, delays.most);
    }

    #drop() {
        clearTimeout(this.#timer);
        this.#timer = null;
        const connections = [...this.#connections.values()];
        this.#connections.clear();
        for (const connection of connections) connection.close();
    }

    #become(status) {
        if (this.#isClosed) return;
        this.status = status;
        this.#changed();
        this.dispatchEvent(new Event("status"));
    }

    #changed() { this.dispatchEvent(new Event("change")); }

    #told(id) { this.dispatchEvent(new CustomEvent("task", { detail: id })); }
}
