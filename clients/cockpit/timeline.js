/** The picture of time that bgtaskctl draws, where it can. */
import { h } from "./dom.js";
import { timelineArguments } from "./filter.js";
import { _ } from "./text.js";

/** More than a picture that somebody can look at. */
const bytesMax = 8 * 1024 * 1024;

function bgtaskctl(words) {
    return cockpit.spawn(["bgtaskctl", ...words], { err: "message" });
}

/** Whether there is a bgtaskctl that draws; asked once. */
let canDraw = null;

async function askWhetherItDraws() {
    try {
        await bgtaskctl(["timeline", "--help"]);
        return true;
    } catch {
        // An older one has no such command, and the page may be there without any.
        return false;
    }
}

/** A timeline that is drawn, as the user who is logged in, while it is open. */
export class Timeline {
    #page;
    #parameters = {};
    #drawn = 0;
    #source = null;
    #problem = h("p", { class: "helper error" });
    #picture = h("img", { alt: _("Timeline of the tasks below"), hidden: true });
    element = h("details", { class: "more timeline", hidden: true, ontoggle: () => this.#draw() },
        h("summary", {}, _("Timeline")), this.#problem, this.#picture);

    constructor(page) { this.#page = page; }

    /** Shows the tasks of other parameters of History. */
    async show(parameters) {
        this.#parameters = parameters;
        canDraw ??= askWhetherItDraws();
        const { all, isOperator } = this.#page.session;
        // It is nobody's but the user's own bgtaskctl, which may tell of others only to an operator.
        this.element.hidden = !await canDraw || (all && !isOperator);
        await this.#draw();
    }

    close() {
        this.#drawn++;
        this.#forget();
    }

    async #draw() {
        if (!this.element.open || this.element.hidden) return;
        const drawn = ++this.#drawn;
        let svg = "";
        let problem = "";
        try {
            const { daemon, session } = this.#page;
            svg = await bgtaskctl(timelineArguments(
                daemon.path, this.#parameters, session.all, this.element.clientWidth));
        } catch (error) {
            problem = error.message;
        }
        // Something else may have been asked for meanwhile.
        if (drawn !== this.#drawn) return;
        this.#forget();
        const isPicture = svg.length < bytesMax && svg.startsWith("<svg ");
        this.#problem.textContent = isPicture ? "" : problem || _("It could not be drawn.");
        this.#picture.hidden = !isPicture;
        if (!isPicture) return;
        // As an image, so that nothing in it can act.
        this.#source = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
        this.#picture.src = this.#source;
    }

    #forget() {
        if (this.#source !== null) URL.revokeObjectURL(this.#source);
        this.#source = null;
    }
}
