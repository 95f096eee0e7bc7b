// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// A result grouped into sections, in the order of their first rows.
///
/// The rows of a section stay together even where its function does not keep the order of the values, as `:mod` does not. So the
/// whole result is grouped before a page is cut from it, and its rows are held in memory until then.
struct Sections<Row> {
    /// A section with its rows.
    struct Section {
        /// The key that the rows have in common.
        let key: SectionKey
        /// The rows, in the order of the result.
        var rows: [Row] = []
    }

    /// All sections, in the order of their first rows.
    private(set) var all: [Section] = []
    private var indexes: [SectionKey: Int] = [:]
    /// The length of all keys in bytes.
    private var keyBytes = 0
    /// The version that is read, and the request with its budget.
    private let context: ReadContext

    /// Creates a result without rows.
    init(_ context: ReadContext) { self.context = context }

    /// The largest number of sections of a result, all of which are in memory while a page is cut.
    private static var maximumSections: Int { 100_000 }
    /// The cost of a row and its key, in units of the work budget.
    private static var unitsPerRow: Int { 16 }
    /// The number of bytes of a key that cost one unit of the work budget.
    private static var bytesPerUnit: Int { 128 }

    /// Adds the next row of the result.
    ///
    /// - Parameters:
    ///   - row: The identity of the row.
    /// - Throws: The problem of too many sections, of keys that are longer in all than a response may be, or of a budget that is
    ///   used up.
    mutating func add(_ row: Row, to key: SectionKey) throws(Problem) {
        // A long text is copied several times.
        let units = Sections.unitsPerRow + key.byteCount / Sections.bytesPerUnit
        try Problem.stored(context.call.request.budget.spend(units))
        let index = indexes[key] ?? all.count
        if index == all.count { try begin(key) }
        all[index].rows.append(row)
    }

    /// Adds a section without rows.
    private mutating func begin(_ key: SectionKey) throws(Problem) {
        guard all.count < Sections.maximumSections else {
            throw Problem.overLimit(
                .answerTooLarge, "the result has more than \(Sections.maximumSections) sections",
                limit: Sections.maximumSections)
        }
        keyBytes += key.byteCount
        guard keyBytes <= context.limits.answerBytes else {
            throw Problem(WorkStop.tooManyBytes(limit: context.limits.answerBytes))
        }
        indexes[key] = all.count
        all.append(Section(key: key))
    }

    var rowCount: Int { all.reduce(0) { $0 + $1.rows.count } }

    /// Returns only the section that `section` names; all of them when it is absent.
    ///
    /// - Throws: `section_not_found` when the result has none of that key.
    func only(_ wanted: ParameterSet.TextOrJSON?) throws(Problem) -> Sections {
        guard let name = wanted.map({ SectionName($0) }) else { return self }
        var best: (section: Section, fit: SectionKey.Fit)?
        for section in all {
            let fit = section.key.fit(name)
            if fit > best?.fit ?? SectionKey.Fit.none { best = (section, fit) }
        }
        guard let best else { throw Problem(.sectionNotFound, "the result has no section of this key") }
        var sections = self
        sections.all = [best.section]
        return sections
    }

    /// Returns the rows of a page, counted over all sections.
    ///
    /// - Parameters:
    ///   - start: The first row, at most `rowCount`.
    ///   - parameters: The request, with its `limit`.
    func range(from start: Int, _ parameters: ReadParameters) -> Range<Int> {
        let total = rowCount
        let limit = parameters.limit ?? ReadParameters.defaultLimit
        return start..<(limit < total - start ? start + limit : total)
    }

    /// Returns the rows of a range, in the sections to which they belong. Sections without rows in the range are left out.
    func cut(_ range: Range<Int>) -> [Section] {
        var start = 0
        var result: [Section] = []
        for section in all {
            let rows = range.clamped(to: start..<start + section.rows.count)
            if !rows.isEmpty {
                result.append(
                    Section(key: section.key, rows: Array(section.rows[rows.lowerBound - start..<rows.upperBound - start])))
            }
            start += section.rows.count
        }
        return result
    }
}

/// The kind of values that are divided into sections.
extension SectionGrouping {
    /// Records whether the key path leads to mixed values.
    ///
    /// - Parameters:
    ///   - subject: The grouped rows: objects of a class, or values of a collection.
    ///   - mapping: The names of linking objects.
    ///   - snapshot: The version that is read.
    mutating func resolve(_ subject: Elements.Subject, _ mapping: KeyPathMapping, in snapshot: Snapshot) {
        switch subject {
        case .values(let column, _, _): isMixed = column.type == .mixed
        case .objects(let table):
            let resolved = try? KeyPath.resolve(path, from: table, in: snapshot, mapping: mapping)
            isMixed = resolved?.property?.type == .mixed
        }
    }
}
