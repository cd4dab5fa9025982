// Looks for what keeps people from using the page: run in it, returns one line for each thing that is wrong.
return (() => {
    const problems = [];
    const isShown = element => element.checkVisibility({ visibilityProperty: true });
    const describe = element => `<${element.tagName.toLowerCase()} class="${element.className}"> ` +
        `"${element.textContent.trim().slice(0, 40)}"`;
    const complain = (element, what) => problems.push(`${what}: ${describe(element)}`);

    // Names: what a screen reader says of what can be used.
    const nameOf = element => {
        const referred = (element.getAttribute("aria-labelledby") ?? "").split(" ").filter(id => id !== "")
            .map(id => document.getElementById(id)?.textContent ?? "").join(" ");
        const labels = [...element.labels ?? []].map(label => label.textContent).join(" ");
        return (referred || element.getAttribute("aria-label") || labels || element.getAttribute("alt") ||
            (/^(INPUT|SELECT|TABLE)$/.test(element.tagName) ? "" : element.textContent)).trim();
    };
    const named = "a, button, input, select, summary, dialog, table, nav, img, [role=menu], [role=meter], " +
        "[role=progressbar], [role=log]";
    for (const element of document.querySelectorAll(named)) {
        if (isShown(element) && nameOf(element) === "") complain(element, "has no name");
    }
    for (const element of document.querySelectorAll("a")) {
        if (!element.hasAttribute("href")) complain(element, "cannot be reached by the keyboard");
    }
    for (const element of document.querySelectorAll("[tabindex]")) {
        if (element.tabIndex > 0) complain(element, "changes the order of the focus");
    }

    // Structure.
    const ids = new Set();
    for (const element of document.querySelectorAll("[id]")) {
        if (ids.has(element.id)) complain(element, `has the id ${element.id} of another`);
        ids.add(element.id);
    }
    for (const attribute of ["aria-labelledby", "aria-describedby", "aria-controls", "for"]) {
        for (const element of document.querySelectorAll(`[${attribute}]`)) {
            for (const id of element.getAttribute(attribute).split(" ")) {
                if (!ids.has(id)) complain(element, `names ${id} by ${attribute}, which is not there`);
            }
        }
    }
    const shown = selector => [...document.querySelectorAll(selector)].filter(isShown);
    if (shown("main").length !== 1) problems.push(`there are ${shown("main").length} main parts`);
    if (shown("h1").length !== 1) problems.push(`there are ${shown("h1").length} headings of the first level`);
    if (!document.documentElement.lang) problems.push("the language is not said");
    const parents = { row: "rowgroup", cell: "row", columnheader: "row", menuitem: "menu" };
    for (const [role, parent] of Object.entries(parents)) {
        for (const element of document.querySelectorAll(`[role=${role}]`)) {
            if (element.parentElement.getAttribute("role") !== parent) complain(element, `is in no ${parent}`);
        }
    }

    // Contrast (WCAG 2.1, 1.4.3), with what is behind a text laid over one another.
    const parse = colour => {
        const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
        return { red, green, blue, alpha };
    };
    const over = (front, back) => ({
        red: front.red * front.alpha + back.red * (1 - front.alpha),
        green: front.green * front.alpha + back.green * (1 - front.alpha),
        blue: front.blue * front.alpha + back.blue * (1 - front.alpha), alpha: 1,
    });
    const behind = element => {
        const colours = [];
        for (let one = element; one !== null; one = one.parentElement) {
            colours.push(parse(getComputedStyle(one).backgroundColor));
            if (one.tagName === "DIALOG") break;
        }
        return colours.reduceRight((back, front) => over(front, back), { red: 255, green: 255, blue: 255, alpha: 1 });
    };
    const luminance = ({ red, green, blue }) => [red, green, blue]
        .map(value => value / 255)
        .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
    const contrast = (one, other) => {
        const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
        return (light + 0.05) / (dark + 0.05);
    };
    for (const element of document.querySelectorAll("body *")) {
        const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== "");
        if (!hasText || !isShown(element) || element.disabled || element.tagName === "OPTION") continue;
        const back = behind(element);
        const ratio = contrast(over(parse(getComputedStyle(element).color), back), back);
        if (ratio < 4.5) complain(element, `has a contrast of ${ratio.toFixed(2)}`);
    }

    // Nothing is wider than the window.
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) {
        problems.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`);
    }
    return problems;
})();
