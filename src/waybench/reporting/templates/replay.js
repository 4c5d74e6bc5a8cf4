(async () => {
  "use strict";
  const data = await unpacked("frames");
  document.querySelectorAll(".repeated pre").forEach((fold, place) => (fold.textContent = data.repeated[place]));
  const board = document.getElementById("board");
  const controls = document.getElementById("controls");
  const slider = document.getElementById("slider");
  const where = document.getElementById("where");
  const play = document.getElementById("play");
  const speed = document.getElementById("speed");
  const turns = [...document.querySelectorAll("[data-turn]")];
  // A step is a frame, or one of the moves of the plan that leads to it.
  const steps = data.turns.flatMap((_, frame) =>
    Array.from({ length: data.moves[frame] }, (_, move) => ({ frame, move: move + 1, moves: data.moves[frame] })),
  );
  const last = steps.length - 1;
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
    return drawn(text);
  };

  // The drawing of a plan after so many of its moves: what belongs to its end is left out.
  const partly = (svg, { move }, turn) => {
    const group = svg.querySelector(`[data-walk="${turn}"]`);
    const [line, ...end] = group.children;
    for (const each of [...end, ...svg.querySelectorAll(".maze-again, .maze-hit, .textmap-ahead, .tiles-stop")]) {
      if (end.includes(each) || !each.closest("[data-walk]")) each.setAttribute("visibility", "hidden");
    }
    let tip = line;
    if (line.localName === "g") {
      [...line.children].slice(move).forEach((each) => each.setAttribute("visibility", "hidden"));
      tip = line.children[move - 1];
    } else {
      line.setAttribute("pathLength", String(group.dataset.moves));
      line.setAttribute("stroke-dasharray", `${move} ${group.dataset.moves}`);
      line.setAttribute("stroke-linecap", "butt");
    }
    const share = line === tip ? move / group.dataset.moves : 1;
    const point = tip.getPointAtLength(share * tip.getTotalLength());
    const dot = document.createElementNS(svg.namespaceURI, "circle");
    dot.setAttribute("class", "tiles-stop");
    dot.setAttribute("cx", point.x);
    dot.setAttribute("cy", point.y);
    dot.setAttribute("r", String(1.3 * Number(line.getAttribute("stroke-width"))));
    svg.append(dot);
  };

  const show = (wanted) => {
    const step = Math.max(0, Math.min(last, wanted));
    if (step === at) return;
    at = step;
    const { frame, move, moves } = steps[at];
    const count = data.turns[frame];
    board.replaceChildren(drawing(frame));
    if (move < moves) partly(board.firstElementChild, steps[at], count);
    slider.value = String(at);
    where.textContent = count ? `Turn ${count} of ${data.turns.at(-1)}` : "Start";
    if (moves > 1) where.textContent += `, move ${move} of ${moves}`;
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
    history.replaceState(null, "", move < moves ? `#turn=${count}&move=${move}` : `#turn=${count}`);
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
    const given = new URLSearchParams(location.hash.slice(1));
    const wanted = Number(given.get("turn") ?? NaN);
    const frame = data.turns.findIndex((count) => count >= wanted);
    if (!Number.isFinite(wanted) || frame < 0) return 0;
    const first = steps.findIndex((step) => step.frame === frame);
    const moves = data.moves[frame];
    const move = Number(given.get("move") ?? moves);
    return first + (move >= 1 && move <= moves ? Math.floor(move) : moves) - 1;
  };
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#turn=")) show(linked()); // and not where the link to the content leads
  });
  slider.max = String(last);
  controls.hidden = false;
  show(linked());
})();
