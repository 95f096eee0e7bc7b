// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// Random operations of batches.
struct ReplayOperations {
    var random: SeededGenerator

    mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func letter() -> String { String("abcdef".randomElement(using: &random) ?? "a") }

    private mutating func name() -> String {
        switch number(12) {
        case 0: return "null"
        case 1: return "\"\""
        case 2: return "\"\(letter().uppercased())\""
        default: return "\"\(letter())\""
        }
    }

    /// A link to one of the dogs that are always there, or null.
    private mutating func dogLink(isNull: Bool = true) -> String {
        isNull && number(3) == 0 ? "null" : "{\"$link\":{\"class\":\"Dog\",\"key\":\"\(20 + number(7))\"}}"
    }

    private mutating func dogLinks() -> String {
        "[" + (0..<number(4)).map { _ in dogLink(isNull: false) }.joined(separator: ",") + "]"
    }

    private mutating func place() -> String {
        "{\"city\":\"\(letter())\",\"rooms\":[" + (0..<number(3)).map { _ in String(number(9)) }.joined(separator: ",") + "]}"
    }

    private mutating func mixed() -> String {
        switch number(6) {
        case 0: return "null"
        case 1: return dogLink()
        case 2: return "[\(number(9)),\"\(letter())\"]"
        case 3: return "{\"a\":\(number(9))}"
        case 4: return "\"\(letter())\""
        default: return String(number(9))
        }
    }

    /// Everything that the definitions name.
    static let beginning: [String] =
        (20..<27).map { "{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\($0),\"name\":\"k\",\"age\":\($0 % 9)}}}" }
        + [
            #"{"create":{"class":"Person","body":{"_id":"ann","age":3,"home":{"city":"Oslo","rooms":[1]},"kids":[{"city":"Rome"},{"city":"Bonn"}]}}}"#
        ]

