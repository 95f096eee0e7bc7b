// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Why a node or a value is not there any more, or cannot be believed.
enum Loss: Error {
    /// There is no header, so something was written over the node.
    case overwritten
    /// Another node begins inside the node.
    case overwrittenFrom(UInt64)
    /// A node of the present version has some of the bytes.
    case overwrittenByPresentVersion
    /// A version has written into the space.
    case usedAgain(by: UInt64)
    /// The node is surely something else now.
    case usedForSomethingElse
    /// The node surely belongs to another property.
    case usedForOtherProperty
    /// The node surely belongs to other objects.
    case usedForOtherObjects
    /// Nothing shows that the value belongs to this object.
    case unproved
    /// The node lies in a page of an encrypted file that cannot be read.
    case unreadablePage
    /// The bytes do not have the form that they should have.
    case malformed(StaticString)
    /// The time or the number of nodes is used up.
    case stopped

    /// The reason in words, as lines state it.
    var text: String {
        switch self {
        case .overwritten: return "overwritten"
        case .overwrittenFrom(let ref): return "overwritten from 0x\(String(ref, radix: 16)) on"
        case .overwrittenByPresentVersion: return "overwritten by the present version"
        case .usedAgain(let version): return "space was used again by version \(version)"
        case .usedForSomethingElse: return "space was used again for something else"
        case .usedForOtherProperty: return "space was used again for another property"
        case .usedForOtherObjects: return "space was used again for other objects"
        case .unproved: return "not proved for this object"
        case .unreadablePage: return "the page cannot be read"
        case .malformed(let reason): return "\(reason)"
        case .stopped: return "not read: the limit of time or nodes was reached"
        }
    }
}
