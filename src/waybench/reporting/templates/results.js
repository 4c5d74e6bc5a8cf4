(async () => {
  "use strict";
  const { boards } = await unpacked("boards");
  document.querySelectorAll(".board:empty").forEach((board, place) => board.append(drawn(boards[place])));
})();
