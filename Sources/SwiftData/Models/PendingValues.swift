import Foundation

/// The values of a model that no context has: in the order of the class's properties, or by name.
///
/// By name they are where a model was made of another's values: then no level of the class knows which one's order it would be.
public final class PendingValues {
    let type: (any PersistentModel.Type)!
    private var values: [PendingValue] = []
    private var named: [String: Any]?
    /// Whether no other level of the model's class has values.
    var isOfWholeModel = false
    /// Whether nothing is kept, because the model is made for an object.
    private let isDiscarded: Bool
    /// What keeps nothing; nobody changes it, so that all threads can have it.
    nonisolated(unsafe) static let discarded = PendingValues()

    /// What an identifier of the model refers to.
    private(set) lazy var token = PendingToken()

    /// What gives the values of a model that stands for none; see ``KeyPathRecorder``.
    private let recorder: KeyPathRecorder?

    init(_ type: any PersistentModel.Type) {
        self.type = type
        recorder = nil
        isDiscarded = false
    }

    private init() {
        type = nil
        recorder = nil
        isDiscarded = true
    }

    /// The values of a model that stands for none.
    init(_ type: any PersistentModel.Type, _ recorder: KeyPathRecorder) {
        self.type = type
        self.recorder = recorder
        isDiscarded = false
        named = [:]
    }

    /// A value by its place.
    @usableFromInline
    func set(_ value: PendingValue, _ index: Int) {
        if isDiscarded { return }
        if named != nil {
            let properties = ModelLayout.of(type).properties
            if properties.indices.contains(index) { named?[properties[index].name] = value.any }
            return
        }
        if index < values.count {
            values[index] = value
        } else {
            if values.isEmpty { values.reserveCapacity(max(index + 1, 8)) }
            while values.count < index { values.append(.absent) }
            values.append(value)
        }
    }

    @usableFromInline
    func set(_ value: PendingValue, _ key: _ModelKey, _ index: Int) {
        if named == nil { set(value, index) } else { named?[key.name] = value.any }
    }

    func set(_ value: Any, _ key: _ModelKey, _ index: Int) { set(.other(value), key, index) }

    func value(_ key: _ModelKey, _ index: Int) -> Any? {
        if let named { return named[key.name] ?? recorder?.recorded(key.name) }
        return values.indices.contains(index) ? values[index].any : nil
    }

    /// The value of a property of one level of the class.
    func value(_ property: ModelProperty) -> Any? {
        if let named { return named[property.name] }
        return values.indices.contains(property.index) ? values[property.index].any : nil
    }

    /// The value of a property of one level of the class, as it is kept.
    func kept(_ property: EntityPlan.Property) -> PendingValue {
        if let named { return named[property.name].map { .other($0) } ?? .absent }
        return values.indices.contains(property.index) ? values[property.index] : .absent
    }

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
        for property in ModelLayout.of(type).properties where values.indices.contains(property.index) {
            if let value = values[property.index].any { names[property.name] = value }
        }
        named = names
        values = []
    }
}

/// What the identifier of a model refers to that no context has.
final class PendingToken: Sendable {}
