// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The names that other interfaces have for the parameters of this one, so that a wrong name is answered with the right one.
enum ParameterMeaning {
    /// For each name elsewhere, in lower case and without `_`, `-` and `$`, the parameters here that may be meant. The first one
    /// that a path takes is suggested.
    private static let meanings: [ByteText: [String]] = [
        "filter": ["where"], "filters": ["where"], "q": ["where"], "query": ["where"], "search": ["where"],
        "predicate": ["where"],
        "condition": ["where"], "criteria": ["where"], "find": ["where"], "selector": ["where"],
        "cursor": ["after", "since"], "next": ["after", "since"], "startafter": ["after", "since"], "pagetoken": ["after"],
        "starttoken": ["after"], "continue": ["after"], "from": ["after", "since"], "lastid": ["after", "since"],
        "page": ["offset"], "skip": ["offset"], "start": ["offset"], "pagenumber": ["offset"],
        "order": ["sort"], "orderby": ["sort"], "sortby": ["sort"], "ordering": ["sort"],
        "size": ["limit"], "pagesize": ["limit"], "perpage": ["limit"], "top": ["limit"], "take": ["limit"], "first": ["limit"],
        "max": ["limit", "maxAffected"], "maxresults": ["limit"], "rows": ["limit"],
        "select": ["fields"], "columns": ["fields"], "properties": ["fields"], "projection": ["fields"], "only": ["fields"],
        "attributes": ["fields"],
        "include": ["expand"], "embed": ["expand"], "populate": ["expand"], "with": ["expand"], "depth": ["expand"],
        "group": ["groupBy", "sectionBy"], "groupby": ["groupBy", "sectionBy"], "by": ["groupBy", "sectionBy"],
        "aggregate": ["ops"], "aggregates": ["ops"], "function": ["ops"], "functions": ["ops"],
        "parameters": ["args"], "params": ["args"], "arguments": ["args"], "values": ["args"],
        "total": ["count"], "totalcount": ["count"], "counts": ["facets"], "unique": ["distinct"],
        "type": ["format", "class"], "accept": ["format"], "output": ["format"], "table": ["class"], "collection": ["class"],
        "entity": ["class"], "model": ["class"],
        "onconflict": ["upsert"], "overwrite": ["upsert"], "replace": ["upsert"], "merge": ["upsert"],
        "dry": ["dryRun"], "simulate": ["dryRun"], "preview": ["dryRun"], "validate": ["dryRun"], "recursive": ["nested"],
        "version": ["snapshot", "since"], "at": ["version"], "asof": ["version"], "time": ["version"], "lastversion": ["since"],
        "timeout": ["wait", "timeout"], "plan": ["explain"],
    ]

    /// Returns the end of an error text about a parameter that does not exist: the nearest name, or the one of the same meaning;
    /// that there are none; or nothing.
    ///
    /// - Parameters:
    ///   - name: The name that was sent.
    ///   - known: The names that are taken here.
    package static func hint(for name: String, in known: [String]) -> String {
        guard !known.isEmpty else { return "; this request takes no parameters" }
        let credentials: Set<ByteText> = ["token", "apikey", "accesstoken", "auth", "password"]
        let plain = String(name.lowercasedASCII.filter { $0 != "_" && $0 != "-" && $0 != "$" })
        if let meant = meanings[plain]?.first(where: { known.contains($0) }) { return "; did you mean '\(meant)'?" }
        let hint = Suggestion.hint(for: name, in: known)
        if hint.isEmpty, credentials.contains(plain) {
            return "; a credential goes into the header field Authorization: Bearer …"
        }
        return hint
    }
}
