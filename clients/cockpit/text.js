/** Texts: translated, with numbers in their places, and with nothing in them that could deceive a reader. Pure. */

/** A text in the language of the session. */
export function _(text) {
    return globalThis.cockpit?.gettext?.(text) ?? text;
}

/** The text for so many of something, with the number in the place of `$0` and what follows in those of `$1`… */
export function plural(one, many, count, ...others) {
    const chosen = globalThis.cockpit?.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
    return format(chosen, count, ...others);
}

/** Puts values in the places of `$0`, `$1`… What a value contains is not looked at again. */
export function format(template, ...values) {
    return template.replace(/\$(\d)/g, (place, index) => String(values[index] ?? place));
}

/** Language of numbers and dates. */
export function language() {
    return (globalThis.cockpit?.language ?? "en").replace("_", "-");
}

// Control and format characters, among them those that turn the direction of what follows; and halves of pairs.
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const unsafeInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escape(character) {
    const code = character.codePointAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`;
}

/** What somebody else wrote, on one line, with control and format characters as escapes. */
export function visible(text) {
    return String(text).replace(unsafe, escape);
}

/** The same with its newlines and tabs. */
export function visibleLines(text) {
    return String(text).replace(unsafeInLines, escape);
}
