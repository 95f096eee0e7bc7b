// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage

/// The folders that paths in requests may lead into.
///
/// A path is followed by hand, link by link, whether anything is there or not: what lies outside is never opened, and
/// the answer does not reveal whether it exists. The resolved path has no links in it, and is opened without following any.
package struct AttachRoots: Sendable {
    /// The folders without links.
    private let folders: [String]
    /// Where relative paths begin: the working folder when this was made.
    private let workingFolder: String

    /// More is refused by the system anyway.
    package static let maximumPathByteCount = 4096
    /// As many as the system follows.
    private static let maximumLinkCount = 40

    /// Throws `.refused(.fileNotFound)` for a folder that is not there.
    package init(_ folders: [String]) throws(StorageError) {
        var resolved: [String] = []
        for folder in folders {
            guard RealmFiles.isFolder(folder) else { throw .refused(.fileNotFound) }
            resolved.append(try System.resolved(folder))
        }
        self.folders = resolved
        workingFolder = try System.resolved(".")
    }

    /// Where `path` leads; nil when that is outside.
    package func resolve(_ path: String) -> String? {
        guard let place = follow(path), folders.contains(where: { AttachRoots.isInside(place, $0) }) else { return nil }
        return place
    }

    /// Whether a path without links lies in a folder.
    package static func isInside(_ path: String, _ folder: String) -> Bool {
        path.utf8.starts(with: (folder == "/" ? folder : folder + "/").utf8) && path.utf8.count > folder.utf8.count + 1
    }

    /// `..` takes away what is written before it, so that no folder outside has to be looked at for it.
    private func follow(_ path: String) -> String? {
        guard !path.isEmpty, path.utf8.count <= AttachRoots.maximumPathByteCount, !path.utf8.contains(0) else { return nil }
        var waiting = AttachRoots.parts(path.hasPrefix("/") ? path : workingFolder + "/" + path)
        var done: [Substring] = []
        var links = 0
        // What comes next is last.
        waiting.reverse()
        while let part = waiting.popLast() {
            let place = AttachRoots.join(done, part)
            guard let target = System.linkTarget(place) else {
                done.append(part)
                continue
            }
            links += 1
            guard links <= AttachRoots.maximumLinkCount, target.utf8.count <= AttachRoots.maximumPathByteCount else { return nil }
            if target.hasPrefix("/") { done = [] }
            // Links are walked as the system walks them: what is before `..` has no links any more.
            var inner: [Substring] = []
            for step in target.split(separator: "/") where step != "." {
                if step == "..", inner.isEmpty {
                    _ = done.popLast()
                } else if step == ".." {
                    inner.removeLast()
                } else {
                    inner.append(step)
                }
            }
            waiting.append(contentsOf: inner.reversed())
        }
        return "/" + done.joined(separator: "/")
    }

    /// The path of `name` in the folder that `folders` lead to.
    private static func join(_ folders: [Substring], _ name: Substring) -> String {
        folders.isEmpty ? "/" + name : "/" + folders.joined(separator: "/") + "/" + name
    }

    /// The parts of a path without `.` and `..`.
    private static func parts(_ path: String) -> [Substring] {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts
    }
}
