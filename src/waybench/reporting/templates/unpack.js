"use strict";
// What a page holds for its scripts, compressed (zlib, as base64).
globalThis.unpacked = async (id) => {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (each) => each.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
globalThis.drawn = (text) => {
  const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  return document.importNode(svg, true);
};
