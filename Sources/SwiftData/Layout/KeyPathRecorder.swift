import Foundation

/// Notes which properties are asked of a model object that stands for none: how the names behind key paths are found.
///
///     \Sub.name     // no key path of Base's list; applied to an instance with a recorder, it asks for "name"
///
/// The values of such an object, ``PendingValues``, ask the recorder for each.
package final class KeyPathRecorder {
    /// The names that were read so far.
    package private(set) var names: [String] = []
    /// The last property that was read, and the returned value.
    private(set) var last: (property: ModelDeclaration.Property, value: Any)?
    /// The class of the object that is asked next.
    private var declaration: ModelDeclaration
    /// Which of the two samples of a property are given.
    private let variant: Int
    /// The value returned for the property of a name, instead of a sample.
    private let given: (name: String, value: Any)?

    init(_ declaration: ModelDeclaration, variant: Int = 0, given: (name: String, value: Any)? = nil) {
        self.declaration = declaration
        self.variant = variant
        self.given = given
    }

    /// Notes a property by its name, and gives a value of its type.
    ///
    /// - Precondition: ``KeyPathSearch`` has checked that there are values for all properties of the class.
    package func value<V>(named name: String, as type: V.Type = V.self) -> V {
        if let value = recorded(name) as? V { return value }
        preconditionFailure("Property '\(name)' of \(declaration.type) has no value to look for key paths with.")
    }

    /// Records a property by its name; returns `nil` if there is no value for it.
    func recorded(_ name: String) -> Any? {
        let path = (names + [name]).joined(separator: ".")
        names.append(name)
        guard let property = declaration.property(named: name),
            let sample = given?.name == path ? given?.value : sample(of: property)
        else { return nil }
        last = (property, sample)
        return sample
    }

    private func sample(of property: ModelDeclaration.Property) -> Any? {
        switch property.form {
        case .attribute(let form):
            return form.samples.isEmpty ? nil : form.samples[min(variant, form.samples.count - 1)]
        case .toOne(let type, _):
            guard names.count < KeyPathSearch.maximumSteps else { return nil }
            declaration = ModelDeclaration.of(type)
            return KeyPathSearch.makeProbe(type, self)
        case .toMany:
            let type = (property.valueType as? any OptionalType.Type)?.wrappedType ?? property.valueType
            return (type as? any ArchivedCollection.Type)?.empty
        }
    }
}
