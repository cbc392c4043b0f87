import Foundation

/// The values of a model that no context has: in the order of the class's properties, or by name.
///
/// By name they are where a model was made of another's values: then no level of the class knows which one's order it would be.
public final class PendingValues {
    let type: any PersistentModel.Type
    private var values: [Any?] = []
    private var named: [String: Any]?
    /// Whether no other level of the model's class has values.
    var isOfWholeModel = false
    /// What an identifier of the model refers to.
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
    func set(_ value: Any, _ index: Int) {
        if named != nil {
            let properties = ModelLayout.of(type).properties
            if properties.indices.contains(index) { named?[properties[index].name] = value }
            return
        }
        if values.isEmpty { values.reserveCapacity(8) }
        while values.count <= index { values.append(nil) }
        values[index] = value
    }

    func set(_ value: Any, _ key: _ModelKey, _ index: Int) {
        if named == nil { set(value, index) } else { named?[key.name] = value }
    }

    func value(_ key: _ModelKey, _ index: Int) -> Any? {
        if let named { return named[key.name] ?? recorder?.recorded(key.name) }
        return values.indices.contains(index) ? values[index] : nil
    }

    /// The value of a property of one level of the class.
    func value(_ property: ModelProperty) -> Any? {
        if let named { return named[property.name] }
        return values.indices.contains(property.index) ? values[property.index] : nil
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
            if let value = values[property.index] { names[property.name] = value }
        }
        named = names
        values = []
    }
}

/// What the identifier of a model refers to that no context has.
final class PendingToken: Sendable {}
