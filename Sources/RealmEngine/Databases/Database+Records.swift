// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

extension Database {
    /// Sets what keeps the record of every commit that begins from here on. Whoever opened the realm calls it before anybody
    /// else can write.
    ///
    /// - Throws: `.refused(.unsuitable)` for a file whose commits have no records, `.refused(.notWritable)` for a realm that
    ///   is not written to.
    package func keepRecords(in log: any CommitLog) throws(StorageError) {
        guard let store, mode == .readWrite, writerElsewhere == nil else {
            throw .refused(.notWritable("the realm is not open for writing"))
        }
        try store.setLog(log)
    }

    /// The oldest version of the file that somebody still reads, also after the realm was closed; nil when nobody does.
    package var oldestLiveVersion: UInt64? { store?.oldestLiveVersion }

    /// The versions of the file that somebody reads, which can be asked when the realm is closed and nobody refers to it any more; nil
    /// for a realm that is not written to. While the realm is referred to, its newest version is among them.
    package var livePins: VersionPins? { store?.livePins }
}
