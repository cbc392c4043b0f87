import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The user's options for generated classes.
package struct GenerationOptions: Sendable {
    package enum AccessLevel: String, CaseIterable, Sendable {
        case `public`
        case package
        case `internal`

        /// The access modifier with a trailing space.
        var prefix: String { self == .internal ? "" : rawValue + " " }
    }

    package enum Style: Sendable {
        /// Xcode's layout: `Item+CoreDataClass.swift` and `Item+CoreDataProperties.swift`, overwritten each time.
        case xcode
        /// Mogenerator's layout: `_Item.swift`, overwritten each time, and its subclass in `Item.swift`, written once.
        case humanMachine
    }

    package var accessLevel = AccessLevel.public
    package var style = Style.xcode
    /// Whether to generate classes also for entities whose classes the author writes ("Manual/None").
    package var includesManual = false
    /// The module of the classes. If it is known, classes that the model assigns to another module are imported from
    /// there; otherwise all classes are assumed to be in the same module.
    package var module: String?

    package init() {}
}

extension GenerationOptions {
    /// Returns the Swift spelling, inside the module, of a class that a model names; `nil` for none and for
    /// `NSManagedObject`.
    func typeName(_ modelName: String?) -> String? {
        guard let name = SwiftNames.className(modelName) else { return nil }
        guard let module, let owner = modelName?.split(separator: ".").dropLast().first, owner != module else {
            return name
        }
        return "\(owner).\(name)"
    }

    /// Reads the options of a target's models:
    ///
    ///     { "accessLevel": "internal" }
    ///
    /// - Throws: an error for unknown options, so that misspelled ones are reported.
    package init(contentsOf url: URL) throws(ModelFailure) {
        self.init()
        func failure(_ message: String, hint: String? = nil) -> ModelFailure {
            let place = SourceLocation(file: url.path, line: 1, column: 1)
            return ModelFailure(diagnostics: [Diagnostic(.error, message, at: place, hint: hint)])
        }
        guard let data = try? Data(contentsOf: url) else { throw failure("the options cannot be read") }
        guard let entries = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] else {
            throw failure("the options are not a JSON object", hint: "write { \"accessLevel\": \"internal\" }")
        }
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            guard key == "accessLevel" else {
                throw failure("there is no option '\(key)'", hint: "there is accessLevel")
            }
            guard let level = (value as? String).flatMap(AccessLevel.init) else {
                let levels = AccessLevel.allCases.map(\.rawValue).joined(separator: ", ")
                throw failure("'\(value)' is no access level", hint: "there are \(levels)")
            }
            accessLevel = level
        }
    }
}
