import Foundation

/// The types that a fetch can return: managed objects, their IDs, dictionaries, or a count.
///
/// Differs from Apple: the protocol is a compile-time mark without requirements, so that `NSFetchRequest<any
/// NSFetchRequestResult>` exists without an Objective-C runtime. A value cannot be cast to it; cast to the class that
/// you expect.
@_marker public protocol NSFetchRequestResult: AnyObject {}

extension NSDictionary: NSFetchRequestResult {}

extension NSNumber: NSFetchRequestResult {}

/// The kind of result of a fetch.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
    /// The bits as Apple numbers them.
    public let rawValue: UInt

    /// A result type of those bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Managed objects, which is what requests ask for unless told otherwise.
    public static let managedObjectResultType = NSFetchRequestResultType([])
    /// Object IDs only: the cheapest answer.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries of the properties named in `propertiesToFetch`, aggregated by `propertiesToGroupBy`.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// One number: how many rows there are.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}
