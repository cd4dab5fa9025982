/** Elements, and what is done to them. Text goes in as text alone. */
import { _, format } from "./text.js";
import { paginate } from "./filter.js";

/**
 * Makes an element.
 *
 * @param {string} tag - its name.
 * @param {object} attributes - `class` and other attributes; `on…` are functions; undefined, null and false are left
 *     out.
 * @param {...(Node | string | null | undefined)} children - texts become text nodes.
 */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
}

/** Sets the text of an element, and touches nothing where it is the same. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
    if (value === null) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

let lastID = 0;

/** An id for what has to be named by another element. */
export function newID() {
    return `bgtaskd-${++lastID}`;
}

/**
 * Makes the children of an element those of a list, in its order; elements of items that stay are kept.
 *
 * @param {HTMLElement} fallback - what gets the focus where the element that has it goes.
 */
export function reconcile(parent, items, key, create, fallback) {
    const old = new Map([...parent.children].map(child => [child.dataset.key, child]));
    let hadFocus = false;
    const wanted = new Set(items.map(item => String(key(item))));
    for (const [name, child] of old) {
        if (wanted.has(name)) continue;
        hadFocus ||= child.contains(document.activeElement);
        child.remove();
        old.delete(name);
    }
    let next = parent.firstElementChild;
    for (const item of items) {
        const name = String(key(item));
        let child = old.get(name);
        if (child === undefined) {
            child = create(item);
            child.dataset.key = name;
        }
        if (child === next) next = next.nextElementSibling;
        else parent.insertBefore(child, next);
        child.update?.(item);
    }
    if (hadFocus) fallback?.focus();
}

export function button(text, kind, onclick, attributes = {}) {
    return h("button", { type: "button", class: `button ${kind}`, onclick, ...attributes }, text);
}

export function label(text, colour) {
    return h("span", { class: `label ${colour}` }, text);
}

/** A bar of a budget: what is used, where the warning comes, and the grace behind it. */
export class BudgetBar {
    #used = h("div", { class: "bar-used" });
    #grace = h("div", { class: "bar-grace" });
    #mark = h("div", { class: "bar-mark" });
    #bar = h("div", {
        class: "bar", role: "meter", "aria-valuemin": 0, "aria-valuemax": 100,
        "aria-label": _("Budget used"),
    }, this.#grace, this.#used, this.#mark);
    #text = h("div", { class: "bar-text" });
    element = h("div", { class: "budget" }, this.#bar, this.#text);

    update(bar, text) {
        setText(this.#text, text);
        this.#bar.hidden = bar === null;
        if (bar === null) return;
        const used = Math.round(bar.used * 1000) / 10;
        this.#used.style.width = `${used}%`;
        this.#grace.style.left = this.#mark.style.left = `${bar.warning * 100}%`;
        this.#bar.classList.toggle("is-warned", bar.used > 0 && bar.used >= bar.warning);
        setAttribute(this.#bar, "aria-valuenow", Math.round(used));
        setAttribute(this.#bar, "aria-valuetext", text);
    }
}

/** A bar of what a task has done by its own account. */
export class ProgressBar {
    #done = h("div", { class: "bar-used" });
    #bar = h("div", {
        class: "bar thin", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100,
        "aria-label": _("Progress"),
    }, this.#done);
    #text = h("div", { class: "bar-text" });
    element = h("div", { class: "progress" }, this.#bar, this.#text);

    update(part, text) {
        setText(this.#text, text);
        this.#bar.hidden = part === null;
        if (part === null) return;
        this.#done.style.width = `${part * 100}%`;
        setAttribute(this.#bar, "aria-valuenow", Math.round(part * 100));
    }
}

/** A button with a menu of orders. */
export class Menu {
    #toggle;
    #list;
    #items;

    /** @param {() => {text: string, kind?: string, action: function}[]} items - asked for each time it opens. */
    constructor(name, items) {
        this.#items = items;
        const id = newID();
        this.#list = h("div", {
            class: "menu", role: "menu", id, hidden: true, onkeydown: event => this.#key(event),
        });
        this.#toggle = h("button", {
            type: "button", class: "button plain kebab", "aria-haspopup": "menu",
            "aria-expanded": "false", "aria-controls": id,
            onclick: () => this.#list.hidden ? this.#open() : this.#close(),
            onkeydown: event => {
                if (event.key !== "ArrowDown") return;
                event.preventDefault();
                this.#open();
            },
        }, h("span", { "aria-hidden": "true" }, "⋮"));
        this.element = h("div", {
            class: "menu-place",
            onfocusout: event => {
                if (!this.element.contains(event.relatedTarget)) this.#close(false);
            },
        }, this.#toggle, this.#list);
        this.rename(name);
    }

    rename(name) {
        setAttribute(this.#toggle, "aria-label", name);
        setAttribute(this.#list, "aria-label", name);
    }

    #open() {
        this.#list.replaceChildren(...this.#items().map(({ text, kind, action }) => h("button", {
            type: "button", role: "menuitem", tabindex: -1, class: `menu-item ${kind ?? ""}`,
            onclick: () => {
                this.#close();
                action();
            },
        }, text)));
        this.#list.hidden = false;
        this.#toggle.setAttribute("aria-expanded", "true");
        const space = document.documentElement.clientHeight -
            this.#toggle.getBoundingClientRect().bottom;
        this.#list.classList.toggle("upwards", space < this.#list.offsetHeight + 8);
        this.#list.firstElementChild?.focus();
    }

    #close(restoresFocus = true) {
        if (this.#list.hidden) return;
        this.#list.hidden = true;
        this.#toggle.setAttribute("aria-expanded", "false");
        if (restoresFocus) this.#toggle.focus();
    }

    #key(event) {
        const items = [...this.#list.children];
        const index = items.indexOf(document.activeElement);
        const next = {
            ArrowDown: (index + 1) % items.length,
            ArrowUp: (index + items.length - 1) % items.length,
            Home: 0, End: items.length - 1,
        }[event.key];
        if (event.key === "Escape") this.#close();
        else if (next !== undefined) items[next].focus();
        else return;
        event.preventDefault();
    }
}

