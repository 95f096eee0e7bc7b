// SPDX-License-Identifier: Apache-2.0
import { isEmbedded, typeText } from "../../core/schema.js";
import { plainText } from "../../core/values.js";
import { ask } from "./ask.js";
import { literal, resolve, wordFor } from "./words.js";

/** @typedef {import("./words.js").Subject} Subject */
/** @typedef {{text: string, hint?: string}} Proposal */
/** @typedef {(abort: AbortSignal) => Promise<Proposal[]>} Later Values that have to be asked for. */

const TOKEN = /\s+|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|(?:[\p{L}_$@]|\\.)(?:[\p{L}\p{N}_$@.-]|\\.|\[[^\]]*\])*|[<>=!]+(?:\[c\])?|&&|\|\||\d[\w.:@-]*|[^]/gu;
const OPERATOR = /^([<>=!]+|beginswith|endswith|contains|like|in|between|text|geowithin)(\[c\])?$/i;
const BEFORE_OPERAND = /^(|\(|and|or|not|!|&&|\|\||,|any|all|none|some|sort|distinct)$/i;

/** @param {string} texts With spaces between. @returns {Proposal[]} */
const words = (texts) => texts.split(" ").filter(Boolean).map((text) => ({ text }));

/**
 * The possible continuations of a part of a query; `from` is the beginning of the text to replace.
 *
 * @param {string} before @param {Subject} subject
 * @returns {{from: number, proposals: Proposal[], later?: Later}}
 */
export function complete(before, subject) {
  const tokens = before.match(TOKEN) ?? [];
  const last = tokens.at(-1) ?? "";
  const part = /^[\p{L}_$@\\]/u.test(last) || (/^["']/.test(last) && (last.length < 2 || last[0] !== last.at(-1))) ? last : "";
  const said = tokens.slice(0, part ? -1 : undefined).filter((one) => one.trim());
  const [previous = "", second = ""] = said.slice(-2).reverse();
  /** @param {Proposal[]} all */
  const matching = (all) => {
    const wanted = part.toLowerCase();
    return all.filter(({ text }) => text !== part && (text.toLowerCase().startsWith(wanted) || text.toLowerCase().includes(wanted.replace(/^["']/, "") || "\n"))).slice(0, 60);
  };
  const [proposals, later] = proposed(before, part, said, previous, second, subject);
  return { from: before.length - part.length, proposals: matching(proposals), later: later && (async (abort) => matching(await later(abort))) };
}

/**
 * @param {string} before @param {string} part @param {string[]} said @param {string} previous @param {string} second @param {Subject} subject
 * @returns {[Proposal[], Later?]}
 */
function proposed(before, part, said, previous, second, subject) {
  const { realm, schema, type } = subject;
  const [, list] = /subquery\s*\(\s*([^,()]+?)\s*,\s*\$\w+\s*,(?![^]*\)\s*\.\s*@count)/i.exec(before) ?? [];
  const inner = list ? resolve(schema, type, list).type : undefined;
  if (/^(in|between)$/i.test(previous)) return [words("{} $0")];
  if (OPERATOR.test(previous) || (/^[{,]$/.test(previous) && before.lastIndexOf("{") > before.lastIndexOf("}"))) {
    const path = said[said.map((one) => OPERATOR.test(one)).lastIndexOf(true) - 1] ?? "";
    const { property } = resolve(schema, type, path);
    const next = said.filter((one) => /^\$\d+$/.test(one)).length;
    return [[...(property ? values(property) : []), ...words(`$${next} null`), ...(part ? paths(part, subject, inner) : [])],
      property?.type === "string" ? async (abort) => {
        const { facets } = await ask("objects", realm, type.name, { facets: [path], limit: "0" }, { abort, quiet: true });
        return facets[path].filter((/** @type {any} */ { value }) => value !== null).map((/** @type {any} */ { value, count }) => ({ text: literal(value, property, schema), hint: plainText(count) }));
      } : undefined];
  }
  if (BEFORE_OPERAND.test(previous)) return [[...paths(part, subject, inner), ...words(part.includes(".") ? "" : "NOT ANY ALL NONE SUBQUERY() TRUEPREDICATE @links.")]];
  if (/\b(sort|distinct)\s*\([^)]*$/i.test(before)) return [words(/distinct\s*\([^)]*$/i.test(before) ? "" : "ASC DESC")];
  if (/^[\p{L}_$@\\]/u.test(previous) && !/^(true|false|null|nil)$/i.test(previous) && !OPERATOR.test(second) && !/^[{,]$/.test(second)) {
    return [words(operators(resolve(schema, inner ?? type, previous.replace(/^\$\w+\./, "")).property, previous, subject))];
  }
  return [words("AND OR SORT() DISTINCT() LIMIT()")];
}

/** @param {string} part @param {Subject} subject @param {import("./words.js").Class | undefined} inner That of a subquery. @returns {Proposal[]} */
function paths(part, { schema, type }, inner) {
  const stem = part.slice(0, part.lastIndexOf(".") + 1);
  const variable = /^\$[a-z]\w*\./i.exec(part)?.[0] ?? "";
  const [links, origin] = /@links\.(?:([^.]+)\.)?$/.exec(stem) ?? [];
  const way = stem.slice(variable.length, links ? -links.length : undefined);
  const at = way ? resolve(schema, variable ? inner : type, way) : { type: variable ? inner : type, property: undefined };
  if (links) return words([...new Set(at.type?.backlinks.filter((one) => !origin || one.class === origin).map((one) => stem + (origin ? one.property : `${one.class}.`)))].join(" "));
  const { type: kind, collection } = at.property ?? {};
  const ends = !kind ? "" : collection ? `@count @min @max @sum @avg ${collection === "dictionary" ? "@keys @values" : ""}` : at.type ? "@links. @count" : kind === "mixed" ? "@type @size" : /string|data/.test(kind) ? "@size" : "";
  return [...(at.type?.properties ?? []).flatMap((one) => (wordFor(one.name) === null ? [] : [{ text: stem + wordFor(one.name), hint: typeText(one) }])), ...words(ends).map(({ text }) => ({ text: stem + text }))];
}

/** @param {import("./words.js").Property | undefined} property @param {string} path @param {Subject} subject */
function operators(property, path, { schema }) {
  if (!property || path.includes("@")) return "== != < <= > >= BETWEEN";
  if (property.type === "object") return `== != ${isEmbedded(schema, property) ? "geoWithin" : "IN"}`;
  return `== != IN ${/string|data|mixed/.test(property.type) ? "BEGINSWITH ENDSWITH CONTAINS LIKE ==[c] BEGINSWITH[c] CONTAINS[c] LIKE[c]" : ""} ${
    property.type === "bool" ? "" : "< <= > >= BETWEEN"} ${property.indexed === "fulltext" ? "TEXT" : ""}`;
}

/** @param {import("./words.js").Property} property @returns {Proposal[]} */
function values({ type, objectType }) {
  return type === "date" ? [{ text: new Date().toISOString().slice(0, 19), hint: "now, UTC" }] : type === "object" ? [{ text: `obj('${objectType}', )` }]
    : words({ bool: "true false", uuid: "uuid()", objectId: "oid()", data: 'bin("")' }[type] ?? "");
}
