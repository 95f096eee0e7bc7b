// SPDX-License-Identifier: Apache-2.0
import { download, inRealm, read, send } from "../../core/api.js";
import { h } from "../../core/dom.js";
import { formatBytes } from "../../core/format.js";
import { onCleanup, signal } from "../../core/signals.js";
import { button, dialog } from "../../core/ui.js";
import { pictureType } from "./values.js";

const PART = 4096;

/**
 * Shows the bytes of a property as a picture and in hexadecimal, and saves them.
 *
 * @param {import("./values.js").Place} place @param {import("../../core/schema.js").Property} property
 */
export async function showBytes({ realm, className, key }, { name: property, type: kind }) {
  const target = inRealm(realm, "objects", className, key, property);
  // Those in Mixed have no raw form.
  const bytes = kind === "data" ? await (await send("GET", target, { headers: { Accept: "application/octet-stream" } })).arrayBuffer()
    : Uint8Array.from(atob((await read(target)).value.$binary.base64), (one) => one.charCodeAt(0)).buffer;
  const type = pictureType(btoa(String.fromCharCode(...new Uint8Array(bytes.slice(0, 12)))));
  const [url, end] = [URL.createObjectURL(new Blob([bytes], { type: type ?? "application/octet-stream" })), signal(PART)];
  await dialog(`${property}: ${formatBytes(bytes.byteLength)}`, () => {
    onCleanup(() => URL.revokeObjectURL(url));
    return [type && h("img.picture", { src: url, alt: property }),
      h("pre.hex", { tabindex: 0, "aria-label": "Bytes in hexadecimal" }, () => hexLines(new Uint8Array(bytes.slice(0, end.value)))),
      h("footer", null, () => end.value < bytes.byteLength && button("Show more", () => { end.value *= 4; }),
        button("Download", () => download(url, `${property}.${type?.slice(6) ?? "bin"}`), { class: "primary" }))];
  }, "wide");
}

/** @param {Uint8Array} bytes */
function hexLines(bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 16) {
    const part = [...bytes.slice(i, i + 16)];
    const hex = part.map((one) => one.toString(16).padStart(2, "0")).join(" ");
    lines.push(`${i.toString(16).padStart(8, "0")}  ${hex.padEnd(47)}  ${part.map((one) => (one > 31 && one < 127 ? String.fromCharCode(one) : "·")).join("")}`);
  }
  return lines.join("\n");
}
