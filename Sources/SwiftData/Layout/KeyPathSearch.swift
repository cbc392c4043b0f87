import Foundation

/// Finds the name of a key path that is in no class's list: of an inherited property, a member of a struct, a property
/// of a related model.
///
/// The key path is applied twice to an instance whose backing records the reads, with different values. The result must
/// be the returned value, or a member of it; otherwise the property only computes a value.
enum KeyPathSearch {
    /// How many relationships a key path can follow.
    static let maximumSteps = 16

    /// Returns the name, or names joined by dots; `nil` if the key path is no stored property.
    static func name(of keyPath: AnyKeyPath, in declaration: ModelDeclaration) -> String? {
        guard let root = Swift.type(of: keyPath).rootType as? any PersistentModel.Type, canProbe(root, []) else {
            return nil
        }
        guard let first = apply(keyPath, root, variant: 0), let second = apply(keyPath, root, variant: 1),
            first.names == second.names, let property = first.property
        else { return nil }
        let name = first.names.joined(separator: ".")
        if isSame(first.result, first.given), isSame(second.result, second.given),
            bare(Swift.type(of: keyPath).valueType) == bare(property.valueType)
        {
            return name
        }
        return member(keyPath, root, property, name)
    }

    /// Returns the engine's path to the identifier of the model itself or of a related one: `objectID`,
    /// `owner.objectID`.
    ///
    /// - Returns: `nil` if the key path ends elsewhere.
    static func identifierName(of keyPath: AnyKeyPath) -> String? {
        guard bare(Swift.type(of: keyPath).valueType) == PersistentIdentifier.self,
            let root = Swift.type(of: keyPath).rootType as? any PersistentModel.Type
        else { return nil }
        guard canProbe(root, []) else { return "objectID" }
        let recorder = KeyPathRecorder(ModelDeclaration.of(root))
        let probe = makeProbe(root, recorder)
        let found = unwrapped((probe as Any)[keyPath: keyPath]) as? PersistentIdentifier
        guard let owner = recorder.names.isEmpty ? probe : recorder.last?.value as? any PersistentModel,
            found == owner.persistentModelID
        else { return nil }
        return (recorder.names + ["objectID"]).joined(separator: ".")
    }

    // MARK: Applying

    private struct Answer {
        let names: [String]
        let property: ModelDeclaration.Property?
        let given: Any?
        let result: Any?
    }

    private static func apply(
        _ keyPath: AnyKeyPath, _ root: any PersistentModel.Type, variant: Int, given: (name: String, value: Any)? = nil
    ) -> Answer? {
        let recorder = KeyPathRecorder(ModelDeclaration.of(root), variant: variant, given: given)
        let result = (makeProbe(root, recorder) as Any)[keyPath: keyPath]
        guard !recorder.names.isEmpty else { return nil }
        return Answer(
            names: recorder.names, property: recorder.last?.property, given: recorder.last?.value, result: result)
    }

    static func makeProbe(_ type: any PersistentModel.Type, _ recorder: KeyPathRecorder) -> any PersistentModel {
        func opened<T: PersistentModel>(_ type: T.Type) -> any PersistentModel {
            T(backingData: RecordingBackingData<T>(recorder))
        }
        return opened(type)
    }

    /// Returns whether there is a sample value for each property of a class and of those that it refers to.
    private static func canProbe(_ type: any PersistentModel.Type, _ visited: Set<ObjectIdentifier>) -> Bool {
        if visited.contains(ObjectIdentifier(type)) { return true }
        let visited = visited.union([ObjectIdentifier(type)])
        return ModelDeclaration.of(type).allProperties.allSatisfy { property in
            switch property.form {
            case .attribute(let form): form.isOptional || !form.samples.isEmpty
            case .toOne(let destination, _): canProbe(destination, visited)
            case .toMany: true
            }
        }
    }

    // MARK: Members of composites

    /// Returns the path to a member of a struct, or to an enumeration's raw value: the one that changes the result.
    private static func member(
        _ keyPath: AnyKeyPath, _ root: any PersistentModel.Type, _ property: ModelDeclaration.Property, _ name: String
    ) -> String? {
        guard case .attribute(let form) = property.form, case .composite(let elements) = form.kind else { return nil }
        if form.enumeration != nil {
            guard form.enumeration?.rawType != nil, form.samples.count > 1,
                let raws = rawValues(form.samples), isSame(apply(keyPath, root, variant: 0)?.result, raws.0),
                isSame(apply(keyPath, root, variant: 1)?.result, raws.1)
            else { return nil }
            return "\(name).\(property.name)"
        }
        guard let sample = form.samples.first,
            let base = (try? form.encode(sample)).map({ AttributeForm.elements($0) ?? [:] })
        else { return nil }
        let wanted = bare(Swift.type(of: keyPath).valueType)
        for (path, changed, value) in changes(elements, base) where bare(Swift.type(of: value)) == wanted {
            guard let other = try? form.decode(changed),
                isSame(apply(keyPath, root, variant: 0, given: (name, other))?.result, value),
                !isSame(apply(keyPath, root, variant: 0, given: (name, sample))?.result, value)
            else { continue }
            return "\(name).\(path)"
        }
        return nil
    }

    /// Returns the dictionary with another value for one member, for each member, including nested ones.
    private static func changes(
        _ elements: [AttributeForm.Element], _ base: [String: Any]
    ) -> [(path: String, dictionary: [String: Any], value: Any)] {
        elements.flatMap { element -> [(path: String, dictionary: [String: Any], value: Any)] in
            var result: [(path: String, dictionary: [String: Any], value: Any)] = []
            if let value = element.form.samples.last, let encoded = try? element.form.encode(value) {
                var changed = base
                changed[element.name] = encoded
                result.append((element.name, changed, value))
            }
            if case .composite(let inner) = element.form.kind {
                let innerBase = AttributeForm.elements(base[element.name]) ?? [:]
                for (path, dictionary, value) in changes(inner, innerBase) {
                    var changed = base
                    changed[element.name] = dictionary
                    result.append(("\(element.name).\(path)", changed, value))
                }
            }
            return result
        }
    }

    private static func rawValues(_ samples: [Any]) -> (Any, Any)? {
        func raw(_ value: Any) -> Any? { (value as? any RawRepresentable)?.rawValue }
        guard let first = raw(samples[0]), let second = raw(samples[1]) else { return nil }
        return (first, second)
    }

    // MARK: Comparing

    private static func bare(_ type: Any.Type) -> Any.Type {
        (type as? any OptionalType.Type)?.wrappedType ?? type
    }

    /// Whether two values are the same: models by identity, others by their description.
    private static func isSame(_ one: Any?, _ other: Any?) -> Bool {
        guard let one = unwrapped(one), let other = unwrapped(other) else { return false }
        if let one = one as? any PersistentModel { return (other as? any PersistentModel).map { $0 === one } ?? false }
        return type(of: one) == type(of: other) && String(reflecting: one) == String(reflecting: other)
    }

    private static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        guard let optional = value as? any OptionalType else { return value }
        return optional.wrapped.flatMap { unwrapped($0) }
    }
}
