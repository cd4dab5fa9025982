/** Lengths of time and dates as people read and write them. Pure. */
import { language } from "./text.js";

const second = 1000;
const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** As exact as somebody wants to know who looks at it: `340ms`, `4.2s`, `2min 55s`, `1h 5min`, `3d 2h`. */
export function span(milliseconds) {
    if (!(milliseconds > 0)) return "0s";
    if (milliseconds < 100) return `${Math.ceil(milliseconds)}ms`;
    if (milliseconds < 995) return `${Math.round(milliseconds / 10) * 10}ms`;
    if (milliseconds < 9950) return `${Math.round(milliseconds / 100) / 10}s`;
    return wholeSeconds(Math.round(milliseconds / second));
}

/** For what ticks: whole seconds, rounded up, so that it does not jump between units. */
export function ticking(milliseconds) {
    return milliseconds > 0 ? wholeSeconds(Math.ceil(milliseconds / second)) : "0s";
}

function wholeSeconds(seconds) {
    const smallest = seconds < 3600 ? 1 : seconds < 86400 ? 60 : 3600;
    let rest = Math.floor(seconds / smallest) * smallest;
    const parts = [];
    for (const [name, length] of units) {
        const count = Math.floor(rest / length);
        rest -= count * length;
        if (count > 0) parts.push(`${count}${name}`);
    }
    return parts.join(" ") || "0s";
}

const lengths = {
    ms: 1, msec: 1,
    "": second, s: second, sec: second, second: second, seconds: second,
    m: 60 * second, min: 60 * second, minute: 60 * second, minutes: 60 * second,
    h: 3600 * second, hr: 3600 * second, hour: 3600 * second, hours: 3600 * second,
    d: 86400 * second, day: 86400 * second, days: 86400 * second,
};

/** The most that the daemon takes: a hundred years. */
export const spanMax = 3162240000000;

/**
 * Reads a time span such as `3min`, `1h 30min` or `90`, which are seconds.
 *
 * @returns {number | null} whole milliseconds; null for what is none, and for what is too long.
 */
export function parseSpan(text) {
    const parts = [...text.trim().toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s*([a-z]*)\s*/gy)];
    const length = parts.reduce((sum, part) => sum + part[0].length, 0);
    if (parts.length === 0 || length !== text.trim().length) return null;
    if (parts.length > 1 && parts.some(part => part[2] === "")) return null;
    let sum = 0;
    for (const [, number, unit] of parts) {
        if (!Object.hasOwn(lengths, unit)) return null;
        sum += Number(number) * lengths[unit];
    }
    sum = Math.ceil(sum);
    return sum <= spanMax ? sum : null;
}

/** The date and time of something that was so long ago; of today the time alone. A dash for what no calendar has. */
export function clock(milliseconds, now = new Date()) {
    const then = new Date(now.getTime() - milliseconds);
    if (Number.isNaN(then.getTime())) return "–";
    const isToday = then.toDateString() === now.toDateString();
    return new Intl.DateTimeFormat(language(), {
        ...isToday ? {} : { dateStyle: "medium" }, timeStyle: "medium",
    }).format(then);
}