    mutating func next() -> String {
        switch number(32) {
        case 0, 1, 2: return upsertDog("all")
        case 3: return upsertDog("modified")
        case 4: return replaceDog()
        case 5:
            return
                "{\"patchWhere\":{\"class\":\"Dog\",\"where\":\"_id == \(20 + number(7))\",\"body\":{\"age\":\(number(9)),\"mate\":\(dogLink())}}}"
        case 6, 7:
            return "{\"patchWhere\":{\"class\":\"Dog\",\"where\":\"_id == \(number(14))\",\"body\":{\"age\":\(number(9))}}}"
        case 8: return "{\"deleteWhere\":{\"class\":\"Dog\",\"where\":\"_id == \(number(14))\"}}"
        case 9: return "{\"patchWhere\":{\"class\":\"Dog\",\"where\":\"age > \(number(9))\",\"body\":{\"name\":\(name())}}}"
        case 10: return number(4) == 0 ? "{\"deleteWhere\":{\"class\":\"Dog\",\"where\":\"_id < 14\"}}" : upsertDog("all")
        case 11: return person("pack", "list", "{\"add\":\(dogLink(isNull: false))}")
        case 12: return person("pack", "list", number(3) == 0 ? #"{"clear":true}"# : "{\"insert\":[0,\(dogLink(isNull: false))]}")
        case 13:
            let ends = "{\"add\":\(dogLink(isNull: false))},{\"add\":\(dogLink(isNull: false))}"
            return person(
                "pack", "list",
                ends + ",{\"move\":[0,1]},{\"swap\":[1,0]},{\"set\":[0,\(dogLink(isNull: false))]},{\"move\":[1,0]}")
        case 14: return person("pack", "list", "{\"add\":\(dogLink(isNull: false))},{\"remove\":0}")
        case 15: return person("tags", "list", "{\"add\":\"\(letter())\"},{\"insert\":[0,\"\(letter())\"]},{\"move\":[0,1]}")
        case 16: return person("tags", "list", "{\"add\":null},{\"swap\":[0,0]},{\"remove\":0}")
        case 17:
            return person(
                "ids", "set", number(6) == 0 ? #"{"clear":true}"# : "{\"insert\":\(number(9))},{\"remove\":\(number(9))}")
        case 18:
            let rest = number(6) == 0 ? #"{"clear":true}"# : "{\"remove\":\"\(letter())\"}"
            return person("marks", "dictionary", "{\"set\":[\"\(letter())\",\(number(9))]}," + rest)
        case 19: return person("seats", "dictionary", "{\"set\":[\"\(letter())\",\(dogLink(isNull: false))]}")
        case 20: return person("seats", "dictionary", "{\"remove\":\"\(letter())\"},{\"set\":[\"\(letter())\",null]}")
        case 21: return person("friends", "set", "{\"insert\":\(dogLink(isNull: false))},{\"remove\":\(dogLink(isNull: false))}")
        case 22:
            return person(
                "anys", "list", "{\"add\":\(mixed())},{\"insert\":[0,\(mixed())]},{\"remove\":0},{\"set\":[0,\(mixed())]}")
        case 23: return anotherPerson()
        case 24: return "{\"deleteWhere\":{\"class\":\"Person\",\"where\":\"_id == 'p\(number(4))'\"}}"
        case 25: return patch("\"age\":\(number(9)),\"tags\":[\"\(letter())\",\"\(letter())\"]")
        case 26: return patch("\"any\":\(mixed()),\"friends\":\(dogLinks()),\"boss\":\(number(2) == 0 ? "\"ann\"" : "null")")
        case 27: return number(3) == 0 ? patch("\"home\":null") : patch("\"home\":\(place())")
        case 28: return jsonPatch("{\"op\":\"add\",\"path\":\"/kids/-\",\"value\":\(place())}")
        case 29:
            return person(
                "kids", "list", "{\"add\":\(place())},{\"insert\":[0,\(place())]},{\"move\":[0,1]},{\"remove\":\(number(2))}")
        case 30:
            return jsonPatch(
                "{\"op\":\"add\",\"path\":\"/kids/-\",\"value\":\(place())},{\"op\":\"replace\",\"path\":\"/kids/0/city\",\"value\":\"\(letter())\"}"
            )
        default: return patch("\"home\":{\"city\":\"\(letter())\",\"rooms\":[\(number(9))]}")
        }
    }

    private mutating func upsertDog(_ policy: String) -> String {
        let mate = number(2) == 0 ? "" : ",\"mate\":\(dogLink())"
        return
            "{\"create\":{\"upsert\":\"\(policy)\",\"class\":\"Dog\",\"body\":{\"_id\":\(number(14)),\"name\":\(name()),\"age\":\(number(9))\(mate)}}}"
    }

    /// A dog that others link to goes, and another takes its key.
    private mutating func replaceDog() -> String {
        let key = 20 + number(6)
        return "{\"delete\":{\"class\":\"Dog\",\"key\":\"\(key)\"}},"
            + "{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\(key),\"name\":\(name()),\"age\":\(number(9))}}}"
    }

    private mutating func anotherPerson() -> String {
        let boss = number(2) == 0 ? "null" : "\"ann\""
        return
            "{\"create\":{\"upsert\":\"all\",\"class\":\"Person\",\"body\":{\"_id\":\"p\(number(4))\",\"age\":\(number(4)),\"boss\":\(boss),\"pack\":\(dogLinks())}}}"
    }

    private func patch(_ members: String) -> String { "{\"patch\":{\"class\":\"Person\",\"key\":\"ann\",\"body\":{\(members)}}}" }
    private func jsonPatch(_ steps: String) -> String { "{\"patch\":{\"class\":\"Person\",\"key\":\"ann\",\"body\":[\(steps)]}}" }

    private func person(_ property: String, _ kind: String, _ ops: String) -> String {
        "{\"\(kind)\":{\"class\":\"Person\",\"key\":\"ann\",\"property\":\"\(property)\",\"ops\":[\(ops)]}}"
    }
}
