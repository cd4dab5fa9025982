cockpit.locale({
    "": { "plural-forms": n => n > 1, "language": "fr", "language-direction": "ltr" },
    "Background tasks": [null, "Tâches d’arrière-plan"],
});
