/** Which tasks a list shows. Pure. */
import { parseSpan } from "./times.js";

export const states = ["queued", "dormant", "running", "expiring"];

export const outcomes = [
    "completed", "failed", "expired", "overrun", "cancelled", "abandoned", "interrupted",
];

/** Whether a task has each of the words somewhere, in its number, name, command, application, group or status. */
export function matches(task, words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(word => word !== "");
    if (wanted.length === 0) return true;
    const text = [
        task.id, task.name, ...task.command ?? [], task.application ?? "", task.group ?? "",
        task.status ?? "",
    ].join("\n").toLowerCase();
    return wanted.every(word => text.includes(word));
}

/** @returns {{items: object[], page: number, pages: number, first: number, last: number, total: number}} */
export function paginate(items, page, size) {
    const pages = Math.max(1, Math.ceil(items.length / size));
    const within = Math.min(Math.max(0, page), pages - 1);
    const start = within * size;
    const shown = items.slice(start, start + size);
    return {
        items: shown, page: within, pages, first: shown.length === 0 ? 0 : start + 1,
        last: start + shown.length, total: items.length,
    };
}

/**
 * What History is called with.
 *
 * @param {{name: string, application: string, group: string, outcome: string, since: string}} fields
 * @returns {{parameters: object} | {problem: string}} problem names the field that is wrong.
 */
export function historyParameters(fields, all) {
    const parameters = {};
    for (const key of ["name", "application", "group"]) {
        if (fields[key].trim() !== "") parameters[key] = fields[key].trim();
    }
    if (fields.outcome !== "") parameters.outcomes = [fields.outcome];
    if (fields.since.trim() !== "") {
        const since = parseSpan(fields.since);
        if (since === null) return { problem: "since" };
        parameters.sinceMs = since;
    }
    if (all) parameters.all = true;
    return { parameters };
}

/** What `bgtaskctl timeline` draws where it is not said since when, from the first thing in it on. */
const timelineSpanMs = 86400000;

/** What `bgtaskctl timeline` is called with for the same tasks. */
export function timelineArguments(path, parameters, all, width) {
    const { name, application, group, outcomes = [] } = parameters;
    // A day that has just begun to have something in it is not drawn as an empty one.
    const sinceMs = parameters.sinceMs === timelineSpanMs ? undefined : parameters.sinceMs;
    const option = (key, value) => value === undefined ? [] : [`--${key}=${value}`];
    return [
        "timeline", "--svg", `--socket=${path}`, ...option("name", name),
        ...option("application", application), ...option("group", group),
        ...outcomes.flatMap(outcome => option("outcome", outcome)),
        ...option("since", sinceMs === undefined ? undefined : `${sinceMs}ms`), ...all ? ["--all"] : [],
        `--width=${Math.min(2000, Math.max(400, Math.floor(width)))}`, "--rows=20",
    ];
}
