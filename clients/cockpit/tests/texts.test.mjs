import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { historyParameters, matches, paginate, timelineArguments } from "../filter.js";
import { commandLine, splitCommand, submission } from "../submission.js";
import { _, format, plural, visible, visibleLines } from "../text.js";
import { clock, parseSpan, span, spanMax, ticking } from "../times.js";
import { VarlinkError } from "../varlink.js";
import {
    budgetText, bytesText, conditionColour, conditionText, errorText, explanationText, progressText, reasonText,
    ruleText, waitingText,
} from "../words.js";

const folder = new URL("..", import.meta.url);
const read = name => readFileSync(new URL(name, folder), "utf8");

/** Loads a translation as Cockpit does, with what gettext and ngettext do. */
function speak(language) {
    const cockpit = { language };
    let texts = {};
    cockpit.locale = data => { texts = data; };
    cockpit.gettext = text => texts[text]?.[1] ?? text;
    cockpit.ngettext = (one, many, count) =>
        texts[one]?.[Number(texts[""]["plural-forms"](count)) + 1] ?? (count === 1 ? one : many);
    new Function("cockpit", read(`po.${language}.js`))(cockpit);
    globalThis.cockpit = cockpit;
    return texts;
}

function english(work) {
    delete globalThis.cockpit;
    return work();
}

test("lengths of time read as those of bgtaskctl", () => {
    for (const [milliseconds, text] of [
        [0, "0s"], [-5, "0s"], [NaN, "0s"], [40, "40ms"], [344, "340ms"], [4200, "4.2s"], [9000, "9s"],
        [175000, "2min 55s"], [180000, "3min"], [3900000, "1h 5min"], [266400000, "3d 2h"],
    ]) assert.equal(span(milliseconds), text);
    assert.deepEqual([ticking(1), ticking(1001), ticking(0)], ["1s", "2s", "0s"]);
});

test("lengths of time are read", () => {
    for (const [text, milliseconds] of [
        ["90", 90000], ["90s", 90000], ["3min", 180000], ["1h 30min", 5400000], ["1.5s", 1500],
        [" 2 H ", 7200000], ["1d", 86400000], ["200ms", 200], ["0", 0], ["36600d", spanMax],
    ]) assert.equal(parseSpan(text), milliseconds, text);
    for (const text of ["", " ", "x", "1h 30", "-3s", "3 parsecs", "1e9", "36601d", "3,5s", "1s;", "5constructor"]) {
        assert.equal(parseSpan(text), null, text);
    }
});

test("of today there is the time alone", () => {
    const now = new Date(2026, 10, 25, 12, 0, 0);
    assert.match(clock(60000, now), /^11:59:00/);
    assert.match(clock(86400000, now), /24.*2026/);
    // A daemon may tell anything: one such task is not to stop the others from being shown.
    assert.deepEqual([clock(9e18, now), clock(-9e18, now)], ["–", "–"]);
});

test("commands are taken apart as a shell does, and nothing is expanded", () => {
    for (const [line, words] of [
        ["", []], ["  a  b ", ["a", "b"]], ["sh -c 'echo $x; ls'", ["sh", "-c", "echo $x; ls"]],
        ['a "b \\"c\\" \\n"', ["a", 'b "c" \\n']], ["a\\ b", ["a b"]], ["'' \"\"", ["", ""]],
        ["a'b'\"c\"", ["abc"]], ["$(x) `y` * ~", ["$(x)", "`y`", "*", "~"]], ["'\\'", ["\\"]],
    ]) assert.deepEqual(splitCommand(line), words, line);
    for (const line of ["'", '"', "a 'b", "a\\", '"a\\"']) assert.equal(splitCommand(line), null, line);
});

test("a command is shown so that it can be taken apart again", () => {
    for (const words of [["a"], ["a b", ""], ["it's", '"', "\\", "$x", "*"], ["-n", "é"]]) {
        assert.deepEqual(splitCommand(commandLine(words)), words);
    }
});

const form = {
    command: "", name: "", directory: "", profile: "", group: "", application: "", budget: "", grace: "",
    earliestBegin: "", priority: "", attempts: "", network: false, externalPower: false, idle: false,
    paused: false,
};

