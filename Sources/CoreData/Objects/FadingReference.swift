import CObjectRuntime

/// A reference that does not keep its object alive, and is nil once that goes.
///
/// As a `weak` one, but without the second allocation that the first weak reference to an object makes: it keeps the object's memory, though
/// not its content.
///
/// Reflection reads every field, and an unowned one of an object that has gone stops the program: hence the mirror without children.
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
