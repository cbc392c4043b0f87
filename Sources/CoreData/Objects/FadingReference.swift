import CObjectRuntime

/// A reference that does not keep its object alive, and is nil after the object was deallocated.
///
/// Like a `weak` reference, but without the second allocation that the first weak reference to an object makes. It
/// keeps the object's memory, but not its content.
///
/// Reflection reads every field, and reading an unowned field of a deallocated object stops the program. Therefore the
/// mirror has no children.
package struct FadingReference: CustomReflectable {
    /// Only written: it keeps the memory.
    private unowned var keeper: AnyObject?
    private var address: UnsafeMutableRawPointer?

    package init() {}

    /// The object; `nil` before one is set, and once it goes.
    package var object: AnyObject? {
        guard let address, ocd_try_retain(address) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(address).takeRetainedValue()
    }

    /// Refers to another object.
    package mutating func set(_ object: AnyObject) {
        keeper = object
        address = Unmanaged.passUnretained(object).toOpaque()
    }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
