// Two models side by side: which items one solves and the other does not. Names and numbers become text, never markup.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const { models, items, scores, solved, replays, differences, verdicts, alike, words } = data;
  const at = (id) => document.getElementById(id);
  const [one, other] = [at("one"), at("other")];
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
  const mark = (value) => (value === 1 ? "✓" : value === 0 ? "✗" : "");

  for (const select of [one, other]) {
    for (const [place, model] of models.entries()) select.add(new Option(model.name, String(place)));
  }

  // A name may be broken after each slash.
  const named = (id, name, rest = "") => {
    const parts = `${name}${rest}`.split("/").flatMap((part, place) => (place ? ["/", document.createElement("wbr"), part] : [part]));
    at(id).replaceChildren(...parts);
  };

  const chosen = () => [Number(one.value), Number(other.value)];

  const kinds = (a, b, item) => {
    const found = ["all"];
    const pair = `${solved[a][item]}${solved[b][item]}`;
    found.push({ "11": "both", "10": "one-alone", "01": "other-alone", "00": "neither" }[pair]);
    const [first, second] = [scores[a][item], scores[b][item]];
    if (first !== null && second !== null && first !== second) {
      found.push(first > second !== words.lower ? "one-better" : "other-better");
    }
    if (found.some((kind) => /alone|better/.test(kind))) found.push("differ");
    return found;
  };

  const cell = (row, text, kind = "td") => {
    const added = document.createElement(kind);
    if (kind === "th") added.scope = "row";
    added.append(text);
    row.append(added);
    return added;
  };

  const link = (model, item) => {
    const anchor = document.createElement("a");
    const name = models[model].page.replace(/\.html$/, "");
    const attempt = replays[model][item];
    // A negative number is that of a replay without a page; another page says how it is made.
    anchor.href = `../replays/${attempt < 0 ? "index.html?" : ""}${name}-${Math.abs(attempt)}.html`;
    const score = scores[model][item];
    anchor.textContent = score === null ? "–" : number.format(score);
    const sign = document.createElement("span");
    sign.textContent = ` ${mark(solved[model][item])}`;
    sign.className = solved[model][item] ? "good" : "flag";
    sign.setAttribute("role", "img");
    sign.setAttribute("aria-label", solved[model][item] ? "solved" : "not solved");
    const both = document.createElement("span");
    both.append(anchor, sign);
    return both;
  };

  const judge = (a, b) => {
    const [verdict, ...reasons] = verdicts[`${a} ${b}`] ?? [
      alike[a] !== alike[b]
        ? "No verdict: their items or settings differ."
        : "No verdict: these two were not compared, or have no items in common.",
    ];
    at("verdict").hidden = a === b;
    at("verdict").textContent = verdict;
    at("reasons").hidden = a === b || !reasons.length;
    at("reasons").replaceChildren(
      ...reasons.map((each) => {
        const line = document.createElement("li");
        line.textContent = each;
        return line;
      }),
    );
  };

  const show = () => {
    const [a, b] = chosen();
    const chosenKind = document.querySelector("input[name=kind]:checked").value;
    const counts = {};
    const rows = document.createDocumentFragment();
    let listed = 0;
    let common = 0;
    const given = [...items.keys()].filter((item) => replays[a][item] !== null && replays[b][item] !== null);
    for (const kind of given.flatMap((item) => kinds(a, b, item))) counts[kind] = (counts[kind] ?? 0) + 1;
    // Where nothing differs, the list of what does would be empty.
    const wanted = chosenKind === "differ" && !counts.differ ? "all" : chosenKind;
    for (const item of given) {
      common += 1;
      if (!kinds(a, b, item).includes(wanted)) continue;
      const [name, level] = items[item];
      listed += 1;
      const row = document.createElement("tr");
      cell(row, name, "th");
      cell(row, String(level));
      cell(row, link(a, item));
      cell(row, link(b, item));
      const [first, second] = [scores[a][item], scores[b][item]];
      const known = first !== null && second !== null;
      cell(row, known ? `${first > second ? "+" : ""}${number.format(first - second)}`.replace("-", "−") : "–");
      rows.append(row);
    }
    at("rows").replaceChildren(rows);
    at("shown").textContent = `${listed} of ${common} ${common === 1 ? words.item : words.items}.`;
    for (const kind of ["both", "one-alone", "other-alone", "neither"]) at(kind).textContent = String(counts[kind] ?? 0);
    for (const each of document.querySelectorAll("[data-count]")) each.textContent = `(${counts[each.dataset.count] ?? 0})`;
    const [first, second] = [models[a].name, models[b].name];
    named("one-solves", first, " solves");
    named("one-fails", first, " does not");
    named("other-solves", second, " solves");
    named("other-fails", second, " does not");
    named("first-name", first);
    named("other-name", second);
    judge(a, b);
    const [both, difference] = differences[`${a} ${b}`] ?? [];
    // Where each item has one score, the verdict says it.
    at("mean-difference").hidden = a !== b && `${a} ${b}` in verdicts && !words.best;
    at("mean-difference").textContent =
      a === b
        ? "Choose two models."
        : !difference
          ? `No ${words.item} has a score of both.`
          : `Mean difference${words.best ? " of the best attempts" : ""}, first minus second: ${difference[0]}` +
            (difference.length > 1 ? `, interval ${difference[1]} to ${difference[2]}` : "") +
            `, over ${both} ${both === 1 ? words.item : words.items}.`;
    const differ = models[a].settings.filter((each) => !models[b].settings.includes(each));
    at("settings").hidden = a === b || !differ.length;
    at("settings").textContent =
      `Their settings differ. First: ${models[a].settings.join(", ")}. Second: ${models[b].settings.join(", ")}.`;
    history.replaceState(null, "", `#one=${a}&other=${b}`);
  };

  const linked = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const place = (name, otherwise) => {
      const given = Number(wanted.get(name) ?? NaN);
      return String(Number.isInteger(given) && given >= 0 && given < models.length ? given : otherwise);
    };
    // Without a wish, the first two that were given the same: of others there is no verdict.
    const pairs = models.flatMap((_, i) => models.slice(i + 1).map((_, j) => [i, i + 1 + j]));
    const isAlike = ([i, j]) => data.alike[i] !== null && data.alike[i] === data.alike[j];
    const [first, second] = pairs.find(isAlike) ?? [0, Math.min(1, models.length - 1)];
    one.value = place("one", first);
    other.value = place("other", second);
    show();
  };

  for (const control of [one, other, ...document.querySelectorAll("input[name=kind]")]) {
    control.addEventListener("change", show);
  }
  at("swap").addEventListener("click", () => {
    [one.value, other.value] = [other.value, one.value];
    show();
  });
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#one=")) linked(); // and not where the link to the content leads
  });
  at("comparison").hidden = false;
  linked();
})();