test("a form becomes a submission", () => {
    assert.deepEqual(submission({ ...form, command: "/usr/bin/tar -c ." }),
        { work: { name: "tar", command: ["/usr/bin/tar", "-c", "."] } });
    assert.deepEqual(submission({
        ...form, command: "x", name: " upload ", budget: "3min", grace: "10s", group: "uploads",
        priority: "-5", attempts: "3", earliestBegin: "2h", network: true, paused: true, profile: "extended",
    }), {
        work: {
            name: "upload", command: ["x"], profile: "extended", group: "uploads",
            budget: { durationMs: 180000, graceMs: 10000 }, priority: -5, retry: { attempts: 3 },
            earliestBeginMs: 7200000, conditions: ["network"], paused: true,
        },
    });
    assert.deepEqual(submission({ ...form, application: "photos" }),
        { work: { name: "photos", application: "photos" } });
});

test("without a grace a budget has the profile's, or a quarter of itself", () => {
    const profiles = [{ name: "default", graceMs: 5000 }, { name: "extended", graceMs: 60000 }];
    const graceOf = fields => submission({ ...form, command: "x", ...fields }, profiles).work.budget.graceMs;
    assert.equal(graceOf({ budget: "60s" }), 5000);
    assert.equal(graceOf({ budget: "4s" }), 1000);
    assert.equal(graceOf({ budget: "10min", profile: "extended" }), 60000);
});

test("what is wrong in a form is told by its field", () => {
    for (const [fields, problems] of [
        [{}, { command: "missing" }], [{ command: "'" }, { command: "quote" }],
        [{ command: "x", budget: "soon" }, { budget: "span" }],
        [{ command: "x", budget: "0" }, { budget: "span" }],
        [{ command: "x", budget: "5s", grace: "5s" }, { grace: "grace" }],
        [{ command: "x", grace: "5s" }, { budget: "missing" }],
        [{ command: "x", priority: "1001" }, { priority: "number" }],
        [{ command: "x", priority: "1.5" }, { priority: "number" }],
        [{ command: "x", attempts: "0" }, { attempts: "number" }],
        [{ command: "x", earliestBegin: "x", priority: "x" }, { earliestBegin: "span", priority: "number" }],
    ]) assert.deepEqual(submission({ ...form, ...fields }), { problems });
});

test("a filter looks for all words in all that names a task", () => {
    const task = { id: 42, name: "Upload", command: ["rsync", "photos"], group: "net", status: "half" };
    for (const words of ["", "42", "upload RSYNC", "net half", "  photos "]) assert.ok(matches(task, words), words);
    for (const words of ["43", "upload tar", "<img>"]) assert.ok(!matches(task, words), words);
});

test("pages end where the list does", () => {
    const items = Array.from({ length: 101 }, (_, index) => index);
    assert.deepEqual(paginate(items, 0, 50).items.length, 50);
    const last = paginate(items, 9, 50);
    assert.deepEqual([last.page, last.pages, last.items, last.first, last.last], [2, 3, [100], 101, 101]);
    const none = paginate([], 3, 50);
    assert.deepEqual([none.page, none.pages, none.first, none.last], [0, 1, 0, 0]);
});

test("what is asked of the history", () => {
    const fields = { name: " a ", application: "", group: "g", outcome: "failed", since: "2d" };
    assert.deepEqual(historyParameters(fields, true),
        { parameters: { name: "a", group: "g", outcomes: ["failed"], sinceMs: 172800000, all: true } });
    assert.deepEqual(historyParameters({ ...fields, since: "soon" }, false), { problem: "since" });
    assert.deepEqual(historyParameters({ name: "", application: "", group: "", outcome: "", since: "" }, false),
        { parameters: {} });
});

test("the timeline is of the tasks of the history, and no name is an option", () => {
    assert.deepEqual(timelineArguments("/s", { name: "--all", outcomes: ["failed"], sinceMs: 1000 }, false, 812.5), [
        "timeline", "--svg", "--socket=/s", "--name=--all", "--outcome=failed", "--since=1000ms", "--width=812",
        "--rows=20",
    ]);
    assert.deepEqual(timelineArguments("/s", { sinceMs: 86400000 }, true, 0), [
        "timeline", "--svg", "--socket=/s", "--all", "--width=400", "--rows=20",
    ]);
});

