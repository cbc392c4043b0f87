import CObjectRuntime
import Synchronization

/// A weak reference to an entity that leaves the entity fast to retain.
///
/// Swift's `weak` gives its target a side table, and by way of that each retain and release takes several times as long
/// from then on; every object that is made retains its entity.
@propertyWrapper
struct WeakEntity {
    private var anchor: EntityAnchor?

    var wrappedValue: NSEntityDescription? {
        get { anchor?.entity }
        set { anchor = newValue?.anchor }
    }
}

/// Knows its entity as long as the entity lives; the entity holds it and says when it goes.
final class EntityAnchor: Sendable {
    /// The entity's address, 0 once it is being deallocated.
    private let address = Mutex<UInt>(0)

    var entity: NSEntityDescription? {
        address.withLock { address in
            guard let pointer = UnsafeMutableRawPointer(bitPattern: address), ocd_try_retain(pointer) else {
                return nil
            }
            return Unmanaged<NSEntityDescription>.fromOpaque(pointer).takeRetainedValue()
        }
    }

    func set(_ entity: NSEntityDescription) {
        address.withLock { $0 = UInt(bitPattern: Unmanaged.passUnretained(entity).toOpaque()) }
    }

    func entityWillGo() { address.withLock { $0 = 0 } }
}
