// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmPlatform
internal import RealmStorage

/// The folder of a server whose files are opened when they are first requested.
///
/// It keeps the names of the files, so that a request for an unknown name reads no folder. The names are read again when the
/// folder has changed; `refresh` has to be called at intervals. All threads may use it.
package final class DataFolder: Sendable {
    /// The layout of the files in the folder.
    package enum Layout: String, Sendable, CaseIterable {
        /// All files are directly in the folder.
        case flat
        /// Files are in folders of the folder. New ones go to the folder with the first two hexadecimal digits
        /// of the SHA-256 of their name; existing ones may be in any.
        case sharded
    }

    /// The names of the files, as they were read last.
    private struct Listing: Sendable {
        /// The names of the realms, in order.
        var names: [String] = []
        /// For each name the position of its folder in `folders`.
        var places: [UInt16] = []
        /// The folders: the folder itself, as an empty text, and those in it with a slash at the end.
        var folders: [String] = [""]
        /// The times at which the folders changed, in the same order; nil when they may change again within
        /// the resolution of the time.
        var times: [Int64?] = []
        /// The paths of files that are not served, because a file of the same name comes before them.
        var hidden: [String] = []

        /// Returns the position of a name, or where it would be.
        func position(of name: String) -> (index: Int, isFound: Bool) {
            var range = 0..<names.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                if names[middle] < name { range = middle + 1..<range.upperBound } else { range = range.lowerBound..<middle }
            }
            return (range.lowerBound, range.lowerBound < names.count && names[range.lowerBound] == name)
        }
    }

    /// The path of the folder, without a slash at the end.
    package let path: String
    /// The layout of the files in the folder.
    package let layout: Layout
    private let options: @Sendable (RealmName) throws(StorageError) -> Database.OpenOptions
    /// The names; the lock is not held while a folder is read.
    private let listing: RankedMutex<Listing>

    /// The hidden files that `takeHidden` has returned.
    private let reported = RankedMutex<Set<ByteText>>(.leaf, [])

    /// The greatest number of hidden files that are reported.
    private static let hiddenLimit = 1000
    /// The greatest number of folders within the folder whose files are served.
    private static let folderLimit = 4096
    /// The time in nanoseconds after a change of a folder at which it may change again without another time.
    private static let resolution: Int64 = 1_000_000_000

    /// Reads the names in a folder.
    ///
    /// - Parameters:
    ///   - layout: The layout of the files in it.
    ///   - options: Makes the options with which a realm is opened.
    /// - Throws: `RealmFiles.Failure` when the folder cannot be read.
    package init(
        path: String, layout: Layout = .flat,
        options: @escaping @Sendable (RealmName) throws(StorageError) -> Database.OpenOptions
    ) throws(RealmFiles.Failure) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.layout = layout
        self.options = options
        listing = RankedMutex(.leaf, try DataFolder.read(self.path, layout))
    }

    /// The number of files.
    package var count: Int { listing.withLock { $0.names.count } }

    /// Reads the names again if the folder has changed.
    ///
    /// - Throws: `RealmFiles.Failure` when the folder cannot be read; the names stay as they are then.
    package func refresh() throws(RealmFiles.Failure) {
        let known = listing.withLock { $0 }
        let isSame = zip(known.folders, known.times).allSatisfy { folder, time in
            time != nil && time == DataFolder.time(of: path + "/" + folder)
        }
        guard !isSame else { return }
        let new = try DataFolder.read(path, layout)
        let old = listing.withLock { listing in
            defer { listing = new }
            return listing
        }
        withExtendedLifetime(old) {}
    }

    /// Returns the realm of a name; nil when there was no such file when the folder was read.
    func realm(_ name: String) -> ClosedRealm? {
        let folder = listing.withLock { listing -> String? in
            let (index, isFound) = listing.position(of: name)
            return isFound ? listing.folders[Int(listing.places[index])] : nil
        }
        guard let folder, let realmName = RealmName(name) else { return nil }
        return closed(realmName, at: "\(path)/\(folder)\(name).realm")
    }

    /// Returns a realm whose file need not be there yet, at the place of a new file.
    ///
    /// - Throws: `StorageError` when the digest of the name cannot be calculated.
    func expected(_ name: RealmName) throws(StorageError) -> ClosedRealm { closed(name, at: try newPath(of: name.text)) }

    /// Makes a realm of the folder that is not open.
    private func closed(_ name: RealmName, at path: String) -> ClosedRealm {
        ClosedRealm(listed: name, path: path) { [options] () throws(StorageError) in try options(name) }
    }

    /// Returns names in order.
    ///
    /// - Parameters:
    ///   - name: The name after which they begin; nil for the first.
    ///   - count: The limit of the result.
    func names(after name: String?, count: Int) -> [String] {
        listing.withLock { listing in
            var start = 0
            if let name {
                let (index, isFound) = listing.position(of: name)
                start = isFound ? index + 1 : index
            }
            return Array(listing.names[start...].prefix(count))
        }
    }

    /// Returns the name of the realm whose file has the given path; nil when it is not in the folder.
    func name(ofPath file: String) -> String? {
        guard file.hasPrefix(path + "/"), let name = RealmName(file: file), realm(name.text)?.path == file else { return nil }
        return name.text
    }

    /// Forgets the name of a file that is gone.
    func remove(_ name: String) {
        listing.withLock { listing in
            let (index, isFound) = listing.position(of: name)
            guard isFound else { return }
            listing.names.remove(at: index)
            listing.places.remove(at: index)
        }
    }

    // MARK: - Reading folders

    /// Reads the names of the files in a folder, and in its folders if they are distributed.
    private static func read(_ path: String, _ layout: Layout) throws(RealmFiles.Failure) -> Listing {
        var listing = Listing()
        listing.times = [time(of: path)]
        let entries = try RealmFiles.entries(in: path)
        var found = names(of: entries, path, in: 0)
        if layout == .sharded {
            let folders = entries.filter { entry in
                guard isShard(entry.name) else { return false }
                return entry.kind == .folder || entry.kind == .unknown && RealmFiles.isFolder(path + "/" + entry.name)
            }
            for folder in folders.map(\.name).sorted().prefix(folderLimit) {
                listing.times.append(time(of: path + "/" + folder))
                // A folder that is gone by now, or cannot be read, has no files that can be served.
                let inner = (try? RealmFiles.entries(in: path + "/" + folder)) ?? []
                found += names(of: inner, path + "/" + folder, in: UInt16(listing.folders.count))
                listing.folders.append(folder + "/")
            }
        }
        found.sort { ($0.name, $0.place) < ($1.name, $1.place) }
        listing.names.reserveCapacity(found.count)
        listing.places.reserveCapacity(found.count)
        for (name, place) in found {
            guard listing.names.last == name else {
                listing.names.append(name)
                listing.places.append(place)
                continue
            }
            if listing.hidden.count < hiddenLimit { listing.hidden.append("\(path)/\(listing.folders[Int(place)])\(name).realm") }
        }
        return listing
    }

    /// Returns the names of the realms among the entries of a folder. Only files and links to files count.
    private static func names(
        of entries: [(name: String, kind: System.EntryKind)], _ folder: String, in place: UInt16
    ) -> [(name: String, place: UInt16)] {
        entries.compactMap { entry in
            guard entry.name.hasSuffix(".realm"), let name = RealmName(file: entry.name) else { return nil }
            switch entry.kind {
            case .file: return (name.text, place)
            case .folder, .other: return nil
            // A dangling link may get a target later; the first request checks it.
            case .unknown:
                let target = System.entry(atPath: folder + "/" + entry.name)
                return target?.isRegular ?? true ? (name.text, place) : nil
            }
        }
    }

    /// Returns whether a folder of this name within the folder may have files that are served.
    private static func isShard(_ name: some StringProtocol) -> Bool { !name.hasPrefix(".") && !name.contains(".realm") }

    /// Returns the time at which the entries of a folder changed; nil when that is unknown or too short ago.
    private static func time(of folder: String) -> Int64? {
        guard let facts = try? System.facts(path: folder), !facts.wasModified(within: resolution) else { return nil }
        return facts.modified
    }

    /// Returns the paths of files that are not served because a file of the same name is in a folder before theirs.
    /// Each is returned once.
    package func takeHidden() -> [String] {
        let hidden = listing.withLock { $0.hidden }
        guard !hidden.isEmpty else { return [] }
        return reported.withLock { reported in hidden.filter { reported.insert($0).inserted } }
    }

    // MARK: - New files

    /// Returns the path of the file that has the name of a realm, whether it is served or was detached; nil when
    /// none of the known folders has one.
    package func existingPath(of name: String) -> String? {
        let folders = listing.withLock { $0.folders }
        return folders.lazy.map { [path] folder in "\(path)/\(folder)\(name).realm" }.first {
            System.entry(atPath: $0, followsLink: false) != nil
        }
    }

    /// Returns the name under which a new file at a resolved path would be served; nil when it would not be.
    package func servedName(ofPath file: String) -> RealmName? {
        guard file.hasPrefix(path + "/"), file.hasSuffix(".realm"), let name = RealmName(file: file) else { return nil }
        let steps = file.dropFirst(path.count + 1).split(separator: "/")
        switch steps.count {
        case 1: return name
        case 2 where layout == .sharded && DataFolder.isShard(steps[0]): return name
        default: return nil
        }
    }

    /// Returns the path of the file of a new realm.
    ///
    /// - Parameter name: The name of the realm.
    /// - Throws: `StorageError` when the hash of the name cannot be computed.
    package func newPath(of name: String) throws(StorageError) -> String {
        guard layout == .sharded else { return "\(path)/\(name).realm" }
        return "\(path)/\(try DataFolder.shard(of: name))/\(name).realm"
    }

    /// Returns the name of the folder for the file of a new realm, where files are distributed.
    private static func shard(of name: String) throws(StorageError) -> String {
        let byte = try FileDigest.sha256(Array(name.utf8)).first ?? 0
        let text = String(byte, radix: 16)
        return text.utf8.count == 1 ? "0" + text : text
    }

    /// Makes the folders that new files are distributed to, as far as they are missing.
    package func makeShards() {
        guard layout == .sharded else { return }
        for byte in 0..<256 {
            let text = String(byte, radix: 16)
            let folder = path + "/" + (byte < 16 ? "0" + text : text)
            if !RealmFiles.isFolder(folder) { _ = System.makeFolder(folder) }
        }
    }
}
