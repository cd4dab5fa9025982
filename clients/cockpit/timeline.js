/** The picture of time that bgtaskctl draws, where it can. */
import { h } from "./dom.js";
import { _ } from "./text.js";

/** More than a picture that somebody can look at. */
const bytesMax = 8 * 1024 * 1024;

/**
 * Shows the timeline, or nothing where there is no bgtaskctl or it draws none. The picture is an image, so that
 * nothing in it can act.
 *
 * @param {string} since - a time span; it must be one.
 */
export async function showTimeline(place, path, since) {
    const command = ["bgtaskctl", "--socket", path, "timeline", "--svg", "--since", since || "1d"];
    let svg;
    try {
        svg = await cockpit.spawn(command, { err: "ignore", environ: ["LC_ALL=C.UTF-8"] });
    } catch {
        // An older bgtaskctl has no such command, and Cockpit may run without one.
        svg = "";
    }
    const old = place.querySelector("img");
    if (old !== null) URL.revokeObjectURL(old.src);
    const isPicture = svg.length < bytesMax && /^\s*(<\?xml[^>]*>\s*)?<svg\b/.test(svg);
    place.hidden = !isPicture;
    place.replaceChildren();
    if (!isPicture) return;
    const source = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    place.append(h("img", { src: source, alt: _("Timeline of the tasks below") }));
}
