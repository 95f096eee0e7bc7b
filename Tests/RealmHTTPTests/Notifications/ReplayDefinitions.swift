// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport

/// What the clients of a replay observe.
enum ReplayDefinitions {
    static let classes = """
        [{"name":"Dog","primaryKey":"_id","properties":[{"name":"_id","type":"int"},{"name":"name","type":"string","optional":true},
          {"name":"age","type":"int"},{"name":"mate","type":"object","objectType":"Dog"}]},
         {"name":"Person","primaryKey":"_id","properties":[{"name":"_id","type":"string"},{"name":"age","type":"int"},
          {"name":"boss","type":"object","objectType":"Person"},{"name":"pack","type":"object","collection":"list","objectType":"Dog"},
          {"name":"friends","type":"object","collection":"set","objectType":"Dog"},
          {"name":"tags","type":"string","collection":"list","optional":true},{"name":"ids","type":"int","collection":"set"},
          {"name":"marks","type":"int","collection":"dictionary"},{"name":"seats","type":"object","collection":"dictionary","objectType":"Dog"},
          {"name":"any","type":"mixed"},{"name":"anys","type":"mixed","collection":"list"},
          {"name":"home","type":"object","objectType":"Place"},{"name":"kids","type":"object","collection":"list","objectType":"Place"}]},
         {"name":"Place","type":"embedded","properties":[{"name":"city","type":"string"},{"name":"rooms","type":"int","collection":"list"}]}]
        """

    static let backlinkNames: [ByteText: [ByteText: String]] = ["Person": ["staff": "Person.boss"]]

