// SPDX-License-Identifier: Apache-2.0
/** Requests as code. Each text becomes a literal of the language, so no value ends its quotes. */

/** Characters that a terminal or an editor does not show, or shows elsewhere. */
const HIDDEN = /[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const hex = (/** @type {number} */ code, length = 4) => code.toString(16).padStart(length, "0");

/** @param {string} text @returns A literal of JavaScript and of Python. */
const quoted = (text) => JSON.stringify(text).replace(HIDDEN, (one) => `\\u${hex(one.charCodeAt(0))}`);

/** @param {string} text */
const swift = (text) => quoted(text).replace(/\\(?:u(.{4})|(.))/g, (all, code, one) => (code ? `\\u{${code}}` : one === "b" ? "\\u{8}" : one === "f" ? "\\u{c}" : all));

/** @param {string} text */
const shell = (text) => (text.search(HIDDEN) < 0 ? `'${text.replaceAll("'", "'\\''")}'`
  : `$'${text.replace(/[\\']/g, "\\$&").replace(HIDDEN, (one) => [...new TextEncoder().encode(one)].map((byte) => `\\x${hex(byte, 2)}`).join(""))}'`);

/** @param {string[][]} headers */
const fields = (headers) => `{\n${headers.map((pair) => `    ${pair.map(quoted).join(": ")},\n`).join("")}  }`;

/** @type {Record<string, (method: string, url: string, headers: string[][], body: string) => string>} */
export const languages = {
  curl: (method, url, headers, body) => [`curl --globoff -X ${method} ${shell(url)}`, ...headers.map((pair) => `-H ${shell(pair.join(": "))}`), ...(body ? [`--data-raw ${shell(body)}`] : [])].join(" \\\n  "),
  JavaScript: (method, url, headers, body) => `const response = await fetch(${quoted(url)}, {
  method: "${method}",
  headers: ${fields(headers)},${body && `\n  body: ${quoted(body)},`}
});
console.log(response.status, await response.text());`,
  Python: (method, url, headers, body) => `from urllib.request import Request, urlopen

request = Request(
  ${quoted(url)},
  method="${method}",
  headers=${fields(headers)},${body && `\n  data=${quoted(body)}.encode(),`}
)
with urlopen(request) as response:
    print(response.status, response.read().decode())`,
  Swift: (method, url, headers, body) => `import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

var request = URLRequest(url: URL(string: ${swift(url)})!)
request.httpMethod = "${method}"
${headers.map(([name, value]) => `request.setValue(${swift(value)}, forHTTPHeaderField: ${swift(name)})\n`).join("")}${body && `request.httpBody = Data(${swift(body)}.utf8)\n`}let (data, response) = try await URLSession.shared.data(for: request)
print((response as! HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))`,
};

/** @param {string} language @param {import("../../core/api.js").Sent} request @param {boolean} needsKey */
export function code(language, { method, target, body, headers }, needsKey) {
  const isJSON = body && typeof body === "object" && !(body instanceof Blob);
  const all = { Accept: "application/json", ...(isJSON && { "Content-Type": "application/json" }), ...headers, ...(needsKey && { Authorization: "Bearer YOUR-KEY" }) };
  // Half a character is sent as U+FFFD.
  const text = (isJSON ? JSON.stringify(body) : typeof body === "string" ? body : "").replace(/\p{Cs}/gu, "\ufffd");
  return (languages[language] ?? languages.curl)(method, new URL(target, location.href).href, Object.entries(all), text);
}