/**
 * A table whose rows are kept as long as their items are there. What it is in a narrow window is in the style sheet;
 * the roles say what it is for who does not see it.
 */
export class Table {
    #columns;
    #body = h("tbody", { role: "rowgroup" });
    #heading;

    /**
     * @param {string} caption - what it is a table of.
     * @param {{text: string, class?: string}[]} columns
     * @param {(item) => {cells: Node[], update: function}} row - makes a row; update is called with each newer item.
     */
    constructor(caption, columns, key, row, heading) {
        this.#columns = columns;
        this.#heading = heading;
        this.key = key;
        this.row = row;
        this.element = h("table", { class: "table", role: "table", "aria-label": caption },
            h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...columns.map(column =>
                h("th", { role: "columnheader", scope: "col", class: column.class },
                    column.isHidden ? h("span", { class: "only-read" }, column.text) : column.text)))),
            this.#body);
    }

    update(items) {
        reconcile(this.#body, items, this.key, item => {
            const { cells, update } = this.row(item);
            const line = h("tr", { role: "row" }, ...cells.map((cell, index) => {
                const column = this.#columns[index];
                return h("td", {
                    role: "cell", class: column.class,
                    "data-label": column.isHidden ? null : column.text,
                }, cell);
            }));
            line.update = update;
            return line;
        }, this.#heading);
    }
}

/** Which part of a long list is shown, and buttons for the others. */
export class Pager {
    static size = 50;
    #page = 0;
    #text = h("span", { class: "pager-text" });
    #back;
    #forth;

    constructor(onChange) {
        const turn = by => {
            this.#page += by;
            onChange();
        };
        this.#back = button("‹", "plain", () => turn(-1), { "aria-label": _("Previous page") });
        this.#forth = button("›", "plain", () => turn(1), { "aria-label": _("Next page") });
        this.element = h("nav", { class: "pager", "aria-label": _("Pages") },
            this.#text, this.#back, this.#forth);
    }

    reset() { this.#page = 0; }

    /** @returns {object[]} the items of the page. */
    cut(items) {
        const shown = paginate(items, this.#page, Pager.size);
        this.#page = shown.page;
        setText(this.#text, format(_("$0 to $1 of $2"), shown.first, shown.last, shown.total));
        this.#back.disabled = shown.page === 0;
        this.#forth.disabled = shown.page === shown.pages - 1;
        this.element.hidden = shown.total <= Pager.size;
        return shown.items;
    }
}

/** What is shown where there is nothing to show. */
export function emptyState(title, ...content) {
    return h("div", { class: "empty" }, h("h2", {}, title), ...content);
}

/**
 * A field of a form, with its label, a hint and a place for what is wrong with it.
 *
 * @returns {{element: HTMLElement, input: HTMLElement, complain: function(string)}}
 */
export function field(text, input, hint = "") {
    const id = newID();
    const helper = h("div", { class: "helper", id: `${id}-hint` }, hint);
    input.id = id;
    input.setAttribute("aria-describedby", helper.id);
    return {
        input,
        element: h("div", { class: "field" }, h("label", { for: id }, text), input, helper),
        complain(problem) {
            setText(helper, problem || hint);
            helper.classList.toggle("error", problem !== "");
            setAttribute(input, "aria-invalid", problem === "" ? null : "true");
        },
    };
}

export function textInput(name, attributes = {}) {
    return h("input", { type: "text", name, autocomplete: "off", class: "input", ...attributes });
}

/** @param {[string, string][]} options - values and texts. */
export function select(name, options, attributes = {}) {
    return h("select", { name, class: "input", ...attributes },
        ...options.map(([value, text]) => h("option", { value }, text)));
}

export function checkbox(name, text, attributes = {}) {
    return h("label", { class: "check" }, h("input", { type: "checkbox", name, ...attributes }), text);
}

/**
 * A dialog: it keeps the focus, and gives it back to what had it.
 *
 * @param {function(FormData): Promise<void>} onSubmit - closes the dialog where it succeeds; what it throws is shown.
 */
export function openDialog({ title, body, submit, kind = "primary", onSubmit, describe }) {
    const opener = document.activeElement;
    const id = newID();
    const problem = h("div", { class: "alert danger", role: "alert", hidden: true });
    const confirm = h("button", { type: "submit", class: `button ${kind}` }, submit);
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": id });
    const form = h("form", {
        novalidate: true,
        onsubmit: async event => {
            event.preventDefault();
            if (confirm.disabled) return;
            confirm.disabled = true;
            problem.hidden = true;
            try {
                await onSubmit(new FormData(form));
                dialog.close();
            } catch (error) {
                setText(problem, describe(error));
                problem.hidden = false;
            } finally {
                confirm.disabled = false;
            }
        },
    },
    h("h2", { id }, title), problem, h("div", { class: "dialog-body" }, ...body),
    h("div", { class: "dialog-end" }, confirm, button(_("Close"), "link", () => dialog.close())));
    dialog.append(form);
    dialog.addEventListener("close", () => {
        dialog.remove();
        // The browser has given it back already, unless what had it is gone.
        if (document.activeElement !== document.body) return;
        const back = opener?.isConnected ? opener : document.querySelector("main h1");
        back?.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}
