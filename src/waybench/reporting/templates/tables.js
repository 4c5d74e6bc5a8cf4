// Tables that are sorted by a click on a column's head, searched, and narrowed to the rows of one kind.
(() => {
  "use strict";
  const { default: DataTable } = globalThis.DataTables;
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const choose = table.dataset.choose;
    const caption = table.caption;
    const sorted = new DataTable(table, {
      autoWidth: false,
      info: false,
      layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null },
      order: [],
      orderMulti: true,
      paging: false,
    });
    if (caption && !table.caption) table.prepend(caption);
    const bar = document.createElement("div");
    bar.className = "narrow-down";
    const field = (text, control) => {
      const label = document.createElement("label");
      label.append(`${text} `, control);
      bar.append(label);
    };
    const search = document.createElement("input");
    search.type = "search";
    search.addEventListener("input", () => sorted.search(search.value).draw());
    field("Search", search);
    search.setAttribute("aria-label", `Search: ${table.dataset.search}`);
    if (choose !== undefined) {
      const valueOf = (row) => row.dataset[choose.toLowerCase()];
      const values = [...new Set(sorted.rows().nodes().toArray().map(valueOf))];
      if (values.length > 1) {
        const select = document.createElement("select");
        for (const value of ["all", ...values]) select.add(new Option(value, value));
        select.setAttribute("aria-label", `${choose}: ${table.dataset.search}`);
        select.addEventListener("change", () => {
          const wanted = select.selectedIndex && ((text, data, index) => valueOf(sorted.row(index).node()) === select.value);
          sorted.search.fixed("chosen", wanted || null).draw();
        });
        field(choose, select);
      }
    }
    const count = document.createElement("output");
    const showCount = () => {
      const { recordsDisplay, recordsTotal } = sorted.page.info();
      count.textContent = `${recordsDisplay === recordsTotal ? "" : `${recordsDisplay} of `}${recordsTotal} ${recordsTotal === 1 ? "row" : "rows"}`;
    };
    sorted.on("draw", showCount);
    showCount();
    bar.append(count);
    table.closest(".scroll").before(bar);
  }
})();
