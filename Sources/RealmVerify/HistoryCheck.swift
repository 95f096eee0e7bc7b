// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks what the top node states about the history: the changes of earlier versions, which SDKs keep in the file.
///
/// SDKs compute the oldest version that they know changes for as the version less the number of kept changes, so there are
/// never more changes than versions. Source: docs/format.md, "The top node".
struct HistoryCheck {
    /// The version that is checked.
    let snapshot: Snapshot

    /// Checks type, layout and number of the kept changes.
    ///
    /// - Parameter report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` when the list of changes cannot be read.
    func run(_ report: inout VerifyReport) throws(StorageError) {
        let top = snapshot.top
        guard let type = TopNode.HistoryType(rawValue: top.historyType) else {
            return report.error("history of unknown type \(top.historyType)")
        }
        switch type {
        case .none:
            if !top.history.isNone { report.error("a history in a file that has no type for it") }
        case .inFile:
            if top.historySchemaVersion > TopNode.writtenHistorySchema {
                report.warn("history of layout \(top.historySchemaVersion), which is unknown")
            }
            try checkChanges(top, &report)
        case .obsolete, .syncClient, .syncServer: return
        }
    }

    /// Checks the list of changes, which has one binary value per version, and reads all its leaves.
    ///
    /// - Throws: `.corrupt` when the list cannot be read.
    private func checkChanges(_ top: TopNode, _ report: inout VerifyReport) throws(StorageError) {
        guard !top.history.isNone else { return }
        let changes = try BPlusTree(
            root: top.history, space: snapshot.space, shape: ElementShape(type: .binary, isNullable: true))
        if UInt64(changes.count) > snapshot.version {
            report.error("\(changes.count) changes are kept for version \(snapshot.version)")
        }
        var cursor = changes.leaves()
        while let leaf = try cursor.next() {
            try report.checkControl()
            _ = leaf
        }
    }
}
