import CoreDataModel
import CoreDataPrimitives
import Foundation

/// What a user decides about generated classes.
package struct GenerationOptions: Sendable {
    package enum AccessLevel: String, CaseIterable, Sendable {
        case `public`
        case package
        case `internal`

        /// What stands before a declaration, with the space after it.
        var prefix: String { self == .internal ? "" : rawValue + " " }
    }

    package enum Style: Sendable {
        /// As Xcode: `Item+CoreDataClass.swift` and `Item+CoreDataProperties.swift`, written anew each time.
        case xcode
        /// As mogenerator: `_Item.swift` written anew each time, its subclass in `Item.swift` written once.
        case humanMachine
    }

    package var accessLevel = AccessLevel.public
    package var style = Style.xcode
    /// Whether entities whose classes are the author's own ("Manual/None") get generated ones too.
    package var includesManual = false
    /// The module that the classes are for. Where it is known, classes that the model puts into another one are used
    /// from there; else every class is taken to be in the same module, whatever the model calls it.
    package var module: String?

    package init() {}
}

extension GenerationOptions {
    /// The class that a model names, as Swift in the module spells it; `nil` for none and for `NSManagedObject`.
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
    /// - Throws: what in the file is no option, so that a misspelled one is not passed over.
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
