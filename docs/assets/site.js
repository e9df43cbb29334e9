"use strict";
// Adds a field to pages of many entries that leaves those with the given words: rows of a long table, or findings;
// and lets the keyboard scroll wide tables.
(() => {
  const LONG = 25;

  function field(before, entries, what) {
    const input = document.createElement("input");
    const status = document.createElement("span");
    input.type = "search";
    input.placeholder = `Filter ${entries.length} ${what}`;
    input.setAttribute("aria-label", input.placeholder);
    status.setAttribute("role", "status");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/);
      let left = 0;
      for (const { text, parts } of entries) {
        const shown = words.every((word) => text.includes(word));
        left += shown;
        for (const part of parts) part.hidden = !shown;
      }
      status.textContent = input.value ? ` ${left} of ${entries.length}` : "";
    });
    const line = document.createElement("p");
    line.className = "filter";
    line.append(input, status);
    before.before(line);
  }

  const entry = (parts) => ({ parts, text: parts.map((part) => part.textContent).join("\n").toLowerCase() });

  // A heading of the third level and what follows it is one entry.
  function sections(headings) {
    return headings.map((heading) => {
      const parts = [heading];
      for (let next = heading.nextElementSibling; next && !/^H[123]$/.test(next.tagName); next = next.nextElementSibling) {
        parts.push(next);
      }
      return entry(parts);
    });
  }

  function draw() {
    for (const table of document.querySelectorAll("article table")) {
      const rows = [...table.querySelectorAll("tbody tr")];
      if (rows.length > LONG) field(table, rows.map((row) => entry([row])), "rows");
    }
    const headings = [...document.querySelectorAll("article h3")];
    const first = document.querySelector("article h2");
    if (first && headings.length > LONG) field(first, sections(headings), "entries");
  }

  // The theme wraps tables when it starts, and takes the keyboard from code that it has not measured yet.
  const reach = () => {
    for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, article pre > code")) {
      if (wide.tabIndex < 0) wide.tabIndex = 0;
    }
  };
  new MutationObserver(reach).observe(document.body, {
    childList: true, subtree: true, attributes: true, attributeFilter: ["tabindex"],
  });
  reach();
  draw();
})();
