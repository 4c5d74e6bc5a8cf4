(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("frames").textContent);
  const board = document.getElementById("board");
  const controls = document.getElementById("controls");
  const slider = document.getElementById("slider");
  const where = document.getElementById("where");
  const play = document.getElementById("play");
  const speed = document.getElementById("speed");
  const turns = [...document.querySelectorAll("[data-turn]")];
  const last = data.turns.length - 1;
  const parser = new DOMParser();
  let at = -1;
  let timer = 0;

  // Where there is no drawing, the last message to the player is shown instead.
  const message = (turn) => {
    const from = turn ? turns[turn - 1].querySelector(".answer") : document.querySelector("#prompt .said:last-of-type");
    const shown = document.createElement("pre");
    shown.className = "observation";
    shown.tabIndex = 0;
    shown.setAttribute("role", "region");
    shown.setAttribute("aria-label", "The last message to the player");
    shown.textContent = [...(from?.querySelectorAll("pre") ?? [])].map((each) => each.textContent).join("\n…\n");
    return shown;
  };

  const drawing = (frame) => {
    if (!data.frames.length) return message(data.turns[frame]);
    // A negative number stands for so many pieces that follow the one before.
    const text = data.frames[frame]
      .flatMap((piece, place, all) =>
        piece < 0 ? data.pieces.slice(all[place - 1] + 1, all[place - 1] + 1 - piece) : data.pieces[piece],
      )
      .join("");
    return document.importNode(parser.parseFromString(text, "text/html").querySelector("svg"), true);
  };

  const show = (wanted) => {
    const frame = Math.max(0, Math.min(last, wanted));
    if (frame === at) return;
    at = frame;
    board.replaceChildren(drawing(at));
    slider.value = String(at);
    const count = data.turns[at];
    where.textContent = count ? `Turn ${count} of ${data.turns[last]}` : "Start";
    slider.setAttribute("aria-valuetext", where.textContent);
    for (const turn of turns) {
      const current = Number(turn.dataset.turn) === count;
      if (current) turn.setAttribute("aria-current", "step");
      else turn.removeAttribute("aria-current");
      turn.classList.toggle("later", Number(turn.dataset.turn) > count);
      if (current) {
        const list = turn.parentElement;
        list.scrollTop = turn.offsetTop - list.offsetTop - 8;
      }
    }
    history.replaceState(null, "", `#turn=${count}`);
  };

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };

  const start = () => {
    if (at === last) show(0);
    timer = setInterval(() => (at < last ? show(at + 1) : stop()), 1000 / Number(speed.value));
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
  };

  const by = (step) => () => {
    stop();
    show(step(at));
  };
  const keys = {
    ArrowLeft: by((frame) => frame - 1),
    ArrowRight: by((frame) => frame + 1),
    Home: by(() => 0),
    End: by(() => last),
    " ": () => (timer ? stop() : start()),
  };
  document.getElementById("first").addEventListener("click", keys.Home);
  document.getElementById("back").addEventListener("click", keys.ArrowLeft);
  document.getElementById("next").addEventListener("click", keys.ArrowRight);
  document.getElementById("end").addEventListener("click", keys.End);
  play.addEventListener("click", keys[" "]);
  slider.addEventListener("input", () => by(() => Number(slider.value))());
  speed.addEventListener("change", () => {
    if (timer) {
      stop();
      start();
    }
  });
  document.addEventListener("keydown", (event) => {
    const own = event.target.closest("button, select, input, summary, a");
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in keys)) return;
    if (own && (event.key === " " || own.matches("select") || own.matches("input"))) return;
    event.preventDefault();
    keys[event.key]();
  });
  const linked = () => {
    const wanted = Number(new URLSearchParams(location.hash.slice(1)).get("turn") ?? NaN);
    const frame = data.turns.findIndex((count) => count >= wanted);
    return Number.isFinite(wanted) && frame >= 0 ? frame : 0;
  };
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#turn=")) show(linked()); // and not where the link to the content leads
  });
  slider.max = String(last);
  controls.hidden = false;
  show(linked());
})();
