import Foundation

/// The values of a model without a context: in the order of the class's properties, or by name.
///
/// They are by name if a model was made from another's values: then no level of the class knows the order.
public final class PendingValues {
    // Only the model uses them, and no function of theirs calls back.

    let type: any PersistentModel.Type
    /// By the position of the property in its class; ``count`` of them have a value.
    @exclusivity(unchecked) private var values: UnsafeMutablePointer<PendingValue>?
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var capacity = 0
    @exclusivity(unchecked) private var named: [String: Any]?
    /// Whether no other level of the model's class has values.
    var isOfWholeModel = false
    /// The identity to which an identifier of the model refers.
    private(set) lazy var token = PendingToken()

    /// What gives the values of a model that stands for none; see ``KeyPathRecorder``.
    private let recorder: KeyPathRecorder?

    init(_ type: any PersistentModel.Type) {
        self.type = type
        recorder = nil
    }

    /// The values of a model that stands for none.
    init(_ type: any PersistentModel.Type, _ recorder: KeyPathRecorder) {
        self.type = type
        self.recorder = recorder
        named = [:]
    }

    /// A value by its place.
    @usableFromInline
    func set(_ value: __owned PendingValue, _ index: Int) {
        if named != nil {
            let properties = ModelLayout.of(type).properties
            if properties.indices.contains(index) { named?[properties[index].name] = value.any }
            return
        }
        if index >= capacity { grow(toHold: index) }
        guard let values else { return }
        if index < count {
            values[index] = value
        } else {
            while count < index {
                (values + count).initialize(to: .absent)
                count += 1
            }
            (values + index).initialize(to: value)
            count = index + 1
        }
    }

    private func grow(toHold index: Int) {
        let capacity = max(index + 1, capacity * 2, 8)
        let grown = UnsafeMutablePointer<PendingValue>.allocate(capacity: capacity)
        if let values { grown.moveInitialize(from: values, count: count) }
        values?.deallocate()
        values = grown
        self.capacity = capacity
    }

    private func removeAll() {
        values?.deinitialize(count: count)
        values?.deallocate()
        (values, count, capacity) = (nil, 0, 0)
    }

    deinit { removeAll() }

    private func value(at index: Int) -> Any? { index < count ? values?[index].any : nil }

    @usableFromInline
    func set(_ value: __owned PendingValue, _ key: _ModelKey, _ index: Int) {
        if named == nil { set(value, index) } else { named?[key.name] = value.any }
    }

    func set(_ value: Any, _ key: _ModelKey, _ index: Int) { set(.other(value), key, index) }

    func value(_ key: _ModelKey, _ index: Int) -> Any? {
        if let named { return named[key.name] ?? recorder?.recorded(key.name) }
        return value(at: index)
    }

    /// The value of a property of one level of the class.
    func value(_ property: ModelProperty) -> Any? {
        if let named { return named[property.name] }
        return value(at: property.index)
    }

    /// The values by the positions of the properties in their class; empty if they are by name. Valid until one is set.
    var ordered: UnsafeBufferPointer<PendingValue> { UnsafeBufferPointer(start: values, count: count) }

    /// Whether the values of several levels of a class are here.
    var isByName: Bool { named != nil }

    /// Adds the values of another level of the class.
    func take(_ other: PendingValues) {
        shareByName()
        other.shareByName()
        named?.merge(other.named ?? [:]) { $1 }
    }

    /// From now on the values are found by their names, so that several levels of a class can share them.
    func shareByName() {
        guard named == nil else { return }
        var names: [String: Any] = [:]
        for property in ModelLayout.of(type).properties {
            if let value = value(at: property.index) { names[property.name] = value }
        }
        named = names
        removeAll()
    }
}

/// The identity of a model without a context, to which its identifier refers.
final class PendingToken: Sendable {}
