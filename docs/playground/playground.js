"use strict";
// The page around the reader. Text of files only ever becomes text nodes and attributes: nothing here parses HTML.
(() => {
  const PARTS = {
    "pyodide.mjs": "pyodide.mjs", "pyodide.asm.mjs": "pyodide.asm.mjs.gz", "pyodide.asm.wasm": "pyodide.asm.wasm.gz",
    "python_stdlib.zip": "python_stdlib.zip", "pyodide-lock.json": "pyodide-lock.json", "library.zip": "library.zip", "worker.js": "worker.js",
  };
  const MOST_BYTES = 64 << 20;
  const MOST_FILES = 2000;
  const MOST_SECONDS = 60;
  const LINK_BYTES = 16 << 10; // of a file that is put into a link
  const LOCKED = "default-src 'none'; script-src blob: 'wasm-unsafe-eval'; worker-src blob:; img-src data:; connect-src 'none'";
  const STATES = {
    reads: ["", "reads it"], fails: ["!", "reads it, and fails later"],
    refuses: ["\u00D7", "does not open or read it"], unknown: ["?", "not known"],
  };

  const find = (id) => document.getElementById(id);
  // What cannot be seen is shown by its number: as `line` of portable/escaping.py.
  const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;
  const visible = (text) => text.replace(/\/dropped\/\d+\//g, "").replace(UNSEEN, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);

  function make(tag, attributes = {}, ...children) {
    const made = tag === "svg" || tag === "g" || tag === "rect" || tag === "text" || tag === "path" || tag === "title"
      ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) made.setAttribute(name, value);
    }
    made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
    return made;
  }

  function complain(sentence) {
    find("error").textContent = visible(sentence);
    find("error").hidden = !sentence;
    if (sentence) find("status").textContent = "";
  }

  // ---- Python, in a worker ------------------------------------------------------------------

  let parts; // what the worker is made of, kept to start another one
  let worker;
  let waiting = new Map();
  let calls = 0;
  let examples = [];

  async function fetched(name) {
    const response = await fetch(name);
    if (!response.ok) throw new Error(`${name}: ${response.status}`);
    const body = name.endsWith(".gz") ? response.body.pipeThrough(new DecompressionStream("gzip")) : response.body;
    return [name, await new Response(body).arrayBuffer()];
  }

  const script = (data) => URL.createObjectURL(new Blob([data], { type: "text/javascript" }));

  function start() {
    worker?.terminate();
    for (const { reject } of waiting.values()) reject(new Error("Reading was stopped."));
    waiting = new Map();
    worker = new Worker(script(parts["worker.js"]), { type: "module" });
    return new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message || "the worker does not start"));
      worker.onmessage = ({ data }) => {
        if (data.failed) reject(new Error(data.failed));
        else if (data.ready) resolve(data.ready);
        else {
          const call = waiting.get(data.id);
          waiting.delete(data.id);
          clearTimeout(call?.clock);
          if (data.error) call?.reject(new Error(data.error));
          else call?.resolve(data.answer);
        }
      };
      worker.postMessage({
        pyodide: script(parts["pyodide.mjs"]), module: script(parts["pyodide.asm.mjs"]), files: parts,
      });
    });
  }

  function ask(name, values, dropped) {
    return new Promise((resolve, reject) => {
      const id = (calls += 1);
      const clock = setTimeout(() => {
        reject(new Error(`Reading took more than ${MOST_SECONDS} s and was stopped.`));
        waiting.delete(id);
        start();
      }, MOST_SECONDS * 1000);
      waiting.set(id, { resolve, reject, clock });
      worker.postMessage({ id, name, values, dropped });
    });
  }

  // From here on the page can request nothing: a policy that is added restricts, and is never taken back.
  function lock() {
    document.head.append(make("meta", { "http-equiv": "Content-Security-Policy", content: LOCKED }));
  }

  async function load() {
    if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function") {
      throw new Error("This browser is too old: the page needs WebAssembly and DecompressionStream.");
    }
    const names = Object.entries(PARTS);
    const loaded = new Map(await Promise.all(names.map(([, name]) => fetched(name))));
    parts = Object.fromEntries(names.map(([name, file]) => [name, loaded.get(file)]));
    lock();
    find("status").textContent = "Starting Python.";
    examples = await start();
    for (const list of [find("examples"), find("other-example")]) {
      list.append(...examples.map(({ title }, index) => make("option", { value: index }, title)));
    }
    for (const id of ["file", "folder", "examples"]) find(id).disabled = false;
    find("status").textContent = "Ready. Nothing leaves your machine from now on.";
  }

  // ---- what is dropped ----------------------------------------------------------------------

  async function walk(entry, path, files) {
    if (files.length > MOST_FILES) return;
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      files.push({ path: path + file.name, file });
    } else if (entry.isDirectory) {
      const reader = entry.createReader();
      for (;;) {
        const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (batch.length === 0) break;
        for (const inner of batch) await walk(inner, `${path}${entry.name}/`, files);
      }
    }
  }

  const listed = (input) => [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

  async function bytes(files) {
    if (files.length === 0) throw new Error("There is no file in what was dropped.");
    if (files.length > MOST_FILES) throw new Error(`More than ${MOST_FILES} files: drop the folder of one model.`);
    const size = files.reduce((sum, { file }) => sum + file.size, 0);
    if (size > MOST_BYTES) {
      throw new Error(`${Math.ceil(size / (1 << 20))} MB is more than the ${MOST_BYTES >> 20} MB that this page reads; portable inspect reads files of any size.`);
    }
    return Promise.all(files.map(async ({ path, file }) => ({ path, data: await file.arrayBuffer() })));
  }

  let latest; // what was asked for last: an answer that comes later than the next question is not shown
  let items = []; // what was dropped last
  let shared = ""; // what leads to it in a link

  async function open(values) {
    complain("");
    find("status").textContent = "Reading.";
    const mine = (latest = {});
    const { name, given, dropped, link } = await values();
    const found = await ask(name, given, dropped);
    if (latest !== mine) return;
    items = found;
    shared = link ?? "";
    find("items").replaceChildren(...items.map(({ label }, index) => make("option", { value: index }, label)));
    find("items-line").hidden = items.length < 2;
    find("status").textContent = "";
    await show(items[0]);
  }

  const attempt = (action) => async (...values) => {
    try {
      await action(...values);
    } catch (error) {
      complain(error.message);
    }
  };

  const take = attempt((files) => open(async () => {
    const dropped = await bytes(files);
    return { name: "found", dropped, link: await inLink(dropped) };
  }));
  const takeExample = attempt((index) => open(async () => (
    { name: "found", given: [examples[index].folder], link: `example=${index}` }
  )));

  // ---- links ----------------------------------------------------------------------------------

  // A small file travels in the part of the address that browsers never send.
  async function inLink(dropped) {
    if (dropped.length !== 1 || dropped[0].data.byteLength > LINK_BYTES) return "";
    const packed = new Blob([dropped[0].data]).stream().pipeThrough(new CompressionStream("gzip"));
    const data = new Uint8Array(await new Response(packed).arrayBuffer());
    const text = btoa(String.fromCharCode(...data)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
    return `name=${encodeURIComponent(dropped[0].path.split("/").pop())}&file=${text}`;
  }

  async function follow() {
    const link = new URLSearchParams(location.hash.slice(1));
    if (link.has("for")) find("specs").value = link.get("for");
    if (link.has("example") && examples[link.get("example")]) {
      find("examples").value = link.get("example");
      await takeExample(Number(link.get("example")));
    } else if (link.has("file")) {
      await attempt(() => open(async () => {
        const packed = Uint8Array.from(atob(link.get("file").replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
        const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
        const data = await new Response(stream).arrayBuffer().catch(() => { throw new Error("The link is damaged."); });
        return { name: "found", dropped: [{ path: link.get("name") ?? "file", data }], link: location.hash.slice(1) };
      }))();
    }
  }

  // ---- the result -------------------------------------------------------------------------------

  let current;

  async function show(item) {
    const mine = (latest = {});
    current = item;
    const found = await ask("look", [item.path, item.entry]);
    if (latest !== mine) return;
    find("says").textContent = visible(found.says);
    find("result").hidden = false;
    find("judged").hidden = !found.consumers;
    find("link").hidden = !shared;
    find("link-status").textContent = "";
    find("target").replaceChildren();
    find("diff").replaceChildren();
    facts(found.inspection);
    if (found.consumers) {
      map(found.consumers);
      needs(found.inspection.required);
      ops(found.ops);
      graph(found.graph, new Set(found.ops.filter((one) => one.forces).map((one) => one.name.replace(/^\w+\./, ""))));
    }
    find("result").focus();
  }

  function map(consumers) {
    const rows = Map.groupBy ? Map.groupBy(consumers, (one) => one.distribution) : grouped(consumers);
    const grid = [...rows].map(([name, ones]) => {
      const good = ones.filter((one) => one.state === "reads").length;
      return make("div", { role: "row" },
        make("span", { role: "rowheader" }, name, make("span", {}, ` ${good} of ${ones.length}`)),
        ...ones.map((one) => {
          const label = `${one.distribution} ${one.version}: ${STATES[one.state][1]}`;
          const square = make("button", { type: "button", role: "gridcell", class: `square ${one.state}`, tabindex: "-1", title: label, "aria-label": label }, STATES[one.state][0]);
          // Safari does not focus a button that is clicked.
          for (const seen of ["focus", "click"]) square.addEventListener(seen, () => explain(square, one));
          square.addEventListener("click", () => explain(square, one));
          return square;
        }));
    });
    find("map").replaceChildren(...grid);
    find("legend").replaceChildren(...Object.entries(STATES).map(([state, [mark, says]]) =>
      make("li", {}, make("span", { class: `square ${state}`, "aria-hidden": "true" }, mark), says)));
    find("why").textContent = "";
    grid[0].querySelector(".square").tabIndex = 0;
  }

  function grouped(consumers) {
    const rows = new Map();
    for (const one of consumers) rows.set(one.distribution, [...(rows.get(one.distribution) ?? []), one]);
    return rows;
  }

  function explain(square, one) {
    for (const other of find("map").querySelectorAll(".chosen, [tabindex='0']")) {
      other.classList.remove("chosen");
      other.tabIndex = -1;
    }
    square.classList.add("chosen");
    square.tabIndex = 0;
    const unknown = one.unknown.length ? ` Not known: ${one.unknown.join("; ")}.` : "";
    find("why").textContent = visible(`${one.distribution} ${one.version} (StableHLO ${one.has}): ${one.says}. ${one.reason}.${unknown}`);
  }

  function walkMap(event) {
    const square = event.target.closest("button.square");
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!square || !step) return;
    event.preventDefault();
    const rows = [...find("map").children].map((row) => [...row.querySelectorAll(".square")]);
    const row = rows.findIndex((squares) => squares.includes(square));
    const next = rows[row + step[0]];
    if (next) next[Math.min(rows[row].indexOf(square) + step[1], next.length - 1)]?.focus();
  }

  const head = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));
  const row = (...values) => make("tr", {}, ...values.map((value) => make("td", {}, String(value))));

  function needs(required) {
    find("needs").replaceChildren(head("Version", "Feature", "count", "first at", "what to do"), make("tbody", {},
      ...(required?.features ?? []).map((one) => row(one.version, one.name, one.count, one.locations[0] ?? "", one.workaround))));
  }

  function ops(found) {
    find("ops").replaceChildren(head("operation", "count", "since", "until", "forces"), make("tbody", {},
      ...found.map((one) => row(one.name, one.count, one.since, one.until, one.forces))));
    find("filter").value = "";
  }

  function filter() {
    const words = find("filter").value.toLowerCase().split(/\s+/);
    for (const line of find("ops").querySelectorAll("tbody tr")) {
      line.hidden = !words.every((word) => line.textContent.toLowerCase().includes(word));
    }
  }

  function graph({ nodes, edges, total }, forced) {
    const [WIDE, HIGH] = [190, 52];
    const at = nodes.map((node) => [node.column * WIDE + 8, node.rank * HIGH + 8]);
    const size = [Math.max(0, ...at.map(([x]) => x)) + WIDE, Math.max(0, ...at.map(([, y]) => y)) + HIGH];
    const drawn = make("svg", { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}`, "aria-hidden": "true" },
      ...edges.map(([from, to]) => make("path", {
        d: `M${at[from][0] + 80},${at[from][1] + 26} C${at[from][0] + 80},${at[from][1] + 46} ${at[to][0] + 80},${at[to][1] - 20} ${at[to][0] + 80},${at[to][1]}`,
      })),
      ...nodes.map(({ name }, index) => make("g", { class: forced.has(name) ? "forces" : undefined, transform: `translate(${at[index]})` },
        make("rect", { width: 160, height: 26, rx: 5 }), make("text", { x: 8, y: 17 }, name.length > 20 ? `${name.slice(0, 19)}\u2026` : name), make("title", {}, name))));
    find("graph").replaceChildren(drawn);
    find("graph-about").textContent = `${total} operations of functions${total > nodes.length ? `; the first ${nodes.length} are drawn` : ""}. `
      + "What is inside of an operation counts as it; orange ones force the Version. The table above has the same as text.";
  }

  function facts(record) {
    const lines = [];
    for (const [name, value] of Object.entries(record)) {
      if (["operations", "required", "artifacts", "schema"].includes(name) || value === null || value === "" || value.length === 0) continue;
      const texts = typeof value !== "object" ? [String(value)] : Array.isArray(value)
        ? value.map((one) => (typeof one === "object" ? Object.values(one).join(", ") : String(one)))
        : Object.entries(value).map(([key, one]) => `${key}: ${Array.isArray(one) ? one.map((each) => each.name ?? each).join(", ") : one}`);
      if (texts.length) lines.push(make("dt", {}, name.replaceAll("_", " ")), ...texts.slice(0, 30).map((text) => make("dd", {}, text)));
    }
    find("facts").replaceChildren(...lines);
  }

  const choose = attempt(async () => {
    complain("");
    const specs = find("specs").value.split(/[\s]+/).filter(Boolean);
    const { lines } = await ask("choose", [current.path, current.entry, specs]);
    find("target").replaceChildren(...lines.map((line) => make("li", {}, line)));
  });

  const compare = attempt(async (name, given, dropped) => {
    complain("");
    const [other] = await ask(name, given, dropped);
    const { same, ops: changed, sides } = await ask("compare", [[current.path, current.entry], [other.path, other.entry]]);
    const side = (label, { claimed, required, features }) => row(label, claimed || "none", required || "not known", features.join(", "));
    find("diff").replaceChildren(
      make("p", {}, same ? "The same program, apart from locations and the producer." : `Different programs: ${changed.length} operations occur at another number, or on one side only.`),
      make("table", {}, head("file", "claims", "needs", "forced by"), make("tbody", {}, side(current.label, sides[0]), side(other.label, sides[1]))),
      ...(changed.length ? [make("table", {}, head("operation", "here", "there", "change"), make("tbody", {},
        ...changed.map((one) => row(one.name, one.before, one.after, !one.before ? "added" : !one.after ? "removed" : "changed"))))] : []));
  });

  // ---- events -----------------------------------------------------------------------------------

  const zone = document.documentElement;
  zone.addEventListener("dragover", (event) => { event.preventDefault(); find("drop").classList.add("over"); });
  zone.addEventListener("dragleave", () => find("drop").classList.remove("over"));
  zone.addEventListener("drop", attempt(async (event) => {
    event.preventDefault();
    find("drop").classList.remove("over");
    if (find("file").disabled) throw new Error("Python is not loaded yet; drop it again in a moment.");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [];
    for (const entry of entries) await walk(entry, "", files);
    await take(files.length ? files : [...event.dataTransfer.files].map((file) => ({ path: file.name, file })));
  }));
  for (const id of ["file", "folder"]) find(id).addEventListener("change", (event) => take(listed(event.target)));
  find("examples").addEventListener("change", (event) => { if (event.target.value !== "") takeExample(Number(event.target.value)); });
  find("items").addEventListener("change", attempt((event) => show(items[event.target.value])));
  find("other").addEventListener("change", attempt(async (event) => compare("found", undefined, await bytes(listed(event.target)))));
  find("other-example").addEventListener("change", (event) => { if (event.target.value !== "") compare("found", [examples[event.target.value].folder]); });
  find("map").addEventListener("keydown", walkMap);
  find("filter").addEventListener("input", filter);
  find("choose").addEventListener("submit", (event) => { event.preventDefault(); choose(); });
  find("link").addEventListener("click", attempt(async () => {
    history.replaceState(null, "", `#${shared.replace(/&for=.*/, "")}&for=${encodeURIComponent(find("specs").value)}`);
    await navigator.clipboard?.writeText(location.href).catch(() => undefined);
    find("link-status").textContent = "The address of this page now leads here; it holds a small file itself, and no server sees that.";
  }));

  load().then(follow).catch((error) => complain(`The reader could not be started: ${error.message}`));
})();