test("nothing in a text deceives", () => {
    assert.equal(visible("a\u202eb\n\x1b[31m\0\u2028"), "a\\u{202e}b\\x0a\\x1b[31m\\x00\\u{2028}");
    assert.equal(visible("\ud800x"), "\\u{d800}x");
    assert.equal(visible("日本 👍 <b>&amp;"), "日本 👍 <b>&amp;");
    assert.equal(visibleLines("a\tb\nc\rd\u200b"), "a\tb\nc\\x0dd\\u{200b}");
    // What a value contains is not a place for another.
    assert.equal(format("$0 and $1", "$1", "x"), "$1 and x");
});

test("why a task waits", () => english(() => {
    const queued = { state: "queued" };
    const none = { notBeforeMs: null };
    assert.equal(waitingText({ ...queued, waiting: "slots" }, none), "slots");
    assert.equal(waitingText({ ...queued, waiting: "minimumInterval" }, { notBeforeMs: 581000 }), "interval, 9min 41s");
    assert.equal(waitingText({ ...queued, waiting: "after", after: [3] }, none), "after task 3");
    assert.equal(waitingText({ ...queued, waiting: "after", after: [3, 4] }, none), "after task 3 and 1 other");
    assert.equal(waitingText({ ...queued, waiting: "after", after: [3, 4, 5] }, none), "after task 3 and 2 others");
    assert.equal(waitingText({ ...queued, waiting: "new\u202erule" }, none), "new\\u{202e}rule");
    assert.equal(waitingText({ state: "running" }, none), "");
    assert.equal(ruleText("constructor"), "constructor");
}));

test("an explanation is the daemon's in English, and the rule's in other languages", () => {
    const explanation = { rule: "slots", text: "all slots are taken", earliestChangeMs: 5000 };
    const told = (rule, text, state) => explanationText({ rule, text }, state);
    assert.equal(english(() => explanationText(explanation, "queued")),
        "all slots are taken. This can change in 5s.");
    assert.equal(english(() => told("constructor", "toString", "queued")), "toString.");
    speak("de");
    assert.equal(explanationText(explanation, "queued"), "Die Plätze sind belegt. Das kann sich in 5s ändern.");
    assert.equal(told("novel", "something new\u202e", "queued"), "something new\\u{202e}.");
    assert.equal(told("budget", "it is warned 5 s before its limit", "running"),
        "sie wird 5 s vor ihrer Grenze gewarnt.");
    // The same rule says something else of a task that has ended.
    assert.equal(told("shutdown", "the daemon stopped", "ended"), "der Dienst wurde angehalten.");
    delete globalThis.cockpit;
});

test("why a task was stopped is translated where it is the daemon's own words", () => {
    const reasons = [
        undefined, "its budget is spent", "cancelled by user 1000", "cancelled by user 0: its budget\u202e is spent",
        "no such file: ./run", "constructor",
    ];
    assert.deepEqual(english(() => reasons.map(reasonText)), [
        "", "its budget is spent", "cancelled by user 1000",
        "cancelled by user 0: its budget\\u{202e} is spent", "no such file: ./run", "constructor",
    ]);
    speak("de");
    assert.deepEqual(reasons.map(reasonText), [
        "", "ihr Budget ist aufgebraucht", "von Benutzer 1000 abgebrochen",
        "von Benutzer 0 abgebrochen: its budget\\u{202e} is spent", "no such file: ./run", "constructor",
    ]);
    delete globalThis.cockpit;
});

test("how a task stands", () => english(() => {
    const times = { usedMs: 1000, hardMs: 65000, warningMs: 5000, notBeforeMs: null };
    const budget = { durationMs: 180000, graceMs: 5000 };
    assert.equal(budgetText({ state: "running", budget }, times), "1min 5s left, warning in 5s");
    assert.equal(budgetText({ state: "expiring", budget }, { ...times, warningMs: 0 }), "warned, 1min 5s left");
    assert.equal(budgetText({ state: "running" }, { ...times, hardMs: null }), "no limit");
    assert.equal(budgetText({ state: "ended", budget }, times), "1s of 3min");
    assert.equal(budgetText({ state: "queued", budget }, times), "3min");
    assert.equal(conditionText({ state: "running", paused: true }), "stopped");
    assert.equal(conditionText({ state: "queued", paused: true }), "queued");
    assert.equal(progressText({ progress: { completed: 3, total: 8 }, status: "pack\ning" }), "3 of 8 · pack\\x0aing");
    assert.deepEqual([bytesText(1000), bytesText(1536), bytesText(5e9)], ["1,000 B", "1.5 KiB", "4.7 GiB"]);
}));

