"use strict";
// Keys, and turns without a reload. Without this script all of it works by buttons, except that parts are typed.
const ALIASES = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right", " ": "space" };
const WASD = { w: "up", a: "left", s: "down", d: "right" };
let busy = false;

function page() { return document.getElementById("page"); }

function buttonOf(key) {
  const named = (name) => [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === name);
  return named(ALIASES[key] ?? key.toLowerCase()) ?? named(WASD[key.toLowerCase()]);
}

function addPart(button) {
  const line = document.getElementById("typed");
  line.value = line.value.trim() ? `${line.value.trim().replace(/,$/, "")}, ${button.dataset.part}` : button.dataset.part;
}

async function send(form, submitter) {
  if (busy) return;
  busy = true;
  try {
    const values = new FormData(form);
    if (submitter?.name) values.set(submitter.name, submitter.value);
    submitter?.classList.add("flash");
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(values) });
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = next.getElementById("page");
    if (!answer.ok || !now) { location.reload(); return; }
    const before = page(), open = before.querySelector(".prompt")?.open;
    const prompt = now.querySelector(".prompt");
    if (prompt && before.dataset.view === "play" && before.dataset.place.split(".")[0] === now.dataset.place.split(".")[0]) {
      prompt.open = open && before.dataset.place === now.dataset.place;
    }
    const same = before.dataset.view === now.dataset.view;
    const active = document.activeElement?.id === "typed";
    before.replaceWith(now);
    document.title = next.title;
    const focus = now.querySelector("[autofocus]") ?? (active ? now.querySelector("#typed") : null);
    focus?.focus();
    if (!same) scrollTo(0, 0);
  } catch {
    location.reload();
  } finally {
    busy = false;
  }
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  send(event.target, event.submitter);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-part]");
  if (!button) return;
  addPart(button);
  if (event.detail) button.blur(); // After a click, Enter sends; on a button with the focus it would press it again.
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || busy) return;
  const line = document.getElementById("typed");
  const typing = event.target.matches("textarea, input:not([type=checkbox])");
  if (typing && event.target.id === "typed" && event.key === "Enter" && !event.shiftKey) {
    const open = (line.value.match(/[{]/g) ?? []).length > (line.value.match(/[}]/g) ?? []).length;
    if (!open) { event.preventDefault(); line.form.requestSubmit(line.form.querySelector("button.main")); }
    return;
  }
  // An arrow in an empty line is a key of the game; in a text it moves the cursor.
  if (typing && !(event.target.id === "typed" && line.value === "" && event.key in ALIASES && event.key !== " ")) return;
  if (event.target.matches("button, summary, a") && (event.key === "Enter" || event.key === " ")) return;
  const button = buttonOf(event.key);
  if (button) {
    event.preventDefault();
    if (button.dataset.part) addPart(button); else button.form.requestSubmit(button);
  } else if (line && !typing && event.key === "Enter" && line.value.trim()) {
    event.preventDefault();
    line.form.requestSubmit(line.form.querySelector("button.main"));
  } else if (line && !typing && event.key === "Backspace") {
    line.value = line.value.replace(/,?[^,]*$/, "");
  } else if (line && !typing && event.key.length === 1 && event.key !== " ") {
    line.focus();
  }
});