    /// By name. Dog 26 and Ann are never deleted; the dogs from 20 to 25 are replaced by others of the same key.
    static let all: [(name: String, text: String)] = [
        ("plain", #"{"class":"Dog","where":"age > 3"}"#), ("sorted", #"{"class":"Dog","sort":["-age","name"]}"#),
        ("window", #"{"class":"Dog","where":"age >= $0","args":[2],"sort":["age"],"limit":4}"#),
        ("distinct", #"{"class":"Dog","sort":["name"],"distinct":["age"]}"#),
        ("linked", #"{"class":"Dog","where":"mate.age > 4"}"#),
        ("firsts", #"{"class":"Dog","distinct":["age"]}"#),
        ("top", #"{"class":"Dog","sort":["name","-age"],"distinct":["name"],"limit":3}"#),
        ("text", #"{"class":"Dog","where":"age > 1 SORT(age DESC) DISTINCT(name) LIMIT(4)"}"#),
        ("byMate", #"{"class":"Dog","sort":["mate.age","-_id"],"fields":["_id","age","mate.age"],"meta":"none"}"#),
        ("expanded", #"{"class":"Dog","where":"mate != null","expand":["mate"]}"#),
        ("keys", #"{"class":"Dog","sort":["name","_id"],"include":"keys"}"#),
        ("count", #"{"class":"Dog","where":"age > 4","include":"none"}"#),
        ("ages", #"{"class":"Dog","where":"age < 7","keyPaths":["age"],"fields":["_id","age"],"meta":"none"}"#),
        ("mates", #"{"class":"Dog","keyPaths":["mate.age"],"fields":["_id","mate.age"],"meta":"none"}"#),
        ("shallow", #"{"class":"Dog","sort":["-age"],"shallow":true,"include":"keys"}"#),
        ("bosses", #"{"class":"Person","keyPaths":["@links.Person.boss"],"fields":["_id","staff"],"meta":"none"}"#),
        ("pack", #"{"class":"Person","key":"ann","property":"pack"}"#),
        ("tags", #"{"class":"Person","key":"ann","property":"tags"}"#),
        ("tagsSorted", #"{"class":"Person","key":"ann","property":"tags","sort":["self"]}"#),
        ("tagsOnce", #"{"class":"Person","key":"ann","property":"tags","where":"self != 'a'","distinct":["self"],"limit":3}"#),
        ("packOld", #"{"class":"Person","key":"ann","property":"pack","where":"age > 4","sort":["age"]}"#),
        ("ids", #"{"class":"Person","key":"ann","property":"ids"}"#),
        ("idsView", #"{"class":"Person","key":"ann","property":"ids","sort":["-self"],"limit":2}"#),
        ("marks", #"{"class":"Person","key":"ann","property":"marks"}"#),
        ("seats", #"{"class":"Person","key":"ann","property":"seats"}"#),
        ("friends", #"{"class":"Person","key":"ann","property":"friends"}"#),
        ("friendsOld", #"{"class":"Person","key":"ann","property":"friends","where":"age > 4","sort":["name","_id"]}"#),
        ("anys", #"{"class":"Person","key":"ann","property":"anys"}"#),
        ("staff", #"{"class":"Person","key":"ann","property":"staff"}"#),
        ("staffView", #"{"class":"Person","key":"ann","property":"@links.Person.boss","where":"age > 1","sort":["-_id"]}"#),
        ("packedBy", #"{"class":"Dog","key":"26","property":"@links.Person.pack","fields":["_id","age"]}"#),
        ("matesOf", #"{"class":"Dog","key":"26","property":"@links.Dog.mate"}"#),
        ("home", #"{"class":"Person","key":"ann","property":"home","meta":"none"}"#),
        ("kids", #"{"class":"Person","key":"ann","property":"kids"}"#),
        ("kid", #"{"class":"Person","key":"ann","property":"kids[0]","meta":"none"}"#),
        ("rooms", #"{"class":"Person","key":"ann","property":"home.rooms"}"#),
        ("sections", #"{"class":"Dog","sectionBy":"age:floor(3)"}"#),
        ("named", #"{"class":"Dog","sectionBy":"name:firstLetter","where":"age > 1"}"#),
        ("mod", #"{"class":"Dog","sectionBy":"age:mod(3)","where":"TRUEPREDICATE SORT(age ASC) LIMIT(7)"}"#),
        ("section", #"{"class":"Dog","sectionBy":"age:floor(3)","section":3}"#),
        ("lettered", #"{"class":"Dog","sectionBy":"name:first","section":"c","sort":["name","-_id"]}"#),
        ("ann", #"{"class":"Person","key":"ann","fields":["age","tags"]}"#), ("dog", #"{"class":"Dog","key":"22"}"#),
        (
            "deep",
            #"{"class":"Person","key":"ann","keyPaths":["pack.age","age","staff"],"fields":["_id","age","pack.age"],"meta":"none"}"#
        ),
    ]

    static func definition(_ name: String) throws -> ParsedJSON {
        try ParsedJSON(parsing: Array((all.first { $0.name == name }?.text ?? "{}").utf8))
    }

    /// A definition as the parameters of a URL.
    static func query(_ definition: ParsedJSON) -> String {
        (definition.members ?? []).map { member in
            let text: String
            switch member.value {
            case .string(let value): text = value
            case .array(let elements) where member.name != "args": text = elements.map { $0.text ?? "" }.joined(separator: ",")
            default: text = member.value.serialized
            }
            return "\(member.name)=\(ChangeServer.encode(text))"
        }.joined(separator: "&")
    }

    // MARK: - Reading

    /// The path and parameters of a read that shows what a definition observes.
    static func read(_ definition: ParsedJSON) -> String {
        var path = "objects/\(definition["class"]?.text ?? "")"
        if let key = definition["key"]?.text {
            path += "/" + key
            guard let property = definition["property"]?.text else { return path + "?" + query(shown(definition, [])) }
            guard !["home", "kids[0]"].contains(property) else { return path + "/home?" + query(shown(definition, [])) }
            path +=
                property.hasPrefix("@links.")
                ? "/@links/" + property.dropFirst(7).split(separator: ".").joined(separator: "/") : "/" + property
        }
        let names = ["where", "args", "sort", "distinct", "sectionBy", "section"]
        let isTop = definition["where"]?.text?.contains("LIMIT") != true
        let limit = isTop ? "&limit=\(definition["limit"]?.integer ?? 1000)" : "&limit=1000"
        return path + "?" + query(shown(definition, names)) + limit
    }

    private static func shown(_ definition: ParsedJSON, _ names: [String]) -> ParsedJSON {
        .object(
            (definition.members ?? []).filter { (names + ["fields", "expand", "ints", "meta"]).contains($0.name) }.map {
                ($0.name, $0.value)
            })
    }

    /// What is wrong with a copy, compared with the answer of that read; nil when nothing is.
    static func difference(_ copy: ClientCopy, _ definition: ParsedJSON, _ status: Int, _ answer: ParsedJSON) -> String? {
        func compare(_ shown: [ParsedJSON], _ read: [ParsedJSON]) -> String? {
            shown == read ? nil : "\(ParsedJSON.array(shown).serialized) instead of \(ParsedJSON.array(read).serialized)"
        }
        func rows(_ rows: [ParsedJSON], _ items: [ParsedJSON]) -> String? {
            switch definition["include"]?.text {
            case "keys": return compare(rows.map { $0["key"] ?? .null }, items.map { .string(String($0["_id"]?.integer ?? -1)) })
            default:
                return compare(rows.map { $0["object"] ?? $0["value"] ?? .null }, items.map { $0["object"] ?? $0["value"] ?? $0 })
            }
        }
        if definition["sectionBy"] != nil {
            let sections = answer["sections"]?.elements ?? []
            if let difference = compare(copy.sections.map(\.key), sections.map { $0["key"] ?? .null }) { return difference }
            return zip(copy.sections, sections).lazy.compactMap { rows($0.rows, $1["items"]?.elements ?? []) }.first
        }
        guard status == 200 else { return copy.isGone ? nil : "\(status): \(answer.serialized)" }
        guard let items = answer["items"]?.elements else {
            // An object. Embedded ones come as the value of their property.
            let read = definition["property"] == nil ? answer : answer["value"] ?? .null
            return copy.isGone ? nil : compare([copy.object ?? .null], [read])
        }
        if definition["include"]?.text == "none" {
            return copy.count == items.count ? nil : "\(copy.count ?? -1) instead of \(items.count) rows"
        }
        return rows(copy.rows, items)
    }
}
