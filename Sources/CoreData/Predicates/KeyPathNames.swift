import Foundation
import Synchronization

/// The names of Swift key paths in a model: `\Book.author?.name` is "author.name".
///
/// Stored properties print their names. Computed accessors, such as managed properties, do not, so generated code lists
/// them (``ManagedKeyPaths``). Names that are still unknown are requested from ``setProbe(_:)``.
package enum KeyPathNames {
    private struct Table {
        var names: [AnyKeyPath: String] = [:]
        /// The names of computed components by how they print, so that they are known inside longer paths.
        var components: [Substring: String] = [:]
        var probe: (@Sendable (AnyKeyPath) -> String?)?
        /// The classes whose lists were read.
        var listed: Set<ObjectIdentifier> = []
    }

    private struct SharedTable: @unchecked Sendable {
        // Safe because key paths are immutable.
        var table = Table()
    }

    /// Guards the tables.
    private static let shared = Mutex(SharedTable())

    /// Returns the key of a key path; `nil` if it is not known.
    package static func name(for keyPath: AnyKeyPath) -> String? {
        let (known, components, probe) = shared.withLock { shared in
            (shared.table.names[keyPath], shared.table.components, shared.table.probe)
        }
        if let known { return known }
        let description = String(describing: keyPath)
        let found =
            derivedName(description, components) ?? listedName(keyPath, description)
            ?? (probe ?? KeyPathProbe.name(of:))(keyPath)
        if let found { remember(keyPath, found) }
        return found
    }

    /// The name by the lists of the path's root class and of the classes that can be reached from it.
    private static func listedName(_ keyPath: AnyKeyPath, _ description: String) -> String? {
        guard takeLists(reachableFrom: type(of: keyPath).rootType) else { return nil }
        let (known, components) = shared.withLock { ($0.table.names[keyPath], $0.table.components) }
        return known ?? derivedName(description, components)
    }

    /// Returns whether anything new was taken in.
    private static func takeLists(reachableFrom type: Any.Type) -> Bool {
        let wrapped = (type as? any OptionalValue.Type)?.wrappedType ?? type
        guard let type = wrapped as? NSManagedObject.Type,
            shared.withLock({ $0.table.listed.insert(ObjectIdentifier(type)).inserted }),
            let list = ManagedKeyPaths.list(for: type)
        else { return false }
        for (keyPath, name) in list.names {
            remember(keyPath, name)
            _ = takeLists(reachableFrom: Swift.type(of: keyPath).valueType)
        }
        return true
    }

    /// Returns the name that a key path of stored properties prints; `nil` if one of them is computed.
    package static func printedName(of keyPath: AnyKeyPath) -> String? { derivedName(String(describing: keyPath)) }

    /// Makes a property known. Called once for each by generated code, before the first use of its key path.
    package static func register(_ keyPath: AnyKeyPath, name: String) { remember(keyPath, name) }

    /// Sets a replacement for ``KeyPathProbe`` that finds unknown key paths; `nil` restores it.
    package static func setProbe(_ probe: (@Sendable (AnyKeyPath) -> String?)?) {
        shared.withLock { $0.table.probe = probe }
    }

    private static func remember(_ keyPath: AnyKeyPath, _ name: String) {
        let described = UnsafeTransfer(value: (keyPath, componentsOf(String(describing: keyPath))))
        shared.withLock { shared in
            let (keyPath, components) = described.value
            shared.table.names[keyPath] = name
            let keys = name.split(separator: ".")
            guard components.count == keys.count else { return }
            for (component, key) in zip(components, keys) where component.hasPrefix("<") {
                shared.table.components[component] = String(key)
            }
        }
    }

    private struct UnsafeTransfer<Value>: @unchecked Sendable {
        // Safe because key paths are immutable.
        let value: Value
    }

    /// Returns the name in a key path's description.
    ///
    ///     \Book.author?.name                       // author.name
    ///     \Book.<computed 0x1234 (String)>         // by the table of components
    static func derivedName(_ description: String, _ known: [Substring: String] = [:]) -> String? {
        var keys: [String] = []
        for component in componentsOf(description) {
            if component == "self" { continue }
            if component.hasPrefix("<") {
                guard let key = known[component] else { return nil }
                keys.append(key)
            } else if component.unicodeScalars.allSatisfy({ $0.properties.isXIDContinue }) {
                keys.append(String(component))
            } else {
                return nil
            }
        }
        return keys.isEmpty ? nil : keys.joined(separator: ".")
    }

    /// The components after the root's name, without marks of optionals.
    private static func componentsOf(_ description: String) -> [Substring] {
        var components: [Substring] = []
        var depth = 0
        var start = description.startIndex
        for index in description.indices {
            switch description[index] {
            case "<", "(", "[": depth += 1
            case ">", ")", "]": depth -= 1
            case "." where depth == 0:
                components.append(description[start..<index])
                start = description.index(after: index)
            default: break
            }
        }
        components.append(description[start...])
        return components.dropFirst().map { component in
            var component = component
            while let last = component.last, last == "?" || last == "!" { component.removeLast() }
            return component
        }
    }
}
