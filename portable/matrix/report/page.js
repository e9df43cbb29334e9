"use strict";
// Draws the document of a Matrix (see portable/matrix/document.py). Foreign text only ever becomes
// text nodes and attributes: nothing here parses HTML.
(() => {
  const OUTCOMES = ["compatible", "not known", "incompatible", "wrong-result", "crashed", "hung"];
  const AGREEMENTS = ["contradicts", "agrees", "unobserved"];
  const ROLES = ["backward", "forward"];
  const MARKS = { unexplained: "\u25B2", explained: "\u25B3", ended: "\u2715", wrong: "\u2260" };
  const FIRST = 3; // so many groups of contradictions stand above the map
  const PAGE = 60; // so many rows are drawn at once; the rest on first use

  const find = (id) => document.getElementById(id);
  // What cannot be seen is shown by its number: as `line` of portable/escaping.py.
  const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;
  const number = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
  const visible = (text) => text.replace(UNSEEN, (one) => one === "\n" ? one : number(one));
  const data = JSON.parse(find("data").textContent,
    (_, value) => typeof value === "string" ? visible(value) : value);

  function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "onclick") made.addEventListener("click", value);
      else if (value !== undefined && value !== false) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== undefined && child !== ""));
    return made;
  }

  // ---- what the document says -------------------------------------------------------------

  const consumers = data.consumers.map((one) => ({
    ...one,
    name: `${one.distribution} ${one.version}`,
    text: `${one.distribution} ${one.version}`.toLowerCase(),
  }));
  const items = data.items.map((one) => ({
    ...one,
    text: [one.name, one.path, one.producer].join("\n").toLowerCase(),
  }));
  const results = data.results.map(([role, predicted, observed, note, listed, ...also], index) => {
    const verdict = data.verdicts[observed ?? predicted];
    const contradicts = data.agreements[index] === "contradicts";
    const verdicts = [predicted, observed, ...also].filter((one) => one !== null);
    const said = verdicts.flatMap((one) => [
      data.verdicts[one].reason ?? "",
      ...(data.verdicts[one].diagnostics ?? []).map((told) => told.message),
    ]);
    return {
      role,
      predicted: data.verdicts[predicted],
      observed: observed === null ? null : data.verdicts[observed],
      also: also.map((one) => data.verdicts[one]),
      note,
      listed,
      outcome: verdict.outcome,
      says: verdict.says,
      agreement: data.agreements[index],
      mark: contradicts
        ? listed ? "explained" : "unexplained"
        : ["crashed", "hung"].includes(verdict.outcome)
          ? "ended"
          : verdict.outcome === "wrong-result" ? "wrong" : "",
      text: [note, listed, ...said].join("\n").toLowerCase(),
    };
  });

  const numbers = (version) => version.split(".").map(Number);
  const compare = (one, other) => {
    const [a, b] = [numbers(one), numbers(other)];
    return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  };
  const target = (version) => version.split(".").slice(0, 2).join(".") + ".0";
  const short = (version) => version === "" ? "?" : version.replace(/\.0$/, "");

  // "" stands for artifacts that do not say what they were written for; they come last.
  const versions = [...new Set(items.map((one) => one.claimed === null ? "" : target(one.claimed)))]
    .sort((a, b) => (a === "") - (b === "") || (a && compare(a, b)));
  const column = new Map(versions.map((version, index) => [version, index]));
  const width = versions.length;

  const cells = [];
  data.cells.forEach((row, item) => row.forEach((result, consumer) => {
    if (result === null) return;
    const claimed = items[item].claimed;
    const square = consumer * width + column.get(claimed === null ? "" : target(claimed));
    cells.push({ item, consumer, result, square });
  }));

  // ---- filters ----------------------------------------------------------------------------

  const chosen = { outcome: new Set(), agreement: new Set(), role: new Set(), words: [] };
  const filtering = () =>
    chosen.outcome.size + chosen.agreement.size + chosen.role.size + chosen.words.length > 0;
  const accepts = (set, value) => set.size === 0 || set.has(value);

  // The words are looked for once in each artifact, consumer and result, not once in each cell.
  function wordsFound() {
    const found = (all) => chosen.words.map((word) => all.map((one) => one.text.includes(word)));
    const [a, b, c] = [found(items), found(consumers), found(results)];
    return (cell) => chosen.words.every(
      (_, word) => a[word][cell.item] || b[word][cell.consumer] || c[word][cell.result]);
  }

  // `population` is what a square's colour shows, `selected` what is shown of it.
  function select() {
    const found = wordsFound();
    const population = cells.filter(
      (cell) => accepts(chosen.role, results[cell.result].role) && found(cell));
    const selected = population.filter((cell) => {
      const result = results[cell.result];
      return accepts(chosen.outcome, result.outcome) && accepts(chosen.agreement, result.agreement);
    });
    return { population, selected };
  }

  function count(population, selected) {
    const counts = Array.from({ length: consumers.length * width }, () => (
      { total: 0, good: 0, observed: 0, selected: 0, marks: new Set(), contradictions: 0 }));
    for (const cell of population) {
      const [square, result] = [counts[cell.square], results[cell.result]];
      square.total += 1;
      square.good += result.outcome === "compatible";
      square.observed += result.observed !== null;
      square.contradictions += result.agreement === "contradicts";
      if (result.mark) square.marks.add(result.mark);
    }
    for (const cell of selected) counts[cell.square].selected += 1;
    return counts;
  }

  // ---- the heat map -----------------------------------------------------------------------

  const squares = new Array(consumers.length * width);
  const order = []; // consumers from top to bottom
  let focused = null; // [row, column] of the one square that Tab reaches
  let opened = null; // the square whose cells the panel shows

  function groups() {
    const found = new Map();
    consumers.forEach((one, index) => {
      if (!found.has(one.distribution)) found.set(one.distribution, []);
      found.get(one.distribution).push(index);
    });
    for (const rows of found.values()) {
      rows.sort((a, b) => compare(consumers[a].current, consumers[b].current) || a - b);
    }
    return [...found].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
  }

  // The first column that is newer than the consumer: there runs the line.
  const step = (consumer) => {
    const own = target(consumers[consumer].current);
    const index = versions.findIndex((version) => version === "" || compare(version, own) > 0);
    return index < 0 ? width : index;
  };

  function drawRow(consumer, above) {
    const one = consumers[consumer];
    const [here, before] = [step(consumer), above === undefined ? undefined : step(above)];
    const has = (one.below ? "\u2265" : "") + one.current;
    const row = make("tr", {}, make("th", { scope: "row", class: "name", title:
      `${one.name} of ${one.date}, StableHLO ${has}` },
      make("span", { class: "of" }, one.version), make("span", { class: "has" }, has)));
    versions.forEach((_, index) => {
      const name = [
        index === here ? "step-left" : "",
        before !== undefined && before <= index && index < here ? "step-top" : "",
      ].join(" ").trim();
      const button = make("button", { type: "button", class: "square none", tabindex: "-1" });
      const square = consumer * width + index;
      button.dataset.square = square;
      squares[square] = button;
      row.append(make("td", { class: name || undefined, role: "gridcell" }, button));
    });
    order.push(consumer);
    return row;
  }

  function drawMap() {
    const table = find("squares");
    const heads = versions.map((version) => make("th", { scope: "col",
      title: version === "" ? "artifacts that do not say" : `artifacts written for ${version}` },
      make("span", {}, short(version))));
    table.append(make("colgroup", {}, make("col", { class: "name" }), ...versions.map(() => make("col"))));
    table.append(make("thead", {}, make("tr", {},
      make("th", { class: "name" }, "written for \u2192"), ...heads)));
    for (const [distribution, rows] of groups()) {
      const body = make("tbody", {}, make("tr", {}, make("th", {
        class: "group name", colspan: width + 1, scope: "rowgroup" }, distribution)));
      rows.forEach((consumer, index) => body.append(drawRow(consumer, rows[index - 1])));
      table.append(body);
    }
    table.addEventListener("click", (event) => {
      const square = event.target.closest(".square");
      if (square) open(Number(square.dataset.square));
    });
    table.addEventListener("keydown", move);
  }

  function share(square) {
    const part = square.good / square.total;
    return part === 1 ? 4 : part >= 0.75 ? 3 : part >= 0.25 ? 2 : part > 0 ? 1 : 0;
  }

  // Never rounded to "all" or "none" where it is not.
  function percent(square) {
    if (square.good === square.total) return "";
    if (square.good === 0) return "0";
    return String(Math.min(99, Math.max(1, Math.round(100 * square.good / square.total))));
  }

  function drawSquare(button, square, index, narrowed) {
    const [consumer, version] = [consumers[Math.floor(index / width)], versions[index % width]];
    const mark = Object.keys(MARKS).find((one) => square.marks.has(one));
    button.className = "square " + (square.total === 0 ? "none" : [
      `share-${share(square)}`,
      square.observed === 0 ? "predicted" : "",
      square.selected === 0 ? "dim" : "",
      mark ? "mark" : "",
    ].join(" "));
    if (mark) button.dataset.mark = MARKS[mark];
    button.textContent = square.total === 0 ? "\u00B7"
      : narrowed ? (square.selected || "") : percent(square);
    const what = version === "" ? "artifacts of unknown Version" : `artifacts for ${version}`;
    const label = square.total === 0 ? `${consumer.name}, ${what}: none`
      : `${consumer.name}, ${what}: ${square.good} of ${square.total} compatible`
        + (square.observed === 0 ? ", only predicted" : "")
        + (square.contradictions ? `, ${square.contradictions} contradict the prediction` : "")
        + (narrowed ? `, ${square.selected} selected` : "");
    button.setAttribute("aria-label", label);
    button.title = label;
    button.setAttribute("aria-pressed", String(index === opened));
  }

  function update() {
    const { population, selected } = select();
    const narrowed = chosen.outcome.size + chosen.agreement.size > 0;
    count(population, selected).forEach(
      (square, index) => drawSquare(squares[index], square, index, narrowed));
    find("shown").textContent = filtering()
      ? `${selected.length.toLocaleString("en")} of ${cells.length.toLocaleString("en")} cells selected`
        + (narrowed ? "; squares show how many" : "")
      : "";
    find("clear").hidden = !filtering();
    if (opened !== null) fillPanel();
  }

  function move(event) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      Home: [0, -width], End: [0, width], PageUp: [-10, 0], PageDown: [10, 0] }[event.key];
    if (!steps || !event.target.dataset.square) return;
    event.preventDefault();
    const within = (value, size) => Math.min(size - 1, Math.max(0, value));
    focusOn(within(focused[0] + steps[0], order.length), within(focused[1] + steps[1], width));
    at(focused).focus();
  }

  const at = ([row, index]) => squares[order[row] * width + index];

  function focusOn(row, index) {
    if (focused) at(focused).tabIndex = -1;
    focused = [row, index];
    at(focused).tabIndex = 0;
  }

  // ---- the panel --------------------------------------------------------------------------

  const weight = (cell) => {
    const result = results[cell.result];
    const rank = ["unexplained", "explained", "ended", "wrong", ""].indexOf(result.mark);
    return rank * 2 + (result.outcome === "compatible");
  };

  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

  // The same words as portable/matrix/report/reproducer.py.
  function reproducer(cell) {
    const { path, given = [], reference } = items[cell.item];
    const one = consumers[cell.consumer];
    const executes = data.stage === "execute";
    const named = new Set([`${one.distribution}==${one.version}`]);
    if (executes && reference) named.add(reference);
    return ["portable matrix", quoted(path.startsWith("-") ? "./" + path : path),
      "--for", ...[...named].map(quoted), "--stage", data.stage,
      ...(executes ? given : []).map(quoted)].join(" ");
  }

  function badge(result) {
    const kind = result.outcome === "compatible" ? "good" : "bad";
    return make("span", { class: `badge ${kind}` }, result.says);
  }

  function contradiction(result) {
    if (result.agreement !== "contradicts") return undefined;
    const text = result.listed
      ? `${MARKS.explained} explained: ${result.listed}` : `${MARKS.unexplained} not explained`;
    return make("span", { class: "badge alert" }, text);
  }

  function told(diagnostic, indent = "") {
    const where = diagnostic.location ? `${diagnostic.location}: ` : "";
    const line = `${indent}${where}${diagnostic.severity}: ${diagnostic.message}`;
    return [line, ...(diagnostic.notes ?? []).flatMap((note) => told(note, `${indent}  `))];
  }

  function verdictRows(title, verdict) {
    const lines = (verdict.diagnostics ?? []).flatMap((one) => told(one));
    return [
      make("dt", {}, title),
      make("dd", {}, verdict.says,
        verdict.reason ? `: ${verdict.reason}` : "",
        lines.length ? make("pre", {}, lines.join("\n")) : ""),
    ];
  }

  function copier(text) {
    const button = make("button", { type: "button", class: "copy" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(button.parentNode.querySelector("pre"));
        button.textContent = "Selected";
      }
    });
    return button;
  }

  function details(cell) {
    const [item, result] = [items[cell.item], results[cell.result]];
    const command = reproducer(cell);
    return make("dl", {},
      ...verdictRows("Predicted", result.predicted),
      ...(result.observed ? verdictRows("Observed", result.observed)
        : [make("dt", {}, "Observed"), make("dd", {}, "not observed")]),
      ...result.also.flatMap((one) => verdictRows("Also observed, by another run", one)),
      ...(result.note ? [make("dt", {}, "Note"), make("dd", {}, result.note)] : []),
      make("dt", {}, "Artifact"),
      make("dd", {}, [item.path, item.producer ? `written by ${item.producer}` : "", result.role,
        `sha256 ${item.digest}`].filter(Boolean).join(", ")),
      make("dt", {}, "Do it again"),
      make("dd", {}, make("pre", { class: "command" }, command), copier(command)));
  }

  function drawCell(cell, isOpen) {
    const result = results[cell.result];
    const drawn = make("details", {}, make("summary", {}, badge(result),
      only ? make("b", {}, consumers[cell.consumer].name) : "",
      make("span", { class: "mono" }, items[cell.item].name), contradiction(result)));
    const fill = () => {
      if (drawn.open && drawn.children.length === 1) drawn.append(details(cell));
    };
    drawn.addEventListener("toggle", fill);
    drawn.open = isOpen;
    fill();
    return drawn;
  }

  // Draw the first rows of a list, and the next ones whenever the button is pressed.
  function drawSome(place, button, all, draw) {
    place.replaceChildren();
    const more = () => {
      const start = place.children.length;
      place.append(...all.slice(start, start + PAGE).map((one, index) => draw(one, start + index)));
      const left = all.length - place.children.length;
      button.hidden = left <= 0;
      button.textContent = `Show ${Math.min(left, PAGE)} more of ${left}`;
    };
    button.onclick = more;
    more();
  }

  let only = null; // the cells that the panel is about, if it is not a whole square

  function fillPanel() {
    const [consumer, version] = [consumers[Math.floor(opened / width)], versions[opened % width]];
    const inside = (cell) => only ? only.has(cell) : cell.square === opened;
    const shown = select().selected.filter(inside).sort((a, b) => weight(a) - weight(b));
    const all = only ? only.size : cells.filter((cell) => cell.square === opened).length;
    find("panel-title").textContent = only
      ? only.size === 1 ? "One contradiction" : `${only.size} contradictions alike`
      : `${consumer.name}, artifacts for ${version === "" ? "an unknown Version" : version}`;
    const hidden = all - shown.length;
    find("panel-about").textContent =
      (only ? "" : `${consumer.name} has StableHLO ${consumer.current}, of ${consumer.date}. `)
      + [...new Set(shown.map((cell) => results[cell.result].says))].map((says) =>
        `${shown.filter((cell) => results[cell.result].says === says).length} ${says}`).join("; ")
      + (hidden ? `; ${hidden} not selected by the filters` : "");
    drawSome(find("cells"), find("panel").querySelector(".more"), shown,
      (cell, index) => drawCell(cell, index === 0 && (shown.length === 1 || only !== null)));
  }

  function open(square, some = null) {
    if (squares[square].classList.contains("none")) return;
    if (opened !== null) squares[opened].setAttribute("aria-pressed", "false");
    opened = square;
    only = some;
    focusOn(order.indexOf(Math.floor(square / width)), square % width);
    squares[square].setAttribute("aria-pressed", "true");
    find("panel").hidden = false;
    fillPanel();
    find("panel").scrollTop = 0;
    find("panel-title").focus({ preventScroll: true });
    note(some ? "" : linkTo(square));
  }

  // The address names the square whose panel is open, so that it can be sent to somebody.
  const linkTo = (square) =>
    `${consumers[Math.floor(square / width)].name}/${versions[square % width]}`;
  const note = (link) => history.replaceState(null, "", `#${encodeURIComponent(link)}`);

  function openLinked() {
    let wanted = "";
    try {
      wanted = decodeURIComponent(location.hash.slice(1));
    } catch {
      return; // no link of ours
    }
    const square = squares.findIndex((_, index) => linkTo(index) === wanted);
    if (square < 0) return;
    open(square);
    squares[square].scrollIntoView({ block: "center", inline: "center" });
  }

  function close() {
    if (opened === null) return;
    squares[opened].setAttribute("aria-pressed", "false");
    find("panel").hidden = true;
    squares[opened].focus({ preventScroll: only !== null });
    opened = only = null;
    note("");
  }

  // ---- the rest of the page -----------------------------------------------------------------

  // What contradictions have in common, whatever numbers they name; as portable/matrix/report/tally.py.
  function gist(result) {
    const reason = result.observed.reason || result.predicted.reason || "";
    return [result.listed, result.predicted.outcome, result.observed.outcome,
      reason.replace(/[0-9.]+/g, "#")].join("\n");
  }

  function firstOf(names, noun) {
    const distinct = [...new Set(names)];
    const more = distinct.length - 1;
    return more ? `${distinct[0]} and ${more} more ${noun}${more === 1 ? "" : "s"}` : distinct[0];
  }

  function drawContradictions() {
    const alike = new Map();
    for (const cell of cells) {
      const result = results[cell.result];
      if (result.agreement !== "contradicts") continue;
      const key = gist(result);
      if (!alike.has(key)) alike.set(key, []);
      alike.get(key).push(cell);
    }
    const rows = [...alike.values()].sort((a, b) => weight(a[0]) - weight(b[0]) || b.length - a.length);
    if (!rows.length) return;
    const total = rows.reduce((sum, row) => sum + row.length, 0);
    const open_ = rows.filter((row) => results[row[0].result].mark === "unexplained")
      .reduce((sum, row) => sum + row.length, 0);
    find("contradictions-title").textContent = `${MARKS.unexplained} ${total} `
      + `contradiction${total === 1 ? "" : "s"}, ${open_} not explained`;
    const place = find("contradictions").querySelector("ol");
    const button = find("contradictions").querySelector(".more");
    const draw = (row) => {
      const [cell, result] = [row[0], results[row[0].result]];
      const who = firstOf(row.map((one) => consumers[one.consumer].name), "consumer");
      const what = firstOf(row.map((one) => items[one.item].name), "artifact");
      return make("li", {}, make("button", { type: "button", class: "row",
        onclick: () => open(cell.square, new Set(row)) },
        contradiction(result), make("b", {}, who), make("span", { class: "mono" }, what),
        make("span", { class: "said" }, `predicted ${result.predicted.says}, observed `
          + `${result.observed.says}: ${result.observed.reason || result.predicted.reason || ""}`)));
    };
    place.append(...rows.slice(0, FIRST).map(draw));
    button.hidden = rows.length <= FIRST;
    button.textContent = `Show all ${rows.length} groups`;
    button.onclick = () => {
      button.hidden = true;
      place.append(...rows.slice(FIRST).map(draw));
    };
    find("contradictions").hidden = false;
  }

  function drawChips(id, field, values) {
    const counted = new Map(values.map((value) => [value, 0]));
    for (const cell of cells) {
      const value = results[cell.result][field];
      counted.set(value, counted.get(value) + 1);
    }
    for (const [value, number] of counted) {
      if (!number) continue;
      const chip = make("button", { type: "button", class: "chip", "aria-pressed": "false",
        "data-value": value }, `${value} `, make("b", {}, number.toLocaleString("en")));
      chip.addEventListener("click", () => {
        const set = chosen[field];
        if (!set.delete(value)) set.add(value);
        chip.setAttribute("aria-pressed", String(set.has(value)));
        update();
      });
      find(id).append(chip);
    }
  }

  function clearFilters() {
    for (const set of [chosen.outcome, chosen.agreement, chosen.role]) set.clear();
    chosen.words = [];
    find("text").value = "";
    for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", "false");
    update();
    find("text").focus();
  }

  function drawTotals() {
    find("about").textContent = `Observed up to ${data.stage}, ${data.date}: what real consumers did `
      + `with real artifacts, beside what the tables predict. A row is a consumer, a column the Version that artifacts `
      + `were written for; a number is the percentage of them that pass, and a square without one stands for all.`;
    const seen = cells.filter((cell) => results[cell.result].observed !== null);
    const good = seen.filter((cell) => results[cell.result].outcome === "compatible");
    const rows = [
      [items.length, items.length === 1 ? "artifact" : "artifacts"],
      [consumers.length, consumers.length === 1 ? "consumer" : "consumers"],
      [cells.length, "cells"],
      [good.length, `observed compatible up to ${data.stage}`],
      [seen.length - good.length, "observed otherwise"],
      [cells.length - seen.length, "not observed"],
    ];
    find("artifacts").append(...items.map((one) => make("li", {}, make("span", { class: "mono" }, one.name),
      one.claimed === null ? ", claims no Version" : `, written for ${one.claimed}`)));
    find("artifacts").parentNode.open = items.length <= 12;
    find("totals").append(...rows.filter(([number]) => number > 0).map(([number, what]) =>
      make("li", {}, make("b", {}, number.toLocaleString("en")), ` ${what}`)));
  }

  function drawLegend() {
    const sample = (name, text, words, mark) =>
      make("span", {}, make("i", { class: `square ${name}`, "data-mark": mark }, text), words);
    const occurs = new Set(cells.map((cell) => results[cell.result].mark));
    const marks = { unexplained: "contradiction, not explained", explained: "explained contradiction",
      ended: "crashed or hung", wrong: "wrong result" };
    find("legend").append(
      sample("share-4", "", `all compatible up to ${data.stage}`),
      sample("share-3", "90", "% compatible"),
      sample("share-2", "50", ""),
      sample("share-1", "10", ""),
      sample("share-0", "0", "none"),
      ...cells.some((cell) => results[cell.result].observed === null)
        ? [sample("share-4 predicted", "", "only predicted")] : [],
      ...Object.keys(marks).filter((mark) => occurs.has(mark))
        .map((mark) => sample("share-3 mark", "", marks[mark], MARKS[mark])),
      make("span", {}, make("i", { class: "line" }), "right of it, artifacts are newer than the consumer"));
  }

  function start() {
    drawTotals();
    drawLegend();
    drawMap();
    drawChips("outcomes", "outcome", OUTCOMES);
    drawChips("agreements", "agreement", AGREEMENTS);
    drawChips("roles", "role", ROLES);
    drawContradictions();
    let waiting = 0;
    find("text").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        chosen.words = find("text").value.toLowerCase().split(/\s+/).filter(Boolean);
        update();
      }, 120);
    });
    find("clear").addEventListener("click", clearFilters);
    find("close").addEventListener("click", close);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
    });
    if (order.length && width) focusOn(0, 0);
    update();
    openLinked();
    window.addEventListener("hashchange", openLinked);
  }

  start();
})();
