// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The result of converting an old file, with the data that could not be carried over.
package struct ConversionReport: Sendable, Equatable {
    /// The format of the old file.
    package let fromFormat: Int
    /// The classes of the new file, in the order of its tables.
    package internal(set) var classes: [Class] = []
    /// The differences from the old file, in the order of the search. Of more than `maximumNoteCount` notes those about losses
    /// are kept before others.
    package private(set) var notes: [Note] = []
    /// How many notes there are, together with those that were dropped.
    package internal(set) var noteCount = 0
    /// How many of `notes` are about losses.
    private var lossCount = 0

    /// How many notes are kept.
    package static let maximumNoteCount = 1000

    /// A class of the new file.
    package struct Class: Sendable, Equatable {
        /// The name of the class.
        package let name: String
        package let objectCount: Int
        package let propertyCount: Int
    }

    /// Something that differs from the old file.
    package struct Note: Sendable, Equatable {
        /// The kind of difference.
        package let kind: Kind
        /// The class that it is about; nil for the whole file.
        package let className: String?
        /// The property that it is about; nil for the whole class.
        package let property: String?
        /// How many values, rows or entries it is about; 1 for a property or table itself.
        package let count: Int
        /// The action, and its reason.
        package let text: String
    }

    /// The kinds of differences.
    package enum Kind: String, Sendable, CaseIterable {
        /// A name was changed, because it was empty, in use, too long or no UTF-8.
        case renamed
        /// Dates had whole seconds; they are dates with nanoseconds of 0.
        case oldDates
        /// Texts are not UTF-8; their bytes were kept.
        case textNotUTF8
        /// A property has a type that does not exist any more.
        case propertyLeftOut
        /// A table of rows that are no objects of a class.
        case tableLeftOut
        /// A primary key that the objects do not allow.
        case primaryKeyLeftOut
        /// An entry of the list of primary keys that names nothing.
        case entryIgnored
        /// Links to rows that do not exist.
        case linksLeftOut
        /// Tables inside of mixed values, which are null.
        case mixedTableLeftOut
        /// An index that the type of its property cannot have.
        case indexLeftOut
        /// The file was that of a synchronized realm; the new one is local.
        case synchronized
        /// The file had a history of a kind that is unknown; the new one has none.
        case historyLeftOut

        /// Whether something of the old file is not in the new one.
        package var isLoss: Bool {
            switch self {
            case .renamed, .oldDates, .textNotUTF8, .entryIgnored, .indexLeftOut, .synchronized, .historyLeftOut: return false
            case .propertyLeftOut, .tableLeftOut, .primaryKeyLeftOut, .linksLeftOut, .mixedTableLeftOut: return true
            }
        }
    }

    /// Makes an empty report.
    init(fromFormat: Int) { self.fromFormat = fromFormat }

    /// Makes the report of the upgrade of a copy from formats 10 to 23.
    ///
    /// - Parameter old: The newest version of the file before the upgrade.
    package init(upgrading old: Snapshot) {
        fromFormat = old.fileFormat
        for table in old.tables {
            guard let name = table.className else { continue }
            classes.append(Class(name: name, objectCount: table.count, propertyCount: table.columns.count))
            guard fromFormat == 22, table.kind == .asymmetric, table.count > 0 else { continue }
            note(.tableLeftOut, class: name, count: table.count, "objects of an asymmetric class, which are not kept in a file")
        }
        noteHistory(of: old.top)
    }

    /// How many objects all classes have.
    package var objectCount: Int { classes.reduce(0) { $0 + $1.objectCount } }
    /// Whether everything that a program could read from the old file is in the new one.
    package var isLossless: Bool { lossCount == 0 }

    /// Adds a note about a history that the new file does not have.
    mutating func noteHistory(of top: TopNode) {
        switch TopNode.HistoryType(rawValue: top.historyType) {
        case .syncClient?, .syncServer?: note(.synchronized, "the realm was synchronized; the copy is a local one")
        case .none?, .obsolete?, .inFile?: break
        case nil:
            note(.historyLeftOut, "the history of the file is of type \(top.historyType), which is unknown; the copy has none")
        }
    }

    /// Adds a note. Without room for it the last one that is not about a loss makes room for one that is.
    mutating func note(_ kind: Kind, class className: String? = nil, property: String? = nil, count: Int = 1, _ text: String) {
        noteCount += 1
        if notes.count >= ConversionReport.maximumNoteCount {
            guard kind.isLoss, lossCount < notes.count, let last = notes.lastIndex(where: { !$0.kind.isLoss }) else { return }
            notes.remove(at: last)
        }
        if kind.isLoss { lossCount += 1 }
        notes.append(Note(kind: kind, className: className, property: property, count: count, text: text))
    }
}
