// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The folders that paths in requests may lead into.
///
/// A path is followed step by step and link by link, whether anything exists there or not: a path outside is never opened, and
/// the response does not reveal whether it exists. The resolved path contains no links, and is opened without following any.
package struct AttachRoots: Sendable {
    /// The resolved paths of the folders.
    private let folders: [String]
    /// The folder at which relative paths start: the working folder when this was made.
    private let workingFolder: String

    /// The longest path in bytes; the system rejects longer ones.
    package static let maximumPathByteCount = 4096
    /// The number of links that are followed in one path, as in the system.
    private static let maximumLinkCount = 40

    /// Makes the set of folders.
    ///
    /// - Parameter folders: The folders, which must exist.
    /// - Throws: `StorageError.refused(.fileNotFound)` for a folder that does not exist.
    package init(_ folders: [String]) throws(StorageError) {
        var resolved: [String] = []
        for folder in folders {
            guard RealmFiles.isFolder(folder) else { throw .refused(.fileNotFound) }
            resolved.append(try System.resolved(folder))
        }
        self.folders = resolved
        workingFolder = try System.resolved(".")
    }

    /// Returns the resolved path that `path` leads to; nil when it is outside all folders or malformed.
    ///
    /// A relative path starts at the working folder; where that leads outside, at the first of the folders.
    package func resolve(_ path: String) -> String? {
        if let place = inside(path) { return place }
        guard !path.utf8.starts(with: "/".utf8), let folder = folders.first else { return nil }
        return inside(folder + "/" + path)
    }

    /// Returns the resolved path that `path` leads to; nil when it is outside all folders or malformed.
    private func inside(_ path: String) -> String? {
        guard let place = follow(path), folders.contains(where: { AttachRoots.isInside(place, $0) }) else { return nil }
        return place
    }

    /// Returns whether a resolved path is inside a folder.
    package static func isInside(_ path: String, _ folder: String) -> Bool {
        path.utf8.starts(with: (folder == "/" ? folder : folder + "/").utf8) && path.utf8.count > folder.utf8.count + 1
    }

    /// Resolves all links of a path; nil when it is empty, too long or has too many links. A step `..` removes the step that is
    /// written before it, so no folder outside has to be read for it.
    private func follow(_ path: String) -> String? {
        guard !path.isEmpty, path.utf8.count <= AttachRoots.maximumPathByteCount, !path.utf8.contains(0) else { return nil }
        var waiting = AttachRoots.parts(path.hasPrefix("/") ? path : workingFolder + "/" + path)
        var done: [Substring] = []
        var links = 0
        // The next step is the last element.
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
            // Steps of a link are resolved as the system does: the steps before `..` contain no links at
            // this point.
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

    /// Returns the path of `name` in the folder with the given steps.
    private static func join(_ folders: [Substring], _ name: Substring) -> String {
        folders.isEmpty ? "/" + name : "/" + folders.joined(separator: "/") + "/" + name
    }

    /// Returns the steps of a path, with `.` and `..` resolved.
    private static func parts(_ path: String) -> [Substring] {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts
    }
}

/// Paths in the bodies of requests.
extension AttachRoots {
    /// Returns the resolved form of a path in a request.
    ///
    /// - Parameters:
    ///   - path: The path as the request states it.
    ///   - roots: The folders that it may lead into; nil when there are none.
    ///   - pointer: The place of the path in the body, as a JSON pointer.
    /// - Throws: `path_not_allowed` when it leads outside of the folders.
    package static func place(_ path: String, _ roots: AttachRoots?, _ pointer: String) throws(Problem) -> String {
        guard let place = roots?.resolve(path) else {
            let detail =
                "paths in requests lead into the data folder, or into a folder that the server was started with --attach-root for"
            throw Problem(.pathNotAllowed, detail).with("pointer", pointer)
        }
        return place
    }
}
