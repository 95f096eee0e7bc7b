// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The sheets of the workbooks that are being written. The library keeps a temporary file open for each.
package final class SheetRoom: Sendable {
    /// The most sheets of all workbooks at a time, and so of one.
    static let limit = 512
    /// The descriptors that a workbook needs besides those of its sheets: for the parts that it is put together from.
    private static let besides = 4
    /// The descriptors of all workbooks at a time.
    package static let descriptors = limit

    /// The number of sheets that are open.
    private static let taken = RankedMutex(.leaf, 0)
    /// The number of them that this workbook has.
    private let count: Int

    /// Takes room for a workbook, which is released with the value.
    ///
    /// - Throws: `answer_too_large` for more than there may ever be, `overloaded` while others have the room.
    init(of sheets: Int) throws(Problem) {
        guard sheets <= SheetRoom.limit - SheetRoom.besides else {
            throw .overLimit(
                .answerTooLarge,
                "a workbook has at most \(SheetRoom.limit - SheetRoom.besides) sheets, and there are \(sheets) classes; "
                    + "'class' exports one of them", limit: SheetRoom.limit - SheetRoom.besides)
        }
        let count = sheets + SheetRoom.besides
        let isGranted = SheetRoom.taken.withLock { taken in
            guard taken + count <= SheetRoom.limit else { return false }
            taken += count
            return true
        }
        guard isGranted else {
            var problem = Problem(.overloaded, "too many workbooks are being written at the moment; try again later")
            problem.retryAfterSeconds = 1
            throw problem
        }
        self.count = count
    }

    deinit { SheetRoom.taken.withLock { $0 -= count } }
}
