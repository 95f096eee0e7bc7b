// SPDX-License-Identifier: Apache-2.0

/// The cases in which the server finds other objects than the reference engine on purpose, with the number of objects: NaN is neither less
/// nor greater than anything, an object that does not exist equals nothing, null entries of dictionaries of links count, and a whole number
/// beside a float is the nearest float.
///
/// See "Other than in the SDKs" in docs/query.md.
enum VectorDepartures {
    /// The counts by group and suite, and by the number of the case in it.
    static let counts: [String: [Int: Int64]] = [
        "aggregates/null, NaN, infinity and overflow": [91: 1, 119: 2, 129: 1],
        "collections/combined paths": [3: 1],
        "decimal/precision, exponents, NaN and infinity": [
            1: 3, 4: 3, 8: 3, 23: 7, 26: 10, 30: 16, 34: 19, 36: 21, 39: 6, 40: 3, 42: 1, 45: 21, 50: 18, 62: 11, 63: 10,
            83: 0,
        ],
        "dictionary/keys, values, missing keys": [48: 1],
        "links/embedded objects, links and backlinks": [23: 0],
        "mixed/values of every type": [19: 1, 31: 8, 38: 6, 39: 8, 44: 8, 45: 9, 51: 0, 52: 0, 54: 37, 149: 3, 151: 5],
        "numbers/numeric literals and cross-type comparison": [
            66: 0, 67: 0, 88: 11, 90: 11, 96: 3, 97: 7, 100: 10, 102: 11, 104: 2, 117: 12, 120: 12, 122: 12, 144: 1, 148: 3,
            149: 3, 151: 3, 162: 13, 173: 6, 178: 13, 181: 13, 187: 9, 190: 3, 193: 10, 195: 9, 197: 2, 204: 7, 206: 8,
            210: 12, 212: 12, 214: 12, 216: 2, 218: 11, 240: 11, 244: 3, 246: 3, 248: 3, 250: 10, 264: 5, 265: 13, 278: 6,
            283: 15, 291: 9, 293: 3, 294: 3, 296: 3, 299: 9, 300: 11, 303: 8, 304: 8, 305: 9, 306: 9, 307: 6, 308: 6,
            312: 7, 314: 10, 316: 10, 317: 11, 318: 11, 320: 1, 322: 1, 323: 11, 325: 11, 327: 13, 329: 6, 332: 0, 335: 13,
            337: 0, 338: 13, 340: 13, 342: 0, 344: 10, 349: 10, 351: 13, 354: 11, 358: 5, 360: 3, 362: 3, 364: 3, 366: 7,
            368: 10, 370: 0, 371: 0, 373: 14, 375: 1, 376: 16, 379: 13, 391: 13, 392: 15,
        ],
        "substitution/argument types against property types": [20: 0, 21: 0, 103: 0, 129: 0, 204: 0, 208: 0, 361: 0],
        "type-matrix/property type against literal type": [13: 0, 242: 0, 479: 0, 792: 2, 793: 3, 794: 0],
    ]

    /// Returns a case with the count of this server in the place of the engine's outcome, if that is another.
    static func adjusted(_ json: ParsedJSON, _ suite: String, _ number: Int) -> ParsedJSON {
        guard let count = counts[suite]?[number], let members = json.members else { return json }
        let outcome: Set<String> = ["count", "keys", "matches", "error"]
        return .object(members.filter { !outcome.contains($0.name) } + [.init(name: "count", value: .integer(count))])
    }
}
