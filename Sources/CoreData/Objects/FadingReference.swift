import CObjectRuntime

/// A reference that does not keep its object alive, and is nil once that goes.
///
/// As a `weak` one, but without the second allocation that the first weak reference to an object makes: it keeps the object's memory, though
/// not its content. Whoever has it clears it in its deinitialiser.
package struct FadingReference {
    private var address: UnsafeMutableRawPointer?

    package init() {}

    /// The object; `nil` before one is set, and once it goes.
    package var object: AnyObject? {
        guard let address, ocd_try_retain(address) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(address).takeRetainedValue()
    }

    /// Refers to another object, or to none.
    package mutating func set(_ object: AnyObject?) {
        let old = address
        address = object.map { retainMemory(Unmanaged.passUnretained($0).toOpaque()) }
        if let old { releaseMemory(old) }
    }
}

// What an `unowned` reference does.
@_silgen_name("swift_unownedRetain")
private func retainMemory(_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer

@_silgen_name("swift_unownedRelease")
private func releaseMemory(_ object: UnsafeMutableRawPointer)
