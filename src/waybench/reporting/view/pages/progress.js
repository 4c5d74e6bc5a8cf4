// Shows the progress of runs that are not finished, in a strip at the foot of the window.
(() => {
  "use strict";
  const source = new URL("progress.json", document.currentScript.src);
  const fold = "waybench:progress-open";
  const element = (name, text = "", style = {}) => {
    const made = document.createElement(name);
    made.textContent = text; // Never as markup: names and texts come from files.
    Object.assign(made.style, style);
    return made;
  };
  const stored = (act, otherwise) => {
    try {
      return act();
    } catch {
      return otherwise; // A browser that stores nothing shows the strip open.
    }
  };

  const strip = element("aside", "", {
    position: "fixed", bottom: "0", left: "0", right: "0", zIndex: "1000", maxHeight: "40vh", overflow: "auto",
    background: "Canvas", color: "CanvasText", borderTop: "1px solid GrayText",
    font: "14px/1.5 system-ui, sans-serif", padding: "6px clamp(10px, 3vw, 32px)",
  });
  strip.id = "waybench-progress";
  strip.setAttribute("aria-label", "Progress of the run");
  let last = "";

  const isNarrow = () => innerWidth < 700;

  const row = (task) => {
    const name = element("span", task.name, { fontWeight: "600", overflowWrap: "anywhere" });
    const bar = element("progress", "", { width: "100%", alignSelf: "center" });
    if (task.share === null) bar.style.visibility = "hidden";
    else bar.value = task.share;
    bar.setAttribute("aria-label", task.name);
    const left = task.state === "running" && task.state_text ? `${task.state_text} left` : task.state_text;
    const texts = [task.done_text, task.use_text, left];
    if (isNarrow()) return [name, element("span", texts.filter((text) => text).join("; "))];
    return [name, bar, ...texts.map((text) => element("span", text))];
  };

  // A box stays while its texts change, so that it keeps the keyboard's focus.
  const box = () => {
    const made = element("details");
    const title = element("summary", "", { fontWeight: "600", cursor: "pointer" });
    const chosen = stored(() => sessionStorage.getItem(fold), null);
    made.open = chosen === null ? !isNarrow() : chosen === "yes";
    title.addEventListener("click", () => stored(() => sessionStorage.setItem(fold, made.open ? "no" : "yes")));
    made.append(title, element("div", "", { display: "grid", gap: "2px 16px", padding: "4px 0" }));
    return made;
  };

  const show = (runs) => {
    while (strip.children.length > runs.length) strip.lastChild.remove();
    while (strip.children.length < runs.length) strip.append(box());
    runs.forEach((run, number) => {
      const [title, table] = strip.children[number].children;
      title.textContent = run.title;
      table.style.gridTemplateColumns = isNarrow() ? "1fr" : "minmax(12rem, auto) minmax(5rem, 10rem) auto 1fr auto";
      table.replaceChildren(...run.tasks.flatMap(row));
    });
    if (!runs.length) strip.remove();
    else if (!strip.isConnected) document.documentElement.append(strip); // A body can be a box of its own.
    document.body.style.paddingBottom = runs.length ? `${strip.offsetHeight + 16}px` : "";
  };

  const look = async () => {
    let pause = 1500;
    if (!document.hidden) {
      try {
        const answer = await fetch(source, { cache: "no-store" });
        const text = answer.ok ? await answer.text() : "[]";
        if (text !== last) show(JSON.parse(text));
        last = text;
      } catch {
        show([]); // The server has ended, so that nothing is known any more.
        last = "";
        pause = 5000;
      }
    }
    setTimeout(look, pause);
  };
  look();
})();
