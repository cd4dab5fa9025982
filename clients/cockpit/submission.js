/** From the fields of a form to a submission. Pure. */
import { parseSpan } from "./times.js";

/**
 * Takes a command line apart as a shell does: words between blanks, with single and double quotes and backslashes.
 * Nothing is expanded.
 *
 * @returns {string[] | null} null where a quote is left open.
 */
export function splitCommand(line) {
    const words = [];
    let word = null;
    let quote = null;
    for (let index = 0; index < line.length; index++) {
        const character = line[index];
        if (quote === "'") {
            if (character === "'") quote = null; else word += character;
        } else if (character === "\\") {
            index++;
            if (index === line.length) return null;
            // Between double quotes a backslash is itself, except before these.
            const isKept = quote === '"' && !'"\\$`'.includes(line[index]);
            word = (word ?? "") + (isKept ? "\\" : "") + line[index];
        } else if (quote === '"') {
            if (character === '"') quote = null; else word += character;
        } else if (character === "'" || character === '"') {
            quote = character;
            word ??= "";
        } else if (/\s/.test(character)) {
            if (word !== null) words.push(word);
            word = null;
        } else {
            word = (word ?? "") + character;
        }
    }
    if (quote !== null) return null;
    if (word !== null) words.push(word);
    return words;
}

function whole(text, least, most) {
    if (!/^[+-]?\d+$/.test(text.trim())) return null;
    const number = Number(text);
    return number >= least && number <= most ? number : null;
}

/** The grace of a budget without one of its own: what the profile has, or a quarter where that is less. */
function grace(durationMs, profileGraceMs) {
    return Math.min(profileGraceMs ?? 5000, Math.floor(durationMs / 4));
}

/**
 * Puts a submission together.
 *
 * @param {object} fields - texts and whether boxes are checked, by the names of the form.
 * @param {object[]} profiles - those that the daemon has.
 * @returns {{work: object} | {problems: Record<string, string>}} what is wrong, by field: `missing`, `quote`, `span`,
 *     `grace` or `number`.
 */
export function submission(fields, profiles = []) {
    const problems = {};
    const work = {};

    const command = splitCommand(fields.command);
    if (command === null) problems.command = "quote";
    else if (command.length > 0) work.command = command;
    else if (fields.application === "") problems.command = "missing";

    work.name = fields.name.trim() || (command?.[0] ?? "").split("/").pop() || fields.application;
    for (const key of ["directory", "profile", "group", "application"]) {
        if (fields[key].trim() !== "") work[key] = fields[key].trim();
    }

    const budget = fields.budget.trim() === "" ? undefined : parseSpan(fields.budget);
    const graceMs = fields.grace.trim() === "" ? undefined : parseSpan(fields.grace);
    if (budget === null || budget === 0) problems.budget = "span";
    if (graceMs === null) problems.grace = "span";
    else if (graceMs !== undefined && budget === undefined) problems.budget = "missing";
    else if (budget && graceMs >= budget) problems.grace = "grace";
    if (budget) {
        const profile = profiles.find(one => one.name === (fields.profile || "default"));
        work.budget = { durationMs: budget, graceMs: graceMs ?? grace(budget, profile?.graceMs) };
    }

    if (fields.earliestBegin.trim() !== "") {
        const delay = parseSpan(fields.earliestBegin);
        if (delay === null) problems.earliestBegin = "span"; else work.earliestBeginMs = delay;
    }
    if (fields.priority.trim() !== "") {
        const priority = whole(fields.priority, -1000, 1000);
        if (priority === null) problems.priority = "number"; else work.priority = priority;
    }
    if (fields.attempts.trim() !== "") {
        const attempts = whole(fields.attempts, 1, 100);
        if (attempts === null) problems.attempts = "number";
        else if (attempts > 1) work.retry = { attempts };
    }
    const conditions = ["network", "externalPower", "idle"].filter(name => fields[name]);
    if (conditions.length > 0) work.conditions = conditions;
    if (fields.paused) work.paused = true;

    return Object.keys(problems).length > 0 ? { problems } : { work };
}

/** A command as it can be pasted into a shell. */
export function commandLine(command) {
    return command.map(word =>
        /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}
