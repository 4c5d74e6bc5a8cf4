// Reloads the page when it has become another one on the server, and leaves it to the reader as it was.
(() => {
  "use strict";
  const shown = document.currentScript.dataset.version;
  const place = `waybench:${location.pathname}`;

  // Things are known by the nearest id around them and their number there: a new page may have more before them.
  const named = (selector) => {
    const counts = new Map();
    return [...document.querySelectorAll(selector)].map((element) => {
      const home = element.parentElement.closest("[id]")?.id ?? "";
      counts.set(home, (counts.get(home) ?? 0) + 1);
      return [`${home}/${counts.get(home)}`, element];
    });
  };
  const folds = () => named("details");
  const fields = () => named("input, select");
  const property = (field) => (field.matches("[type=checkbox], [type=radio]") ? "checked" : "value");
  const values = (found, of) => Object.fromEntries(found.map(([name, element]) => [name, element[of(element)]]));

  const remember = () => {
    const kept = { folds: values(folds(), () => "open"), fields: values(fields(), property) };
    sessionStorage.setItem(place, JSON.stringify({ left: scrollX, top: scrollY, ...kept }));
  };

  const fill = (field, value) => {
    const of = property(field);
    if (value === undefined || field[of] === value) return;
    if (field.options && ![...field.options].some((option) => option.value === value)) return;
    field[of] = value;
    for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
  };

  const comeBack = () => {
    const { left, top, ...kept } = JSON.parse(sessionStorage.getItem(place)) ?? {};
    sessionStorage.removeItem(place);
    if (kept.folds === undefined) return;
    for (const [name, fold] of folds()) fold.open = kept.folds[name] ?? fold.open;
    for (const [name, field] of fields()) fill(field, kept.fields[name]);
    const scroll = () => scrollTo({ left, top, behavior: "instant" });
    scroll();
    addEventListener("load", scroll, { once: true });
  };

  const ifStored = (act) => {
    try {
      act();
    } catch {
      // A browser that stores nothing shows the new page from its top.
    }
  };

  const look = async () => {
    let pause = 1500;
    if (!document.hidden) {
      try {
        const answer = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
        const there = answer.headers.get("ETag");
        if (answer.ok && there && there !== shown) {
          ifStored(remember);
          location.reload();
          return;
        }
      } catch {
        pause = 5000; // The server has ended; another one may take its place.
      }
    }
    setTimeout(look, pause);
  };

  addEventListener("DOMContentLoaded", () => ifStored(comeBack), { once: true });
  setTimeout(look, 1500);
})();