test("errors are sentences, also those that are new", () => english(() => {
    const of = (name, parameters) => errorText(new VarlinkError(name, parameters));
    assert.equal(of("org.bgtaskd.Tasks.NoSuchTask", { id: 7 }), "There is no task 7.");
    assert.equal(of("org.example.\u202eNew", {}), "org.example.\\u{202e}New");
    for (const [name, key] of [["NoSuchTask", "id"], ["LimitReached", "value"], ["AlreadyEnded", "id"]]) {
        assert.doesNotMatch(of(`org.bgtaskd.Tasks.${name}`, { [key]: "a\u202eb" }), /\u202e/);
    }
    assert.equal(errorText({ problem: "not-found" }), "bgtaskd is not running.");
    assert.equal(errorText({ problem: null }), "The connection to bgtaskd is lost.");
    assert.equal(errorText(new Error("x\ny")), "x\\x0ay");
}));

test("a state that has the name of something else is grey, and such an outcome red", () => {
    for (const name of ["constructor", "__proto__", "newer"]) {
        assert.equal(conditionColour({ state: name }), "grey");
        assert.equal(conditionColour({ state: "ended", outcome: name }), "red");
    }
    assert.equal(conditionColour({ state: "expiring" }), "orange");
    assert.equal(conditionColour({ state: "ended", outcome: "completed" }), "green");
});

// --- translations -------------------------------------------------------------------------------------

const scripts = readdirSync(folder).filter(name => name.endsWith(".js") && !name.startsWith("po."));

function keys() {
    const single = new Set();
    const plurals = new Map();
    for (const name of scripts) {
        const source = read(name);
        for (const [, text] of source.matchAll(/\b_\(\s*"((?:[^"\\]|\\.)*)"\s*\)/g)) single.add(JSON.parse(`"${text}"`));
        for (const [, one, many] of source.matchAll(/\bplural\(\s*"([^"]*)",\s*"([^"]*)"/g)) plurals.set(one, many);
        // Each text stands where it is translated, so that this finds it.
        if (name === "text.js") continue;
        assert.doesNotMatch(source, /\b_\((?!\s*")|\bplural\((?!\s*")/, name);
    }
    return { single, plurals };
}

const places = text => [...text.matchAll(/\$\d/g)].map(([place]) => place).sort().join("");

for (const language of ["de", "fr"]) {
    test(`all is there in ${language}, and nothing else`, () => {
        const texts = speak(language);
        const { single, plurals } = keys();
        assert.ok(single.size > 200);
        assert.deepEqual(Object.keys(texts).filter(key => key !== "").sort(), [...single, ...plurals.keys()].sort());
        for (const key of single) {
            assert.equal(texts[key].length, 2, key);
            assert.equal(places(texts[key][1]), places(key), key);
        }
        for (const key of plurals.keys()) {
            assert.equal(texts[key].length, 3, key);
            for (const form of texts[key].slice(1)) assert.equal(places(form), places(key), key);
        }
        const menu = read(`po.manifest.${language}.js`);
        assert.ok(menu.includes(JSON.stringify(texts["Background tasks"][1])));
        delete globalThis.cockpit;
    });
}

test("plurals follow the language", () => {
    speak("de");
    assert.deepEqual([0, 1, 2].map(count => plural("$0 task", "$0 tasks", count)), ["0 Aufgaben", "1 Aufgabe", "2 Aufgaben"]);
    speak("fr");
    assert.deepEqual([0, 1, 2].map(count => plural("$0 task", "$0 tasks", count)), ["0 tâche", "1 tâche", "2 tâches"]);
    delete globalThis.cockpit;
    assert.equal(_("Queue"), "Queue");
});

test("no script makes elements of text, and no page needs a laxer policy", () => {
    for (const name of [...scripts, "index.html"]) {
        assert.doesNotMatch(read(name),
            /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setTimeout\("|DOMParser|\sstyle="|\son\w+="/, name);
    }
    const policy = JSON.parse(read("manifest.json"))["content-security-policy"];
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|http/);
});
