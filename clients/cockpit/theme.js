// Follows the style that is chosen in Cockpit's menu, or else that of the operating system. It is no module, so that
// it runs before anything is painted.
(function () {
    "use strict";

    // Of each version of PatternFly that Cockpit has been built with.
    const classes = ["pf-theme-dark", "pf-v5-theme-dark", "pf-v6-theme-dark"];
    const system = window.matchMedia("(prefers-color-scheme: dark)");

    function apply(chosen) {
        const style = chosen || localStorage.getItem("shell:style") || "auto";
        const isDark = style === "dark" || (style === "auto" && system.matches);
        for (const name of classes) document.documentElement.classList.toggle(name, isDark);
    }

    window.addEventListener("storage", event => {
        if (event.key === "shell:style") apply();
    });
    window.addEventListener("cockpit-style", event => apply(event.detail.style));
    system.addEventListener("change", () => apply());
    apply();
})();
